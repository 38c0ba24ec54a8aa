"""Write a lock: the canonical text (docs/lockfile.md §1, L1–L4)."""

from __future__ import annotations

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
    # The one hidden ASCII character that JSON does not escape by itself; it stands in strings only.
    return (_text(value, "\n") + "\n").replace("\x7f", "\\u007f")


def _text(value: Any, line: str) -> str:
    """The value's text; ``line`` is the line break with the indentation that the value stands at."""
    if isinstance(value, str):
        return _string(value)
    inner = line + "  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        # Most of a lock is strings of ASCII: they are written in place, without a call of our own each.
        items = [
            f"{_string(key)}: {encode_basestring(item)}"
            if type(item := value[key]) is str and item.isascii()
            else f"{_string(key)}: {_text(item, inner)}"
            for key in sorted(value)
        ]
        return "{" + inner + ("," + inner).join(items) + line + "}"
    if isinstance(value, list | tuple):
        if not value:
            return "[]"
        items = [
            encode_basestring(item) if type(item) is str and item.isascii() else _text(item, inner)
            for item in value
        ]
        return "[" + inner + ("," + inner).join(items) + line + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value)


def _string(text: str) -> str:
    return encode_basestring(text) if text.isascii() else escape_hidden(encode_basestring(text))
