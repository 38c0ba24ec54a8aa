"""Compare two locks: evidence → findings → changes → one verdict. Read :func:`compare` aloud (docs/diff.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from symc.canonical import digest
from symc.composition import Lock
from symc.diagnostics import Level, Span
from symc.diff.evidence import Evidence, gather
from symc.diff.model import Axis, Change, Comparison, Direction, Finding, Item, Locate, Rule, Verdict
from symc.diff.powers import Cell
from symc.diff.rules import TABLE
from symc.diff.side import Side
from symc.diff.witness import witness
from symc.lock import verify

_AXES: Final = {axis: number for number, axis in enumerate(Axis)}
_LEVELS: Final = {Level.ERROR: 0, Level.WARN: 1, Level.INFO: 2}
_NO_LEVELS: Final[Mapping[str, str]] = MappingProxyType({})


def _nowhere(_item: Item) -> Span | None:
    return None


def compare(
    old: Lock,
    new: Lock,
    *,
    levels: Mapping[str, str] = _NO_LEVELS,
    locate: Locate = _nowhere,
    prefix: str = "",
) -> Comparison:
    """What changed from ``old`` to ``new``, and what that means for authority.

    ``levels`` are those that a workspace gives to rules, by code or name; what a rule does not accept is not applied.
    ``locate`` finds where an item is written, better than the lock's ``from``, which gets ``prefix`` before it: the folder
    of the manifests. Raises ``LockError`` where an entry that
    differs has not the form of a lock.
    """
    before, after = Side.of(old), Side.of(new)
    if before.tree == after.tree:
        return Comparison()
    try:
        return _compared(before, after, levels, locate, prefix)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Entries that are equal were not read, and references not followed; what is wrong there is said by the lock.
        verify(old)
        verify(new)
        raise


def _compared(old: Side, new: Side, levels: Mapping[str, str], locate: Locate, prefix: str) -> Comparison:
    evidence = gather(old, new)
    places = _Places(evidence, locate, prefix)
    found = [
        _change(rule, level, finding, places)
        for rule in TABLE
        if (level := _level(rule, levels)) is not None
        for finding in rule.find(evidence)
    ]
    changes = tuple(sorted(found, key=_order)) or (_unexplained(evidence),)
    directions = {direction for move in evidence.moves.found for direction in move.directions}
    verdict = Verdict.of(directions | {change.direction for change in changes})
    return Comparison(verdict=verdict, witness=_witness(verdict, evidence, changes), changes=changes)


def _order(change: Change) -> tuple[int, int, int, str, str, str]:
    mildness = 0 if change.widens else 1
    return (
        _AXES[change.axis],
        _LEVELS[change.level],
        mildness,
        change.rule,
        change.subject,
        change.fingerprint,
    )


def _level(rule: Rule, levels: Mapping[str, str]) -> Level | None:
    """The level of a rule's changes; None: it is switched off."""
    wanted = levels.get(rule.code, levels.get(rule.name))
    if wanted is None or not rule.accepts(wanted):
        return rule.level
    return None if wanted == "off" else Level(wanted)


def _change(rule: Rule, level: Level, finding: Finding, places: _Places) -> Change:
    return Change(
        rule=rule.code,
        name=rule.name,
        axis=rule.axis,
        level=level,
        subject=finding.subject,
        before=finding.before,
        after=finding.after,
        witness=finding.witness,
        touches=finding.touches,
        locations=places.of(finding.about),
        fingerprint=fingerprint(rule, finding),
        direction=finding.direction,
        remote=finding.remote,
    )


def fingerprint(rule: Rule, finding: Finding) -> str:
    """The name of this exact before → after, which no move of lines changes.

    An edit of a text is the same edit whoever reads it; what comes or goes, and all that is about authority, is another
    thing in another agent.
    """
    edit = rule.axis is Axis.BEHAVIOUR and finding.before is not None and finding.after is not None
    return digest(
        "change",
        {
            "after": finding.after,
            "before": finding.before,
            "rule": rule.code,
            "subject": finding.subject,
            "touches": [] if edit else list(finding.touches),
        },
    )


def _witness(verdict: Verdict, evidence: Evidence, changes: tuple[Change, ...]) -> str:
    """One sentence for the verdict: a move of an agent's own first, a tool before anything else."""
    if verdict is Verdict.SAME:
        return ""
    wanted = {
        Verdict.WIDENING: Direction.UP,
        Verdict.MIXED: Direction.UP,
        Verdict.UNKNOWN: Direction.UNKNOWN,
        Verdict.NARROWING: Direction.DOWN,
    }[verdict]
    moves = [move for move in evidence.moves.found if wanted in move.directions]
    if moves:
        return witness(min(moves, key=lambda move: _telling(evidence, move.cell)))
    return next((change.witness for change in changes if change.direction is wanted and change.witness), "")


def _telling(evidence: Evidence, cell: Cell) -> tuple[bool, bool, bool]:
    """What says most comes first: of an agent that was there, by itself, a tool."""
    return (cell.agent not in evidence.old.agents, not cell.is_direct, cell.key is None)


def _unexplained(evidence: Evidence) -> Change:
    """L11, the last resort: the locks differ, so something is said, though no rule knows it."""
    names = sorted(f"{section}/{name}" for section, found in evidence.differing.items() for name in found)
    rule = next(rule for rule in TABLE if rule.name == "provenance-only")
    finding = Finding(subject="the lock", about=Item("lock"), before=None, after=names)
    return _change(rule, rule.level, finding, _Places(evidence, _nowhere, ""))


class _Places:
    """Where items are written: their line where somebody knows it, else the manifest of their owner."""

    def __init__(self, evidence: Evidence, locate: Locate, prefix: str) -> None:
        self._evidence = evidence
        self._locate = locate
        self._prefix = prefix

    def of(self, item: Item) -> tuple[Span, ...]:
        """The place of an item, or none."""
        return tuple(self._places(item))

    def _places(self, item: Item) -> Iterator[Span]:
        found = self._locate(item)
        source = self._evidence.new.source(item.owner) or self._evidence.old.source(item.owner)
        if found is not None:
            yield found
        elif source:
            yield Span(self._prefix + source)
