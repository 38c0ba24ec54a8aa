"""Exact cover (L11–L13): each value of a lock changes exactly the one digest that the documentation names."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from symc.canonical import pointer
from symc.composition import Agent, BoundTool, Lock, entries, records
from symc.composition.cover import digest_of, seal, seals
from symc.composition.form import Record
from symc.lock import LockError, digest_lines, dumps, expect_digest, loads, verify
from tests.lock.sample import CRM, FILES, LOCK, READ, RESEARCHER, SUPPORT

TEXT = dumps(LOCK)
TREE = json.loads(TEXT)
Step = str | int
Path_ = tuple[Step, ...]

# The rows of docs/lockfile.md §3, the first that fits counts: a path, and the digest that covers it (empty: none).
ROWS: tuple[tuple[str, str], ...] = (
    (r"/lock_version", ""),
    (r"/(agents/[^/]+|extensions/[^/]+|bases/[^/]+|workspace)/from", ""),
    (r"/agents/[^/]+/effects(/.*)?", ""),
    (r"/agents/[^/]+/tools/[^/]+/guarded_by(/.*)?", ""),
    (r"(.*)/digest", r"\1/digest"),
    (
        r"(/(?:agents|extensions|bases)/[^/]+|/workspace)(/fragments/[^/]+/rendered)/text(/.*)?",
        r"\1\2/digest",
    ),
    (r"(/agents/[^/]+/rendered/[^/]+)/text(/.*)?", r"\1/digest"),
    (
        r"(/(?:agents|extensions|bases)/[^/]+|/workspace)(/(?:fragments|slots|policies)/[^/]+)/.*",
        r"\1\2/digest",
    ),
    (r"(/extensions/[^/]+/(?:lifecycle|tools|tool_extensions)/[^/]+)/.*", r"\1/digest"),
    (
        r"(/agents/[^/]+/tools/[^/]+)/(?:description|input_schema|output_schema|annotations|overrides|adaptations)(/.*)?",
        r"\1/digest",
    ),
    (r"(/(?:agents|extensions|bases)/[^/]+|/workspace)/.*", r"\1/digest"),
)


def documented(path: Path_) -> str:
    """The pointer of the one digest that covers the value, by the table; empty for none."""
    text = pointer(path)
    for pattern, digest in ROWS:
        if found := re.fullmatch(pattern, text):
            return found.expand(digest)
    raise AssertionError(f"the table has no row for {text}")


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def keys(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from keys(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from keys(item, (*path, index))


def other(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x"
        case dict():
            return {"x": 1}
        case list():
            return ["x"]
        case _:
            return {"type": "object"}


def broken(tree: Any) -> list[str]:
    """Pointers of the digests that do not hold."""
    return [pointer((*one.path, "digest")) for one in seals(tree) if one.computed != one.record["digest"]]


def changed(path: Path_, value: Any) -> Any:
    tree = copy.deepcopy(TREE)
    inner: Any = tree
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return tree


LEAVES = list(leaves(TREE))


def test_the_sample_holds_every_key_that_a_lock_can_hold() -> None:
    """Otherwise the tests below would say less than they seem to."""
    tables = [
        one for module in (records, entries) for one in vars(module).values() if isinstance(one, Record)
    ]
    known = {key.name for table in tables for key in table.keys}
    assert known - {str(path[-1]) for path in keys(TREE)} == set()


@pytest.mark.parametrize(("path", "value"), LEAVES, ids=[pointer(path) for path, _ in LEAVES])
def test_a_value_changes_exactly_its_one_digest(path: Path_, value: Any) -> None:
    expected = documented(path)
    assert broken(changed(path, other(value))) == ([expected] if expected else [])


# Whole sections and entries are covered by the composition digest; a part without its text, and a digest that covers
# nothing any more, are refused by the reader (test_reading.py).
GONE = [
    path
    for path in keys(TREE)
    if len(path) > (2 if path[0] in {"agents", "extensions", "bases"} else 1)
    and path[-1] not in {"digest", "text", "chain"}
    and path[-2:] != ("etiquette", "rendered")
]


@pytest.mark.parametrize("path", GONE, ids=pointer)
def test_a_key_that_is_gone_changes_exactly_one_digest(path: Path_) -> None:
    """A part that is gone is missed by the entry that held it, which covers the ids of its parts."""
    tree = copy.deepcopy(TREE)
    inner: Any = tree
    for step in path[:-1]:
        inner = inner[step]
    own = inner[path[-1]]
    del inner[path[-1]]
    is_part = isinstance(own, dict) and "digest" in own
    expected = documented(path[:-1] if is_part else path)
    if path[-1] in {"fragments", "slots", "policies", "tools", "lifecycle", "tool_extensions", "rendered"}:
        expected = documented((*path[:-1], "x"))
    assert broken(tree) == ([expected] if expected else [])


def test_the_order_of_maps_is_covered_by_nothing() -> None:
    shuffled = json.loads(json.dumps(TREE), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert broken(shuffled) == []
    assert digest_of(shuffled) == digest_of(TREE)


@pytest.mark.parametrize(
    "path",
    [
        ("agents", "support", "prompt"),
        ("agents", "support", "extensions"),
        ("agents", "support", "tools", "find_customer", "chain"),
    ],
)
def test_order_that_means_something_is_covered(path: Path_) -> None:
    value: Any = TREE
    for step in path:
        value = value[step]
    assert broken(changed(path, list(reversed(value)))) == ["/agents/support/digest"]


def test_the_documentation_has_the_table() -> None:
    text = Path(__file__).parents[2].joinpath("docs/lockfile.md").read_text(encoding="utf-8")
    domains = {one.domain for one in seals(TREE)}
    assert domains == set(re.findall(r"\| `([a-z-]+)` \|$", text, re.MULTILINE))


def test_every_value_a_digest_covers_is_named_in_a_message() -> None:
    tree = changed(("extensions", "crm", "fragments", "notes", "text", 0), "other")
    with pytest.raises(LockError) as error:
        verify(loads(json.dumps(tree, indent=2)))
    (found,) = error.value.diagnostics
    assert found.name == "lock-digest"
    assert 'fragment "crm/notes"' in found.message
    text = json.dumps(tree, indent=2).split("\n")
    assert '"digest"' in text[found.primary.start.line - 1]


# What verify says, through the reader: nothing gets past it.


@pytest.mark.parametrize(("path", "value"), LEAVES, ids=[pointer(path) for path, _ in LEAVES])
def test_a_changed_value_is_refused_or_means_the_same(path: Path_, value: Any) -> None:
    text = json.dumps(changed(path, other(value)))
    if path[-1] == "from":
        verify(loads(text))
        return
    with pytest.raises(LockError) as error:
        verify(loads(text))
    if "guarded_by" in path or "effects" in path:
        assert {one.name for one in error.value.diagnostics} == {"lock-derived"}


def test_a_veto_that_is_taken_from_a_tool_is_refused() -> None:
    tree = changed(("agents", "support", "tools", "lookup_customer", "guarded_by"), [])
    with pytest.raises(LockError) as error:
        verify(loads(json.dumps(tree)), "support")
    assert [one.name for one in error.value.diagnostics] == ["lock-derived"]
    assert "crm/no-bulk-export" in error.value.diagnostics[0].message


def test_only_what_the_agent_reaches_is_verified() -> None:
    text = json.dumps(changed(("extensions", "crm", "version"), "9"))
    verify(loads(text), "researcher")
    with pytest.raises(LockError):
        verify(loads(text), "support")
    with pytest.raises(LockError):
        verify(loads(text))


def test_an_agent_that_is_not_there() -> None:
    with pytest.raises(LockError) as error:
        verify(loads(TEXT), "suport")
    (found,) = error.value.diagnostics
    assert found.name == "lock-agent-unknown"
    assert found.hint is not None
    assert "support" in found.hint.text


SMALL = dumps(
    Lock(
        agents={
            "a": replace(RESEARCHER, name="a", prompt=(), effects={}, description="Ä"),
        },
        extensions={"files": replace(FILES, mcp=None, tools={"r": replace(READ, name="r", input_schema={})})},  # type: ignore[arg-type]
    )
).encode()


def test_a_flipped_byte_is_refused_or_means_the_same() -> None:
    same = digest_lines(loads(SMALL))
    free = {
        at
        for found in re.finditer(rb'"from": "([^"]*)"', SMALL)
        for at in range(found.start(1), found.end(1))
    }
    for at, byte in enumerate(SMALL):
        for flip in (0x01, 0x04, 0x20, 0x80):
            text = SMALL[:at] + bytes([byte ^ flip]) + SMALL[at + 1 :]
            try:
                lock = loads(text)
                verify(lock)
            except LockError:
                continue
            assert digest_lines(lock) == same, text[max(0, at - 30) : at + 10]
            # Only what no digest covers: where a thing was written, and white space.
            assert at in free or not byte.to_bytes().strip(), text[max(0, at - 30) : at + 10]


# The composition digest.


def test_lines_of_digests() -> None:
    """L12: the whole lock first, then the agents."""
    lines = digest_lines(LOCK)
    assert [line.split("  ")[1] for line in lines] == ["*", "researcher", "support"]
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}  \S+", line) for line in lines)
    assert digest_lines(loads(TEXT)) == lines


def by_name(lock: Lock) -> dict[str, str]:
    return {name: digest for digest, name in (line.split("  ") for line in digest_lines(lock))}


def test_a_composition_knows_its_digest() -> None:
    lines = by_name(LOCK)
    for lock in (LOCK, loads(TEXT)):
        for name in ("support", "researcher"):
            assert lock.composition(name).digest == lines[name]


@pytest.mark.parametrize(("path", "value"), LEAVES, ids=[pointer(path) for path, _ in LEAVES])
def test_the_composition_digest_follows_everything_that_counts(path: Path_, value: Any) -> None:
    after = digest_of(changed(path, other(value)))
    counts = path == ("lock_version",) or (path[-1] != "digest" and documented(path) != "")
    assert (after != digest_of(TREE)) == counts


def test_what_another_agent_selects_does_not_count() -> None:
    tool = BoundTool(
        name="read_file",
        extension="files",
        raw="read_file",
        selected_by="files/*",
        description=READ.description,
    )
    more = replace(READ, name="write_file")
    other_agent = Agent(
        name="other",
        source="other.yaml",
        extensions=("files",),
        tools={"write_file": replace(tool, name="w", raw="write_file")},
    )
    wider = replace(
        LOCK,
        agents={**LOCK.agents, "other": other_agent},
        extensions={**LOCK.extensions, "files": replace(FILES, tools={**FILES.tools, "write_file": more})},
    )
    assert digest_lines(wider)[0] != digest_lines(LOCK)[0]
    assert wider.composition("support").digest == LOCK.composition("support").digest


def test_what_a_delegate_is_counts() -> None:
    child = replace(RESEARCHER, model="other")
    lock = replace(LOCK, agents={**LOCK.agents, "researcher": child})
    assert lock.composition("support").digest != LOCK.composition("support").digest


def test_an_unused_tool_of_a_used_extension_does_not_count() -> None:
    crm = replace(CRM, tools={**CRM.tools, "more": replace(READ, name="more")})
    lock = replace(LOCK, extensions={**LOCK.extensions, "crm": crm})
    assert lock.composition("support").digest == LOCK.composition("support").digest


def test_a_policy_of_a_used_extension_counts() -> None:
    crm = replace(CRM, policies={})
    lock = replace(LOCK, extensions={**LOCK.extensions, "crm": crm})
    assert lock.composition("support").digest != LOCK.composition("support").digest


def test_an_agent_that_others_extend_gives_its_parts() -> None:
    child = Agent(
        name="child",
        source="child.yaml",
        bases=("support",),
        prompt=("support/instructions", "acme/kernel"),
        policies={},
    )
    lock = replace(LOCK, agents={**LOCK.agents, "child": child})
    before = lock.composition("child").digest
    assert before == by_name(loads(dumps(lock)))["child"]
    # The base's own model is no matter of the child; its policies and the fragments in the child's prompt are.
    text = replace(SUPPORT.fragments["instructions"], text="Others.")
    for agent, counts in (
        (replace(SUPPORT, model="other"), False),
        (replace(SUPPORT, policies={}), True),
        (replace(SUPPORT, fragments={"instructions": text}), True),
    ):
        changed_lock = replace(lock, agents={**lock.agents, "support": agent})
        assert (changed_lock.composition("child").digest != before) == counts


@pytest.mark.parametrize(
    ("path", "value", "name"),
    [
        (("workspace", "digest"), "sha256:" + "0" * 64, "lock-digest"),
        (("agents", "support", "tools", "lookup_customer", "guarded_by"), ["acme/none"], "lock-derived"),
    ],
)
def test_who_finds_another_lock_is_told_to_look_before_it_is_overwritten(
    path: Path_, value: Any, name: str
) -> None:
    with pytest.raises(LockError) as error:
        verify(loads(json.dumps(changed(path, value)), file="deployed/symc.lock"))
    found = next(one for one in error.value.diagnostics if one.name == name)
    assert found.hint is not None
    assert found.hint.text.startswith("look first, with: git diff deployed/symc.lock")


def test_an_expected_digest() -> None:
    whole, researcher, _ = digest_lines(LOCK)
    lock = loads(TEXT)
    expect_digest(lock, whole.split()[0])
    expect_digest(lock, researcher.split()[0], "researcher")
    for expected, agent, next_step in (
        (researcher.split()[0], None, f"symc verify researcher --expect {researcher.split()[0]}"),
        (researcher.split()[0], "support", 'that is the digest of agent "researcher" alone'),
        (whole.split()[0], "researcher", "that is the digest of the whole lock"),
        ("sha256:12", None, "git diff symc.lock"),
        ("sha256:" + "0" * 64, "support", "symc digest support"),
    ):
        with pytest.raises(LockError) as error:
            expect_digest(lock, expected, agent)
        (found,) = error.value.diagnostics
        assert found.name == "lock-expectation"
        assert expected in found.message
        assert found.hint is not None
        assert next_step in found.hint.text


def test_who_computes_the_stored_digests_anew_still_fails_the_expected_one() -> None:
    whole, _, support = digest_lines(LOCK)
    tree = changed(("workspace", "fragments", "kernel", "text", 0), "Lie.")
    seal(tree)
    tampered = loads(json.dumps(tree))
    verify(tampered)
    for expected, agent in ((whole.split()[0], None), (support.split()[0], "support")):
        with pytest.raises(LockError) as error:
            expect_digest(tampered, expected, agent)
        assert [one.name for one in error.value.diagnostics] == ["lock-expectation"]


def test_who_expects_a_digest_verifies() -> None:
    whole = digest_lines(LOCK)[0].split()[0]
    for path, value in ((("workspace", "digest"), "sha256:" + "0" * 64), (("extensions", "crm"), "x")):
        with pytest.raises(LockError):
            expect_digest(loads(json.dumps(changed(path, value))), whole)
