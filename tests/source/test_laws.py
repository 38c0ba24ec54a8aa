"""Laws of reading: for any data and any text (docs/manifests.md §1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from symc.diagnostics import Diagnostic, Span
from symc.source import Document, Pin, Workspace, parse
from symc.source.construct import construct
from symc.source.findings import AT_MOST
from symc.source.texts import cleaned_for_yaml

LAW = settings(max_examples=60, deadline=None)

# What YAML and JSON can both write without a second thought: no control characters, no surrogates.
TEXT = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff\ufffe\uffff"
    )
    | st.sampled_from("\n :#-?[]{},&*!|>'\"%@`\\~0.tn"),
    max_size=30,
)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
DATA = st.dictionaries(TEXT, VALUE, max_size=5)

Path = tuple[str | int, ...]


def _json(data: Any) -> str:
    """Equality that knows 1 from 1.0 and from True, and the order of keys."""
    return json.dumps(data)


def _document(text: str) -> Document:
    found = parse(Workspace.of({"x.yaml": text.encode()}))
    assert found.diagnostics == ()
    return found.documents[0]


def _quoted(data: Any, style: str | None, flow: bool) -> str:
    """``data`` in YAML with every string and key in one style of quotes."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def fraction(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
        written = json.dumps(value)  # the dumper knows a float by its point
        written = written if "." in written else written.replace("e", ".0e")
        return dumper.represent_scalar("tag:yaml.org,2002:float", written)

    Dumper.add_representer(str, text)
    Dumper.add_representer(float, fraction)
    dumped = yaml.dump(data, Dumper=Dumper, allow_unicode=True, sort_keys=False, default_flow_style=flow)
    assert isinstance(dumped, str)
    return dumped


