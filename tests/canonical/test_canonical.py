"""Canonical JSON against RFC 8785's own vectors, the reference package and its laws."""

from __future__ import annotations

import hashlib
import json
import math
import random
import struct
import time
from collections.abc import Callable
from enum import IntEnum, StrEnum

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.canonical import CanonicalError, JsonPath, canonical_bytes, digest, number

# RFC 8785, appendix B: bits of an IEEE 754 double, and how it is written.
RFC_NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


def _double(bits: str) -> float:
    value = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(("bits", "spelling"), RFC_NUMBERS)
def test_numbers_of_the_rfc(bits: str, spelling: str) -> None:
    assert number(_double(bits)) == spelling
    assert canonical_bytes({"n": [_double(bits)]}) == b'{"n":[%b]}' % spelling.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_numbers_that_the_rfc_refuses(bits: str) -> None:
    with pytest.raises(CanonicalError):
        number(_double(bits))


def test_example_of_the_rfc() -> None:
    # RFC 8785 §3.2.2–3.2.4
    given_text = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    expected = (
        "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e"
        "756d62657273223a5b3333333333333333332e333333333333332c31652b3330"
        "2c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac24"
        "5c75303030665c6e4127425c225c5c5c5c5c222f227d"
    )
    assert canonical_bytes(json.loads(given_text)) == bytes.fromhex(expected)


def test_keys_are_ordered_by_utf16_code_units() -> None:
    # RFC 8785 §3.2.3: by code points U+1F600 would come after U+FB33.
    names = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    assert list(json.loads(canonical_bytes(names)).values()) == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


class _Frozen(dict[str, object]):
    pass


class _Colour(StrEnum):
    RED = "red"


class _Size(IntEnum):
    BIG = 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"null"),
        (True, b"true"),
        ("", b'""'),
        ({}, b"{}"),
        ([], b"[]"),
        ((), b"[]"),
        (1, b"1"),
        (1.0, b"1"),
        (-0.0, b"0"),
        (0.5, b"0.5"),
        (1e16, b"10000000000000000"),
        (1e-5, b"0.00001"),
        (1e-7, b"1e-7"),
        (2**53 - 1, b"9007199254740991"),
        (-(2**53) + 1, b"-9007199254740991"),
        ({"b": (1, 2.0), "a": [None, {}]}, b'{"a":[null,{}],"b":[1,2]}'),
        (_Frozen(b=1, a=_Frozen()), b'{"a":{},"b":1}'),
        ({_Colour.RED: _Colour.RED, "n": _Size.BIG}, b'{"n":3,"red":"red"}'),
        ("\x7f\x1f\u2028/é", '"\x7f\\u001f\u2028/é"'.encode()),
    ],
)
def test_forms(value: object, expected: bytes) -> None:
    assert canonical_bytes(value) == expected


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        (math.nan, (), "nan is not a JSON number"),
        ({"a": [0, math.inf]}, ("a", 1), "inf is not a JSON number"),
        ({"a": {"max": 2**53}}, ("a", "max"), "the integer 9007199254740992 is beyond 2^53-1"),
        ([-(2**53)], (0,), "the integer -9007199254740992 is beyond 2^53-1"),
        ([10**5000], (0,), "the integer of 16610 bits is beyond 2^53-1"),
        ({"a": ["x", "b\ud800c"]}, ("a", 1), "the lone surrogate U+D800 is not a character"),
        ({"a": {"\udfff": 1}}, ("a", "\udfff"), "the lone surrogate U+DFFF is not a character"),
        ({"a": {1: 2}}, ("a",), "the key 1 is not a string"),
        ({"a": {True: 2, "b": 3}}, ("a",), "the key True is not a string"),
        ({None: 1}, (), "the key None is not a string"),
        ({"a": [{1, 2}]}, ("a", 0), "a value of type set is not JSON"),
        ({"a": b"x"}, ("a",), "a value of type bytes is not JSON"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(
    value: object, path: JsonPath, reason: str
) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes(value)
    assert (caught.value.path, caught.value.reason) == (path, reason)


def test_the_message_names_the_place_as_a_json_pointer() -> None:
    with pytest.raises(CanonicalError, match=r"is not a JSON number at /a~1b/0$"):
        canonical_bytes({"a/b": [math.nan]})


def test_a_value_that_contains_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(CanonicalError, match="nested too deeply"):
        canonical_bytes(endless)


def test_digest_is_sha256_over_the_domain_and_the_bytes() -> None:
    expected = hashlib.sha256(b'symc:tool:1\0{"a":1}').hexdigest()
    assert digest("tool", {"a": 1.0}) == "sha256:" + expected
    assert digest("tool", {"a": 1}) != digest("fragment", {"a": 1})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # P32: these differences matter
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"enum": [1]}, {"enum": ["1"]}),
        ({"d": "\u00e9"}, {"d": "e\u0301"}),
        ({"a": None}, {}),
        ({"a": True}, {"a": 1}),
    ],
)
def test_differences_that_count(one: object, other: object) -> None:
    assert digest("tool", one) != digest("tool", other)


