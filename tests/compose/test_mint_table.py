"""Mint as a table: chains over kinds, and what each mints or is refused for (docs/variants.md)."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.compose.minted import DESK, outcome

# chain → minted names beside `find`, or the diagnostic that refuses it
LEGAL = [
    # each kind alone
    ("[w]", ["find_w"]),
    ("[memo]", ["find_memo"]),
    ("[bulk]", ["find_bulk"]),
    ("[plain]", ["find_plain"]),
    ("[also]", ["find_also"]),
    ("[far]", ["find_far"]),
    ("[own]", ["find_own"]),
    # pairs in both orders
    ("[w, bulk]", ["find_w", "find_w_bulk"]),
    ("[bulk, w]", ["find_bulk", "find_bulk_w"]),
    ("[w, far]", ["find_w", "find_w_far"]),
    ("[far, w]", ["find_far", "find_far_w"]),
    ("[bulk, far]", ["find_bulk", "find_bulk_far"]),
    ("[far, bulk]", ["find_far", "find_far_bulk"]),
    ("[w, v]", ["find_w", "find_w_v"]),
    ("[v, w]", ["find_v", "find_v_w"]),
    ("[bulk, plain]", ["find_bulk", "find_bulk_plain"]),
    ("[memo, bulk]", ["find_memo", "find_memo_bulk"]),
    ("[bulk, memo]", ["find_bulk", "find_bulk_memo"]),
    # locality: inside, inside with a gap, without a backend
    ("[near, far]", ["find_near", "find_near_far"]),
    ("[near, w, far]", ["find_near", "find_near_w", "find_near_w_far"]),
    ("[near]", ["find_near"]),
    ("[w, near]", ["find_w", "find_w_near"]),
    # the same extension twice, where it reserves nothing
    ("[w, w]", ["find_w", "find_w_w"]),
    ("[bulk, bulk]", ["find_bulk", "find_bulk_bulk"]),
    ("[w, v, w]", ["find_w", "find_w_v", "find_w_v_w"]),
    # a reserved name is free again once a transformer dropped it
    ("[memo, plain, memo]", ["find_memo", "find_memo_plain", "find_memo_plain_memo"]),
    ("[memo, own, memo]", ["find_memo", "find_memo_own", "find_memo_own_memo"]),
    ("[memo, bulk, memo]", ["find_memo", "find_memo_bulk", "find_memo_bulk_memo"]),
    # several chains, shared prefixes, repeats
    ("[[w], [v]]", ["find_v", "find_w"]),
    ("[[w, v], [w, bulk]]", ["find_w", "find_w_bulk", "find_w_v"]),
    ("[[w], [w]]", ["find_w"]),
    ("[[w, v], [w, v]]", ["find_w", "find_w_v"]),
    ("[[w], [w, v]]", ["find_w", "find_w_v"]),
    # one strategy in two chains is one strategy
    ("[[far], [w, far]]", ["find_far", "find_w", "find_w_far"]),
    (
        "[[{use: away, config: {queue: a}}], [w, {use: away, config: {queue: a}}]]",
        ["find_away", "find_w", "find_w_away"],
    ),
    # locality in another chain does not matter
    ("[[far], [near]]", ["find_far", "find_near"]),
    # config given, and not needed
    ("[{use: tuned, config: {level: low}}]", ["find_tuned"]),
    ("[{use: w}]", ["find_w"]),
    ("[{use: w, config: {}}]", ["find_w"]),
    ("[away]", ["find_away"]),
    ("[crm/w]", ["find_w"]),
]


@pytest.mark.parametrize(("chain", "minted"), LEGAL, ids=[row[0] for row in LEGAL])
def test_a_legal_chain_mints_every_prefix(chain: str, minted: list[str]) -> None:
    found = outcome(f"{{crm/find: {chain}}}")
    assert found.faults == ()
    assert sorted(found.tools) == sorted(["find", *minted])
    assert found.exposed == sorted(found.tools)


REFUSED = [
    # two backends in one chain, and over two
    ("[far, own]", "variant-second-backend"),
    ("[own, far]", "variant-second-backend"),
    ("[far, far]", "variant-second-backend"),
    ("[far, w, own]", "variant-second-backend"),
    ("[[far], [own]]", "variant-second-backend"),
    ("[[w, far], [v, own]]", "variant-second-backend"),
    ("[[{use: away, config: {queue: a}}], [{use: away, config: {queue: b}}]]", "variant-second-backend"),
    # locality: outside, and a gap does not help
    ("[far, near]", "variant-locality"),
    ("[far, w, near]", "variant-locality"),
    ("[near, far, near]", "variant-locality"),
    # reserved parameters taken
    ("[memo, memo]", "variant-schema"),
    ("[memo, w, memo]", "variant-schema"),
    ("[memo, far, memo]", "variant-schema"),
    ("[memo, also, memo]", "variant-schema"),
    # config wrong, missing, not taken
    ("[tuned]", "variant-config"),
    ("[{use: tuned, config: {level: loud}}]", "variant-config"),
    ("[{use: tuned, config: {level: low, more: 1}}]", "variant-config"),
    ("[{use: w, config: {a: 1}}]", "variant-config"),
    ("[{use: away, config: {queue: 1}}]", "variant-config"),
    # names
    ("[nope]", "tool-extension-unknown"),
    ("[other/w]", "tool-extension-unknown"),
    ("[w, {use: nope}]", "tool-extension-unknown"),
    # shape
    ("[]", "empty-list"),
    ("[[]]", "empty-list"),
    ("[w, [v]]", "mixed-chains"),
    # exposure
    ("[{chain: [w], expose: only}, {chain: [v]}]", "variant-only-mixed"),
    ("[{chain: [w], as: one}, {chain: [w], as: two}]", "variant-named-twice"),
    ("[[tuned], [w, tuned]]", "variant-config"),
]


@pytest.mark.parametrize(("chain", "fault"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_illegal_chain_is_refused(chain: str, fault: str) -> None:
    found = outcome(f"{{crm/find: {chain}}}")
    assert set(found.faults) == {fault}
    assert found.compilation.lock is None


@pytest.mark.parametrize("kinds", list(permutations(["memo", "bulk", "far"])), ids="-".join)
def test_every_triple_of_kinds_is_legal_in_every_order(kinds: tuple[str, ...]) -> None:
    found = outcome(f"{{crm/find: [{', '.join(kinds)}]}}")
    assert found.faults == ()
    assert sorted(found.tools) == sorted(
        ["find", *("find_" + "_".join(kinds[:depth]) for depth in (1, 2, 3))]
    )


@pytest.mark.parametrize("kinds", list(permutations(["near", "w", "far"])), ids="-".join)
def test_a_local_layer_is_legal_exactly_inside_the_backend(kinds: tuple[str, ...]) -> None:
    inside = kinds.index("near") < kinds.index("far")
    found = outcome(f"{{crm/find: [{', '.join(kinds)}]}}")
    assert found.faults == (() if inside else ("variant-locality",))


@pytest.mark.parametrize(("length", "legal"), [(64, True), (65, False)])
def test_names_at_the_limit_of_the_provider(length: int, legal: bool) -> None:
    alias = "f" * (length - len("_memo"))
    found = outcome("{crm/find: [memo]}", tools=f"{{tool: crm/find, as: {alias}}}", provider="openai")
    assert found.faults == (() if legal else ("tool-name-too-long",))


def test_hyphens_and_digits_in_names() -> None:
    desk = DESK.replace("name: find", "name: find-2")
    found = outcome("{crm/find-2: [w]}", tools="crm/find-2", desk=desk)
    assert found.faults == ()
    assert sorted(found.tools) == ["find-2", "find-2_w"]


def test_a_tool_beside_the_variant_of_the_same_name() -> None:
    """`find_w` the tool against `find` + `w`."""
    desk = DESK.replace("name: list", "name: find_w")
    found = outcome("{crm/find: [w]}", tools="crm/*", desk=desk)
    assert found.faults == ("tool-name-collision",)
    assert "crm/find + w" in found.message("tool-name-collision")
    assert "crm/find_w" in found.message("tool-name-collision")
    # A tool that is not selected does not count.
    assert outcome("{crm/find: [w]}", desk=desk).faults == ()


def test_one_extension_with_an_underscore_against_two() -> None:
    """`[w_v]` against `[w, v]`."""
    desk = DESK.replace("{name: near,", "{name: w_v,")
    found = outcome("{crm/find: [[w_v], [w, v]]}", desk=desk)
    assert found.faults == ("tool-name-collision",)
    assert "crm/find + w + v" in found.message("tool-name-collision")
    assert "crm/find + w_v" in found.message("tool-name-collision")