def _walk(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _walk(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _walk(value, (*path, index))


def _slice(text: str, span: Span) -> str:
    """What stands at ``span``, with its first line indented as in the text."""
    lines = text.split("\n")[span.start.line - 1 : span.end.line]
    lines[-1] = lines[-1][: span.end.column - 1]
    lines[0] = " " * (span.start.column - 1) + lines[0][span.start.column - 1 :]
    return "\n".join(lines)


@LAW
@given(DATA, st.sampled_from(["'", '"']), st.booleans())
def test_what_is_dumped_is_read(data: dict[str, Any], style: str, flow: bool) -> None:
    text = _quoted(data, style, flow)
    assume(
        "? " not in text
    )  # a key over lines is dumped as an explicit key, which is read all the same; see below
    assert _json(_document(text).data) == _json(data)


@LAW
@given(DATA, st.sampled_from(["'", '"', "|", ">"]))
@example({"a\nb " * 40: "x"}, '"')
def test_what_is_dumped_in_any_style_is_read(data: dict[str, Any], style: str) -> None:
    text = _quoted(data, style, flow=False)
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError:
        assume(False)  # the dumper writes what no parser reads
    assume(
        _json(expected) == _json(data)
    )  # words of YAML 1.1 that it leaves unquoted are another test's matter
    found = parse(Workspace.of({"x.yaml": text.encode()}))
    if found.documents:
        assert _json(found.documents[0].data) == _json(data)
    else:
        assert {d.name for d in found.diagnostics} <= {"explicit-tag"}  # dumped "=" and such


@LAW
@given(DATA)
def test_json_is_yaml(data: dict[str, Any]) -> None:
    assert _json(_document(json.dumps(data, ensure_ascii=False)).data) == _json(data)


@LAW
@given(DATA, st.booleans(), st.sampled_from([None, 1, 4]))
def test_json_is_read_as_a_pin(data: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent)
    found = parse(Workspace.of({"p.json": text.encode()}))
    assert found.diagnostics == ()
    assert _json(found.pins["p.json"].data) == _json(data)


@LAW
@given(DATA, st.sampled_from(["'", '"', "|", None]), st.booleans())
def test_every_span_holds_its_value(data: dict[str, Any], style: str | None, flow: bool) -> None:
    text = _quoted(data, style, flow)
    found = parse(Workspace.of({"x.yaml": text.encode()}))
    assume(found.documents)
    document = found.documents[0]
    for path, value in _walk(document.data):
        part = _slice(text, document.span(*path))
        if re.match(r" *[|>][-+]?\d", part):
            continue  # its indentation counts from what is around it
        indented = part.replace("\n", "\n ")
        again, _ = construct("x.yaml", f"v:\n {indented}\n".encode())
        assert again is not None, (path, part)
        assert _json(again["v"]) == _json(value), (path, part)
        key = _slice(text, document.key_span(*path)).lstrip(" ")
        if path and isinstance(path[-1], str) and key[:1] != "|":
            assert construct("x.yaml", f"? {key}".encode())[0] == {path[-1]: None}


@LAW
@given(DATA, st.sampled_from([None, 2]))
def test_every_span_of_a_pin_holds_its_value(data: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    pin = Pin("p.json", text.encode(), data)
    for path, value in _walk(data):
        assert _json(json.loads(_slice(text, pin.span(*path)))) == _json(value)
        if path and isinstance(path[-1], str):
            assert json.loads(_slice(text, pin.key_span(*path))) == path[-1]


@LAW
@given(DATA, st.sampled_from(["'", '"', "|", ">", None]))
def test_every_character_of_a_text_has_its_place(data: dict[str, Any], style: str | None) -> None:
    text = _quoted(data, style, flow=False)
    found = parse(Workspace.of({"x.yaml": text.encode()}))
    assume(found.documents)
    document = found.documents[0]
    lines = text.split("\n")
    for path, value in _walk(document.data):
        if not isinstance(value, str):
            continue
        for line, content in enumerate(value.split("\n")):
            for column, character in enumerate(content):
                place = document.text_span(path, line, column).start
                written = lines[place.line - 1][place.column - 1 : place.column]
                # An escape stands for any character, a line's end for a blank.
                blank = character in " \t" and written in ("", " ", "\t")
                whole = document.text_span(path, line, column) == document.span(*path)
                assert written == character or written == "\\" or blank or whole


# Any text at all: fragments of YAML in any order.
FRAGMENT = st.sampled_from(
    ["a", "b: ", "- ", "? ", ": ", "\n", "\n  ", "\n    ", " ", "'", '"', "|\n", ">-\n", "[", "]", "{", "}", ", ", ",",
     "#", " #", "&x ", "*x", "*x ", "!t ", "!!str ", "<<: ", "---\n", "...\n", "1", "1.5", "true", "~", ".nan", "\t",
     "\\n", "\\", "?", ":", "-", "é", "😀", "%", "@", "\r\n", "k: v\n", "{a: 1}", "[x, y]", "|2\n", "\ufeff", "\u2028"]
)  # fmt: skip
JSON_TEXT = st.lists(
    st.sampled_from(["{", "}", "[", "]", ",", ":", '"', "\\", '"a"', "1", "NaN", "-", "1e999", '"\\ud800"', " ", "\n", "true"]),
    max_size=30,
).map("".join)  # fmt: skip
ANY_TEXT = st.lists(FRAGMENT, max_size=25).map("".join)


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
@example("[?:x.\n]\n")
@example("a: |\t#c\n x")
def test_the_parsers_agree(text: str) -> None:
    cleaned = cleaned_for_yaml("x.yaml", text.encode())
    if isinstance(cleaned, Diagnostic):
        return
    fast, fast_found = construct("x.yaml", cleaned, pure=False)
    slow, slow_found = construct("x.yaml", cleaned, pure=True)
    # One may refuse what the other reads, for its syntax only; what both read is the same.
    if fast is not None and slow is not None:
        assert _json(fast) == _json(slow)
    elif fast is not None or slow is not None:
        assert {d.name for d in fast_found + slow_found} == {"yaml-syntax"}


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
@example("&None [a]: *None\n")
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    found = parse(Workspace.of({"x.yaml": text.encode()}))
    assert bool(found.documents) != bool(found.diagnostics)
    assert len(found.diagnostics) <= AT_MOST
    lines = text.replace("\r\n", "\n").split("\n")
    for diagnostic in found.diagnostics:
        for span in (diagnostic.primary, *(second.span for second in diagnostic.secondary)):
            assert 1 <= span.start.line <= len(lines) + 1
            assert span.start <= span.end
    for document in found.documents:
        for path, _ in _walk(document.data):
            document.span(*path)
            document.raw(*path)
        assert json.loads(json.dumps(document.data)) == document.data


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.sampled_from(["x.yaml", "x.json", "x.md"]))
def test_any_bytes_are_read_or_refused(raw: bytes, path: str) -> None:
    found = parse(Workspace.of({path: raw}))
    accepted = {*(document.path for document in found.documents), *found.texts, *found.pins}
    assert accepted ^ found.refused == {path}
    assert bool(found.refused) == bool(found.diagnostics)


@settings(max_examples=150, deadline=None)
@given(JSON_TEXT)
def test_any_json_is_read_or_refused(text: str) -> None:
    found = parse(Workspace.of({"x.json": text.encode()}))
    assert bool(found.pins) != bool(found.diagnostics)
    try:
        expected = json.loads(text)
    except json.JSONDecodeError:
        expected = None
    for pin in found.pins.values():
        assert pin.data == expected
