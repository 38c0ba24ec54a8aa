"""Pins: JSON, strictly (docs/policies.md, docs/manifests.md)."""

from __future__ import annotations

from typing import Any

import pytest

from symc.source.pins import read_pin

ACCEPTED: dict[str, Any] = {
    "{}": {},
    ' {"a": [1, -2, 1.5, 1e3, true, false, null, "x"]} \n': {"a": [1, -2, 1.5, 1000.0, True, False, None, "x"]},
    '{"a": "\\ud83d\\ude00 \\u0041 \\" \\\\"}': {"a": '😀 A " \\'},
    '{"a": {"b": 1}, "b": 1}': {"a": {"b": 1}, "b": 1},
    '{"a": 9007199254740991, "b": -9007199254740991}': {"a": 9007199254740991, "b": -9007199254740991},
    '{"a": "\u2028\u2029"}': {"a": "\u2028\u2029"},
    '{"a": "\\u0000\\ufeff"}': {"a": "\0\ufeff"},
    '{"": "", " ": "{\\"a\\": 1}"}': {"": "", " ": '{"a": 1}'},
    '{"a":' + "[" * 99 + "]" * 99 + "}": None,
    '{"a": "' + "[{" * 500 + '"}': {"a": "[{" * 500},
    '{"a": "\\\\ud83d"}': {"a": "\\ud83d"},
}  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    data, diagnostics = read_pin("p.json", text.encode())
    assert diagnostics == ()
    assert data == ACCEPTED[text] or ACCEPTED[text] is None


Place = tuple[str, int, int]

REFUSED: dict[str, list[Place]] = {
    # not JSON
    "": [("json-syntax", 1, 1)],
    "{": [("json-syntax", 1, 2)],
    "{} {}": [("json-syntax", 1, 4)],
    '{"a": 1,}': [("json-syntax", 1, 9)],
    "{'a': 1}": [("json-syntax", 1, 2)],
    '{"a": 01}': [("json-syntax", 1, 8)],
    '{"a": +1}': [("json-syntax", 1, 7)],
    '{"a": .5}': [("json-syntax", 1, 7)],
    '{"a": 0x1f}': [("json-syntax", 1, 8)],
    '{"a": "\t"}': [("json-syntax", 1, 8)],
    '{"a": "\n"}': [("json-syntax", 1, 8)],
    '{"a": "\\x41"}': [("json-syntax", 1, 8)],
    '{"a": "\\u12"}': [("json-syntax", 1, 9)],
    '{"a" 1}': [("json-syntax", 1, 6)],
    '{\n "a": tru}': [("json-syntax", 2, 7)],
    "// a\n{}": [("json-syntax", 1, 1)],
    '{"a": "x': [("json-syntax", 1, 7)],
    # no object
    "[]": [("not-a-mapping", 1, 1)],
    '"x"': [("not-a-mapping", 1, 1)],
    "null": [("not-a-mapping", 1, 1)],
    # JSON that readers disagree about
    '{"a": 1, "b": {"a": 2},\n "a": 3}': [("duplicate-key", 2, 2)],
    '{"a": 1, "\\u0061": 2, "a": 3}': [("duplicate-key", 1, 10), ("duplicate-key", 1, 23)],
    '{"x": [{"a": 1, "a": 1}]}': [("duplicate-key", 1, 17)],
    '{"a": NaN, "b": Infinity, "c": -Infinity}': [
        ("unsafe-number", 1, 7),
        ("unsafe-number", 1, 17),
        ("unsafe-number", 1, 32),
    ],
    '{"a": 9007199254740992, "b": -9007199254740992}': [("unsafe-number", 1, 7), ("unsafe-number", 1, 30)],
    '{"a": ' + "9" * 5000 + "}": [("unsafe-number", 1, 7)],
    '{"a": [1e400, -1e400]}': [("unsafe-number", 1, 8), ("unsafe-number", 1, 15)],
    '{"a": "\\ud83d", "b": "\\ude00\\ud83d"}': [("lone-surrogate", 1, 7), ("lone-surrogate", 1, 22)],
    '{"\\ud800": 1}': [("lone-surrogate", 1, 2)],
    '{"a":' + "[" * 100 + "]" * 100 + "}": [("nesting-too-deep", 1, 105)],
    '{"a":' + "[" * 100_000: [("nesting-too-deep", 1, 105)],
    "[" * 2000 + "]" * 2000: [("nesting-too-deep", 1, 101)],
    # several at once
    '{"a": NaN, "a": 1e999, "b": "\\ud800"}': [
        ("unsafe-number", 1, 7),
        ("duplicate-key", 1, 12),
        ("unsafe-number", 1, 17),
        ("lone-surrogate", 1, 29),
    ],
    # the first look stops at the duplicate, before it comes to the syntax error
    '{"a": {"b": 1, "b": 2}, "c": "\\q"}': [("json-syntax", 1, 31)],
    '{"a": {"b": 1, "b": 2}]': [("json-syntax", 1, 23)],
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    data, diagnostics = read_pin("p.json", text.encode())
    assert data is None
    assert [(d.name, d.primary.start.line, d.primary.start.column) for d in diagnostics] == REFUSED[text]
    assert all(len(d.message) < 200 for d in diagnostics)


def test_a_duplicate_key_shows_both_places() -> None:
    _, (found,) = read_pin("p.json", b'{"a": 1,\n "a": 2}')
    assert (found.primary.start.line, found.primary.start.column, found.primary.end.column) == (2, 2, 5)
    ((first, _),) = ((second.span, second.label) for second in found.secondary)
    assert (first.start.line, first.start.column, first.end.column) == (1, 2, 5)
