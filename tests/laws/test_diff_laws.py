"""Laws of the diff: nothing between equals, the verdict is what decisions say, what is irrelevant stays neutral."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.authority import Authority, Conditions, request_for
from symc.compose import compile
from symc.composition import Composition, Lock
from symc.contracts.patterns import ToolPattern
from symc.contracts.verdict import PolicyRequest
from symc.diff import Axis, Verdict, compare
from symc.diff.parameters import schema_changes
from symc.diff.vetoes import includes
from symc.lock import dumps, loads
from symc.schema import Validator
from symc.source import Workspace
from tests.diff.pairs import files, lock
from tests.policies.workspaces import Document, agent, extension

# Small workspaces: three agents that may call each other in one direction, four tools, rules with conditions that are
# independent of each other (each looks at an argument of its own).

ARGUMENTS = ("a", "b")
SCHEMA = {name: {"type": "integer"} for name in ARGUMENTS}
TOOLS = {"os": ("read", "write"), "web": ("read_page", "post")}
EXTENSIONS = tuple(extension(name, dict.fromkeys(tools, SCHEMA)) for name, tools in TOOLS.items())
IDENTITIES = tuple(f"{name}/{tool}" for name, tools in TOOLS.items() for tool in tools)
PATTERNS = (*IDENTITIES, "os/*", "web/*", "*/read*", "*/*", "*/w*")
EFFECTS = ("memory_read", "delegate", "model_call")
EDGES = (("one", "two"), ("two", "three"), ("one", "three"))
# What a delegate may have beyond its caller stays the same: without it most workspaces would not compile.
EXCEED = ["os/*", "web/*", "memory_read"]
STRENGTH = {"deny": 0, "ask": 1, "allow": 2}

conditions = st.one_of(st.none(), st.sampled_from(ARGUMENTS).map(lambda name: {"required": [name]}))
tool_rules = st.fixed_dictionaries(
    {
        "way": st.sampled_from(["deny", "ask"]),
        "tools": st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2),
        "when": conditions,
    }
)
effect_rules = st.fixed_dictionaries(
    {
        "way": st.sampled_from(["deny", "ask"]),
        "actions": st.just(None) | st.lists(st.sampled_from(EFFECTS), min_size=1, max_size=2, unique=True),
    }
)
rules = st.lists(tool_rules | effect_rules.filter(lambda rule: rule["actions"]), max_size=3)
variants = st.sampled_from(["none", "none", "all", "only"])
members = st.fixed_dictionaries(
    {
        "tools": st.lists(st.sampled_from(IDENTITIES), unique=True, max_size=3),
        "rules": rules,
        "grants": st.sampled_from([[], ["memory_read"]]),
        "variant": variants,
    }
)
workspaces = st.fixed_dictionaries(
    {
        "members": st.fixed_dictionaries(dict.fromkeys(("one", "two", "three"), members)),
        "edges": st.lists(st.sampled_from(EDGES), unique=True),
        "common": rules,
    }
)


def _policies(found: list[Mapping[str, Any]], owner: str) -> list[Document]:
    policies = []
    for number, rule in enumerate(found):
        if "actions" in rule:
            policies.append(
                {"policy_id": f"{owner}-{number}", rule["way"]: {"reason": "r"}, "actions": rule["actions"]}
            )
        else:
            body = {"tools": rule["tools"]} | ({"when": rule["when"]} if rule["when"] else {})
            policies.append({"policy_id": f"{owner}-{number}", rule["way"]: body})
    return policies


def _documents(drawn: Mapping[str, Any]) -> list[Document]:
    documents = [
        *EXTENSIONS,
        {"kind": "workspace", "name": "acme", "policies": _policies(drawn["common"], "acme")},
    ]
    for name, member in drawn["members"].items():
        more: Document = {}
        if member["variant"] != "none" and member["tools"]:
            chain = [{"use": "timeout", "config": {"seconds": 5}}]
            more["variants"] = {member["tools"][0]: [{"chain": chain, "expose": member["variant"]}]}
        delegates = [
            {"agent": child, "may_exceed": EXCEED}
            for caller, child in sorted(drawn["edges"])
            if caller == name
        ]
        documents.append(
            agent(
                name,
                member["tools"],
                extensions=list(TOOLS),
                policies=_policies(member["rules"], name),
                grants=member["grants"],
                delegates=delegates,
                **more,
            )
        )
    return documents


def _lock(drawn: Mapping[str, Any]) -> Lock:
    return lock(*_documents(drawn))


Cell = tuple[Any, ...]


class Decided:
    """Every decision of one side, by brute force: each way through delegates is tried, the most favourable counts."""

    def __init__(self, whole: Lock) -> None:
        self._lock = whole
        self._compositions = {name: whole.composition(name) for name in whole.agents}
        self._authorities: dict[tuple[str, ...], Authority] = {}
        self._conditions = Conditions()

    def cells(self) -> dict[Cell, int]:
        """How each request is decided, by what it is; what is denied stands there, too."""
        found: dict[Cell, int] = {}
        for path in self._paths():
            one = self._compositions[path[-1]]
            reached = min(
                (self._delegation(path[: end + 1], path[end + 1]) for end in range(len(path) - 1)), default=2
            )
            for cell, request in self._requests(one):
                key = (path[0], path[-1], *cell)
                decision = STRENGTH[self._authority(path).decide(request).outcome]
                found[key] = max(found.get(key, 0), min(reached, decision))
        return found

    def _paths(self) -> Iterator[tuple[str, ...]]:
        waiting: list[tuple[str, ...]] = [(name,) for name in self._lock.agents]
        while waiting:
            path = waiting.pop()
            yield path
            waiting.extend((*path, child) for child in self._lock.agents[path[-1]].delegates)

    def _requests(self, one: Composition) -> Iterator[tuple[Cell, PolicyRequest]]:
        for name, tool in one.agent.tools.items():
            for count in range(len(ARGUMENTS) + 1):
                for given_ in combinations(ARGUMENTS, count):
                    key = (tool.extension, tool.raw, tuple(layer.name for layer in tool.chain), given_)
                    yield key, request_for(one, name, dict.fromkeys(given_, 1))
        for effect in ("memory_read", "model_call"):
            yield (effect,), PolicyRequest(agent=one.name, effect=effect)
        for child, edge in one.agent.delegates.items():
            yield ("delegate", child), request_for(one, edge.tool)

    def _delegation(self, path: tuple[str, ...], child: str) -> int:
        one = self._compositions[path[-1]]
        request = request_for(one, one.agent.delegates[child].tool)
        return STRENGTH[self._authority(path).decide(request).outcome]

    def _authority(self, path: tuple[str, ...]) -> Authority:
        if path not in self._authorities:
            through = [self._compositions[name] for name in path[:-1]]
            self._authorities[path] = Authority.of(self._compositions[path[-1]], through, Conditions())
        return self._authorities[path]


def brute_force(old: Lock, new: Lock) -> Verdict:
    before, after = Decided(old).cells(), Decided(new).cells()
    keys = before.keys() | after.keys()
    up = any(after.get(key, 0) > before.get(key, 0) for key in keys)
    down = any(after.get(key, 0) < before.get(key, 0) for key in keys)
    if up:
        return Verdict.MIXED if down else Verdict.WIDENING
    return Verdict.NARROWING if down else Verdict.SAME


@st.composite
def two_versions(draw: st.DrawFn) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Two workspaces that differ in one or two places, as versions do; sometimes in everything."""
    old = draw(workspaces)
    if draw(st.booleans()) and draw(st.booleans()):
        return old, draw(workspaces)
    new: dict[str, Any] = json.loads(json.dumps(old))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(["tools", "rules", "grants", "variant", "edges", "common"]))
        if place == "common":
            new["common"] = draw(rules)
        elif place == "edges":
            new["edges"] = draw(st.lists(st.sampled_from(EDGES), unique=True))
        else:
            name = draw(st.sampled_from(["one", "two", "three"]))
            new["members"][name][place] = draw(members)[place]
    return old, new


