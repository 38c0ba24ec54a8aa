"""Reading a lock: what is refused, with which code, and where (docs/lockfile.md §4)."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.composition import Agent, Fragment, Lock
from symc.diagnostics import Diagnostic, Position
from symc.lock import LockError, dumps, loads, verify
from symc.lock.writing import render
from tests.lock.sample import LOCK

TEXT = dumps(LOCK)
TREE = json.loads(TEXT)


def refused(text: str | bytes) -> Diagnostic:
    """The one diagnostic of a text that is no lock, wherever on the way it is found out."""
    with pytest.raises(LockError) as error:
        read_all(text)
    return error.value.diagnostics[0]


def read_all(text: str | bytes) -> Lock:
    lock = loads(text)
    verify(lock)
    return lock


def edited(edit: Callable[[Any], object]) -> str:
    tree = copy.deepcopy(TREE)
    edit(tree)
    return render(tree)


@pytest.mark.parametrize(
    "marker", ["<<<<<<< HEAD", ">>>>>>> branch", "||||||| base", "<<<<<<<", "<<<<<<< HEAD\r"]
)
def test_a_conflict_is_called_one(marker: str) -> None:
    """L20."""
    lines = TEXT.split("\n")
    lines.insert(7, marker)
    found = refused("\n".join(lines))
    assert found.name == "lock-conflict"
    assert found.primary.start == Position(8, 1)
    assert "symc compile" in (found.hint.text if found.hint else "")


def test_a_whole_conflict() -> None:
    ours, theirs = '    "digest": "a"\n', '    "digest": "b"\n'
    text = TEXT.replace("\n", f"\n<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n", 1)
    assert refused(text).name == "lock-conflict"


@pytest.mark.parametrize("line", ["=======", "  <<<<<<< HEAD", "<<<<<<<<", "<<<<<< HEAD"])
def test_what_is_no_conflict_is_not_called_one(line: str) -> None:
    lines = TEXT.split("\n")
    lines.insert(7, line)
    found = refused("\n".join(lines))
    assert found.name == "lock-unreadable"
    assert found.primary.start.line == 8


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", ">>>>>>> x", "||||||| x", "======="])
def test_a_prompt_may_speak_of_conflicts(line: str) -> None:
    """L20: never inside a string."""
    fragment = Fragment(fragment_id="f", text=f"Resolve\n{line}\nby hand.")
    agent = Agent(name="a", source="a.yaml", prompt=("a/f",), fragments={"f": fragment})
    lock = Lock(agents={"a": agent})
    assert read_all(dumps(lock)) == lock


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (2, "lock-version-newer"),
        (99, "lock-version-newer"),
        (0, "lock-version-unknown"),
        (-1, "lock-version-unknown"),
        ("1", "lock-version-unknown"),
        (True, "lock-version-unknown"),
        (1.5, "lock-version-unknown"),
        (None, "lock-version-unknown"),
        ([], "lock-version-unknown"),
    ],
)
def test_versions(version: object, name: str) -> None:
    """L30."""
    found = refused(json.dumps({"agents": {}, "lock_version": version}))
    assert found.name == name


def test_a_newer_lock_names_the_release_that_reads_it() -> None:
    text = json.dumps({"lock_version": 3, "agents": ["of", "another", "shape"], "more": 1}, indent=2)
    found = refused(text)
    assert found.name == "lock-version-newer"
    assert "3" in found.message
    assert found.hint is not None
    assert "symc 0.3" in found.hint.text
    assert found.primary.start == Position(2, 3)


def test_a_version_is_shown_as_it_is_written() -> None:
    found = refused('{"agents": {}, "lock_version": {"true": [false, null]}}')
    assert '{"true": [false, null]}' in found.message


def test_no_version() -> None:
    assert refused('{"agents": {}}').name == "lock-version-unknown"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"lock"',
        "{",
        '{"agents": {}, "lock_version": 1} {}',
        '{"agents": {}, "lock_version": 1,}',
        '{"agents" {}}',
        "{'agents': {}}",
        "\ufeff" + TEXT,
        b"\xff\xfe",
        b'{"agents": {}, \xc3\x28}',
        TEXT.encode("utf-16"),
        TEXT[:-40],
        '{"agents": {"a": NaN}, "lock_version": 1}',
        '{"agents": {"a": -Infinity}, "lock_version": 1}',
        '{"agents": {"a": %s}, "lock_version": 1}' % ("9" * 5000),
        '{"agents": {"a": 9007199254740993}, "lock_version": 1}',
        '{"agents": {"a": ' + "[" * 100_000 + '}, "lock_version": 1}',
        '{"agents": {"a": ' + '{"a":' * 100_000 + '}, "lock_version": 1}',
        '{"agents":' * 50_000,
        "\0" * 100,
    ],
    ids=range(22),
)
def test_what_is_no_json(text: str | bytes) -> None:
    found = refused(text)
    assert found.name == "lock-unreadable"
    assert "Traceback" not in found.message
    assert "set_int_max_str_digits" not in found.message


def test_the_place_of_a_syntax_error() -> None:
    lines = TEXT.split("\n")
    lines[4] = lines[4].replace('"', "'")
    assert refused("\n".join(lines)).primary.start == Position(5, 9)


def test_the_place_of_a_byte_that_is_not_utf8() -> None:
    found = refused(b'{"agents": {},\n "\xc3\xa4\xff": 1}')
    assert found.primary.start == Position(2, 4)


@pytest.mark.parametrize("half", ['"\\ud800"', '"\\udc00x"', '"\ud800"'])
def test_half_a_character(half: str) -> None:
    text = TEXT.replace('"claude-sonnet-4-5"', half)
    assert refused(text).name == "lock-unreadable"


def test_half_a_character_in_a_name() -> None:
    assert refused(TEXT.replace('"researcher": {', '"\\ud800": {')).name == "lock-unreadable"


def test_a_float_beyond_all() -> None:
    assert refused(TEXT.replace('"ttl": 5', '"ttl": 1e999')).name == "lock-unreadable"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ((), "agent"),
        (("agents", "support"), "extentions"),
        (("agents", "support", "tools", "fs_read_file"), "guarded"),
        (("agents", "support", "tools", "find_customer", "chain", 0), "cfg"),
        (("agents", "support", "limits"), "tool"),
        (("agents", "support", "cache_plan"), "statics"),
        (("agents", "support", "lifecycle"), "start"),
        (("agents", "support", "delegates", "researcher"), "may"),
        (("agents", "support", "rendered", "crm/etiquette"), "lines"),
        (("bases", "base-support"), "name"),
        (("bases", "base-support", "slots", "customer"), "text"),
        (("extensions", "crm"), "prompts"),
        (("extensions", "crm", "fragments", "etiquette"), "texts"),
        (("extensions", "crm", "policies", "no-bulk-export"), "allow"),
        (("extensions", "crm", "policies", "no-bulk-export", "tools", 1), "pattern"),
        (("extensions", "crm", "lifecycle", "open-pool"), "order"),
        (("extensions", "crm", "tools", "lookup_customer"), "exec"),
        (("extensions", "crm", "tool_extensions", "memo"), "kinds"),
        (("extensions", "files", "mcp"), "comand"),
        (("workspace",), "tools"),
    ],
)
def test_an_unknown_key_is_refused_at_every_level(path: tuple[str | int, ...], key: str) -> None:
    """L30: it might be a veto."""

    def edit(tree: Any) -> None:
        for step in path:
            tree = tree[step]
        tree[key] = "x"

    found = refused(edited(edit))
    assert found.name == "lock-structure"
    assert key in found.message
    assert _line(edited(edit), found) == f'"{key}": "x"'


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("agents",), []),
        (("agents", "support"), "x"),
        (("agents", "support", "grants"), "tool_call"),
        (("agents", "support", "grants", 0), 1),
        (("agents", "support", "limits", "tools"), True),
        (("agents", "support", "limits", "tools"), -1),
        (("agents", "support", "limits", "tools"), 1.5),
        (("agents", "support", "tools"), []),
        (("agents", "support", "tools", "lookup_customer", "exposed"), 0),
        (("agents", "support", "tools", "find_customer", "chain"), {}),
        (("agents", "support", "tools", "find_customer", "description"), "text"),
        (("agents", "support", "tools", "find_customer", "description"), []),
        (("agents", "support", "tools", "find_customer", "description", 0), "a\nb"),
        (("agents", "support", "tools", "find_customer", "input_schema"), None),
        (("agents", "support", "effects"), []),
        (("agents", "support", "prefixes", "files"), 1),
        (("agents", "support", "digest"), "sha256:00"),
        (("agents", "support", "delegates"), []),
        (("extensions",), []),
        (("extensions", "crm", "digest"), None),
        (("extensions", "crm", "tools", "lookup_customer", "input_schema"), []),
        (("extensions", "crm", "fragments", "notes", "layer"), "l9"),
        (("extensions", "crm", "fragments", "notes", "truncated"), "yes"),
        (("extensions", "crm", "policies", "no-bulk-export", "effect"), "allow"),
        (("extensions", "crm", "policies", "no-bulk-export", "tools"), {}),
        (("extensions", "crm", "policies", "no-bulk-export", "tools", 0), 1),
        (("extensions", "crm", "policies", "no-bulk-export", "when"), "x"),
        (("extensions", "crm", "tool_extensions", "memo", "kind"), "decorator"),
        (("extensions", "files", "mcp", "env"), []),
        (("workspace",), []),
    ],
)
def test_a_wrong_type_is_refused(path: tuple[str | int, ...], value: object) -> None:
    def edit(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        tree[path[-1]] = value

    assert refused(edited(edit)).name == "lock-structure"


@pytest.mark.parametrize(
    "path",
    [
        ("agents",),
        ("agents", "support", "limits"),
        ("agents", "support", "from"),
        ("agents", "support", "digest"),
        ("agents", "support", "tools", "find_customer", "digest"),
        ("agents", "support", "tools", "find_customer", "raw"),
        ("bases", "base-support", "digest"),
        ("extensions", "crm", "fragments", "etiquette", "text"),
        ("extensions", "crm", "fragments", "etiquette", "digest"),
        ("extensions", "crm", "fragments", "etiquette", "rendered", "digest"),
        ("workspace", "name"),
    ],
)
def test_a_missing_key_is_refused(path: tuple[str, ...]) -> None:
    def edit(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        del tree[path[-1]]

    found = refused(edited(edit))
    assert found.name == "lock-structure"
    assert path[-1] in found.message


def test_a_digest_that_covers_nothing_is_refused() -> None:
    digest = "sha256:" + "0" * 64
    text = edited(lambda tree: tree["agents"]["support"]["tools"]["lookup_customer"].update(digest=digest))
    assert refused(text).name == "lock-structure"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda tree: tree["extensions"].pop("crm"), "crm/lookup_customer"),
        (lambda tree: tree["extensions"].pop("std"), "std"),
        (lambda tree: tree["extensions"].pop("guardrails"), "guardrails"),
        (lambda tree: tree.pop("bases"), "base-support"),
        (lambda tree: tree["agents"].pop("researcher"), "researcher"),
        (lambda tree: tree["extensions"]["crm"].pop("tools"), "crm/lookup_customer"),
        (lambda tree: tree["extensions"]["crm"]["tool_extensions"].pop("memo"), "crm/memo"),
        (lambda tree: tree["extensions"]["crm"]["fragments"].pop("notes"), "crm/notes"),
        (lambda tree: tree["extensions"]["crm"]["lifecycle"].pop("open-pool"), "crm/open-pool"),
        (lambda tree: tree["agents"]["support"].pop("fragments"), "support/instructions"),
        (lambda tree: tree.pop("workspace"), "acme/kernel"),
        (lambda tree: tree["agents"]["support"]["prompt"].remove("crm/etiquette"), None),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(edit: Callable[[Any], object], said: str | None) -> None:
    with pytest.raises(LockError) as error:
        read_all(edited(edit))
    if said is not None:
        structure = [one for one in error.value.diagnostics if one.name == "lock-structure"]
        assert any(f'"{said}"' in one.message for one in structure)


def test_delegation_in_a_circle_is_refused() -> None:
    def edit(tree: Any) -> None:
        tree["agents"]["researcher"]["delegates"] = {"support": {"tool": "ask_support"}}

    found = refused(edited(edit))
    assert found.name == "lock-structure"
    assert "circle" in found.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("agents", "researcher", "delegates"), {}),
        (("agents", "researcher", "slots"), {}),
        (("agents", "researcher", "env"), []),
        (("agents", "researcher", "provider"), "none"),
        (("agents", "support", "tools", "lookup_customer", "exposed"), True),
        (("extensions", "files", "tools", "read_file", "invoke"), ""),
        (("extensions", "files", "mcp", "headers"), {}),
        (("bases", "base-support", "policies"), {}),
    ],
)
def test_what_is_so_without_being_said_is_not_said(path: tuple[str, ...], value: object) -> None:
    """L1: one lock has one form, so that two that mean the same have the same digest."""

    def edit(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        tree[path[-1]] = value

    found = refused(edited(edit))
    assert found.name == "lock-structure"
    assert ".".join(path) in found.message
    assert "which symc never writes" in found.message or "symc never writes that" in found.message
    assert "the lock was edited by hand" in found.message


@pytest.mark.parametrize("section", ["bases", "extensions"])
def test_an_empty_section_is_left_out(section: str) -> None:
    assert refused(json.dumps({"agents": {}, section: {}, "lock_version": 1})).name == "lock-structure"


def test_a_tool_does_not_repeat_what_its_extension_says() -> None:
    def edit(tree: Any) -> None:
        tool = tree["agents"]["support"]["tools"]["lookup_customer"]
        tool["description"] = tree["extensions"]["crm"]["tools"]["lookup_customer"]["description"]
        tool["digest"] = "sha256:" + "0" * 64

    assert "tools.lookup_customer.description" in refused(edited(edit)).message


def test_a_long_line_of_delegates_is_read() -> None:
    from symc.composition import Delegate

    names = [f"a{number}" for number in range(2000)]
    agents = {
        name: Agent(
            name=name,
            source="a.yaml",
            delegates={child: Delegate(agent=child, tool=f"ask_{child}")} if child else {},
        )
        for name, child in zip(names, [*names[1:], ""], strict=True)
    }
    lock = loads(dumps(Lock(agents=agents)))
    assert lock.composition("a0").delegates["a1"].name == "a1"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ((), "lock_version"),
        ((), "extensions"),
        (("agents",), "support"),
        (("agents", "support", "fragments"), "instructions"),
        (("extensions", "crm", "tools", "lookup_customer", "input_schema", "properties"), "key"),
        (("agents", "support", "tools", "find_customer", "chain", 0, "config"), "ttl"),
        (("workspace", "policies"), "budget"),
    ],
)
def test_a_key_that_stands_twice_is_refused(path: tuple[str | int, ...], key: str) -> None:
    """A merge that kept both sides: the second would win without a word."""
    value: Any = TREE
    for step in path:
        value = value[step]
    # A key that is in the text once, to be exchanged for the same key twice.
    marked = copy.deepcopy(TREE)
    inner: Any = marked
    for step in path:
        inner = inner[step]
    inner["\x01"] = value[key]
    text = render(marked).replace('"\\u0001"', json.dumps(key))
    found = refused(text)
    assert found.name == "lock-duplicate-key"
    assert f'"{key}"' in found.message
    first, second = found.secondary[0].span.start.line, found.primary.start.line
    lines = text.split("\n")
    assert lines[first - 1].lstrip().startswith(f'"{key}"')
    assert lines[second - 1].lstrip().startswith(f'"{key}"')
    assert first < second


def test_an_entry_is_read_when_it_is_asked_for() -> None:
    text = edited(lambda tree: tree["agents"]["researcher"].update(unknown=1))
    lock = loads(text)
    assert list(lock.agents) == ["researcher", "support"]
    assert lock.extensions["crm"] == LOCK.extensions["crm"]
    with pytest.raises(LockError):
        lock.agents["researcher"]
    with pytest.raises(KeyError):
        lock.agents["nobody"]
    assert lock.agents.get("nobody") is None


def test_another_layout_of_the_same_json_is_the_same_lock() -> None:
    for text in (json.dumps(TREE), json.dumps(TREE, indent=4), TEXT.replace("\n", "\r\n")):
        assert read_all(text) == LOCK


def test_the_name_of_the_file_is_said() -> None:
    with pytest.raises(LockError) as error:
        loads("{", file="old.lock")
    found = error.value.diagnostics[0]
    assert found.primary.file == "old.lock"
    assert "old.lock" in found.message


_BYTES = TEXT.encode()


@given(
    st.lists(
        st.tuples(st.integers(0, len(_BYTES) - 1), st.integers(0, 40), st.binary(max_size=12)),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_bytes_are_only_a_lock_error_is_raised(cuts: list[tuple[int, int, bytes]]) -> None:
    text = _BYTES
    for at, length, new in cuts:
        text = text[:at] + new + text[at + length :]
    with contextlib.suppress(LockError):
        read_all(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["agents", "digest", "tools", "text", "extension", "chain", "a", "from"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    ),
    st.sampled_from([("agents",), ("extensions",), ("bases",), ("workspace",), ("agents", "support")]),
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_json_is_only_a_lock_error_is_raised(value: Any, path: tuple[str, ...]) -> None:
    def edit(tree: Any) -> None:
        for step in path[:-1]:
            tree = tree[step]
        tree[path[-1]] = value

    tree = copy.deepcopy(TREE)
    edit(tree)
    with contextlib.suppress(LockError):
        read_all(json.dumps(tree))


def _line(text: str, found: Diagnostic) -> str:
    return text.split("\n")[found.primary.start.line - 1].strip().rstrip(",")


def test_a_rendered_text_of_nothing_is_refused() -> None:
    def edit(tree: Any) -> None:
        rendered = tree["agents"]["support"]["rendered"]
        rendered["crm/other"] = rendered.pop("crm/etiquette")

    with pytest.raises(LockError) as error:
        read_all(edited(edit))
    assert {one.name for one in error.value.diagnostics} == {"lock-structure", "lock-digest"}


def test_a_pattern_that_is_none_is_refused() -> None:
    def edit(tree: Any) -> None:
        tree["extensions"]["crm"]["policies"]["no-bulk-export"]["tools"][0] = "crm/[a"

    with pytest.raises(LockError) as error:
        read_all(edited(edit))
    assert "lock-structure" in {one.name for one in error.value.diagnostics}


def test_a_number_that_has_no_canonical_form_is_refused() -> None:
    text = TEXT.replace('"timeout": 2.5', '"timeout": 1e999')
    assert refused(text).name == "lock-digest"


def test_a_compiled_lock_is_verified_for_what_it_derives() -> None:
    verify(LOCK)
    agent = replace(LOCK.agents["support"], effects={})
    with pytest.raises(LockError) as error:
        verify(replace(LOCK, agents={**LOCK.agents, "support": agent}))
    assert {one.name for one in error.value.diagnostics} == {"lock-derived"}


def test_an_extension_that_nobody_uses_is_read_by_a_whole_verification() -> None:
    def edit(tree: Any) -> None:
        tree["extensions"]["unused"] = {"from": "x.yaml", "digest": "sha256:" + "0" * 64, "unknown": 1}

    assert refused(edited(edit)).name == "lock-structure"
    verify(loads(edited(edit)), "support")


def test_entries_show_their_names() -> None:
    assert repr(loads(TEXT).agents) == "Entries(researcher, support)"
