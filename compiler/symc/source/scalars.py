"""What an unquoted scalar means: the YAML 1.2 core schema, narrowed (docs/manifests.md §1).

``true`` and ``false``, ``null``, decimal integers without leading zero, floats; everything else is the text as
written: ``no``, ``on``, ``017``, ``0x1f``, ``1_000``, ``22:22``, ``2026-11-30``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LARGEST_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps."""

WORDS: Final[Mapping[str, bool | None]] = MappingProxyType(
    {
        **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
        **dict.fromkeys(("true", "True", "TRUE"), True),
        **dict.fromkeys(("false", "False", "FALSE"), False),
    }
)
"""The words of the core schema that are no text."""

NUMERIC: Final = frozenset("+-.0123456789")
"""What a number starts with: other text needs no further look."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?[0-9]+", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)


class UnsafeNumberError(ValueError):
    """A number without a canonical JSON form; the text says what it is, in words for a message."""


def number(text: str) -> int | float | str:
    """``text`` as the number that it writes, else ``text`` itself; raises `UnsafeNumberError` where JSON has no such number."""
    if _INTEGER.fullmatch(text):
        return whole(text)
    if _FLOAT.fullmatch(text):
        if _LEADING_ZERO.fullmatch(
            text
        ):  # 017 is no decimal integer here, and a float needs a point or an exponent
            return text
        return fraction(text)
    if _NOT_FINITE.fullmatch(text):
        raise UnsafeNumberError("is no finite number")
    return text


def whole(text: str) -> int:
    """The integer that ``text`` writes in decimal; raises `UnsafeNumberError` beyond 2^53 - 1."""
    # The length is looked at first: Python refuses to convert very long digits, and is slow just below that.
    if len(text) > 17 or abs(value := int(text)) > LARGEST_INTEGER:
        raise UnsafeNumberError("is beyond 2^53 - 1, the largest integer that every JSON reader keeps")
    return value


def fraction(text: str) -> float:
    """The float that ``text`` writes in decimal; raises `UnsafeNumberError` where it overflows."""
    value = float(text)
    if math.isinf(value):
        raise UnsafeNumberError("is larger than any finite number that JSON readers keep")
    return value


def meaning(text: str) -> bool | int | float | str | None:
    """What the unquoted scalar ``text`` means; raises `UnsafeNumberError`."""
    if text in WORDS:
        return WORDS[text]
    return number(text) if text[0] in NUMERIC else text
