"""From the text of a YAML scalar back to where each of its characters is written.

A mistake in a prompt is found at a line of its text; the author looks for it in the manifest, where that text is
indented, folded or full of escapes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

_BLANKS = " \t"
_ESCAPE_LENGTHS = {"x": 4, "u": 6, "U": 10}


def trace(raw: str, text: str) -> array[int] | None:
    """For each offset of ``text``, its end included, the offset in ``raw`` where that character is written.

    ``raw`` is a scalar as written in any style, ``text`` what it means; None where the two do not fit together.
    """
    steps: array[int] = array("I")
    if raw[:1] in ("|", ">"):
        indent = _indent(raw, text)
        if indent is None:
            return None
        (_literal if raw[0] == "|" else _folded)(raw, indent, steps)
        del steps[len(text) :]
    elif raw[:1] in ("", "*"):  # nothing, or an alias: the text is elsewhere
        return None
    elif raw[:1] in ('"', "'"):
        _flow(raw, 1, len(raw) - 1, steps)
    else:
        _flow(raw, 0, len(raw), steps)
    if len(steps) != len(text):
        return None
    steps.append(steps[-1] + 1 if steps else 1)
    return steps


def _lines(raw: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of each line of ``raw`` between two offsets, without its line break."""
    while (line_break := raw.find("\n", start, end)) >= 0:
        yield start, line_break
        start = line_break + 1
    yield start, end


def _indent(raw: str, text: str) -> int | None:
    """The columns before the text of a block scalar: what its first line with text has more than that text."""

    def leading(lines: list[str]) -> int | None:
        return next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip(" ")), None)

    written, meant = leading(raw.split("\n")[1:]), leading(text.split("\n"))
    return None if written is None or meant is None else written - meant


def _literal(raw: str, indent: int, steps: array[int]) -> None:
    for start, end in _lines(raw, raw.index("\n") + 1, len(raw)):
        steps.extend(range(min(start + indent, end), end + 1))


def _folded(raw: str, indent: int, steps: array[int]) -> None:
    blank_lines: list[int] = []  # where each line break since the last line with text is
    before: str | None = None  # the first character of that line
    for start, end in _lines(raw, raw.index("\n") + 1, len(raw)):
        if end - start <= indent:
            blank_lines.append(end)
            continue
        first = raw[start + indent]
        if before is None or before in _BLANKS or first in _BLANKS:
            steps.extend(blank_lines)
        else:
            steps.extend(blank_lines[1:] or blank_lines)
        steps.extend(range(start + indent, end))
        before, blank_lines = first, [end]
    steps.extend(blank_lines)


def _flow(raw: str, start: int, end: int, steps: array[int]) -> None:
    """Plain and quoted text: blanks around a line break go, one break is a space, each further one a line feed."""
    breaks: list[int] = []
    joined = False  # the last line ended in a backslash: no space for its break
    for index, (line_start, line_end) in enumerate(_lines(raw, start, end)):
        if index:
            while line_start < line_end and raw[line_start] in _BLANKS:
                line_start += 1  # noqa: PLW2901  # the line without its indentation
            if line_start == line_end < end:
                breaks.append(line_end)
                continue
            steps.extend(breaks[1:] or (() if joined else breaks))
        joined, reached = _flow_line(raw, line_start, line_end, steps, trim=line_end < end)
        breaks = [reached]


def _flow_line(raw: str, start: int, end: int, steps: array[int], *, trim: bool) -> tuple[bool, int]:
    """One line of plain or quoted text; whether a backslash joins it to the next, and where its text ends."""
    quote = raw[0]
    kept, offset = start, start  # what is before `kept` is text for certain; blanks after it may be trimmed
    pending: list[int] = []
    while offset < end:
        character = raw[offset]
        if character in _BLANKS:
            pending.append(offset)
            offset += 1
            continue
        steps.extend(pending)
        pending.clear()
        if character == "\\" and quote == '"':
            if offset + 1 == end:
                return True, offset
            steps.append(offset)
            offset += _ESCAPE_LENGTHS.get(raw[offset + 1], 2)
        else:
            steps.append(offset)
            offset += 2 if character == quote == "'" else 1
        kept = offset
    if not trim:
        steps.extend(pending)
        kept = end
    return False, kept
