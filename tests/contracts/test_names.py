"""Names, references and tool patterns (docs/manifests.md §2)."""

from __future__ import annotations

import fnmatch
import pickle
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symc.contracts.names import (
    EXTENSION_NAME,
    LOCAL_TOOL_NAME,
    MEMBER_ID,
    RAW_TOOL_NAME,
    TOOL_EXTENSION_NAME,
    NameRule,
    ToolPattern,
    is_extension_name,
    is_local_tool_name,
    is_member_id,
    is_raw_tool_name,
    is_reserved_name,
    is_tool_extension_name,
    split_reference,
)

#        text           extension member  tool-ext local  raw
NAMES = [
    ("crm", True, True, True, True, True),
    ("a", True, True, True, True, True),
    ("a1", True, True, True, True, True),
    ("acme.crm", True, True, False, False, True),
    ("acme-crm", True, True, False, True, True),
    ("acme_crm", False, True, True, True, True),
    ("a-b.c-d", True, True, False, False, True),
    ("a_b-c", False, True, False, True, True),
    ("a--b", False, False, False, True, True),
    ("a__b", False, False, False, True, True),
    ("a-", False, False, False, True, True),
    ("a_", False, False, False, True, True),
    ("-a", False, False, False, False, True),
    ("_a", False, False, False, True, True),
    ("1a", False, False, False, False, True),
    ("a.1", True, True, False, False, True),
    ("CRM", False, False, False, True, True),
    ("aB", False, False, False, True, True),
    ("a/b", False, False, False, False, True),
    ("", False, False, False, False, False),
    ("a b", False, False, False, False, False),
    ("a\n", False, False, False, False, False),
    ("\na", False, False, False, False, False),
    ("é", False, False, False, False, False),
    ("検索", False, False, False, False, False),
    ("a\u200b", False, False, False, False, False),
    ("١", False, False, False, False, False),
    ("a*", False, False, False, False, False),
    ("a" * 32, True, True, True, True, True),
    ("a" * 33, True, True, False, True, True),
    ("a" * 64, True, True, False, True, True),
    ("a" * 65, False, False, False, False, True),
    ("a" * 128, False, False, False, False, True),
    ("a" * 129, False, False, False, False, False),
]


@pytest.mark.parametrize(("text", "extension", "member", "tool_extension", "local", "raw"), NAMES)
def test_names(
    text: str, extension: bool, member: bool, tool_extension: bool, local: bool, raw: bool
) -> None:
    assert is_extension_name(text) is extension
    assert is_member_id(text) is member
    assert is_tool_extension_name(text) is tool_extension
    assert is_local_tool_name(text) is local
    assert is_raw_tool_name(text) is raw


@pytest.mark.parametrize(
    "rule", [EXTENSION_NAME, MEMBER_ID, TOOL_EXTENSION_NAME, LOCAL_TOOL_NAME, RAW_TOOL_NAME]
)
def test_a_refused_name_has_a_fault_and_an_accepted_one_has_none(rule: NameRule) -> None:
    for text, *_ in NAMES:
        assert (rule.fault(text) is None) == rule.accepts(text)
    for value in (None, 1, b"crm", ["crm"]):
        assert not rule.accepts(value)
        assert rule.fault(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a" * 65, "has 65 characters; at most 64 are allowed"),
        ("a_b", "must be lower-case letters"),
    ],
)
def test_a_fault_says_why(text: str, says: str) -> None:
    assert says in (EXTENSION_NAME.fault(text) or "")


@pytest.mark.parametrize(
    ("text", "reserved"), [("std", True), ("symc", True), ("std2", False), ("crm", False)]
)
def test_reserved_names(text: str, reserved: bool) -> None:
    assert is_reserved_name(text) is reserved


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("crm/lookup_customer", ("crm", "lookup_customer")),
        ("files/a/b", ("files", "a/b")),
        ("memo", (None, "memo")),
        ("/x", ("", "x")),
        ("crm/", ("crm", "")),
        ("", (None, "")),
    ],
)
def test_a_reference_is_split_at_its_first_slash(text: str, parts: tuple[str | None, str]) -> None:
    assert split_reference(text) == parts


