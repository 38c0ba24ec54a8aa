"""Every rule and the polarity table: pairs of workspaces, compiled and compared (docs/diff.md §1–2)."""

from __future__ import annotations

import pytest

from symc.composition import Lock
from symc.diff import Verdict, compare
from symc.diff.rules import TABLE
from symc.lock import dumps, loads
from tests.diff import authority_pairs, other_pairs
from tests.diff.pairs import Pair, compared, lock, said

PAIRS = (*authority_pairs.PAIRS, *other_pairs.PAIRS)

ELSEWHERE = frozenset({"hidden-characters-introduced", "lock-version-changed"})
"""Rules about what no compile of today makes; their tests are in test_rules.py."""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_pair(pair: Pair) -> None:
    found = compared(pair)
    assert (str(found.verdict), said(found, pair.changes)) == (pair.verdict, set(pair.changes))
    assert found.remote_text_changed == pair.remote
    if pair.witness:
        assert found.witness == pair.witness
    # Every verdict but the same authority carries a witness.
    assert bool(found.witness) == (found.verdict is not Verdict.SAME)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_way_back(pair: Pair) -> None:
    back = compare(lock(*pair.new), lock(*pair.old))
    assert str(back.verdict) == pair.back
    assert bool(back.changes) == bool(compared(pair).changes)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_lock_that_was_read_compares_as_the_one_that_was_compiled(pair: Pair) -> None:
    def read(one: Lock) -> Lock:
        return loads(dumps(one))

    old, new = lock(*pair.old), lock(*pair.new)
    assert compare(read(old), read(new)) == compare(old, new)
    assert compare(read(old), old).changes == ()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_whoever_widens_is_shown(pair: Pair) -> None:
    """A verdict stands on changes: each direction that it is made of is some change's, too."""
    for found in (compared(pair), compare(lock(*pair.new), lock(*pair.old))):
        if found.verdict.widens:
            assert any(change.widens for change in found.changes)
        prints = [change.fingerprint for change in found.changes]
        assert len(prints) == len(set(prints))


def test_enough_pairs() -> None:
    assert len(PAIRS) >= 80
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)


def test_every_rule_has_a_pair() -> None:
    shown = {change.split(" ", 1)[0] for pair in PAIRS for change in pair.changes}
    assert {rule.name for rule in TABLE} - shown == ELSEWHERE


def test_codes_and_names_are_unique_and_say_their_axis() -> None:
    assert len({rule.code for rule in TABLE}) == len({rule.name for rule in TABLE}) == len(TABLE)
    axes = {"1": "authority", "2": "behaviour", "3": "interface", "4": "neutral"}
    for rule in TABLE:
        assert axes[rule.code.removeprefix("SYD")[0]] == rule.axis
