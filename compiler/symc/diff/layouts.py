"""Layouts: the prompt of each agent on both sides, fragment by fragment, and what of it a prompt cache keeps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symc.diff.side import Side, Tree

Json = Any


@dataclass(frozen=True, slots=True)
class Placed:
    """One fragment or slot: its joined id, its owner and id there, and its entry."""

    id: str
    owner: str
    name: str
    part: Tree
    is_slot: bool


def placed(side: Side) -> Mapping[str, Placed]:
    """Every fragment and slot of the lock by its joined id."""
    return {
        f"{owner}/{name}": Placed(f"{owner}/{name}", owner, name, part, kind == "slots")
        for owner, entry in side.authors.items()
        for kind in ("fragments", "slots")
        for name, part in entry.get(kind, {}).items()
    }


def source(part: Placed) -> str:
    """The text of a fragment as it is written; of a slot, none."""
    return "\n".join(part.part.get("text", ()))


def lines(side: Side, parts: Mapping[str, Placed], agent: str, fragment: str) -> Sequence[str]:
    """The text of a fragment for the agent, as an array of lines; of a slot, none."""
    rendered = side.agents[agent].get("rendered", {}).get(fragment)
    if rendered is not None:
        found: Sequence[str] = rendered["text"]
        return found
    one = parts.get(fragment)
    if one is None or one.is_slot:
        return ()
    part = one.part
    default: Sequence[str] = part["rendered"]["text"] if "rendered" in part else part["text"]
    return default


def moved(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The fewest ids that have to move to make one order of the other, each with those it passes.

    Both hold the same ids.
    """
    rank = {one: number for number, one in enumerate(before)}
    staying = _longest_rising([rank[one] for one in after])
    where = {one: number for number, one in enumerate(after)}
    for one in after:
        if rank[one] in staying:
            continue
        passed = tuple(
            other
            for other in after
            if (rank[other] < rank[one]) != (where[other] < where[one]) and other != one
        )
        yield one, passed


def _longest_rising(numbers: Sequence[int]) -> frozenset[int]:
    """The members of a longest rising subsequence."""
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(tails, number)
        before[number] = tails[at - 1] if at else None
        tails[at : at + 1] = [number]
    kept: set[int] = set()
    one: int | None = tails[-1] if tails else None
    while one is not None:
        kept.add(one)
        one = before[one]
    return frozenset(kept)
