"""Rules about what no compile of today makes, the words of witnesses, levels and places (docs/diff.md §2)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from symc.composition import Lock
from symc.diagnostics import Level, Position, Span
from symc.diff import Direction, Verdict, compare, digest_changes
from symc.diff.model import Axis
from symc.diff.moves import MOST_THROUGH, Move, _Comparison
from symc.diff.parameters import sayings, schema_changes
from symc.diff.powers import ABSENT, Access, Cell, Powers
from symc.diff.rules import find
from symc.diff.side import Key, Side
from symc.diff.standing import ALWAYS, MOST_WAYS, Atom, Condition, Restriction, standing
from symc.diff.witness import witness
from tests.diff import other_pairs
from tests.diff.authority_pairs import OS, WEB, desk, lead, ruled
from tests.diff.other_pairs import READER, USER, crm, fragment, tool
from tests.diff.pairs import lock, said
from tests.policies.workspaces import agent, ask, deny, extension, workspace


def with_text(whole: Lock, text: str) -> Lock:
    one = whole.extensions["crm"]
    fragments = {"e": replace(one.fragments["e"], text=text)}
    return replace(whole, extensions={**whole.extensions, "crm": replace(one, fragments=fragments)})


def with_description(whole: Lock, text: str) -> Lock:
    one = whole.extensions["os"]
    tools = {"read": replace(one.tools["read"], description=text)}
    return replace(whole, extensions={**whole.extensions, "os": replace(one, tools=tools)})


def test_hidden_characters_of_a_fragment() -> None:
    whole = lock(crm(fragment("e", "Be brief.")), USER)
    hiding = with_text(whole, "Be bri\u200bef.")
    found = compare(whole, hiding)
    assert said(found) == {"fragment-text-changed crm/e", "hidden-characters-introduced crm/e"}
    change = next(one for one in found.changes if one.name == "hidden-characters-introduced")
    assert change.after == ["zero-width space (U+200B)"]
    assert change.level is Level.ERROR
    # What was hidden before is no news, and neither is what is shown now.
    assert "hidden-characters-introduced crm/e" not in said(
        compare(hiding, with_text(whole, "Be ve\u200bry brief."))
    )
    assert said(compare(hiding, whole)) == {"fragment-text-changed crm/e"}


def test_hidden_characters_of_a_new_fragment() -> None:
    whole = lock(crm(fragment("e", "Be brief.")), USER)
    other = lock(crm(), USER)
    assert "hidden-characters-introduced crm/e" in said(compare(other, with_text(whole, "\u202eBe")))


def test_hidden_characters_of_a_tool() -> None:
    whole = lock(tool(), READER)
    hiding = with_description(whole, "Read\u202e.")
    assert said(compare(whole, hiding)) == {
        "tool-description-changed os/read",
        "hidden-characters-introduced os/read",
    }
    assert "hidden-characters-introduced os/read" not in said(
        compare(hiding, with_description(whole, "Re\u202ead."))
    )


def test_another_lock_version() -> None:
    whole = lock(tool(), READER)
    assert said(compare(whole, replace(whole, lock_version=2))) == {"lock-version-changed lock_version"}


def test_what_no_rule_knows_is_said_all_the_same() -> None:
    """Two entries that differ in nothing that a rule looks at: the locks still differ."""
    whole = lock(tool(), READER)
    guarded = replace(
        whole.agents["desk"], tools={"read": replace(whole.agents["desk"].tools["read"], guarded_by=("a/b",))}
    )
    found = compare(whole, replace(whole, agents={"desk": guarded}))
    assert [(one.name, one.subject, one.after) for one in found.changes] == [
        ("provenance-only", "the lock", ["agents/desk"])
    ]
    assert found.verdict is Verdict.SAME


def test_rules_are_found_by_code_and_name() -> None:
    assert find("syd101") is find(" grant-widened ")
    assert find("grant") is None


# Levels


def test_levels_by_code_and_by_name() -> None:
    pair = next(one for one in other_pairs.PAIRS if one.name == "a description is edited")
    old, new = lock(*pair.old), lock(*pair.new)
    for key in ("SYD211", "tool-description-changed"):
        change = compare(old, new, levels={key: "error", "SYD206": "off"}).changes
        assert [(one.name, one.level) for one in change] == [("tool-description-changed", Level.ERROR)]


def test_a_level_that_a_rule_does_not_accept_is_not_applied() -> None:
    old, new = lock(OS, desk("os/read")), lock(OS, desk("os/*"))
    found = compare(old, new, levels={"grant-widened": "off", "SYD211": "info"})
    assert {one.level for one in found.on(Axis.AUTHORITY)} == {Level.ERROR}


# Places


def test_places_are_the_manifests_of_the_lock_below_their_folder() -> None:
    old, new = lock(OS, ruled(deny("d", "os/write"))), lock(OS, ruled())
    change = compare(old, new, prefix="manifests/").changes[0]
    assert change.locations == (Span("manifests/desk.yaml"),)


def test_a_place_that_somebody_knows_better() -> None:
    old, new = lock(OS, ruled(deny("d", "os/write"))), lock(OS, ruled())
    line = Span("manifests/desk.yaml", Position(4, 2), Position(4, 9))
    asked = []

    def locate(item: object) -> Span | None:
        asked.append(item)
        return line

    assert compare(old, new, locate=locate, prefix="x/").changes[0].locations == (line,)
    assert asked


def test_a_fingerprint_knows_no_place_but_what_is_about_whom() -> None:
    old, new = lock(OS, desk("os/read")), lock(OS, desk("os/*"))
    here = [one.fingerprint for one in compare(old, new).changes]
    there = [one.fingerprint for one in compare(old, new, prefix="deep/").changes]
    assert here == there
    two = (
        lock(OS, desk("os/*"), agent("night", ["os/read"])),
        lock(OS, desk("os/*"), agent("night", ["os/*"])),
    )
    assert set(here).isdisjoint(one.fingerprint for one in compare(*two).on(Axis.AUTHORITY))
    # An edit of a text is the same edit whoever reads it.
    readers = [
        [one.fingerprint for one in compare(lock(crm(fragment("e")), *more), lock(crm(fragment("e", "Hm.")), *more)).changes
         if one.name == "fragment-text-changed"]
        for more in ((USER,), (USER, agent("night", [], extensions=["crm"])))
    ]  # fmt: skip
    assert readers[0] == readers[1]


# Witnesses


KEY = Key("os", "read")
CALL = Cell("desk", "tool_call", KEY)
BEHIND = replace(CALL, root="lead")


def open_with(*atoms: Atom) -> Access:
    return Access("open", atoms)


def denial(policy: str = "a/d", condition: str = "") -> Atom:
    return Atom(policy, True, Condition(condition))


def question(policy: str = "a/q", condition: str = "") -> Atom:
    return Atom(policy, False, Condition(condition))


@pytest.mark.parametrize(
    ("cell", "before", "after", "up", "expected"),
    [
        (CALL, ABSENT, open_with(), True, "desk may now call os/read (was: not among its tools)"),
        (CALL, Access("ungranted"), open_with(), True, "desk may now call os/read (was: not granted)"),
        (CALL, Access("hidden"), open_with(), True, "desk may now call os/read (was: hidden behind its variants)"),
        (CALL, open_with(denial()), open_with(), True, "desk may now call os/read (was: denied by a/d)"),
        (CALL, open_with(denial()), open_with(question()), True, "desk may now call os/read after a yes (was: denied by a/d)"),
        (CALL, open_with(denial(condition="x")), open_with(), True,
         "desk may now call os/read (was: denied under a condition by a/d)"),
        (CALL, open_with(question()), open_with(), True, "desk may now call os/read without asking (was: asked by a/q)"),
        (CALL, open_with(denial(condition="code m:f")), open_with(), True,
         "desk may now call os/read (was: decided by the code of a/d)"),
        (CALL, open_with(*(denial(f"a/d{number}") for number in range(5))), open_with(), True,
         "desk may now call os/read (was: denied by a/d0, a/d1, a/d2 and 2 more)"),
        (CALL, open_with(), ABSENT, False, "desk may no longer call os/read (now: not among its tools)"),
        (CALL, open_with(), open_with(denial()), False, "desk may no longer call os/read (now: denied by a/d)"),
        (CALL, open_with(), open_with(question()), False, "desk must now ask before it may call os/read (a/q)"),
        (BEHIND, ABSENT, open_with(), True, "desk, called through lead, may now call os/read (was: out of reach)"),
        (Cell("desk", "delegate", child="x"), ABSENT, open_with(), True, "desk may now delegate to x (was: no delegate)"),
        (Cell("desk", "memory_write"), ABSENT, open_with(), True, "desk may now write memory (was: not granted)"),
    ],
)  # fmt: skip
def test_witness(cell: Cell, before: Access, after: Access, up: bool, expected: str) -> None:
    assert witness(Move(cell, before, after, up=up, down=not up)) == expected


# Schemas


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"items": False}, {"items": True}, [("/items", "accepts anything", False)]),
        ({"items": True}, {"items": False}, [("/items", "accepts nothing", True)]),
        ({"items": False}, {"items": {"type": "string"}}, [("/items", "accepts something", False)]),
        ({}, {"items": {"type": "string"}}, [("/items/type", "other types", True)]),
        ({"items": {"minimum": 1}}, {}, [("/items", "accepts anything", False)]),
        ({"anyOf": [{}]}, {"anyOf": [{}, {}]}, [("/anyOf", "changed", True)]),
        ({}, {"not": {}}, [("/not", "newly limited", True)]),
        ({"not": {}}, {}, [("/not", "no longer limited", False)]),
        ({"required": ["a"]}, {"required": []}, [("/properties/a", "no longer required", False)]),
        ({"$defs": {"a": {"minimum": 1}}}, {"$defs": {"a": {"minimum": 2}}}, [("/$defs/a/minimum", "narrower", True)]),
        ({"$defs": {"a": {}}}, {}, [("/$defs", "no longer limited", False)]),
        ({"minimum": 1}, {"minimum": "1"}, [("/minimum", "narrower", True)]),
        ({"type": "number"}, {"type": ["string", "number"]}, [("/type", "more types", False)]),
        ({"properties": {"description": {"type": "string"}}}, {"properties": {}}, [("/properties/description", "removed", True)]),
        ({"description": "a"}, {"description": "b"}, []),
        (None, None, []),
        (None, {"type": "object"}, [("/type", "other types", True)]),
    ],
)  # fmt: skip
def test_schema_changes(old: object, new: object, expected: list[tuple[str, str, bool]]) -> None:
    assert [(one.at, one.what, one.breaks) for one in schema_changes(old, new)] == expected


def test_what_a_schema_says() -> None:
    schema = {
        "description": "a",
        "properties": {"title": {"title": "b", "default": [1]}},
        "anyOf": [{"examples": ["c"]}],
    }
    assert sayings(schema) == {
        "/description": "a",
        "/properties/title/title": "b",
        "/properties/title/default": [1],
        "/anyOf/0/examples": ["c"],
    }


# Digests


def test_digests_change_for_all_that_reach_what_differs() -> None:
    """The agent itself, those that call it, and nobody else; and each of those whose digest is another one."""
    top = agent("top", [], delegates=[{"agent": "lead", "may_exceed": ["web/*"]}])
    others = (WEB, agent("child", ["web/search"]), agent("other", ["web/search"]), top)
    old = lock(*others, lead("web/search", delegates=["child"]))
    new = lock(
        *others, lead("web/search", delegates=["child"], policies=[ask("q", "web/*")]), agent("zoe", [])
    )
    found = digest_changes(old, new)
    assert [(one.agent, one.before is None, one.after is None) for one in found] == [
        ("lead", False, False),
        ("top", False, False),
        ("zoe", True, False),
    ]
    for one in found[:2]:
        assert (one.before, one.after) == (
            old.composition(one.agent).digest,
            new.composition(one.agent).digest,
        )
    assert digest_changes(new, new) == ()
    assert (
        len(
            digest_changes(
                old,
                lock(
                    *others, lead("web/search", delegates=["child"]), workspace(policies=[ask("q", "web/*")])
                ),
            )
        )
        == 4
    )
    assert [
        one.agent
        for one in digest_changes(
            old, lock(*others, lead("web/search", delegates=["child"], limits={"tools": 9}))
        )
    ] == ["lead", "top"]


# Bounds


def test_more_cells_behind_delegates_than_are_compared_are_not_decided() -> None:
    tools = extension("big", {f"t{number}": {} for number in range(8)})
    child = agent("child", ["big/*"])
    old, new = (
        Side.of(lock(tools, child, lead("big/*", delegates=["child"], policies=policies)))
        for policies in ([], [ask("q", "big/*")])
    )
    policy = new.policy("lead/q")
    comparison = _Comparison(Powers(old), Powers(new), {"lead/q": (None, policy)}, {"lead"}, left=3)
    behind = [move for move in comparison.moves() if not move.cell.is_direct]
    assert [(move.down, move.undecided) for move in behind] == [(True, False)] * 3 + [(False, True)]


def test_more_ways_than_are_kept_apart_are_not_decided() -> None:
    """Each of very many delegates asks under a condition of its own: none of the ways is freer than another."""
    count = MOST_WAYS + 2
    names = [f"m{number}" for number in range(count)]
    middle = [
        agent(name, ["web/search"], delegates=["child"],
              policies=[ask(f"{name}-q", "web/search", when={"required": [name]})])
        for name in names
    ]  # fmt: skip
    child = agent("child", ["web/search"])
    old = lock(WEB, child, *middle, lead("web/search", delegates=names))
    new = lock(
        WEB,
        child,
        *middle,
        lead("web/search", delegates=names, policies=[ask("q", "web/search", when={"required": ["z"]})]),
    )
    found = compare(old, new)
    assert found.verdict.widens
    assert any(one.direction is Direction.UNKNOWN for one in found.changes)
    assert "too many ways" in " ".join(one.witness for one in found.changes)
    assert MOST_THROUGH > 0


def test_a_long_chain_of_delegates_ends() -> None:
    names = [f"a{number}" for number in range(60)]
    chain = [agent(name, ["web/search"], delegates=[after]) for name, after in pairwise(names)]
    last = agent(names[-1], ["web/search"])
    old = lock(WEB, *chain, last)
    first = agent(names[0], ["web/search"], delegates=[names[1]], policies=[ask("q", "web/search")])
    assert compare(old, lock(WEB, first, *chain[1:], last)).verdict is Verdict.NARROWING


def test_ways_that_are_beaten_are_left_out() -> None:
    free, asked = Restriction(), Restriction(objected=frozenset((ALWAYS,)))
    assert standing([asked, free]) == standing([free, asked]) == {free}
    assert standing([Restriction.of([denial()])]) == frozenset()
