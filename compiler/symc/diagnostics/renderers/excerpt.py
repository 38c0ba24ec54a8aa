"""Excerpts: one line of a source as a terminal can show it, and where its marks stand."""

from __future__ import annotations

from dataclasses import dataclass

from symc.hidden import scan

_WIDEST = 120
_LEAD = 40
_TAB = "    "


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A shown line and its marked stretch, measured in terminal cells from the line's start."""

    line: str
    mark_offset: int
    mark_width: int


def excerpt(line: str, start: int, end: int) -> Excerpt:
    """The line with columns ``start`` to ``end`` (1-based code points, ``end`` exclusive) marked.

    Hidden characters are spelled out, tabs become spaces, and of a very long line a window around the mark is left.
    """
    first = min(start - 1, len(line))
    last = max(first, min(end - 1, len(line)))
    low, high = 0, len(line)
    if len(line) > _WIDEST:
        low = max(0, min(first - _LEAD, len(line) - _WIDEST))
        high = low + _WIDEST
    pieces = _pieces(line[low:high])
    before = ("…" if low else "") + "".join(pieces[: first - low])
    marked = "".join(pieces[first - low : last - low])
    after = "".join(pieces[last - low :]) + ("…" if high < len(line) else "")
    return Excerpt((before + marked + after).rstrip(), _cells(before), max(1, _cells(marked)))


def visible(text: str) -> str:
    """The text on one line, every hidden character spelled out (``<U+200B>``): safe in a terminal and a log."""
    return "".join(_pieces(text)).replace("\n", "\\n")


def _pieces(text: str) -> list[str]:
    """What is shown for each code point."""
    pieces = [_TAB if character == "\t" else character for character in text]
    for run in scan(text):
        for at, point in enumerate(run.code_points, run.offset):
            pieces[at] = f"<U+{point:04X}>"
    return pieces


def _cells(text: str) -> int:
    """The width in a terminal: wide characters take two cells, combining ones none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    # A fixed table: the default asks the environment, and the same run must look the same everywhere.
    return cell_len(text, "latest")
