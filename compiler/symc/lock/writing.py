"""Write a lock: the canonical text (docs/lockfile.md §1, L1–L4)."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from symc.canonical import number
from symc.composition import Lock
from symc.composition.cover import seal
from symc.composition.whole import lock_tree
from symc.hidden import escape_hidden


def dumps(lock: Lock) -> str:
    """The lock's one text: UTF-8 when encoded, LF, two spaces, sorted keys, a final newline.

    Raises ``symc.canonical.CanonicalError`` for a value that JSON cannot carry exactly; a compiled lock holds none.
    """
    return render(sealed_tree(lock))


def sealed_tree(lock: Lock) -> dict[str, Any]:
    """The lock as a JSON tree with all its digests; frozen parts of it are the lock's own."""
    found = lock_tree(lock)
    seal(found)
    return found


def tree(lock: Lock) -> dict[str, Any]:
    """The lock as plain JSON, as ``json.load`` gives it; of a lock that was read, the very tree it was read from."""
    if lock.stored is not None:
        return dict(lock.stored.tree)
    plain: dict[str, Any] = _plain(sealed_tree(lock))
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def render(value: Any) -> str:
    """The canonical text of one JSON tree (L1, L3)."""
    pieces: list[str] = []
    _write(value, "\n", pieces.append, _Keys())
    pieces.append("\n")
    # The one hidden ASCII character that JSON does not escape by itself; it stands in strings only.
    return "".join(pieces).replace("\x7f", "\\u007f")


class _Keys(dict[str, str]):
    """Keys as they are written; a lock has few, many times."""

    def __missing__(self, key: str) -> str:
        written = self[key] = _string(key) + ": "
        return written


def _write(value: Any, line: str, out: Callable[[str], None], keys: _Keys) -> None:
    """Put out the value's text; ``line`` is the line break with the indentation that the value stands at."""
    inner = line + "  "
    if isinstance(value, dict):
        before = "{" + inner
        for key in sorted(value):
            item = value[key]
            # Most values are strings of ASCII: they are written in place, without a call of our own each.
            if type(item) is str and item.isascii():
                out(before + keys[key] + encode_basestring(item))
            else:
                out(before + keys[key])
                _write(item, inner, out, keys)
            before = "," + inner
        out(line + "}" if value else "{}")
    elif isinstance(value, list | tuple):
        if not value:
            out("[]")
            return
        try:
            # Most arrays are lines of text, or ids.
            lines = ("," + inner).join(map(encode_basestring, value))
        except TypeError:
            before = "[" + inner
            for item in value:
                out(before)
                _write(item, inner, out, keys)
                before = "," + inner
            out(line + "]")
        else:
            out(f"[{inner}{lines if lines.isascii() else escape_hidden(lines)}{line}]")
    elif isinstance(value, str):
        out(_string(value))
    elif value is None:
        out("null")
    elif isinstance(value, bool):
        out("true" if value else "false")
    else:
        out(number(value))


def _string(text: str) -> str:
    return encode_basestring(text) if text.isascii() else escape_hidden(encode_basestring(text))
