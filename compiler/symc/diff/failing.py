"""Failing: from which changes on a comparison does not pass (docs/diff.md §3)."""

from __future__ import annotations

from enum import StrEnum

from symc.diff.model import Axis, Change, Comparison


class FailOn(StrEnum):
    """What a comparison is not to hold unaccepted; each word includes those before it."""

    WIDENING = "widening"
    AUTHORITY = "authority"
    INTERFACE = "interface"
    BEHAVIOUR = "behaviour"
    ANY = "any"
    NONE = "none"


_AXES = {
    FailOn.WIDENING: frozenset[Axis](),
    FailOn.AUTHORITY: frozenset((Axis.AUTHORITY,)),
    FailOn.INTERFACE: frozenset((Axis.AUTHORITY, Axis.INTERFACE)),
    FailOn.BEHAVIOUR: frozenset((Axis.AUTHORITY, Axis.INTERFACE, Axis.BEHAVIOUR)),
    FailOn.ANY: frozenset(Axis),
}


def offending(comparison: Comparison, fail_on: FailOn) -> tuple[Change, ...]:
    """The unaccepted changes that are at or above ``fail_on``; remote text counts as widening does."""
    if fail_on is FailOn.NONE:
        return ()
    axes = _AXES[fail_on]
    return tuple(
        change for change in comparison.unaccepted if change.widens or change.remote or change.axis in axes
    )


def fails(comparison: Comparison, fail_on: FailOn) -> bool:
    """Whether the comparison does not pass."""
    if fail_on is FailOn.NONE:
        return False
    # A widening that no change stands for cannot be accepted, either.
    unexplained = comparison.verdict.widens and not any(change.widens for change in comparison.changes)
    return unexplained or bool(offending(comparison, fail_on))
