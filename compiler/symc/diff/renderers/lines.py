"""Line diffs: two texts as what went and what came, with a little around it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

CONTEXT: Final = 1
"""Unchanged lines shown around a change."""

_COMPARED: Final = 5_000
"""Lines of two texts that are compared at most: beyond that, all of one goes and all of the other comes."""


def line_diff(before: str | None, after: str | None) -> Iterator[tuple[str, str]]:
    """Marks and lines: ``-`` went, ``+`` came, ``|`` stayed, ``…`` (with how many) is left out; None is no text at all.

    No mark is a space: a log may take a line that starts with ``::`` for a command, whatever white space is before it.
    """
    texts = [text for text in (before, after) if text is not None]
    # A last line end is no line, unless that is the difference.
    end = -1 if all(text.endswith("\n") for text in texts) else None
    old, new = ([] if text is None else text.split("\n")[:end] for text in (before, after))
    if len(old) + len(new) > _COMPARED:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)
        return
    shown = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        start = group[0][1]
        if start > shown:
            yield "…", _left_out(start - shown)
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (("|", line) for line in old[old_from:old_to])
            else:
                yield from (("-", line) for line in old[old_from:old_to])
                yield from (("+", line) for line in new[new_from:new_to])
            shown = old_to
    if shown < len(old):
        yield "…", _left_out(len(old) - shown)


def _left_out(count: int) -> str:
    return f"{count} {'line' if count == 1 else 'lines'} unchanged"
