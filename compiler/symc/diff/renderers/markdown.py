"""Markdown: one comment on a pull request, which a later run replaces (docs/diff.md §3).

Whatever a manifest or a server says stands in code: there, no mention, no link and no HTML comes alive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from symc.diff import wording
from symc.diff.model import Axis, Change, Comparison
from symc.diff.renderers.lines import line_diff

MARKER: Final = "<!-- symc:diff -->"
"""The first line of the comment, by which it is found again."""

LONGEST: Final = 65_536
"""Characters that GitHub takes as one comment; the rendering stays below."""

_OPEN: Final = 5
_TEXT_LINES: Final = 60
_LONGEST_LINE: Final = 400
_ROOM: Final = 400  # for the line that says what was left out
_TICKS: Final = re.compile("`+")

_TITLES: Final = {
    Axis.AUTHORITY: "Authority",
    Axis.BEHAVIOUR: "Behaviour",
    Axis.INTERFACE: "Interface",
    Axis.NEUTRAL: "Neutral",
}


def render(comparison: Comparison) -> str:
    """The comment: verdict, then the changes, the gravest first; below the limit whatever the changes are."""
    if not comparison.changes:
        return f"{MARKER}\n## symc: no changes\n"
    head = "\n".join(_head(comparison)) + "\n"
    ranked = sorted(comparison.changes, key=_gravity)
    return head + _body(ranked, LONGEST - len(head) - _ROOM)


def could_not(reason: str) -> str:
    """What is said instead when a side could not be read."""
    return f"{MARKER}\n## symc: could not compare\n\n{code(reason)}\n"


def code(text: str) -> str:
    """The text as a code span that nothing in it can end."""
    shown = wording.visible(text)
    shown = shown if len(shown) <= _LONGEST_LINE else f"{shown[: _LONGEST_LINE - 1]}…"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fenced(lines: Sequence[str], language: str = "") -> str:
    """The lines as a code block; its fence is longer than any run of backticks inside."""
    ticks = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, ticks + 1)
    return "\n".join((fence + language, *lines, fence))


def _head(comparison: Comparison) -> Iterator[str]:
    yield MARKER
    yield f"## symc: {comparison.verdict}"
    yield ""
    if comparison.witness:
        yield code(comparison.witness)
        yield ""
    elif any(change.widens for change in comparison.changes):
        yield "A rule is weaker than before, though nothing slips through today."
        yield ""
    below = wording.below_headline(comparison)
    if below:
        yield f"**{below}**"
        yield ""
    yield ", ".join(
        f"{len(changes)} {axis}" for axis in Axis if (changes := comparison.on(axis))
    ).capitalize()
    yield ""


def _gravity(change: Change) -> tuple[int, bool]:
    # Within an axis the changes stand in order already; authority leads whatever the levels of others are.
    return (list(Axis).index(change.axis), bool(change.accepted))


def _body(changes: Sequence[Change], room: int) -> str:
    """As much as there is room for: details are dropped before rows, those of the mildest changes first."""
    rows = [_row(change) for change in changes]
    details = [_detail(change) for change in changes]
    kept = _fitting([len(row) + 1 for row in rows], room)
    # Every row that fits is kept; what room they leave goes to details, gravest first.
    left = room - sum(len(row) + 1 for row in rows[:kept]) - 200
    with_detail: set[int] = set()
    for number in range(kept):
        size = len(details[number]) + 3
        if details[number] and size <= left:
            left -= size
            with_detail.add(number)
    shown = [
        f"{rows[number]}\n\n{details[number]}\n" if number in with_detail else rows[number]
        for number in range(kept)
    ]
    text = "\n".join(shown[:_OPEN])
    if kept > _OPEN:
        rest = kept - _OPEN
        text += f"\n\n<details><summary>{rest} more {'change' if rest == 1 else 'changes'}</summary>\n\n"
        text += "\n".join(shown[_OPEN:]).rstrip() + "\n\n</details>"
    dropped = sum(bool(details[number]) for number in range(kept)) - len(with_detail)
    return text + "\n" + _left_out(len(changes) - kept, dropped)


def _fitting(sizes: Sequence[int], room: int) -> int:
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if total > room - 200:
            return number
    return len(sizes)


def _left_out(rows: int, details: int) -> str:
    said = []
    if details:
        said.append(f"the details of {details} changes")
    if rows:
        said.append(f"{rows} changes whole")
    return f"\n*Left out for length: {' and '.join(said)}. `symc diff` shows all.*\n" if said else ""


def _row(change: Change) -> str:
    place = wording.where(change)
    row = f"- {change.level} **{change.name}**: {code(wording.sentence(change))}"
    if place:
        row += f" ({code(place)})"
    if change.accepted:
        row += f" — accepted: {code(change.accepted)}"
    return row


def _detail(change: Change) -> str:
    lines: list[str] = []
    if change.witness:
        lines.append(f"  {code(change.witness)}")
    if len(change.touches) > 1 or (change.touches and not change.witness):
        lines.append(f"  in {code(wording.readers(change))}")
    block = _block(change)
    if block:
        lines.append(_indented(fenced(block, "diff")))
    # A paragraph for each: lines of one list item would run into each other.
    return "\n\n".join(lines)


def _block(change: Change) -> list[str]:
    if wording.is_text(change):
        shown = [f"{mark} {_cut(line)}" for mark, line in line_diff(change.before, change.after)]
        more = len(shown) - _TEXT_LINES
        return shown if more <= 0 else [*shown[:_TEXT_LINES], f"… {more} more lines"]
    if change.witness and change.axis is not Axis.AUTHORITY:
        return []  # the sentence says it
    before, after = wording.values(change)
    return [f"{mark} {_cut(value)}" for mark, value in (("-", before), ("+", after)) if value]


def _cut(line: str) -> str:
    shown = wording.visible(line)
    return shown if len(shown) <= _LONGEST_LINE else f"{shown[: _LONGEST_LINE - 1]}…"


def _indented(block: str) -> str:
    return "\n".join(f"  {line}" for line in block.split("\n"))