@given(two_versions())
@settings(max_examples=150, deadline=None)
def test_the_verdict_is_what_decisions_say(versions: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    old, new = map(_lock, versions)
    found, back = compare(old, new), compare(new, old)
    assert (found.verdict, back.verdict) == (brute_force(old, new), brute_force(new, old))
    # Whatever moved is some change's doing: an accepted verdict hides nothing.
    directions = {change.direction for change in found.changes}
    expected = {"WIDENING": {"up"}, "NARROWING": {"down"}, "MIXED": {"up", "down"}, "SAME AUTHORITY": set()}
    assert directions - {"same"} >= expected[found.verdict]
    assert bool(found.witness) == (found.verdict is not Verdict.SAME)


@given(workspaces)
@settings(max_examples=40, deadline=None)
def test_nothing_lies_between_equals(drawn: Mapping[str, Any]) -> None:
    one = _lock(drawn)
    assert compare(one, one).changes == ()
    assert compare(one, _lock(drawn)).changes == ()
    assert compare(loads(dumps(one)), one) == compare(one, one)


@given(workspaces, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_irrelevant_edits_are_neutral(drawn: Mapping[str, Any], random: Any) -> None:
    """The order of files, keys and lists of equals; free keys; another file name."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    documents = _documents(drawn)
    edited = [shuffled(one) | {"x-note": "free", "_path": f"deep/{one['name']}.yaml"} for one in documents]
    random.shuffle(edited)
    for one in edited:
        random.shuffle(one.get("tools", []))
    found = compare(lock(*documents), lock(*edited))
    assert found.verdict is Verdict.SAME
    assert {change.axis for change in found.changes} <= {Axis.NEUTRAL}
    assert {change.name for change in found.changes} == {"provenance-only"}


@given(workspaces)
@settings(max_examples=20, deadline=None)
def test_comments_and_line_ends_change_nothing(drawn: Mapping[str, Any]) -> None:
    written = files(*_documents(drawn))
    plain = compile(Workspace.of(written)).lock
    commented = {path: b"# a comment\r\n" + text + b"\r\n" for path, text in written.items()}
    other = compile(Workspace.of(commented)).lock
    assert plain is not None
    assert other is not None
    assert compare(plain, other).changes == ()


globs = st.text(alphabet="ab*?", min_size=1, max_size=5)


@given(globs, globs, st.lists(st.text(alphabet="abc", max_size=6), min_size=5, max_size=5))
@settings(max_examples=200)
def test_a_pattern_that_includes_another_matches_all_it_matches(
    wide: str, narrow: str, names: list[str]
) -> None:
    one, other = ToolPattern.parse(f"x/{wide}"), ToolPattern.parse(f"x/{narrow}")
    if includes(one, other):
        assert all(one.matches("x", name) for name in names if other.matches("x", name))


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("*/a*", "x/a*", True), ("x/a*", "*/a*", False), ("x/*", "x/a?b", True), ("x/a*", "x/ab*", True),
        ("x/ab*", "x/a*", False), ("x/*a", "x/*ba", True), ("x/?", "x/[ab]", True), ("x/[ab]", "x/a", True),
        ("x/[ab]", "x/[ab]", True), ("x/[ab]", "x/?", False), ("x/a", "x/a", True), ("x/a", "x/*", False),
        ("x/*b*", "x/a*b", True), ("x/a*b*c", "x/abbc", True), ("x/**", "x/*", True), ("x/*", "y/a", False),
    ],
)  # fmt: skip
def test_which_patterns_include_which(wide: str, narrow: str, expected: bool) -> None:
    assert includes(ToolPattern.parse(wide), ToolPattern.parse(narrow)) == expected


leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": ["integer", "null"]},
        {"enum": [1, 2]},
        {"enum": [1]},
        {"minimum": 1},
        {"minimum": 2, "type": "integer"},
        {"maxLength": 1},
        {},
    ]
)
objects = st.builds(
    lambda properties, required: {"type": "object", "properties": properties, "required": sorted(required)},
    st.dictionaries(st.sampled_from("ab"), leaves, max_size=2),
    st.sets(st.sampled_from("ab"), max_size=2),
)
VALUES = (None, 1, 2, 3, "x", "xy")


@given(objects, objects)
@settings(max_examples=200, deadline=None)
def test_compatible_parameters_accept_every_call_of_before(old: Document, new: Document) -> None:
    """Sound: what is called compatible refuses no call; arguments that neither knows are not looked at."""
    if any(change.breaks for change in schema_changes(old, new)):
        return
    before, after = Validator(old), Validator(new)
    known = [name for name in "ab" if name in old["properties"]]
    for values in product(VALUES, repeat=len(known)):
        for count in range(len(known) + 1):
            call = dict(list(zip(known, values, strict=True))[:count])
            if before.matches(call):
                assert after.matches(call), (old, new, call)
