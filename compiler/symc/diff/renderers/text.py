"""Text: what a person reads in a terminal; the verdict first (docs/diff.md §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from symc.diagnostics import Level
from symc.diff import wording
from symc.diff.digests import DigestChange
from symc.diff.model import Axis, Change, Comparison, Verdict
from symc.diff.renderers.lines import line_diff

_TITLES: Final = {
    Axis.AUTHORITY: "AUTHORITY: what an agent may do",
    Axis.BEHAVIOUR: "BEHAVIOUR: what the model reads",
    Axis.INTERFACE: "INTERFACE: what callers depend on",
    Axis.NEUTRAL: "NEUTRAL",
}
_WORDS: Final = {Level.ERROR: "error", Level.WARN: "warn ", Level.INFO: "info "}
_STYLES: Final = {Level.ERROR: "1;31", Level.WARN: "1;33", Level.INFO: "1;36"}
_BOLD, _RED, _GREEN, _DIM = "1", "31", "32", "2"
_TEXT_LINES: Final = 40
"""Lines of one text that are shown at most."""


def render(comparison: Comparison, *, color: bool = False, digests: Sequence[DigestChange] = ()) -> str:
    """The comparison as paragraphs; always at least one line. ``digests`` stand last, shortened."""
    paint = _Painter(color)
    return "\n".join((*_lines(comparison, paint), *_digests(digests, paint))) + "\n"


def could_not(reason: str) -> str:
    """What is said instead when a side could not be read."""
    return f"could not compare: {wording.visible(reason)}\n"


class _Painter:
    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._color else text


def _lines(comparison: Comparison, paint: _Painter) -> Iterator[str]:
    if not comparison.changes:
        yield "no changes"
        return
    style = "1;31" if comparison.verdict.widens else "1;32"
    yield paint(
        wording.visible(wording.headline(comparison)),
        style if comparison.verdict is not Verdict.SAME else _BOLD,
    )
    below = wording.below_headline(comparison)
    if below:
        yield paint(below, "1;33")
    for axis in Axis:
        changes = comparison.on(axis)
        if changes:
            yield ""
            yield paint(_TITLES[axis], _BOLD)
            for change in changes:
                yield from _change(change, paint)


def _digests(digests: Sequence[DigestChange], paint: _Painter) -> Iterator[str]:
    if digests:
        yield ""
        yield paint("DIGESTS: what to pin outside", _BOLD)
    for one in digests:
        before, after = ("none" if digest is None else digest[:19] for digest in (one.before, one.after))
        yield f"  {one.agent}: {before} → {after}"


def _change(change: Change, paint: _Painter) -> Iterator[str]:
    head = paint(f"{_WORDS[change.level]} {change.name}", _STYLES[change.level])
    line = f"  {head}: {wording.visible(wording.sentence(change))}"
    if change.locations:
        line += paint(f" ({wording.visible(wording.where(change))})", _DIM)
    yield line
    indent = "        "
    if change.accepted:
        yield f"{indent}accepted: {wording.visible(change.accepted)}"
    if change.witness:
        yield f"{indent}{wording.visible(change.witness)}"
    if (change.touches and not change.witness.startswith(change.touches[0])) or len(change.touches) > 1:
        yield f"{indent}in {wording.visible(wording.readers(change))}"
    if wording.is_text(change):
        yield from _text(change, indent, paint)
    elif not change.witness or change.axis is Axis.AUTHORITY:
        before, after = wording.values(change)
        if before:
            yield paint(f"{indent}- {_short(before)}", _RED)
        if after:
            yield paint(f"{indent}+ {_short(after)}", _GREEN)


def _text(change: Change, indent: str, paint: _Painter) -> Iterator[str]:
    shown = list(line_diff(change.before, change.after))
    for mark, line in shown[:_TEXT_LINES]:
        painted = f"{indent}{mark} {wording.visible(line)}".rstrip()
        yield paint(painted, {"-": _RED, "+": _GREEN}.get(mark, _DIM)) if mark != "|" else painted
    if len(shown) > _TEXT_LINES:
        yield f"{indent}… {len(shown) - _TEXT_LINES} more lines"


def _short(value: str) -> str:
    shown = wording.visible(value)
    return shown if len(shown) <= 160 else f"{shown[:159]}…"
