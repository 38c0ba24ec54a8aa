"""Bytes of a file → text that every reader agrees on, or one diagnostic (docs/manifests.md §1).

UTF-8 and nothing else; a byte order mark at the start is dropped and CRLF becomes LF, so that every checkout of a
workspace compiles to the same bytes. What nobody sees, or what readers split lines at differently, is refused: symc
refuses, it never cleans.
"""

from __future__ import annotations

import re
import unicodedata

from symc.diagnostics import Diagnostic, Position, Span
from symc.diagnostics.codes import reading

_CONTROLS = bytes(set(range(0x20)) - {0x09, 0x0A, 0x0D}) + b"\x7f"
"""ASCII control characters other than tab, line feed and carriage return."""

_SUSPICIOUS = (b"\xc2", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf")
"""Bytes that every forbidden character beyond ASCII holds: the hot path looks for these and decodes no character."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_FORBIDDEN_IN_YAML = re.compile(
    # Beside the control characters: line breaks of YAML 1.1 that YAML 1.2 reads as text, a byte order mark inside
    # the text, and the two that YAML does not call printable.
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)"
)
_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SPOKEN = {
    "\0": "a NUL character",
    "\r": "a carriage return without a line feed",
    "\x1b": "an escape character",
}


def cleaned(path: str, raw: bytes, *, yaml: bool = False) -> bytes | Diagnostic:
    """The text of the file ``path`` as UTF-8 bytes without byte order mark and with LF, or why it is refused.

    ``yaml`` also refuses what YAML does not call printable. The same object comes back when there is nothing to drop.
    """
    ascii_only = raw.isascii()
    if not ascii_only:
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            return _undecodable(path, raw, error)
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    suspicious = len(raw.translate(None, _CONTROLS)) != len(raw) or b"\r" in raw
    if suspicious or not (ascii_only or not any(mark in raw for mark in _SUSPICIOUS)):
        found = _forbidden(path, raw.decode(), _FORBIDDEN_IN_YAML if yaml else _FORBIDDEN)
        if found is not None:
            return found
    return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw


def position(text: str, offset: int) -> Position:
    """Line and column of the code point at ``offset`` of ``text``."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _undecodable(path: str, raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
    wide = next((name for mark, name in _WIDE if raw.startswith(mark)), None)
    if wide is not None:
        return _not_utf8(path, Position(1, 1), f"the file is {wide}, not UTF-8")
    before = raw[: error.start].decode().removeprefix("\ufeff")
    return _not_utf8(
        path, position(before, len(before)), f"byte 0x{raw[error.start]:02x} is not valid UTF-8 here"
    )


def _not_utf8(path: str, at: Position, message: str) -> Diagnostic:
    return reading.FILE_ENCODING.at(Span(path, at, at), message, hint="save the file as UTF-8", subject=path)


def _forbidden(path: str, text: str, pattern: re.Pattern[str]) -> Diagnostic | None:
    found = list(pattern.finditer(text))
    if not found:
        return None
    if 2 * text.count("\0") >= len(text) - 1 > 0:
        return _not_utf8(path, Position(1, 1), "the file looks like UTF-16, not UTF-8")
    first = found[0].group()
    at = position(text, found[0].start())
    spoken = _SPOKEN.get(first) or f"the character {_called(first)}"
    notes = (f"{len(found) - 1} more such characters in this file",) if len(found) > 1 else ()
    return reading.FORBIDDEN_CHARACTER.at(
        Span(path, at, Position(at.line, at.column + 1)),
        f"{spoken} is not allowed in a file of the workspace",
        notes=notes,
        hint="end lines with LF or CRLF"
        if first == "\r"
        else "delete it; in YAML and JSON it can be written as an escape in double quotes",
        subject=path,
    )


def _called(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{' ' + name if name else ''}"
