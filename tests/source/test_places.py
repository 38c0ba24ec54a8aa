"""Where things stand: spans of values and keys, places inside text, what is written."""

from __future__ import annotations

import pytest

from symc.diagnostics import Position, Span
from symc.source import Document, Pin, Workspace, parse

MANIFEST = b"""\
kind: agent
name: "support"
tools:
  - crm/*
  - {tool: 'crm/x', as: find}
x-note: &note
  deep: [1, two,
    [3]]
x-again: *note
# after
prompts:
- fragment_id: safety
  text: |
    One.
      Two: {{ name }}

    Three.
  empty:
- null
"""


def _document(text: bytes, path: str = "a/b.yaml") -> Document:
    (found,) = parse(Workspace.of({path: text})).documents
    return found


def _pin(text: bytes) -> Pin:
    (found,) = parse(Workspace.of({"a/b.json": text})).pins.values()
    return found


def _span(file: str, *numbers: int) -> Span:
    return Span(file, Position(*numbers[:2]), Position(*numbers[2:]))


Path = tuple[str | int, ...]

VALUES: dict[Path, tuple[int, int, int, int]] = {
    (): (1, 1, 19, 7),
    ("kind",): (1, 7, 1, 12),
    ("name",): (2, 7, 2, 16),
    ("tools",): (4, 3, 5, 30),
    ("tools", 0): (4, 5, 4, 10),
    ("tools", 1): (5, 5, 5, 30),
    ("tools", 1, "tool"): (5, 12, 5, 19),
    ("tools", 1, "as"): (5, 25, 5, 29),
    ("x-note",): (6, 9, 8, 9),
    ("x-note", "deep"): (7, 9, 8, 9),
    ("x-note", "deep", 1): (7, 13, 7, 16),
    ("x-note", "deep", 2): (8, 5, 8, 8),
    ("x-note", "deep", 2, 0): (8, 6, 8, 7),
    ("x-again",): (9, 10, 9, 15),
    ("x-again", "deep", 0): (9, 10, 9, 15),  # an alias is where it is written
    ("prompts",): (12, 1, 19, 7),
    ("prompts", 0): (12, 3, 18, 9),
    ("prompts", 0, "text"): (13, 9, 17, 11),
    ("prompts", 0, "empty"): (18, 9, 18, 9),
    ("prompts", 1): (19, 3, 19, 7),
    # What does not exist is at the nearest value around it.
    ("absent",): (1, 1, 19, 7),
    ("tools", 2): (4, 3, 5, 30),
    ("tools", 1, "absent", 4, "x"): (5, 5, 5, 30),
    ("kind", 0): (1, 7, 1, 12),
    ("tools", "0"): (4, 3, 5, 30),
}  # fmt: skip

KEYS: dict[Path, tuple[int, int, int, int]] = {
    ("kind",): (1, 1, 1, 5),
    ("tools", 1, "as"): (5, 21, 5, 23),
    ("x-note", "deep"): (7, 3, 7, 7),
    ("prompts", 0, "empty"): (18, 3, 18, 8),
    ("tools", 0): (4, 5, 4, 10),  # an item has no key
    ("tools", 1, "absent"): (5, 5, 5, 30),
    (): (1, 1, 19, 7),
}


@pytest.mark.parametrize("path", VALUES, ids=str)
def test_span_of_a_value(path: Path) -> None:
    assert _document(MANIFEST).span(*path) == _span("a/b.yaml", *VALUES[path])


@pytest.mark.parametrize("path", KEYS, ids=str)
def test_span_of_a_key(path: Path) -> None:
    assert _document(MANIFEST).key_span(*path) == _span("a/b.yaml", *KEYS[path])


def test_columns_are_code_points_and_a_byte_order_mark_is_no_column() -> None:
    text = "\ufeff'ключ 😀': {é: 値}\n".encode()
    document = _document(text)
    assert document.key_span("ключ 😀") == _span("a/b.yaml", 1, 1, 1, 9)
    assert document.span("ключ 😀", "é") == _span("a/b.yaml", 1, 15, 1, 16)


