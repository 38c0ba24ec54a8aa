"""Places in JSON text: where a path leads, and what is looked at only to word an error."""

from __future__ import annotations

import pytest

from symc.diagnostics import Position
from symc.lock import scanning

TEXT = '{\n  "a": [1, {"b": "x,]}", "c": []}],\n  "ä": {"d": {}}\n}'


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), Position(1, 1)),
        (("a",), Position(2, 3)),
        (("a", 0), Position(2, 9)),
        (("a", 1), Position(2, 12)),
        (("a", 1, "c"), Position(2, 26)),
        (("ä", "d"), Position(3, 9)),
        # The nearest that is there.
        (("a", 2), Position(2, 3)),
        (("a", "b"), Position(2, 3)),
        (("a", 1, "b", "x"), Position(2, 13)),
        (("ä", "d", "e"), Position(3, 9)),
        (("e",), Position(1, 1)),
    ],
)
def test_where_a_path_leads(path: tuple[str | int, ...], place: Position) -> None:
    assert scanning.position(TEXT, scanning.locate(TEXT, path)) == place


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a": 1, "a": 2}', ("a",)),
        ('{"a": {"b": [1, {"c": 1, "d": 2, "c": 3}]}}', ("a", "b", 1, "c")),
        ('{"\\u0061": 1, "a": 2}', ("a",)),
        ('[[], {}, {"": 1, "": 1}]', (2, "")),
    ],
)
def test_a_key_that_stands_twice(text: str, path: tuple[str | int, ...]) -> None:
    with pytest.raises(scanning.DuplicateKeyError) as error:
        scanning.decode_strictly(text, 0, ())
    assert error.value.path == path
    assert error.value.first < error.value.second


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", 9007199254740991),
        ("-9007199254740991", -9007199254740991),
        ("100000000000000000000", 1e20),
        ("-100000000000000000000", -1e20),
        ("12", 12),
    ],
)
def test_numbers_in_their_canonical_spelling_come_back(text: str, value: float) -> None:
    got = scanning.decode_strictly(text, 0, ())
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "text", ["9007199254740993", "100000000000000000001", "1" * 23, "-" + "1" * 23, "NaN"]
)
def test_numbers_that_json_does_not_carry(text: str) -> None:
    with pytest.raises(ValueError, match=r"beyond 2\^53-1|not a JSON number"):
        scanning.decode_strictly(text, 0, ())


def test_halves_of_characters() -> None:
    assert scanning.decode_strictly(r'{"\ud83d\ude00": ["\ud83d\ude00", 1]}', 0, ()) == {"😀": ["😀", 1]}
    for text in (r'"\ud83d"', r'["a", "\ude00"]', r'{"\ud83d": 1}', r'{"a": {"b": "\ude00\ud83d"}}'):
        with pytest.raises(ValueError, match="lone surrogate"):
            scanning.decode_strictly(text, 0, ())
