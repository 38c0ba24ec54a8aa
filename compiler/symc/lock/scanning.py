"""Scan JSON text with places: what :mod:`json` does not tell — where a value lies, and which key stands twice.

Values are made by the standard library's C scanner; only the objects around them are walked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn

from symc.canonical import MAX_INTEGER, JsonPath, number
from symc.diagnostics import Position

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class DuplicateKeyError(ValueError):
    """A key that an object holds twice; ``path`` leads to it, ``first`` and ``second`` are the offsets of its places."""

    def __init__(self, path: JsonPath, first: int, second: int) -> None:
        super().__init__(f'the key "{path[-1]}" stands twice')
        self.path = path
        self.first = first
        self.second = second


class _TwiceError(ValueError):
    """An object holds a key twice; the C scanner does not say where."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: its key, the offsets of the key and of the value, and the value."""

    key: str
    key_at: int
    at: int
    value: Any


Decode = Callable[[str, int, JsonPath], tuple[Any, int]]
"""Makes the value at an offset, reached by a path, and gives the offset after it."""


def position(text: str, offset: int) -> Position:
    """The place of an offset: line and column in code points."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def skip_blank(text: str, at: int) -> int:
    """The offset of the next character that is no white space."""
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def decode(text: str, at: int, _path: JsonPath = ()) -> tuple[Any, int]:
    """The JSON value at an offset, and the offset after it; of a key that stands twice the last one counts.

    Raises ``ValueError`` for what is no JSON, and for numbers that JSON does not carry exactly.
    """
    value: tuple[Any, int] = _DECODER.raw_decode(text, at)
    return value


def decode_strictly(text: str, at: int, path: JsonPath) -> Any:
    """The JSON value at an offset, reached by ``path``: no key of it stands twice, no string holds half a character.

    Raises ``DuplicateKeyError``, and ``ValueError`` like ``decode``.
    """
    try:
        value, end = _STRICT.raw_decode(text, at)
    except _TwiceError:
        _walk(text, at, path)  # raises, with the places
        raise  # pragma: no cover
    # Halves of surrogate pairs can be written as escapes, but no file of text can hold what they say.
    if _HALF.search(text, at, end):
        _refuse_halves(value)
    return value


def members(text: str, at: int, path: JsonPath, value: Decode = decode) -> tuple[list[Member], int]:
    """The members of the JSON object at an offset, in their order, and the offset after it.

    Raises ``JSONDecodeError`` for what is no object, ``DuplicateKeyError`` for a key that stands twice.
    """
    if text[at : at + 1] != "{":
        raise JSONDecodeError("Expecting an object", text, at)
    found: dict[str, Member] = {}
    at = skip_blank(text, at + 1)
    if text[at : at + 1] == "}":
        return [], at + 1
    while True:
        if text[at : at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        key, colon = decode(text, at)
        if not key.isascii():
            _refuse_halves(key)
        if key in found:
            raise DuplicateKeyError((*path, key), found[key].key_at, at)
        colon = skip_blank(text, colon)
        if text[colon : colon + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, colon)
        start = skip_blank(text, colon + 1)
        held, end = value(text, start, (*path, key))
        found[key] = Member(key, at, start, held)
        at = skip_blank(text, end)
        if text[at : at + 1] == "}":
            return list(found.values()), at + 1
        if text[at : at + 1] != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)
        at = skip_blank(text, at + 1)


def locate(text: str, path: JsonPath) -> int:
    """The offset of the key or element at a path, or of the nearest one above it that is there."""
    nearest = at = skip_blank(text, 0)
    for step in path:
        found = _child(text, at, step)
        if found is None:
            break
        nearest, at = found
    return nearest


def _child(text: str, at: int, step: str | int) -> tuple[int, int] | None:
    """The offsets of a member's key and of its value; of an element, its own twice."""
    if text[at : at + 1] == "{":
        found = {member.key: (member.key_at, member.at) for member in members(text, at, ())[0]}
        return found.get(str(step))
    if text[at : at + 1] == "[":
        offsets = dict(enumerate(_elements(text, at, (), decode)[0]))
        return (offsets[int(step)],) * 2 if step in offsets else None
    return None


def _elements(text: str, at: int, path: JsonPath, value: Decode) -> tuple[list[int], int]:
    """The offsets of a (well-formed) array's elements, and the offset after it."""
    offsets: list[int] = []
    at = skip_blank(text, at + 1)
    while text[at : at + 1] != "]":
        offsets.append(at)
        _, end = value(text, at, (*path, len(offsets) - 1))
        at = skip_blank(text, end)
        if text[at : at + 1] == ",":
            at = skip_blank(text, at + 1)
    return offsets, at + 1


def _walk(text: str, at: int, path: JsonPath) -> tuple[None, int]:
    """Come to every object below a well-formed value; ``members`` raises for the first key that stands twice."""
    if text[at : at + 1] == "{":
        return None, members(text, at, path, _walk)[1]
    if text[at : at + 1] == "[":
        return None, _elements(text, at, path, _walk)[1]
    return None, decode(text, at)[1]


def _integer(spelling: str) -> int | float:
    if len(spelling) < 16:
        return int(spelling)
    # The longest number without exponent, 1e21 less one step, has 21 digits and perhaps a sign (RFC 8785).
    if len(spelling) <= 22:
        exact = int(spelling)
        if abs(exact) <= MAX_INTEGER:
            return exact
        if number(float(exact)) == spelling:
            return float(exact)
    raise ValueError(f"the integer {spelling[:22]} is beyond 2^53-1")


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError
    return found


def _refuse_halves(value: Any) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the lone surrogate U+{ord(value[error.start]):04X} is not a character"
            ) from None
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_halves(key)
            _refuse_halves(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_halves(item)


_DECODER: Final = JSONDecoder(parse_constant=_constant, parse_int=_integer)
_STRICT: Final = JSONDecoder(parse_constant=_constant, parse_int=_integer, object_pairs_hook=_unique)