# P32: key order, number spelling and escapes do not
def test_differences_that_do_not_count() -> None:
    one = json.loads(r'{"a": 1.0, "b": "\u00e9", "c": 1e2}')
    other = json.loads('{"c": 100, "b": "é", "a": 1}')
    assert digest("tool", one) == digest("tool", other)


_numbers = (
    st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(min_value=-(10**21), max_value=10**21).map(float)
)
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_values = st.recursive(
    st.none() | st.booleans() | _numbers | _texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_texts, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=200)
@given(_values)
def test_equal_to_the_reference_package(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@settings(max_examples=200)
@given(_values)
def test_canonical_bytes_are_a_fixed_point(value: object) -> None:
    once = canonical_bytes(value)
    assert canonical_bytes(json.loads(once, parse_int=float)) == once


@settings(max_examples=100)
@given(_numbers)
def test_a_number_survives_its_spelling(value: float) -> None:
    assert float(number(value)) == float(value)


def test_a_hundred_thousand_random_values_equal_the_reference_package() -> None:
    dice = random.Random(8785)
    letters = [
        "a",
        "B",
        "_",
        "7",
        '"',
        "\\",
        "\n",
        "\x01",
        "\x7f",
        "é",
        "\u2028",
        "\ue000",
        "\uffff",
        "\U0001f600",
    ]

    def text() -> str:
        return "".join(dice.choices(letters, k=dice.randrange(5)))

    def scalar() -> object:
        kind = dice.randrange(6)
        if kind == 0:
            return dice.choice([None, True, False])
        if kind == 1:
            return dice.randint(-(2**53) + 1, 2**53 - 1) >> dice.randrange(54)
        if kind == 2:
            return dice.uniform(-1, 1) * 10.0 ** dice.randint(-30, 30)
        if kind == 3:
            return float(dice.randint(-(10**6), 10**6))
        return text()

    def value(depth: int) -> object:
        kind = dice.randrange(4) if depth else 3
        if kind == 0:
            return [value(depth - 1) for _ in range(dice.randrange(4))]
        if kind == 1:
            return {text(): value(depth - 1) for _ in range(dice.randrange(4))}
        return scalar()

    for _ in range(100_000):
        sample = value(2)
        assert canonical_bytes(sample) == rfc8785.dumps(sample)  # type: ignore[arg-type]


def _seconds(function: Callable[[object], object], value: object) -> float:
    def once() -> float:
        start = time.process_time()
        for _ in range(200):
            function(value)
        return time.process_time() - start

    return min(once() for _ in range(9))


def test_a_typical_schema_takes_the_fast_path() -> None:
    """The floor is far below what is measured (about the speed of ``json.dumps``): a busy machine must not fail it."""
    schema = {
        "type": "object",
        "properties": {
            f"field_{i}": {
                "type": "string",
                "description": "What the caller wants to find.",
                "maxLength": 500 + i,
            }
            for i in range(20)
        },
        "required": ["field_0", "field_1"],
        "additionalProperties": False,
    }
    assert _seconds(lambda v: json.dumps(v, sort_keys=True), schema) > 0.4 * _seconds(canonical_bytes, schema)
