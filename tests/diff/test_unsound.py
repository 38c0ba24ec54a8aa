"""Locks that are none: every comparison ends in an answer or in what is wrong with the lock, never in anything else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.diff import Comparison, compare
from symc.diff.renderers import github, markdown, text
from symc.diff.renderers import json as json_format
from symc.lock import LockError, dumps, loads
from symc.lock.writing import render
from tests.diff.authority_pairs import OS, WEB, N, desk, lead
from tests.diff.pairs import lock, server
from tests.policies.workspaces import agent, ask, deny, extension, workspace

TONE = {"fragment_id": "tone", "text": "Be {{ tone }}.", "template": True}
LOCK = lock(
    OS,
    WEB,
    server("files", {"read_file": {}}, mcp={"command": ["run"], "env": {"T": "${env:T}"}}),
    extension("crm", {"look": N}, prompts=[TONE], vars={"tone": "kind"},
              lifecycle=[{"hook_id": "open", "phase": "install", "run": "acme.pool:open"}],
              tool_extensions=[{"name": "memo", "kind": "wrapper", "factory": "acme.wrap:memo"}]),
    workspace(policies=[deny("w", "*/delete_*"), {"policy_id": "c", "actions": ["tool_call"], "decide": "acme.g:d"}]),
    agent("base", [], abstract=True, prompts=[{"fragment_id": "b", "text": "Base."}]),
    agent("child", ["web/search"], extends=["base"], description="Finds."),
    lead("web/search", "os/*", "crm/look", "files/read_file", delegates=["child"], extends=["base"], vars={"crm.tone": "cold"},
         extensions=["web", "os", "crm", "files"], variants={"os/read": ["audit"], "crm/look": ["memo"]},
         limits={"tools": 40}, grants=["memory_read"],
         prompts=[{"fragment_id": "who", "layer": "l2", "tier": "profile", "scope": "profile", "slot": {"max_chars": 9}}],
         policies=[ask("a", "os/*", when={"required": ["n"]})]),
    desk("os/read", instructions="Be brief."),
)  # fmt: skip
TREE: dict[str, Any] = json.loads(dumps(LOCK))
JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "junk",
    [],
    ["junk"],
    [1],
    {},
    {"junk": 1},
    {"text": "x"},
)


def paths(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*at, key))


PATHS = tuple(paths(TREE))


def put(tree: Any, path: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(tree)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def dropped(tree: Any, path: tuple[str | int, ...]) -> Any:
    changed = copy.deepcopy(tree)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return changed


def answered(old: Any, new: Any) -> Comparison | None:
    """The comparison of two trees; None where one of them is refused."""
    try:
        found = compare(loads(render(old)), loads(render(new)))
    except LockError:
        return None
    # What could be compared can be shown.
    for module in (text, markdown, github, json_format):
        assert module.render(found)
    return found


mutations = st.tuples(st.sampled_from(PATHS), st.one_of(st.just("drop"), st.sampled_from(JUNK)))


def mutated(tree: Any, mutation: tuple[tuple[str | int, ...], Any]) -> Any:
    path, value = mutation
    return dropped(tree, path) if value == "drop" else put(tree, path, value)


@given(mutations)
@settings(max_examples=200, deadline=None)
def test_a_lock_with_something_wrong_in_it(mutation: tuple[tuple[str | int, ...], Any]) -> None:
    other = mutated(TREE, mutation)
    for old, new in ((TREE, other), (other, TREE)):
        found = answered(old, new)
        # A difference is never "no changes"; what is derived is not taken from the lock.
        if found is not None and "guarded_by" not in mutation[0] and "effects" not in mutation[0]:
            assert bool(found.changes) == (old != new)


@given(mutations, mutations)
@settings(max_examples=200, deadline=None)
def test_the_same_thing_wrong_on_both_sides_and_an_edit(
    mutation: tuple[tuple[str | int, ...], Any], edit: tuple[tuple[str | int, ...], Any]
) -> None:
    one = mutated(TREE, mutation)
    try:
        other = mutated(one, edit)
    except (KeyError, IndexError, TypeError):
        return
    answered(one, other)


def leaves() -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every word, number and flag of the lock that stands for something by itself, with another one."""
    for path in PATHS:
        value: Any = TREE
        for key in path:
            value = value[key]
        derived = {"digest", "guarded_by", "effects", "cache_plan"} & set(path)
        # An extension's own rendering counts only for agents that have none.
        if derived or ("rendered" in path and path[0] == "extensions"):
            continue
        if isinstance(value, str):
            yield path, f"{value}x"
        elif isinstance(value, bool):
            yield path, not value
        elif isinstance(value, int | float):
            yield path, value + 1


def test_every_value_of_a_lock_is_some_rules_matter() -> None:
    unnoticed = []
    answered_ = 0
    for path, value in leaves():
        found = answered(TREE, put(TREE, path, value))
        if found is None:
            continue
        answered_ += 1
        if not found.changes or any(change.subject == "the lock" for change in found.changes):
            unnoticed.append(path)
    assert unnoticed == []
    assert answered_ > 100


@pytest.mark.parametrize(("name", "word"), [("desk", "Be brief."), ("os", "acme.tools:run")])
def test_a_key_that_stands_twice_is_refused(name: str, word: str) -> None:
    before = f'    "{name}": {{\n'
    written = dumps(LOCK).replace(word, "other")
    assert written.count(before) == 1
    twice = written.replace(before, before + '      "from": "first.yaml",\n')
    with pytest.raises(LockError) as error:
        compare(LOCK, loads(twice))
    assert error.value.diagnostics[0].name == "lock-duplicate-key"


def test_very_many_entries_are_judged_as_strictly_as_few() -> None:
    many = lock(OS, *(agent(f"a{number}", ["os/read"]) for number in range(60)))
    other = dumps(many).replace('"provider"', '"provider"').replace('"os/read"', '"os/rea*"')
    assert compare(many, loads(other)).changes
    for broken in (
        other.replace('"limits": {', '"limits": {"rounds": 1, ', 1),
        other.replace('"limits": {', '"from": "twice.yaml", "limits": {', 1),
    ):
        with pytest.raises(LockError):
            compare(many, loads(broken))
