"""Moves between two orders: the fewest, and past whom (symc.reordering)."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symc.reordering import Move, moves


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("abc", "abc", []),
        ("abc", "bca", [Move("a", 0, 2, ("b", "c"))]),
        ("abcd", "dabc", [Move("d", 3, 0, ("a", "b", "c"))]),
        ("abc", "axbyc", []),
        ("abcx", "cab", [Move("c", 2, 0, ("a", "b"))]),
    ],
)
def test_moves(old: str, new: str, expected: list[Move]) -> None:
    assert list(moves(old, new)) == expected


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_moves_are_the_fewest_and_true(old: list[str], new: list[str]) -> None:
    found = moves(old, new)
    moved = {move.item for move in found}
    kept = [item for item in new if item not in moved]
    assert kept == [item for item in old if item not in moved]
    # Brute force: no larger set of items keeps its order.
    longest = max(
        size
        for size in range(len(old) + 1)
        if any(list(pick) == [i for i in new if i in pick] for pick in combinations(old, size))
    )
    assert len(kept) == longest
    for move in found:
        assert (old[move.before], new[move.after]) == (move.item, move.item)
        for other in move.past:
            assert (old.index(other) < move.before) != (new.index(other) < move.after)
