"""GitHub: workflow commands that become annotations on the manifests of a pull request (docs/diff.md §3).

Nothing that a manifest or a server says can end a command or start another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from symc.diagnostics import Level
from symc.diff import wording
from symc.diff.model import Change, Comparison

MOST: Final = 10
"""GitHub shows ten annotations of a level and drops the rest: the tenth says how many there are."""

_COMMANDS: Final = {Level.ERROR: "error", Level.WARN: "warning", Level.INFO: "notice"}


def render(comparison: Comparison) -> str:
    """One command a line; the first is the verdict, at the level that it deserves."""
    return "".join(f"{line}\n" for line in _lines(comparison))


def could_not(reason: str) -> str:
    """What is said instead when a side could not be read."""
    return f"::error title=symc diff::{_message(f'could not compare: {wording.visible(reason)}')}\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    said = wording.visible(wording.headline(comparison)) if comparison.changes else "no changes"
    below = wording.below_headline(comparison)
    yield f"symc diff: {said}{f'; {below}' if below else ''}"
    for level, command in _COMMANDS.items():
        changes = [change for change in comparison.changes if _level(change) is level]
        shown = changes if len(changes) <= MOST else changes[: MOST - 1]
        yield from (_annotation(change, command) for change in shown)
        if len(shown) < len(changes):
            yield _rest(changes[len(shown) :], command)


def _level(change: Change) -> Level:
    """How loudly it is said: what somebody said yes to is a notice, whatever it is."""
    return Level.INFO if change.accepted else change.level


def _annotation(change: Change, command: str) -> str:
    properties = [*_place(change), ("title", f"{change.rule} {change.name}")]
    written = ",".join(f"{key}={_property(value)}" for key, value in properties)
    return f"::{command} {written}::{_message(chr(10).join(_said(change)))}"


def _place(change: Change) -> Iterator[tuple[str, str]]:
    for span in change.locations[:1]:
        yield "file", wording.visible(span.file)
        if not span.is_whole_file:
            yield "line", str(span.start.line)
            yield "col", str(span.start.column)


def _said(change: Change) -> Iterator[str]:
    yield wording.visible(wording.sentence(change))
    if change.witness:
        yield wording.visible(change.witness)
    if change.touches:
        yield f"in {wording.visible(wording.readers(change))}"
    if change.accepted:
        yield f"accepted: {wording.visible(change.accepted)}"


def _rest(changes: Sequence[Change], command: str) -> str:
    return (
        f"::{command} title=symc diff::{_message(f'{len(changes)} more of this level; symc diff shows all')}"
    )


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
