"""How JSON values are spelt, many at a time: canonical bytes for digests, indented text for the lock (L1, L3, L10).

What :mod:`symc.canonical` spells exactly and one by one, the serializer of pydantic-core spells six times as fast, once
the values are put in order; what it spells otherwise is told by its looks, and left to the former.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json

from symc.canonical import MAX_INTEGER, CanonicalError, canonical_bytes, number
from symc.hidden import escape_hidden

# A number with a point or an exponent: in compact JSON after punctuation, in indented JSON at the end of its line, where
# a string has its quotation mark.
_FRACTION: Final = re.compile(rb"[:,\[]-?[0-9]+[.e]")
_FRACTION_LINE: Final = re.compile(rb"(?<![^ \n])-?[0-9]+[.e][-+.e0-9]*(?=,?$)", re.MULTILINE)
# JCS sorts by UTF-16: between these two kinds of characters that is another order than Python's.
_ABOVE_SURROGATES: Final = re.compile(rb"[\xee\xef]")
_ASTRAL: Final = re.compile(rb"[\xf0-\xf4]")
_ASCII: Final = bytes(range(128))
_STRINGS: Final = frozenset({str})


class Spelling:
    """Spells one tree: first it is put in order, then it and its parts are spelt, as often as needed."""

    __slots__ = ("_has_unusual_numbers",)

    def __init__(self) -> None:
        self._has_unusual_numbers = False

    def ordered(self, value: Any) -> Any:
        """The value as plain JSON with every key in order and whole numbers as integers: what the others here take.

        Raises ``symc.canonical.CanonicalError`` for what JSON cannot carry exactly.
        """
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int and -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
        if kind is list or kind is tuple:
            return list(value) if _STRINGS.issuperset(map(type, value)) else [*map(self.ordered, value)]
        if isinstance(value, dict):
            try:
                "".join(value)  # the fastest way to ask whether every key is a string
            except TypeError:
                canonical_bytes(value)  # says which is not
            ordered = self.ordered
            return {key: item if type(item := value[key]) is str else ordered(item) for key in sorted(value)}
        if kind is float and math.isfinite(value):
            if value.is_integer() and abs(value) <= MAX_INTEGER:
                return int(value)
            if not 1e-4 <= abs(value) <= MAX_INTEGER:
                self._has_unusual_numbers = True
            return value
        # A subclass, or what JSON does not carry: the exact writer says what it is.
        return json.loads(canonical_bytes(value))

    def canonical(self, value: dict[str, Any]) -> bytes:
        """The canonical bytes of an object whose values are ordered; its own keys may stand in any order."""
        try:
            text: bytes = to_json(dict(sorted(value.items())))
        except PydanticSerializationError:
            return canonical_bytes(value)  # says what cannot be spelt
        if self._has_unusual_numbers and _FRACTION.search(text):
            return canonical_bytes(value)
        if not text.isascii():
            beyond = text.translate(None, _ASCII)
            if _ASTRAL.search(beyond) and _ABOVE_SURROGATES.search(beyond):
                return canonical_bytes(value)
        return text

    def indented(self, value: Any, line: bytes = b"\n") -> bytes:
        """The text of an ordered value over several lines (L1), hidden characters escaped (L3).

        ``line`` is the line break with the indentation that the value stands at.
        """
        try:
            text: bytes = to_json(value, indent=2)
        except PydanticSerializationError as error:
            canonical_bytes(value)  # says what cannot be spelt
            raise CanonicalError(str(error)) from None
        if self._has_unusual_numbers:
            text = _FRACTION_LINE.sub(lambda found: number(float(found[0])).encode(), text)
        if not text.isascii():
            # Among the few distinct characters beyond ASCII, what may be hidden is found sooner than in the text.
            beyond = " " + " ".join(set(text.translate(None, _ASCII).decode()))
            if escape_hidden(beyond) != beyond:
                text = escape_hidden(text.decode()).encode()
        # The one hidden ASCII character that JSON does not escape by itself; it stands in strings only.
        text = text.replace(b"\x7f", b"\\u007f")
        return text if line == b"\n" else text.replace(b"\n", line)
