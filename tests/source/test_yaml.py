"""What is refused of YAML, each with its code and place, and what is accepted (docs/manifests.md §1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import reading
from symc.source.construct import ALIAS_BUDGET, construct
from symc.source.events import HAS_LIBYAML
from symc.source.findings import AT_MOST, TOO_MANY
from symc.source.texts import cleaned_for_yaml

Place = tuple[str, int, int]


def _found(text: str) -> tuple[Diagnostic, ...]:
    data, diagnostics = construct("x.yaml", text.encode())
    assert (data is None) == bool(diagnostics)
    return diagnostics


def _places(text: str) -> list[Place]:
    return [(d.name, d.primary.start.line, d.primary.start.column) for d in _found(text)]


def _data(text: str) -> Any:
    cleaned = cleaned_for_yaml("x.yaml", text.encode())
    assert isinstance(cleaned, bytes)
    data, diagnostics = construct("x.yaml", cleaned)
    assert diagnostics == ()
    return data


ACCEPTED: dict[str, tuple[str, Any]] = {
    "a mapping": ("a: 1\nb: {c: [2, x]}\n", {"a": 1, "b": {"c": [2, "x"]}}),
    "an empty mapping": ("{}", {}),
    "no line feed at the end": ("a: 1", {"a": 1}),
    "comments": ("# one\na: 1 # two\n# three\n", {"a": 1}),
    "a document marker": ("---\na: 1\n...\n", {"a": 1}),
    "a directive for YAML 1.2": ("%YAML 1.2\n---\na: no\n", {"a": "no"}),
    "a directive for YAML 1.1 changes nothing": ("%YAML 1.1\n---\na: no\n", {"a": "no"}),
    "order of keys": ("b: 1\na: 2\n", {"b": 1, "a": 2}),
    "anchor and alias": ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
    "an anchor set again": ("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", {"a": 1, "b": 1, "c": 2, "d": 2}),
    "an alias for a key": ("a: &k name\n*k : 1\n", {"a": "name", "name": 1}),
    "an anchor at a key": ("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}),
    "aliases in aliases": ("a: &x [1]\nb: &y [*x, *x]\nc: *y\n", {"a": [1], "b": [[1], [1]], "c": [[1], [1]]}),
    "an anchor beside the text of a prompt": ("a: R&D * 2 & more\n", {"a": "R&D * 2 & more"}),
    "a quoted merge key": ('"<<": 1\n', {"<<": 1}),
    "the merge sign as a value": ("a: <<\n", {"a": "<<"}),
    "quoted keys": ("'1': a\n\"true\": b\n", {"1": "a", "true": "b"}),
    "keys of YAML 1.1": ("on: 1\nno: 2\n017: 3\n1_0: 4\n", {"on": 1, "no": 2, "017": 3, "1_0": 4}),
    "the same key in two mappings": ("a: {x: 1}\nb: {x: 1}\nx: 1\n", {"a": {"x": 1}, "b": {"x": 1}, "x": 1}),
    "an explicit key": ("? a\n: 1\n", {"a": 1}),
    "a key of two lines": ("? 'a\n  b'\n: 1\n", {"a b": 1}),
    "a pair in a list": ("a: [b: 1]\n", {"a": [{"b": 1}]}),
    "a question mark in text": ("a: [what?, 'x' ]\nb: ?x\n?c: d? e\n", {"a": ["what?", "x"], "b": "?x", "?c": "d? e"}),
    "a tab between tokens": ("a:\tb\t# c\n", {"a": "b"}),
    "a bracket at the line's start": ("a: [\nb,\nc\n]\n", {"a": ["b", "c"]}),
    "text blocks": ("a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\n", {"a": "x\n y\n", "b": "x y\nz"}),
    "kept line feeds": ("a: |+\n  x\n\nb: 1\n", {"a": "x\n\n", "b": 1}),
    "an indentation indicator": ("a: |2\n    x\n", {"a": "  x\n"}),
    "a last line of blanks": ("a: |\n  x\n   ", {"a": "x\n \n"}),
    "a text block that the file cuts short": ("a: |\n  x", {"a": "x"}),
    "escapes": (r'a: "\x41\u00e9\U0001F600\n\t\"\\\/\e\0"', {"a": 'Aé😀\n\t"\\/\x1b\0'}),
    "quotes": ("a: 'it''s \\n'\n", {"a": "it's \\n"}),
    "folded quotes": ("a: \"x\n  y\n\n  z\\\n  !\"\n", {"a": "x y\nz!"}),
    "text over lines": ("a: x\n  y\n\n  z\nb: 1\n", {"a": "x y\nz", "b": 1}),
    "characters of every plane": ("ключ: 値 😀\n", {"ключ": "値 😀"}),
    "a hash in text": ("a: x#y\n", {"a": "x#y"}),
    "a colon in text": ("a: b:c\nd: http://x/y\n", {"a": "b:c", "d": "http://x/y"}),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    text, expected = ACCEPTED[case]
    found = _data(text)
    assert found == expected
    assert list(found) == list(expected)


REFUSED: dict[str, tuple[str, list[Place]]] = {
    "an empty file": ("", [("empty-file", 1, 1)]),
    "a comment alone": ("# nothing\n\n", [("empty-file", 1, 1)]),
    "a marker alone": ("---\n", [("empty-file", 1, 1)]),
    "markers alone": ("---\n...\n", [("empty-file", 1, 1)]),
    "a list": ("- a\n- b\n", [("not-a-mapping", 1, 1)]),
    "a list in brackets": ("\n [a]\n", [("not-a-mapping", 2, 2)]),
    "a text": ("hello\n", [("not-a-mapping", 1, 1)]),
    "null": ("null\n", [("not-a-mapping", 1, 1)]),
    "a number": ("--- 7\n", [("not-a-mapping", 1, 5)]),
    "a second document": ("a: 1\n---\nb: 2\n", [("second-document", 2, 1)]),
    "an empty second document": ("a: 1\n---\n", [("second-document", 2, 1)]),
    "a second document after an end": ("a: 1\n...\n---\nb: 1\n", [("second-document", 3, 1)]),
    "text after the end": ("a: 1\n...\nb: 1\n", [("yaml-syntax", 3, 1)]),
    "a duplicate key": ("a: 1\nb: 2\na: 3\n", [("duplicate-key", 3, 1)]),
    "a duplicate key in flow": ("x: {a: 1, a: 2}\n", [("duplicate-key", 1, 11)]),
    "a key three times": ("a: 1\na: 2\na: 3\n", [("duplicate-key", 2, 1), ("duplicate-key", 3, 1)]),
    "duplicates quoted otherwise": ("a: 1\n'a': 2\n\"\\x61\": 3\n", [("duplicate-key", 2, 1), ("duplicate-key", 3, 1)]),
    "duplicates in a list of mappings": ("x:\n  - a: 1\n    a: 2\n", [("duplicate-key", 3, 5)]),
    "duplicates by an alias": ("x: &k a\na: 1\n*k : 2\n", [("duplicate-key", 3, 1)]),
    "duplicate empty keys": ("'': 1\n\"\": 2\n", [("duplicate-key", 2, 1)]),
    # O-25: keys equal in Python, and keys of other types
    "a number and its float": ("1: a\n1.0: b\n", [("non-string-key", 1, 1), ("non-string-key", 2, 1)]),
    "a word and a boolean": ("yes: a\ntrue: b\n", [("non-string-key", 2, 1)]),
    "the same number twice": ("1: a\n1: b\n", [("non-string-key", 1, 1), ("duplicate-key", 2, 1), ("non-string-key", 2, 1)]),
    "a boolean key": ("a: {true: 1}\n", [("non-string-key", 1, 5)]),
    "a null key": ("~: 1\n", [("non-string-key", 1, 1)]),
    "an empty key": ("? \n: 2\n", [("non-string-key", 1, 2)]),
    "no key": ("a: 1\n: 2\n", [("yaml-syntax", 2, 1)]),
    "a float key": ("1.5: x\n", [("non-string-key", 1, 1)]),
    "a huge number for a key": ("9007199254740993: x\n", [("non-string-key", 1, 1)]),
    "a list for a key": ("? [a, b]\n: 1\n", [("non-string-key", 1, 3)]),
    "a mapping for a key": ("? {a: b}\n: {c: 1, c: 2}\n", [("non-string-key", 1, 3), ("duplicate-key", 2, 10)]),
    "duplicates in a key": ("? {a: 1, a: 2}\n: 1\n", [("non-string-key", 1, 3), ("duplicate-key", 1, 10)]),
    "an alias of a list for a key": ("a: &x [1]\n*x : 1\n", [("non-string-key", 2, 1)]),
    "an alias of a number for a key": ("a: &x 1\n*x : 1\n", [("non-string-key", 2, 1)]),
    "a merge key": ("a: &x {b: 1}\nc:\n  <<: *x\n", [("merge-key", 3, 3)]),
    "merge keys": ("a: {<<: 1, <<: 2}\n", [("merge-key", 1, 5), ("merge-key", 1, 12)]),
    "a merge key overridden": ("x: &x {b: 1}\n<<: *x\nb: 2\n", [("merge-key", 2, 1)]),
    "a tag of Python": ("a: !!python/object/apply:os.system [x]\n", [("explicit-tag", 1, 4)]),
    "a local tag": ("a: !foo bar\n", [("explicit-tag", 1, 4)]),
    "a tag of YAML": ("a: !!str 1\nb: !!binary aGk=\nc: !!set {x}\n", [("explicit-tag", 1, 4), ("explicit-tag", 2, 4), ("explicit-tag", 3, 4)]),
    "a verbatim tag": ("a: !<tag:yaml.org,2002:int> 1\n", [("explicit-tag", 1, 4)]),
    "the tag without a name": ("a: ! x\n", [("explicit-tag", 1, 4)]),
    "a tag after an anchor": ("a: &x !!int 1\n", [("explicit-tag", 1, 7)]),
    "a tag at a key": ("!!str a: 1\n", [("explicit-tag", 1, 1)]),
    "a tag at the root": ("!foo\na: 1\n", [("explicit-tag", 1, 1)]),
    "a tag with a handle": ("%TAG !e! tag:x,2020:\n---\na: !e!b 1\n", [("explicit-tag", 3, 4)]),
    "a tag with an unknown handle": ("a: !e!b 1\n", [("explicit-tag", 1, 4)]),
    "a cycle": ("a: &x [*x]\n", [("cyclic-alias", 1, 8)]),
    "a cycle through the root": ("&x\na: {b: *x}\n", [("cyclic-alias", 2, 8)]),
    "a cycle in a key": ("&x a: &y {*y : 1}\n", [("cyclic-alias", 1, 11)]),
    "an alias to nothing": ("a: *x\nb: &x 1\n", [("undefined-alias", 1, 4)]),
    "an infinite number": ("a: .inf\nb: -.INF\n", [("unsafe-number", 1, 4), ("unsafe-number", 2, 4)]),
    "anchors as YAML 1.2 reads them": ("a: &an:chor x\n", [("yaml-syntax", 1, 4)]),
    "aliases as YAML 1.2 reads them": ("a: &x y\n*x: 1\n", [("yaml-syntax", 2, 1)]),
    "a question mark in flow": ("a: { ?b: 1,?c, [?d] : e }\n", [("yaml-syntax", 1, 6), ("yaml-syntax", 1, 12), ("non-string-key", 1, 16), ("yaml-syntax", 1, 17)]),
    "no syntax": ("a: b: c\n", [("yaml-syntax", 1, 5)]),
    "a tab for indentation": ("a:\n\tb: c\n", [("yaml-syntax", 2, 1)]),
    "several mistakes": (
        "a: 1\na: !x 2\n<<: {}\n7: .nan\nb: {c: 1, c: *no}\n",
        [("duplicate-key", 2, 1), ("explicit-tag", 2, 4), ("merge-key", 3, 1), ("non-string-key", 4, 1), ("unsafe-number", 4, 4), ("duplicate-key", 5, 11), ("undefined-alias", 5, 14)],
    ),
    "mistakes before a syntax error": ("a: 1\na: !x 2\nb: [\n", [("duplicate-key", 2, 1), ("explicit-tag", 2, 4), ("yaml-syntax", 3, 5)]),
    "mistakes in the first of two documents": ("a: 1\na: 2\n---\na: 1\na: 2\n", [("duplicate-key", 2, 1), ("second-document", 3, 1)]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    text, expected = REFUSED[case]
    assert _places(text) == expected


@pytest.mark.parametrize("case", REFUSED)
def test_both_parsers_refuse_the_same(case: str) -> None:
    text, expected = REFUSED[case]
    _, diagnostics = construct("x.yaml", text.encode(), pure=True)
    assert sorted(d.name for d in diagnostics) == sorted(name for name, _, _ in expected)


def test_a_duplicate_key_shows_both_places_however_far() -> None:
    (found,) = _found("policies:\n  deny: [shell]\n" + "# …\n" * 40 + "  deny: []\n")
    assert (found.primary.start.line, found.primary.start.column) == (43, 3)
    ((span, label),) = ((second.span, second.label) for second in found.secondary)
    assert (span.start.line, span.start.column, span.end.column) == (2, 3, 7)
    assert label
    assert '"deny"' in found.message


def _nested(levels: int, opening: str, closing: str) -> str:
    return "a: " + opening * (levels - 1) + "x" + closing * (levels - 1) + "\n"


NESTED: dict[str, Callable[[int], str]] = {
    "brackets": (lambda levels: _nested(levels, "[", "]")),
    "braces": (lambda levels: _nested(levels, "{a: ", "}")),
    "block lists": (lambda levels: "a:\n  " + "- " * (levels - 1) + "x\n"),
    "block mappings": (lambda levels: "".join("  " * n + "a:\n" for n in range(levels))),
    "lists without indentation": (
        lambda levels: "".join(" " * n + "a:\n" + " " * n + "-\n" for n in range(levels // 2))
    ),
    "aliases": (
        lambda levels: (
            "a: &a " + "[" * 50 + "]" * 50 + "\nb: " + "[" * (levels - 51) + "*a" + "]" * (levels - 51)
        )
    ),
    "aliases of aliases": (
        lambda levels: (
            "a: &a [[1]]\n"
            + "".join(f"a{n}: &a{n} [*a{'' if n == 1 else n - 1}]\n" for n in range(1, levels - 2))
        )
    ),
}


@pytest.mark.parametrize("case", NESTED)
@pytest.mark.parametrize("pure", [False, True])
def test_nesting_to_100_and_no_deeper(case: str, pure: bool) -> None:
    for levels in (100, 102):
        data, diagnostics = construct("x.yaml", NESTED[case](levels).encode(), pure=pure)
        assert [d.name for d in diagnostics] == ([] if levels == 100 else ["nesting-too-deep"])
        assert (data is not None) == (levels == 100)


@pytest.mark.parametrize("case", ["brackets", "braces", "block lists", "block mappings"])
def test_101_levels_are_refused(case: str) -> None:
    assert [name for name, _, _ in _places(NESTED[case](101))] == ["nesting-too-deep"]


def test_nesting_and_other_mistakes_are_shown_together() -> None:
    text = "a: 1\na: 2\n" + NESTED["brackets"](5000)[3:].replace("x", "", 1).join(("b: ", "")) + "c: !t x\n"
    assert [name for name, _, _ in _places(text)] == ["duplicate-key", "nesting-too-deep"]


def test_aliases_within_the_budget_and_beyond_it() -> None:
    item = "x" * 999
    fits = f"a: &a {item}\n" + "b:\n" + "  - *a\n" * (ALIAS_BUDGET // 999)
    assert len(_data(fits)["b"]) == ALIAS_BUDGET // 999
    assert _places(fits + "  - *a\n") == [("alias-budget", ALIAS_BUDGET // 999 + 3, 5)]


def test_an_alias_is_the_same_value() -> None:
    data = _data("a: &x {b: [1]}\nc: *x\n")
    assert data["c"] is data["a"]


def test_the_search_for_mistakes_ends() -> None:
    found = _found("".join(f"a{n}: !x 1\n" for n in range(AT_MOST + 50)))
    assert len(found) == AT_MOST
    assert found[-1].notes == (TOO_MANY,)
    assert len(_found("".join(f"a{n}: !x 1\n" for n in range(AT_MOST)))) == AT_MOST
    assert len(_found("a: 1\n" * (AT_MOST + 50))) == AT_MOST


# The hints: an edit makes the mistake go away.
@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("404: x\n", {"404": "x"}),
        ("a: {true: 1, ~: 2}\n", {"a": {"true": 1, "~": 2}}),
        ("tools: [*search, crm/*]\n", {"tools": ["*search", "crm/*"]}),
    ],
)
def test_a_hint_with_an_edit_is_true(text: str, mended: dict[str, Any]) -> None:
    for found in reversed(_found(text)):
        assert found.hint is not None
        edit = found.hint.edit
        assert edit is not None
        assert edit.span.start.line == edit.span.end.line == 1
        text = text[: edit.span.start.column - 1] + edit.replacement + text[edit.span.end.column - 1 :]
    assert _data(text) == mended


# What is said of broken syntax: where, and in words for who wrote the file.
SYNTAX = {
    "a: b: c\n": (1, 5, 'quote text that holds ": "'),
    "a:\n\tb: c\n": (2, 1, "spaces"),
    "a: @b\n": (1, 4, "quote"),
    "a: `b`\n": (1, 4, "quote"),
    "a: %b\n": (1, 4, "quote"),
    "a: 'b\n": (1, 4, "close"),
    'a: "b\n': (1, 4, "close"),
    'a: "\\q"\n': (1, 5, "backslash"),
    'a: "\\ud83d\\ude00"\n': (1, 7, "the character itself"),
    'a: "\\U00110000"\n': (1, 7, "the character itself"),
    "a: [b\n": (1, 6, "quote patterns"),
    "a: [b c: d]]\n": (1, 12, "indentation"),
    "tools: [*/search]\n": (1, 10, "quote patterns"),
    "tools:\n  - */search\n": (2, 6, "quote patterns"),
    "tools:\n  - [ab]*/search\n": (2, 10, "quote patterns"),
    "a: {b\n": (1, 6, "bracket"),
    "a:\n  b: 1\n c: 2\n": (3, 2, 'begin it in column 1, under "a"'),
    "a: 1\n b: 2\n": (2, 2, 'begin it in column 1, under "a"'),
    "a:\n  - b: 1\n     c: 2\n": (3, 6, 'begin it in column 5, under "b"'),
    "a:\n  - b: 1\n   c: 2\n": (3, 4, 'begin it in column 5, under "b"'),
    "a:\n  # of b\n  - 'b'\n\n    - c\n": (5, 5, "begin it in column 3, under the item above"),
    "a:\n  - - b\n     - c: d\n": (3, 6, "begin it in column 5, under the item above"),
    "'a': 1\n 'b' : 2\n": (2, 2, "begin it in column 1, under \"'a'\""),
    "a: some\n  words with: a colon\n": (2, 13, 'quote text that holds ": "'),
    "a:\n  b: c: d\n": (2, 7, 'quote text that holds ": "'),
    "a:\n  - b\n  c\n": (3, 3, "key: value"),
    "a: 1\nb\n": (2, 1, "key: value"),
    "a: - b\n": (1, 4, "indentation"),
    "a: | b\n  c\n": (1, 6, "|"),
    "a: |0\n  c\n": (1, 5, "|"),
    "%FOO x\n---\na: 1\n": (1, 5, "%"),
    "%YAML 2.0\n---\na: 1\n": (1, 1, "%"),
    "a: ]\n": (1, 4, "quote"),
    "a: }\n": (1, 4, "quote"),
}


@pytest.mark.skipif(not HAS_LIBYAML, reason="PyYAML's own parser stops a few columns away")
@pytest.mark.parametrize("text", SYNTAX)
def test_broken_syntax(text: str) -> None:
    (found,) = _found(text)
    line, column, hint = SYNTAX[text]
    assert (found.code, found.primary.start.line, found.primary.start.column) == (
        reading.YAML_SYNTAX.code,
        line,
        column,
    )
    assert found.hint is not None
    assert hint in found.hint.text
    assert not [
        word for word in ("token", "scanning", "parsing", "<", "None", "byte string") if word in found.message
    ]
