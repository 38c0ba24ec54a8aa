"""Reordering: the fewest moves that turn one order into another, and past whom each goes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One item that changed its place; ``before`` and ``after`` are 0-based places in the whole orders.

    ``past`` are the items it now stands on the other side of, in their new order.
    """

    item: str
    before: int
    after: int
    past: tuple[str, ...]


def moves(old: Sequence[str], new: Sequence[str]) -> tuple[Move, ...]:
    """The moves between two orders of distinct items; items of one order alone are no moves.

    The items that stay are a longest run that both orders share, so that one moved item is one move.
    """
    places = {item: place for place, item in enumerate(old)}
    common = [item for item in new if item in places]
    staying = _longest_rising([places[item] for item in common])
    kept = {common[place] for place in staying}
    after = {item: place for place, item in enumerate(new)}
    return tuple(
        Move(
            item,
            places[item],
            after[item],
            tuple(
                other
                for other in common
                if other in kept and (places[other] < places[item]) != (after[other] < after[item])
            ),
        )
        for item in common
        if item not in kept
    )


def _longest_rising(numbers: Sequence[int]) -> list[int]:
    """Places of a longest strictly rising subsequence (patience sorting)."""
    tops: list[int] = []
    piles: list[int] = []
    below: list[int | None] = []
    for place, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        below.append(piles[pile - 1] if pile else None)
        tops[pile : pile + 1] = [number]
        piles[pile : pile + 1] = [place]
    found: list[int] = []
    at: int | None = piles[-1] if piles else None
    while at is not None:
        found.append(at)
        at = below[at]
    return found[::-1]
