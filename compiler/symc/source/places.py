"""Where each value and key of a file stands: a flat table in file order, made on first need from the text.

A clean compile asks for no place, so the hot path keeps none (docs/performance.md); who asks first pays one more walk
over that file. The table is five small integers a value, whatever is in it.
"""

from __future__ import annotations

import re
from array import array

from symc.diagnostics import Span
from symc.source.scalar_text import trace
from symc.source.texts import Lines

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")


class Places:
    """The places of one text's values; offsets count code points. Built by `PlaceTable`, then only read."""

    __slots__ = (
        "_after",
        "_children",
        "_ends",
        "_key_ends",
        "_key_starts",
        "_keys",
        "_lines",
        "_starts",
        "_steps",
        "_whole",
        "text",
    )

    def __init__(self, text: str, table: PlaceTable, *, whole: bool = True) -> None:
        self.text = text
        self._whole = whole
        self._starts, self._ends, self._after = table.starts, table.ends, table.after
        self._key_starts, self._key_ends, self._keys = table.key_starts, table.key_ends, table.keys
        self._lines = Lines(text)
        self._children: dict[int, dict[str | int, int]] = {}
        self._steps: dict[tuple[str | int, ...], array[int] | None] = {}

    def reach(self, keypath: tuple[str | int, ...]) -> bool:
        """Whether they answer for this path: those of one section know nothing of the others."""
        return self._whole or (bool(keypath) and keypath[0] in self._below(0))

    def span(self, file: str, keypath: tuple[str | int, ...]) -> Span:
        """Where the value at ``keypath`` stands, or the nearest value around it that exists."""
        node, _ = self._find(keypath)
        return self.between(file, *self._bounds(node))

    def key_span(self, file: str, keypath: tuple[str | int, ...]) -> Span:
        """Where the key at the end of ``keypath`` stands; for an item of a list, or a path that does not exist, a value."""
        node, found = self._find(keypath)
        if found and keypath and self._keys[node] is not None:
            return self.between(file, self._key_starts[node], self._key_ends[node])
        return self.between(file, *self._bounds(node))

    def raw(self, keypath: tuple[str | int, ...]) -> tuple[int, str]:
        """Offset and text of the value at ``keypath`` as written, without the anchor before it; ``""`` if there is none."""
        node, found = self._find(keypath)
        if not found or not self._starts:
            return 0, ""
        start, end = self._bounds(node)
        properties = _PROPERTIES.match(self.text, start, end)
        if properties is not None:
            start = properties.end()
        return start, self.text[start:end]

    def steps(self, keypath: tuple[str | int, ...], value: str) -> array[int] | None:
        """For each offset of the string ``value`` at ``keypath``, the offset where it is written; None if it is not."""
        if keypath not in self._steps:
            start, raw = self.raw(keypath)
            traced = trace(raw, value)
            self._steps[keypath] = traced and array("I", (start + step for step in traced))
        return self._steps[keypath]

    def between(self, file: str, start: int, end: int) -> Span:
        """The span of the code points from ``start`` up to ``end``."""
        return Span(file, self._lines.position(start), self._lines.position(end))

    def _bounds(self, node: int) -> tuple[int, int]:
        return (self._starts[node], self._ends[node]) if self._starts else (0, 0)

    def _find(self, keypath: tuple[str | int, ...]) -> tuple[int, bool]:
        node = 0
        for key in keypath:
            below = self._below(node).get(key)
            if below is None:
                return node, False
            node = below
        return node, True

    def _below(self, node: int) -> dict[str | int, int]:
        """The children of a value by key or index; of a key that stands twice, the first."""
        known = self._children.get(node)
        if known is None:
            known = self._children[node] = {}
            child, last, index = node + 1, self._after[node] if self._starts else 0, 0
            while child < last:
                key = self._keys[child]
                known.setdefault(index if key is None else key, child)
                child, index = self._after[child], index + 1
        return known


class PlaceTable:
    """Collects the rows of a `Places` while a text is walked in file order."""

    __slots__ = ("_key", "_latest", "_open", "after", "ends", "key_ends", "key_starts", "keys", "starts")

    def __init__(self) -> None:
        self.starts, self.ends, self.after = array("I"), array("I"), array("I")
        self.key_starts, self.key_ends = array("I"), array("I")
        self.keys: list[str | None] = []
        self._key: tuple[str | None, int, int] = (None, 0, 0)
        self._latest = 0
        self._open: list[int] = []

    def key(self, text: str, start: int, end: int) -> None:
        """The next value belongs to this key."""
        self._key = (text, start, end)

    def value(self, start: int, end: int) -> None:
        """A value without values in it."""
        key, key_start, key_end = self._key
        self._key = (None, 0, 0)
        self.starts.append(start)
        self.ends.append(end)
        self.after.append(len(self.starts))
        self.key_starts.append(key_start)
        self.key_ends.append(key_end)
        self.keys.append(key)
        self._latest = max(self._latest, end)

    def open(self, start: int) -> None:
        """A list or mapping begins; what follows is in it until its `close`."""
        self._open.append(len(self.starts))
        self.value(start, start)

    def close(self, end: int | None) -> None:
        """The innermost open value ends at ``end``; None: where the last value in it ends."""
        node = self._open.pop()
        self.after[node] = len(self.starts)
        # Of a block collection the parsers give the start of what follows it; it ends where its last value does.
        self._latest = self.ends[node] = self._latest if end is None else end

    def close_all(self, end: int) -> None:
        """The text broke off here."""
        while self._open:
            self.close(end)