def test_lines_are_counted_alike_with_crlf() -> None:
    one, other = _document(MANIFEST), _document(MANIFEST.replace(b"\n", b"\r\n"))
    assert [one.span(*path) for path in VALUES] == [other.span(*path) for path in VALUES]


RAW: dict[str, tuple[str, str, bool]] = {
    "plain": ("a: 1.10\n", "1.10", True),
    "word": ("a: no # comment\n", "no", True),
    "quoted": ("a: 'no'\n", "'no'", False),
    "double quoted": ('a: "\\x41"\n', '"\\x41"', False),
    "block": ("a: |-\n  x\n", "|-\n  x", False),
    "folded": ("a: >\n  x\n", ">\n  x", False),
    "anchored": ("a: &x 7\n", "7", True),
    "anchored and quoted": ("a: &x\n  '7'\n", "'7'", False),
    "alias": ("b: &x 7\na: *x\n", "*x", False),
    "nothing": ("a:\n", "", True),
    "list": ("a: [1, 2]\n", "[1, 2]", False),
    "block list": ("a:\n- 1\n", "- 1", False),
    "several lines": ("a: x\n  y\n", "x\n  y", True),
}  # fmt: skip


@pytest.mark.parametrize("case", RAW)
def test_what_is_written(case: str) -> None:
    text, raw, plain = RAW[case]
    document = _document(text.encode())
    assert document.raw("a") == raw
    assert document.is_plain("a") is plain


def test_nothing_is_written_where_nothing_is() -> None:
    assert _document(b"a: 1\n").raw("b", 0) == ""


