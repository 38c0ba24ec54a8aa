"""The fast spelling of JSON says what the exact one says, whatever the value is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.canonical import CanonicalError, canonical_bytes
from symc.hidden import escape_hidden
from symc.lock.spelling import Spelling

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    [
        "",
        "1e5",
        ",1.0,",
        "[1e5]",
        "\x7f",
        "a\u200bb",
        "\U0001f600",
        "\U0001f469\u200d\U0001f4bb",
        "\ufe0f",
        "\ue000",
    ]
)
_NUMBERS = (
    st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        [1.0, -0.0, 1e-7, 1e-5, 1e15, 1e16, 1e17, 1e20, 1e21, 1e22, 2.0**53, 2.0**53 - 1, 5e-324]
    )
)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(_TEXTS, _JSON, max_size=5))
@settings(max_examples=200)
def test_canonical_bytes_are_the_exact_ones(value: dict[str, Any]) -> None:
    spelling = Spelling()
    ordered = spelling.ordered(value)
    assert spelling.canonical(dict(reversed(ordered.items()))) == canonical_bytes(value)


@given(_JSON)
@settings(max_examples=200)
def test_indented_text_is_canonical_text_over_lines(value: Any) -> None:
    spelling = Spelling()
    text = spelling.indented(spelling.ordered(value), b"\n    ").decode()
    plain = json.loads(canonical_bytes(value), parse_float=_Written, parse_int=_Written)
    expected = json.dumps(_by_code_point(plain), indent=2, ensure_ascii=False)
    for written in _numbers(plain):
        expected = expected.replace(f'"{_MARK}{written}"', written)
    expected = escape_hidden(expected).replace("\x7f", "\\u007f").replace("\n", "\n    ")
    assert text == expected


_MARK = "number: "


class _Written(str):
    """A number as it is written, kept apart from strings by a mark that no generated string has."""

    __slots__ = ()

    def __new__(cls, text: str) -> _Written:
        return super().__new__(cls, _MARK + text)


def _by_code_point(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_code_point(value[key]) for key in sorted(value)}
    return [_by_code_point(item) for item in value] if isinstance(value, list) else value


def _numbers(value: Any) -> list[str]:
    if isinstance(value, _Written):
        return [value.removeprefix(_MARK)]
    if isinstance(value, dict | list):
        return [n for item in (value.values() if isinstance(value, dict) else value) for n in _numbers(item)]
    return []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": float("nan")}, "nan is not a JSON number"),
        ({"a": [2**53]}, "the integer 9007199254740992 is beyond"),
        ({1: "a"}, "the key 1 is not a string"),
        ({"a": {1, 2}}, "a value of type set is not JSON"),
    ],
)
def test_what_json_does_not_carry_is_refused(value: Any, said: str) -> None:
    with pytest.raises(CanonicalError, match=said):
        Spelling().ordered(value)


@pytest.mark.parametrize("value", [{"a": "\ud800"}, {"\udfff": 1}])
def test_half_a_surrogate_pair_is_refused(value: Any) -> None:
    spelling = Spelling()
    ordered = spelling.ordered(value)
    with pytest.raises(CanonicalError, match="lone surrogate"):
        spelling.canonical(ordered)
    with pytest.raises(CanonicalError, match="lone surrogate"):
        spelling.indented(ordered)


def test_deep_values_are_spelt() -> None:
    value: Any = "leaf"
    for _ in range(110):
        value = {"a": [value]}
    spelling = Spelling()
    ordered = spelling.ordered(value)
    assert spelling.canonical(ordered) == canonical_bytes(value)
    assert json.loads(spelling.indented(ordered)) == value