MATCHES = [
    # pattern, extension, raw name, matches
    ("crm/lookup", "crm", "lookup", True),
    ("crm/lookup", "crm", "Lookup", False),
    ("crm/Lookup", "crm", "lookup", False),
    ("crm/lookup", "crm", "lookup2", False),
    ("crm/lookup", "billing", "lookup", False),
    ("crm/*", "crm", "lookup", True),
    ("crm/*", "crm2", "lookup", False),
    ("crm/*", "crm", "a/b.c", True),  # `*` crosses every character
    ("files/read*", "files", "read/all/files", True),
    ("files/*/b", "files", "a/x/b", True),
    ("*/delete_*", "crm", "delete_all", True),
    ("*/delete_*", "files", "delete_", True),
    ("*/delete_*", "files", "undelete_x", False),
    ("*/shell", "anything", "shell", True),
    ("*/shell", "anything", "shell2", False),
    ("crm/export_?", "crm", "export_a", True),
    ("crm/export_?", "crm", "export_", False),
    ("crm/export_?", "crm", "export_ab", False),
    ("crm/[ab]x", "crm", "ax", True),
    ("crm/[ab]x", "crm", "cx", False),
    ("crm/[a-c]x", "crm", "bx", True),
    ("crm/[a-c]x", "crm", "Bx", False),
    ("crm/[!a-c]x", "crm", "dx", True),
    ("crm/[!a-c]x", "crm", "bx", False),
    ("crm/[a-]x", "crm", "-x", True),
    ("crm/[-a]x", "crm", "-x", True),
    ("crm/[a-c-]x", "crm", "-x", True),
    ("crm/[&&]", "crm", "&", True),
    ("crm/a.b", "crm", "a.b", True),
    ("crm/a.b", "crm", "axb", False),  # `foo.bar` is not `foo_bar`
    ("crm/a.*", "crm", "ab", False),
    ("crm/(a|b)*", "crm", "a", False),
    ("crm/^a$*", "crm", "a", False),
    ("crm/a\\*", "crm", "a\\b", True),
    ("crm/*", "crm", "a\nb", True),
    ("crm/a", "crm", "a\n", False),
    ("crm/*a*b*", "crm", "xaxbx", True),
    ("crm/*ab", "crm", "aab", True),
    ("crm/*aab*aab", "crm", "aaabxaaab", True),
    ("crm/**", "crm", "x", True),
]


@pytest.mark.parametrize(("pattern", "extension", "name", "matches"), MATCHES)
def test_patterns(pattern: str, extension: str, name: str, matches: bool) -> None:
    assert ToolPattern.parse(pattern).matches(extension, name) is matches


@pytest.mark.parametrize("text", [pattern for pattern, *_ in MATCHES])
def test_a_pattern_is_literal_iff_it_holds_none_of_the_marks(text: str) -> None:
    pattern = ToolPattern.parse(text)
    assert pattern.literal is not any(mark in text for mark in "*?[")
    assert str(pattern) == text
    assert pattern == ToolPattern.parse(text)
    assert pickle.loads(pickle.dumps(pattern)) == pattern


@pytest.mark.parametrize("name", ["*", "read_*", "a[bc]d", "a?", "[a"])
def test_a_name_that_holds_a_mark_never_acts_as_a_pattern(name: str) -> None:
    pattern = ToolPattern.exactly("crm", name)
    assert pattern.literal
    assert pattern.matches("crm", name)
    assert not pattern.matches("crm", "read_file")
    assert not pattern.matches("crm", "abd")
    assert not pattern.matches("crm", "ab")
    assert ToolPattern.parse("crm/*").matches("crm", name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no extension"),
        ("lookup", "names no extension"),
        ("*", "names no extension"),
        ("/lookup", "lacks the extension"),
        ("crm/", "lacks the tool"),
        ("*/", "lacks the tool"),
        ("cr*/x", "one extension's name"),
        ("**/x", "one extension's name"),
        ("c[r]m/x", "one extension's name"),
        ("crm/[ab", "not closed"),
        ("crm/[]", "not closed"),
        ("crm/[!]", "not closed"),
        ("*/x[", "not closed"),
        ("crm/[z-a]", "reversed"),
        ("crm/[^a]", "[!"),
    ],
)
def test_a_pattern_that_would_say_something_else_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match="^" + '"') as caught:
        ToolPattern.parse(text)
    assert says in str(caught.value)
    assert f'"{text}"' in str(caught.value)


GLOBS = st.text(alphabet="ab*?.-", min_size=1, max_size=12)
SUBJECTS = st.text(alphabet="ab.-", min_size=0, max_size=16)


@settings(max_examples=200)
@given(GLOBS, SUBJECTS)
def test_globs_mean_what_fnmatch_means(glob: str, name: str) -> None:
    assert ToolPattern.parse(f"x/{glob}").matches("x", name) == fnmatch.fnmatchcase(name, glob)


SETS = st.text(alphabet="abc!-", min_size=1, max_size=5).map(lambda members: f"[{members}]")


@settings(max_examples=200)
@given(
    st.lists(st.one_of(SETS, st.sampled_from(["a", "*", "?"])), min_size=1, max_size=4).map("".join), SUBJECTS
)
def test_sets_mean_what_fnmatch_means_or_are_refused(glob: str, name: str) -> None:
    try:
        pattern = ToolPattern.parse(f"x/{glob}")
    except ValueError:
        assume(False)
    assert pattern.matches("x", name) == fnmatch.fnmatchcase(name, glob)


@pytest.mark.parametrize(
    "glob", ["*a" * 60 + "b", "*?" * 60 + "b", "*[ab]" * 60 + "c", "*a*a*a*a*b", "*" * 200 + "b"]
)
def test_matching_is_bounded(glob: str) -> None:
    """A backtracking engine would not end on these within the age of the universe."""
    pattern = ToolPattern.parse(f"x/{glob}")
    start = time.process_time()
    assert not pattern.matches("x", "a" * 128)
    assert not pattern.matches("x", "a" * 20_000)
    assert time.process_time() - start < 1
