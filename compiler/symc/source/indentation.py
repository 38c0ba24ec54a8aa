"""Lines that line up with nothing: which key or list item they would have to line up with (docs/manifests.md §1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from symc.diagnostics import Edit, Position, Span
from symc.source.document import Document

_DASHES: Final = re.compile(r" *((?:- +){0,100})")  # no deeper than values may be nested
_QUOTED: Final = re.compile(r"""("[^"]*"|'[^']*')\s*:(?=\s|$)""")
_COLON: Final = re.compile(r":(?=\s|$)")
_NO_KEY: Final = tuple("\"'[]{}&*!|>%@`#,-:")
_LONGEST: Final = 40
_LOOKED_AT: Final = 10_000
"""Items of one file of which each is looked up: who has more in doubt wrote no manifest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key or a list item where it begins a line; line and column count from 0.

    ``key`` is the key as it is written; of an item there is none: what it says may be nobody's business.
    """

    key: str
    line: int
    column: int
    width: int

    @property
    def is_item(self) -> bool:
        """True for an item of a list."""
        return not self.key

    def span(self, path: str) -> Span:
        """Its place in the file."""
        start = Position(self.line + 1, self.column + 1)
        return Span(path, start, Position(self.line + 1, self.column + 1 + self.width))


@dataclass(frozen=True, slots=True)
class Stray:
    """An entry that lines up with nothing, and the one above with which it most likely should."""

    entry: Entry
    model: Entry

    @property
    def message(self) -> str:
        """What is wrong, with both columns, counted from 1."""
        what = "this item" if self.entry.is_item else f'"{_short(self.entry.key)}"'
        how = "too far" if self.entry.column > self.model.column else "too little"
        above = "the item above it" if self.model.is_item else f'"{_short(self.model.key)}" above it'
        return (
            f"{what} is indented {how}: it begins in column {self.entry.column + 1}, "
            f"and {above} in column {self.model.column + 1}"
        )

    @property
    def hint(self) -> str:
        """The next step."""
        under = "the item above" if self.model.is_item else f'"{_short(self.model.key)}"'
        return f"begin it in column {self.model.column + 1}, under {under}"


def stray(lines: Sequence[str], line: int, column: int) -> Stray | None:
    """What is out of line where a parser gave up, at a place counted from 0; None where the indentation is not to blame.

    The parser stops at the first entry of the line, or at the colon of its key: what stands further on has another cause.
    """
    if line >= len(lines):
        return None
    own = next(iter(entries(lines, line)), None)
    if own is None or column not in (own.column, _colon(lines[line])):
        return None
    if " " in own.key:
        return None  # words of a text, rather than a key
    above = tuple(_in_scope(lines, line))
    if any(entry.column == own.column for entry in above):
        return None
    alike = [entry for entry in above if entry.is_item is own.is_item]
    if not alike:
        return None
    model = min(alike, key=lambda entry: (abs(entry.column - own.column), entry.column))
    return Stray(own, model)


def folded_items(document: Document) -> Iterator[tuple[tuple[str | int, ...], Stray, Edit]]:
    """List items that YAML takes for the end of the item above them, because they are indented further.

    Each with the key path of the item it is lost in, and the edit that makes it an item of its own.
    """
    if not _MAYBE_FOLDED.search(document.text):
        return
    lines = document.text.decode().split("\n")
    doubtful = (path for path, value in _listed(document.data) if " - " in value and "\n" not in value)
    for path in islice(doubtful, _LOOKED_AT):
        if not document.is_plain(*path):
            continue
        span = document.span(*path)
        model = next(
            (one for one in reversed(tuple(entries(lines, span.start.line - 1))) if one.is_item), None
        )
        if model is None:
            continue
        for number in range(span.start.line, span.end.line):
            item = next((one for one in entries(lines, number) if one.is_item), None)
            if item is not None and item.column > model.column:
                indent = Span(span.file, Position(number + 1, 1), Position(number + 1, item.column + 1))
                yield path, Stray(item, model), Edit(indent, " " * model.column)


# Every manifest is searched: with the line break in front three times as fast as with ``^``.
_MAYBE_FOLDED: Final = re.compile(rb"\n( *)- [^\n]*\n\1 +- ")


def _listed(data: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text that is an item of a list, with its key path."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(((*path, key), item) for key, item in value.items() if not isinstance(item, str))
        elif isinstance(value, list):
            waiting.extend(((*path, index), item) for index, item in enumerate(value))
        elif isinstance(value, str):
            yield path, value


def entries(lines: Sequence[str], line: int) -> Iterator[Entry]:
    """The list items and the key that a line begins with."""
    text = lines[line]
    dashes = _DASHES.match(text)
    assert dashes is not None  # it matches nothing, too
    end = len(text.rstrip())
    for at in range(dashes.start(1), dashes.end(1)):
        if text[at] == "-":
            yield Entry("", line, at, end - at)
    key = _key(text, dashes.end())
    if key:
        yield Entry(key, line, dashes.end(), len(key))


def _key(text: str, start: int) -> str:
    """The key that begins at an offset, empty if none does."""
    if quoted := _QUOTED.match(text, start):
        return quoted[1]
    colon = _COLON.search(text, start)
    if colon is None or text.startswith(_NO_KEY, start):
        return ""
    key = text[start : colon.start()].rstrip()
    return "" if " #" in key else key


def _in_scope(lines: Sequence[str], line: int) -> Iterator[Entry]:
    """What a line may line up with: entries above it that no line in between has closed, the nearest first."""
    lowest = max(map(len, lines[: line + 1]))
    for number in range(line - 1, -1, -1):
        text = lines[number]
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        yield from (entry for entry in entries(lines, number) if entry.column <= lowest)
        lowest = min(lowest, len(text) - len(text.lstrip(" ")))
        if lowest == 0:
            return


def _colon(text: str) -> int:
    """The offset of the colon after the key that a line begins with, -1 if none does."""
    dashes = _DASHES.match(text)
    start = dashes.end() if dashes else 0
    key = _key(text, start)
    return text.index(":", start + len(key)) if key else -1


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
