"""Write a lock: the canonical text (docs/lockfile.md §1, L1–L4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

from symc.composition import Lock
from symc.composition.cover import seal
from symc.composition.whole import entries, lock_tree

if TYPE_CHECKING:
    from symc.lock.spelling import Spelling


def dumps(lock: Lock) -> str:
    """The lock's one text: UTF-8 when encoded, LF, two spaces, sorted keys, a final newline.

    Raises ``symc.canonical.CanonicalError`` for a value that JSON cannot carry exactly; a compiled lock holds none.
    """
    return encoded(lock).decode()


def encoded(lock: Lock) -> bytes:
    """The text of :func:`dumps` in UTF-8: as it goes to a file, and without a string of four bytes a character."""
    from symc.lock.spelling import Spelling  # who only reads locks does not need it

    text = BytesIO()  # grows in place: the pieces and the whole are never there together
    text.writelines(_pieces(lock, Spelling()))
    return text.getvalue()


def tree(lock: Lock) -> dict[str, Any]:
    """The lock as plain JSON, as ``json.load`` gives it; of a lock that was read, the very tree it was read from."""
    from symc.lock.spelling import Spelling

    if lock.stored is not None:
        return dict(lock.stored.tree)
    found: dict[str, Any] = Spelling().ordered(lock_tree(lock))
    seal(found)
    return found


def render(value: Any) -> str:
    """The canonical text of one JSON tree (L1, L3)."""
    from symc.lock.spelling import Spelling

    spelling = Spelling()
    return spelling.indented(spelling.ordered(value)).decode() + "\n"


def _pieces(lock: Lock, spelling: Spelling) -> Iterator[bytes]:
    """The text entry by entry: each is sealed and spelt on its own, and its tree is gone before the next is made."""
    before = b"{\n  "
    for section, parts in groupby(entries(lock), key=lambda part: part[0][0]):
        yield before + spelling.indented(section) + b": "
        yield from _section(parts, spelling)
        before = b",\n  "
    yield b"\n}\n"


def _section(parts: Iterable[tuple[tuple[str, ...], Any]], spelling: Spelling) -> Iterator[bytes]:
    before = b"{\n    "
    for (section, *name), json in parts:
        value = spelling.ordered(json)
        if not name:
            seal({section: value}, spelling.canonical)
            yield spelling.indented(value, b"\n  ")
            return
        seal({section: {name[0]: value}}, spelling.canonical)
        yield before + spelling.indented(name[0]) + b": "
        yield spelling.indented(value, b"\n    ")
        before = b",\n    "
    yield b"\n  }"
