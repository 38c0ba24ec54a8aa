"""Write a lock: the canonical text (docs/lockfile.md §1, L1–L4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from symc.composition import Lock
from symc.composition.cover import seal
from symc.composition.whole import lock_tree

if TYPE_CHECKING:
    from symc.lock.spelling import Spelling

_SECTIONS: Final = ("agents", "bases", "extensions")


def dumps(lock: Lock) -> str:
    """The lock's one text: UTF-8 when encoded, LF, two spaces, sorted keys, a final newline.

    Raises ``symc.canonical.CanonicalError`` for a value that JSON cannot carry exactly; a compiled lock holds none.
    """
    return encoded(lock).decode()


def encoded(lock: Lock) -> bytes:
    """The text of :func:`dumps` in UTF-8: as it goes to a file, and without a string of four bytes a character."""
    from symc.lock.spelling import Spelling  # who only reads locks does not need it

    spelling = Spelling()
    return b"".join(_pieces(_sealed(lock, spelling), spelling))


def tree(lock: Lock) -> dict[str, Any]:
    """The lock as plain JSON, as ``json.load`` gives it; of a lock that was read, the very tree it was read from."""
    from symc.lock.spelling import Spelling

    return _sealed(lock, Spelling()) if lock.stored is None else dict(lock.stored.tree)


def render(value: Any) -> str:
    """The canonical text of one JSON tree (L1, L3)."""
    from symc.lock.spelling import Spelling

    spelling = Spelling()
    return spelling.indented(spelling.ordered(value)).decode() + "\n"


def _sealed(lock: Lock, spelling: Spelling) -> dict[str, Any]:
    found: dict[str, Any] = spelling.ordered(lock_tree(lock))
    seal(found, spelling.canonical)
    return found


def _pieces(found: Mapping[str, Any], spelling: Spelling) -> Iterator[bytes]:
    """The text entry by entry: most are ASCII, and only the others are searched for hidden characters."""
    before = b"{\n  "
    for key, value in found.items():
        yield before + spelling.indented(key) + b": "
        if key in _SECTIONS and value:
            yield from _section(value, spelling)
        else:
            yield spelling.indented(value, b"\n  ")
        before = b",\n  "
    yield b"\n}\n"


def _section(entries: Mapping[str, Any], spelling: Spelling) -> Iterator[bytes]:
    before = b"{\n    "
    for name, entry in entries.items():
        yield before + spelling.indented(name) + b": "
        yield spelling.indented(entry, b"\n    ")
        before = b",\n    "
    yield b"\n  }"
