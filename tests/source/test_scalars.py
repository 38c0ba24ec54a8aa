"""What an unquoted scalar means (docs/manifests.md §1, O-26)."""

from __future__ import annotations

from typing import Any

import pytest

from symc.diagnostics.codes import reading
from symc.source.construct import construct

NULLS = ["", "~", "null", "Null", "NULL"]
TRUE = ["true", "True", "TRUE"]
FALSE = ["false", "False", "FALSE"]
INTEGERS = {
    "0": 0,
    "-0": 0,
    "+0": 0,
    "7": 7,
    "-7": -7,
    "+7": 7,
    "10": 10,
    "9007199254740991": 9007199254740991,
    "-9007199254740991": -9007199254740991,
}
FLOATS = {
    "1.10": 1.1,
    "0.5": 0.5,
    ".5": 0.5,
    "-.5": -0.5,
    "+.5": 0.5,
    "1.": 1.0,
    "1e3": 1000.0,
    "1E3": 1000.0,
    "1.5e-3": 0.0015,
    "-1.5E+3": -1500.0,
    "1e15": 1e15,
    "9007199254740993.0": 9007199254740992.0,
    "1e-400": 0.0,
}
# Everything else is text: YAML 1.1 reads most of these as something else.
TEXTS = [
    *("y", "n", "yes", "no", "on", "off", "Yes", "NO", "Off", "On", "YES"),
    *("tRUE", "nULL", "TrUe", "none", "None", "nil", "true.", "nul", "nulls", "truee"),
    *("017", "0017", "-017", "+017", "00", "01", "08", "0_1", "1_000"),
    *("0x1f", "0X1F", "0o17", "0b101", "0x", "1f", "1e", "e3", "1e+", "1.5e", ".e3", "+", "-.", "."),
    *("22:22", "190:20:30", "1:30.5", "2026-11-30", "2026-11-30T10:00:00Z", "2001-12-14 21:59:43.10 -5"),
    *("1.2.3", "1.10.0", "v1", "1-2", "--1", "+-1", "1 2", "12e03x", "..", "...x"),
    *("=", "<", "<<", "<<x", "inf", "nan", "NaN", ".Nan", ".iNF", "+.nan", "infinity", "-inf"),
    *("٣", "１２", "1٣", "½", "Ⅷ"),  # digits, but not of JSON
    *("crm/*", "files/read_*", "$5", "x#y", "a:b", "http://x/y:z", "ünï", "日本"),
]
UNSAFE = [
    *("9007199254740992", "-9007199254740992", "+9007199254740992", "12345678901234567890", "9" * 5000),
    *(
        ".inf",
        "-.inf",
        "+.inf",
        ".Inf",
        "-.INF",
        ".nan",
        ".NaN",
        ".NAN",
        "1e400",
        "-1e400",
        "1" + "0" * 400 + ".0",
    ),
]

MEANINGS: dict[str, Any] = {
    **dict.fromkeys(NULLS, None),
    **dict.fromkeys(TRUE, True),
    **dict.fromkeys(FALSE, False),
    **INTEGERS,
    **FLOATS,
    **{text: text for text in TEXTS},
}


def _data(text: str) -> Any:
    data, diagnostics = construct("x.yaml", text.encode())
    assert diagnostics == ()
    assert data is not None
    return data


@pytest.mark.parametrize("written", MEANINGS)
def test_an_unquoted_scalar(written: str) -> None:
    expected = MEANINGS[written]
    data = _data(f"block: {written}\nflow: [{written}]\nlist:\n- {written}\n")
    # Between brackets nothing is no item at all.
    assert [type(data["block"]), data["block"]] == [type(expected), expected]
    assert data["flow"] == ([expected] if written else [])
    assert data["list"] == [expected]


@pytest.mark.parametrize("written", MEANINGS)
@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_quoted_scalar_is_text(quote: str, written: str) -> None:
    assert _data(f"a: {quote}{written}{quote}\n") == {"a": written}


@pytest.mark.parametrize("written", [w for w in MEANINGS if w])
@pytest.mark.parametrize("style", ["|-", ">-"])
def test_a_text_block_is_text(style: str, written: str) -> None:
    assert _data(f"a: {style}\n  {written}\n") == {"a": written}


@pytest.mark.parametrize("written", UNSAFE)
def test_a_number_without_canonical_json_is_refused(written: str) -> None:
    data, (found,) = construct("x.yaml", f"a:\n  - {written}\n".encode())
    assert data is None
    assert found.code == reading.UNSAFE_NUMBER.code
    assert (found.primary.start.line, found.primary.start.column) == (2, 5)
    assert written[:50] in found.message
    assert len(found.message) < 200


@pytest.mark.parametrize("written", UNSAFE)
def test_quoted_it_is_text(written: str) -> None:
    assert _data(f'a: "{written}"\n') == {"a": written}


def test_the_case_of_the_report() -> None:
    # O-26: never the converted value
    text = "name: no\nenforcement: off\nversion: 1.10\ntools: [on, y, 017]\norder: 1_000\ntag: 2026-11-30\non: x\n"
    assert _data(text) == {
        "name": "no",
        "enforcement": "off",
        "version": 1.1,  # a float, with its text at hand: the check stage asks to quote it
        "tools": ["on", "y", "017"],
        "order": "1_000",
        "tag": "2026-11-30",
        "on": "x",
    }
