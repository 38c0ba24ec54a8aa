"""Canonical JSON: one byte string per JSON value (RFC 8785), and the digests made from it.

Source: docs/lockfile.md §3 (L10) and docs/policies.md §5 (P32). Standard library only.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from json import JSONEncoder
from json.encoder import encode_basestring

MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader takes for the same number."""

JsonPath = tuple[str | int, ...]
"""Keys and indices from the outermost value to an inner one."""


class CanonicalError(ValueError):
    """The value has no canonical form; ``path`` leads to the part that has none, ``reason`` says why."""

    def __init__(self, reason: str, path: JsonPath = ()) -> None:
        self.reason = reason
        self.path = path
        super().__init__(f"{reason} at {pointer(path)}" if path else reason)


def pointer(path: JsonPath) -> str:
    """The path as a JSON pointer (RFC 6901): ``/properties/limit/maximum``."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def canonical_bytes(value: object) -> bytes:
    """The one UTF-8 spelling of a JSON value by RFC 8785 (JCS).

    Takes ``None``, booleans, numbers, strings, lists, tuples and dicts (and subclasses of these).
    Raises ``CanonicalError`` for what JSON cannot carry exactly: NaN, infinities, integers beyond ±(2^53-1),
    lone surrogates, keys that are no strings, other types, and nesting deeper than the interpreter's stack.
    """
    # The C encoder comes first: it ends on a value that contains itself, which `_c_encoder_is_exact` would not.
    try:
        text = _C_ENCODE(value)
        if _c_encoder_is_exact(value) and not _code_point_order_may_differ(text):
            return text.encode()
    except (TypeError, ValueError, RecursionError):
        pass  # the exact writer below either spells the value or says which part it refuses
    try:
        return "".join(_chunks(value, ())).encode()
    except RecursionError:
        raise CanonicalError("nested too deeply") from None


def digest(domain: str, value: object) -> str:
    """``sha256:`` and 64 hex digits over the value's canonical bytes, separated by domain (L10).

    ``domain`` names the kind of thing (``"fragment"``, ``"tool"``): equal values of two kinds never share a digest.
    Raises ``CanonicalError`` like ``canonical_bytes``.
    """
    return digest_of_bytes(domain, canonical_bytes(value))


def digest_of_bytes(domain: str, canonical: bytes) -> str:
    """The ``digest`` of a value whose canonical bytes are known already."""
    return "sha256:" + hashlib.sha256(b"symc:%b:1\0" % domain.encode() + canonical).hexdigest()


def number(value: float) -> str:
    """The RFC 8785 spelling of one number, which is ECMAScript's: ``1``, ``0.5``, ``1e+21``.

    Raises ``CanonicalError`` for NaN, infinities and integers beyond ±(2^53-1).
    """
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise CanonicalError(f"the integer {_shortened(value)} is beyond 2^53-1")
        return int.__repr__(value)
    if not math.isfinite(value):
        raise CanonicalError(f"{float.__repr__(value)} is not a JSON number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # Python and ECMAScript agree on the shortest digits and differ only in where they write the point.
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


_C_ENCODE = JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def _c_encoder_is_exact(value: object) -> bool:
    """Whether the C encoder writes this value as JCS does, but for the order of keys.

    It turns keys of other types into strings, and spells some floats and big integers in another way.
    Raises ``TypeError`` on a key that is no string.
    """
    groups: list[Iterable[object]] = [(value,)]
    push, join = groups.append, "".join
    for group in groups:  # grows while it is walked
        for item in group:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue
            if kind is list:
                push(item)  # type: ignore[arg-type]  # narrowed by identity, which is faster than isinstance
            elif isinstance(item, dict):
                join(item)  # the fastest way to ask whether every key is a string
                push(item.values())
            elif isinstance(item, int):
                if not -MAX_INTEGER <= item <= MAX_INTEGER:
                    return False
            elif isinstance(item, float):
                if item.is_integer() or not 1e-4 <= abs(item) < 1e16:
                    return False
            elif isinstance(item, (list, tuple)):
                push(item)
            elif not isinstance(item, str):
                return False
    return True


_ABOVE_SURROGATES = re.compile("[\ue000-\uffff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def _code_point_order_may_differ(text: str) -> bool:
    """Whether sorting by code points can differ from JCS's order by UTF-16 code units.

    It does only between a key with an astral character and one with a character from U+E000 on.
    """
    return not text.isascii() and bool(_ASTRAL.search(text)) and bool(_ABOVE_SURROGATES.search(text))


def _chunks(value: object, path: JsonPath) -> Iterable[str]:
    """The exact writer: slower, knows the path, refuses what has no form."""
    if value is None:
        yield "null"
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, str):
        yield _string(value, path)
    elif isinstance(value, (int, float)):
        try:
            yield number(value)
        except CanonicalError as error:
            raise CanonicalError(error.reason, path) from None
    elif isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise CanonicalError(f"the key {key!r} is not a string", path)
        separator = "{"
        for key in sorted(value, key=_utf16):
            yield f"{separator}{_string(key, (*path, key))}:"
            yield from _chunks(value[key], (*path, key))
            separator = ","
        yield "{}" if separator == "{" else "}"
    elif isinstance(value, (list, tuple)):
        separator = "["
        for index, item in enumerate(value):
            yield separator
            yield from _chunks(item, (*path, index))
            separator = ","
        yield "[]" if separator == "[" else "]"
    else:
        raise CanonicalError(f"a value of type {type(value).__name__} is not JSON", path)


def _string(text: str, path: JsonPath) -> str:
    for character in text if not text.isascii() else ():
        if "\ud800" <= character <= "\udfff":
            raise CanonicalError(f"the lone surrogate U+{ord(character):04X} is not a character", path)
    return encode_basestring(text)


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _shortened(value: int) -> str:
    """An integer of any size in a few characters, without spelling it out (which has a limit of its own)."""
    return str(value) if value.bit_length() <= 128 else f"of {value.bit_length()} bits"
