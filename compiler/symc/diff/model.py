"""The values of a comparison: what changed, on which axis, and what that means for authority (docs/diff.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from symc.diagnostics import Level, Span

if TYPE_CHECKING:
    from symc.diff.evidence import Evidence

Json = Any


class Axis(StrEnum):
    """What a change is about: what an agent may do, what its model reads, what callers depend on, none of these."""

    AUTHORITY = "authority"
    BEHAVIOUR = "behaviour"
    INTERFACE = "interface"
    NEUTRAL = "neutral"


class Direction(StrEnum):
    """Which way a change moves what may be done; ``UNKNOWN`` where that cannot be told from the lock."""

    UP = "up"
    DOWN = "down"
    UNKNOWN = "unknown"
    SAME = "same"


class Verdict(StrEnum):
    """What a comparison says about authority as a whole (docs/diff.md §1)."""

    WIDENING = "WIDENING"
    MIXED = "MIXED"
    UNKNOWN = "UNKNOWN"
    NARROWING = "NARROWING"
    SAME = "SAME AUTHORITY"

    @classmethod
    def of(cls, directions: Iterable[Direction]) -> Verdict:
        """The verdict over all directions, whatever their order."""
        found = frozenset(directions)
        if Direction.UP in found:
            return cls.MIXED if Direction.DOWN in found else cls.WIDENING
        if Direction.UNKNOWN in found:
            return cls.UNKNOWN
        return cls.NARROWING if Direction.DOWN in found else cls.SAME

    @property
    def widens(self) -> bool:
        """Whether an agent may do more than before, or nobody can tell that it may not."""
        return self in (Verdict.WIDENING, Verdict.MIXED, Verdict.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Item:
    """What a change is about, by identity: the key by which its place is found.

    ``kind`` is ``agent``, ``extension``, ``author``, ``fragment``, ``policy``, ``tool``, ``selection``, ``delegate``,
    ``grant``, ``limit``, ``model``, ``vars``, ``hook``, ``layer``, ``server``, ``implementation`` or ``lock``; ``owner``
    the document, ``name`` the part in it, ``line`` the line of its text that differs first, counted from 0.
    """

    kind: str
    owner: str = ""
    name: str = ""
    line: int | None = None


Locate = Callable[[Item], Span | None]
"""Where an item was written; None where that is not known better than by the lock's ``from``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found; with the rule's row it becomes a :class:`Change`.

    ``before`` and ``after`` are JSON (None: there is none), ``touches`` the agents it is about, and for authority what
    moved in them. ``remote`` marks text that a server wrote.
    """

    subject: str
    about: Item
    before: Json = None
    after: Json = None
    witness: str = ""
    touches: tuple[str, ...] = ()
    direction: Direction = Direction.SAME
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table of rules: ``symc explain``, docs/rules.md, fixtures and levels come from it.

    A change of the rule reads "``noun`` SUBJECT ``verb``"; ``example`` is what earns it. ``find`` yields its findings.
    ``floor`` is the lowest level a workspace may give it; None: it may be switched off.
    """

    code: str
    name: str
    axis: Axis
    level: Level
    noun: str
    verb: str
    purpose: str
    example: str
    find: Callable[[Evidence], Iterator[Finding]]
    floor: Level | None = None

    @property
    def lowest(self) -> Level | None:
        """The lowest level the rule may be given; authority rules are never lowered."""
        return self.level if self.axis is Axis.AUTHORITY else self.floor

    def accepts(self, level: str) -> bool:
        """Whether a workspace may give the rule this level (``error``, ``warn``, ``info``, ``off``)."""
        return self.lowest is None or _WEIGHT[level] <= _WEIGHT[self.lowest]


_WEIGHT: Final = {"error": 0, "warn": 1, "info": 2, "off": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change between two locks.

    ``fingerprint`` names this exact before → after, whatever line it stands on; ``accepted`` is who accepted it and why.
    """

    rule: str
    name: str
    axis: Axis
    level: Level
    subject: str
    before: Json
    after: Json
    witness: str
    touches: tuple[str, ...]
    locations: tuple[Span, ...]
    fingerprint: str
    direction: Direction = Direction.SAME
    remote: bool = False
    accepted: str = ""

    @property
    def widens(self) -> bool:
        """Whether somebody has to say yes to it: it may widen authority, or weakens a veto that others still cover."""
        return self.direction in (Direction.UP, Direction.UNKNOWN) or (
            self.axis is Axis.AUTHORITY and self.level is Level.ERROR and self.direction is Direction.SAME
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed from one lock to another, ordered by axis, level, rule and subject.

    ``witness`` is one sentence that shows the verdict; it is empty for the same authority.
    """

    verdict: Verdict = Verdict.SAME
    witness: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def unaccepted(self) -> tuple[Change, ...]:
        """The changes that nobody has accepted."""
        return tuple(change for change in self.changes if not change.accepted)

    @property
    def remote_text_changed(self) -> int:
        """How many texts that servers wrote (descriptions and schemas of their tools) are not what they were."""
        return sum(change.remote for change in self.changes)

    def on(self, axis: Axis) -> tuple[Change, ...]:
        """The changes on one axis."""
        return tuple(change for change in self.changes if change.axis is axis)
