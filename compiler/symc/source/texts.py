"""Bytes of a file → text that every reader agrees on, or one diagnostic (docs/manifests.md §1).

UTF-8 and nothing else; a byte order mark at the start is dropped and CRLF becomes LF, so that every checkout of a
workspace compiles to the same bytes. What nobody sees, or what readers split lines at differently, is refused: symc
refuses, it never cleans.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from itertools import islice

from symc.diagnostics import Diagnostic, Position, Span
from symc.diagnostics.codes import reading

_BOM = b"\xef\xbb\xbf"
_WIDE = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

_LEFT_BY_PARSERS = tuple(character.encode() for character in "\x85\u2028\u2029\ufeff")
"""Forbidden characters that the YAML parsers accept: line breaks of YAML 1.1, and the byte order mark."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_FORBIDDEN_IN_YAML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u2028\u2029"  # line breaks of YAML 1.1
    "\ufeff"  # a byte order mark inside the text
    "\ufffe\uffff]"  # not printable in YAML's sense
    "|\r(?!\n)"
)
_COUNTED = 100
"""Further places of one file that are counted."""

_SPOKEN = {
    "\0": "a NUL character",
    "\r": "a carriage return without a line feed",
    "\x1b": "an escape character",
    "\ufeff": "a byte order mark that is not at the start",
}


def cleaned(path: str, raw: bytes) -> bytes | Diagnostic:
    """The text of the file ``path`` as UTF-8 without byte order mark and with LF, or why it is refused."""
    return unclean(path, raw) or _normalised(raw)


def cleaned_for_yaml(path: str, raw: bytes) -> bytes | Diagnostic:
    """As `cleaned`, for a YAML parser: what the parser itself stops at is left to it.

    Each parser of PyYAML decodes and looks at every character anyway; doing it twice is a twentieth of parsing.
    """
    text = raw.removeprefix(_BOM)
    # A first byte alone is looked for a dozen times faster than the two or three bytes of a character.
    suspicious = not text.isascii() and (
        text.startswith((b"\xff\xfe", b"\xfe\xff"))
        or any(found[:1] in text and found in text for found in _LEFT_BY_PARSERS)
    )
    if suspicious or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n")):
        found = unclean(path, raw, yaml=True)
        if found is not None:
            return found
    text = _normalised(text)
    # A last line of nothing but spaces: libyaml takes them for text, YAML 1.2 for an empty line.
    ends_blank = text.endswith(b" ") and not text[text.rfind(b"\n") + 1 :].strip(b" ")
    return text + b"\n" if ends_blank else text


def unclean(path: str, raw: bytes, *, yaml: bool = False) -> Diagnostic | None:
    """Why ``raw`` is no text that is accepted, with the first place of it; ``yaml``: not printable in YAML's sense."""
    wide = next((name for mark, name in _WIDE if raw.startswith(mark)), None)
    if wide is not None:
        return _not_utf8(path, Position(1, 1), f"the file is {wide}, not UTF-8")
    try:
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode().removeprefix("\ufeff")
        said = f"byte 0x{raw[error.start]:02x} is not valid UTF-8 here"
        return _not_utf8(path, Lines(before).position(len(before)), said)
    pattern = _FORBIDDEN_IN_YAML if yaml else _FORBIDDEN
    found = list(islice(pattern.finditer(text), _COUNTED + 1))
    if not found:
        return None
    if 2 * text.count("\0") >= len(text) - 1 > 0:
        return _not_utf8(path, Position(1, 1), "the file looks like UTF-16, not UTF-8")
    more = len(found) - 1 if len(found) <= _COUNTED else f"at least {_COUNTED}"
    first, at = found[0].group(), Lines(text).position(found[0].start())
    return reading.FORBIDDEN_CHARACTER.at(
        Span(path, at, Position(at.line, at.column + 1)),
        f"{_SPOKEN.get(first) or 'the character ' + _called(first)} is not allowed in this file",
        notes=(f"{more} more such characters in this file",) if len(found) > 1 else (),
        hint="end lines with LF or CRLF"
        if first == "\r"
        else "delete it; inside double quotes it can be an escape",
        subject=path,
    )


class Lines:
    """Where the lines of a text begin: offsets in code points → line and column."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = array("I", (0,))
        self._starts.extend(found.end() for found in re.finditer("\n", text))

    def position(self, offset: int) -> Position:
        """Line and column of the code point at ``offset``."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)


def _normalised(raw: bytes) -> bytes:
    text = raw.removeprefix(_BOM)
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text


def _not_utf8(path: str, at: Position, message: str) -> Diagnostic:
    return reading.FILE_ENCODING.at(Span(path, at, at), message, hint="save the file as UTF-8", subject=path)


def _called(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{' ' + name if name else ''}"