TEXTS: dict[str, tuple[str, tuple[int, int], tuple[int, int]]] = {
    # text, (line, column) in it, (line, column) in the file
    "literal": ("a: |\n  one\n    two\n\n  three\n", (1, 2), (3, 5)),
    "literal, first line": ("a: |\n\n  one\n", (1, 1), (3, 4)),
    "literal with an indicator": ("a: |2\n    one\n", (0, 3), (2, 6)),
    "a list": ("a:\n- b\n", (0, 0), (2, 1)),  # no text: the value's own span
    "literal, end of a line": ("a: |\n  one\n  two\n", (0, 3), (2, 6)),
    "beyond the end of a line": ("a: |\n  one\n  two\n", (0, 9), (2, 6)),
    "folded": ("a: >\n  one\n  two\n\n  three\n", (0, 4), (3, 3)),
    "folded, next paragraph": ("a: >\n  one\n  two\n\n  three\n", (1, 1), (5, 4)),
    "folded, further indented": ("a: >\n  one\n    two\n  three\n", (1, 2), (3, 5)),
    "plain": ("a: one two\n", (0, 4), (1, 8)),
    "plain over lines": ("a: one\n  two\n\n  three\n", (0, 4), (2, 3)),
    "plain, after an empty line": ("a: one\n  two\n\n  three\n", (1, 2), (4, 5)),
    "single quotes": ("a: 'it''s x'\n", (0, 5), (1, 11)),
    "double quotes": ('a: "one two"\n', (0, 4), (1, 9)),
    "escapes": ('a: "\\x41\\n\\u00e9x"\n', (1, 1), (1, 17)),
    "an escaped line break": ('a: "one\\\n  two"\n', (0, 4), (2, 4)),
    "after an anchor": ("a: &x one\n", (0, 1), (1, 8)),
    "the end": ("a: |\n  one\n", (0, 3), (2, 6)),
    "no such line": ("a: |\n  one\n", (7, 0), (1, 4)),
    "an alias": ("b: &x one\na: *x\n", (0, 1), (2, 4)),
    "no text": ("a: 7\n", (0, 0), (1, 4)),
    "empty quotes": ("a: ''\n", (0, 0), (1, 5)),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_place_inside_text(case: str) -> None:
    text, (line, column), expected = TEXTS[case]
    found = _document(text.encode()).text_span(("a",), line, column)
    assert (found.start.line, found.start.column) == expected
    assert found.file == "a/b.yaml"


def test_a_place_in_the_prompt_of_a_manifest() -> None:
    found = _document(MANIFEST).text_span(("prompts", 0, "text"), 1, 7)
    assert found == _span("a/b.yaml", 15, 12, 15, 12)


PIN = """\
{
  "tools": [
    {"name": "b", "inputSchema": {"type": "object", "é😀\\u0041": 1.5}},
    []
  ], "cursor" : null
}
""".encode()

PIN_VALUES: dict[Path, tuple[int, int, int, int]] = {
    (): (1, 1, 6, 2),
    ("tools",): (2, 12, 5, 4),
    ("tools", 0, "name"): (3, 14, 3, 17),
    ("tools", 0, "inputSchema"): (3, 34, 3, 69),
    ("tools", 0, "inputSchema", "é😀A"): (3, 65, 3, 68),
    ("tools", 1): (4, 5, 4, 7),
    ("cursor",): (5, 17, 5, 21),
    ("tools", 7, "x"): (2, 12, 5, 4),
}


@pytest.mark.parametrize("path", PIN_VALUES, ids=str)
def test_span_in_a_pin(path: Path) -> None:
    assert _pin(PIN).span(*path) == _span("a/b.json", *PIN_VALUES[path])


def test_key_span_in_a_pin() -> None:
    assert _pin(PIN).key_span("cursor") == _span("a/b.json", 5, 6, 5, 14)
    assert _pin(PIN).raw("tools", 0, "name") == '"b"'


@pytest.mark.timeout(60)
def test_many_places_of_one_wide_file_are_found_in_linear_time() -> None:
    count = 20_000
    document = _document("".join(f"k{n}: {n}\n" for n in range(count)).encode())
    assert [document.span(f"k{n}").start.line for n in range(count)] == list(range(1, count + 1))


@pytest.mark.parametrize("asked_before", [(), ("kind",), ("x-again",), ("tools", 7), ("absent",)])
def test_what_was_asked_before_plays_no_role(asked_before: Path) -> None:
    """Places are read from the text as far as a question needs."""
    document = _document(MANIFEST)
    document.span(*asked_before)
    assert {path: document.span(*path) for path in VALUES} == {
        path: _span("a/b.yaml", *numbers) for path, numbers in VALUES.items()
    }
    for path in KEYS:
        fresh = _document(MANIFEST)
        assert fresh.key_span(*path) == document.key_span(*path)
        assert fresh.raw(*path) == document.raw(*path)


@pytest.mark.parametrize(
    "text",
    [
        MANIFEST,
        b"a: 1\nb:\n  c: [x, y]\n# end\nd: |\n  text\n\ne:\n",
        b"# first\n\n  # second\na:\n- x\n-  y: z\nb: 'it''s\n  long'\n",
        b'a: "x\nb: y"\nb: 2\n',
        b"  a: 1\n  b: 'x\na: \nb: '\n",
        b"{a: 1,\nb: {c: d}}\n",
        b"a: &n name\nb: {*n : 1}\n",
        b"---\na: 1\nb: 2\n...\n",
        b"? a\n: 1\nb: 2\n",
        b"a: plain\n  goes on\nb: >+\n  folded\n\n  text\n\n\nc: x\n",
        "a: é\nb: [日本, {c: 😀}]\nc: '\u00a0'\n".encode(),
    ],
)
def test_the_places_of_one_section_are_those_of_the_whole(text: bytes) -> None:
    document = _document(text)
    document.span()  # reads the whole
    for path in _paths(document.data):
        fresh = _document(text)
        assert (fresh.span(*path), fresh.key_span(*path), fresh.raw(*path)) == (
            document.span(*path),
            document.key_span(*path),
            document.raw(*path),
        )


def _paths(value: object, path: Path = ()) -> list[Path]:
    below: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    return [path, *(found for key, item in below for found in _paths(item, (*path, key)))]
