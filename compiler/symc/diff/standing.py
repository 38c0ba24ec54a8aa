"""Standings: what stands between a request and its being allowed, condition by condition (docs/diff.md §1).

A *restriction* is what one way to a tool meets: the conditions under which it is denied, and those under which anything
objects. A *standing* is the set of ways; the most permissive one counts, and no way at all is a denial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from symc.canonical import digest
from symc.composition import BoundTool, Policy
from symc.diff.conditions import implies
from symc.diff.side import Key
from symc.guarding import TOOL_CALL, guards_effect, named_depths


@dataclass(frozen=True, slots=True)
class Condition:
    """When an objection is made: known by its digest, or by the code that decides; empty: always.

    ``place`` tells whose arguments it sees: those of an inner layer, of a hop between agents, or, empty, of the tool. The
    schema ``when`` is the digest's, for those who look into it.
    """

    name: str
    place: str = ""
    when: Any = field(default=None, compare=False, repr=False)

    @property
    def is_code(self) -> bool:
        """Whether code decides."""
        return self.name.startswith(_CODE)

    def implies(self, other: Condition) -> bool:
        """Whether the other holds wherever this one does, of the same arguments; False also where that is not known."""
        if None in (self.when, other.when) or self.place != other.place:
            return False
        return implies(self.when, other.when)


_CODE: Final = "code "
ALWAYS: Final = Condition("")
"""The condition that always holds."""

MOST_WAYS: Final = 64
"""Ways to one tool that are kept apart at most: beyond that, what follows is not decided."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One objection: the policy that makes it, whether it denies (else it asks), and when."""

    policy: str
    denies: bool
    condition: Condition


@dataclass(frozen=True, slots=True)
class Restriction:
    """What one way meets: ``denied`` are the conditions of denials, ``objected`` those of denials and questions.

    An unconditional one stands alone: it implies every other.
    """

    denied: frozenset[Condition] = frozenset()
    objected: frozenset[Condition] = frozenset()

    @classmethod
    def of(cls, atoms: Iterable[Atom]) -> Restriction:
        """The restriction that these objections make."""
        found = tuple(atoms)
        return cls(
            _simplest(frozenset(atom.condition for atom in found if atom.denies)),
            _simplest(frozenset(atom.condition for atom in found)),
        )

    def __or__(self, other: Restriction) -> Restriction:
        return Restriction(_simplest(self.denied | other.denied), _simplest(self.objected | other.objected))

    def __le__(self, other: Restriction) -> bool:
        """Whether the other objects wherever this one does: this one is at least as permissive."""
        return _implied(self.denied, other.denied) and _implied(self.objected, other.objected)

    @property
    def closed(self) -> bool:
        """Whether everything is denied."""
        return ALWAYS in self.denied


Standing: TypeAlias = frozenset[Restriction]
"""The ways that remain open, none of them more restricted than another; empty: denied."""

DENIED: Final[Standing] = frozenset()


def standing(ways: Iterable[Restriction]) -> Standing:
    """The standing of these ways: those that are closed or add nothing to another are left out."""
    kept: list[Restriction] = []
    for way in dict.fromkeys(ways):
        if way.closed or any(other <= way for other in kept):
            continue
        kept = [other for other in kept if not way <= other]
        kept.append(way)
    return frozenset(kept)


def exceeds(new: Standing, old: Standing) -> bool:
    """Whether some request is decided more favourably by ``new``: denied before and now not, or asked and now allowed.

    Sound: where not, nothing is. Exact where conditions of which none implies another are independent of each other.
    """
    return any(all(not _implied(before.denied, way.denied) for before in old) for way in new) or any(
        all(not _implied(before.objected, way.objected) for before in old)
        for way in new
        if ALWAYS not in way.objected
    )


def unimplied(atoms: Iterable[Atom], other: Restriction) -> Iterator[Atom]:
    """The objections that ``other`` does not make as strongly."""
    for atom in atoms:
        if not _implied(frozenset((atom.condition,)), other.denied if atom.denies else other.objected):
            yield atom


def tool_atoms(policy_id: str, policy: Policy, key: Key) -> Iterator[Atom]:
    """The objections of a policy to calls of the tool; none of one that does not match it.

    A rule's condition sees the arguments of the tool it names (V32), so one that names an inner layer is another
    condition than one that names the whole.
    """
    if policy.actions and TOOL_CALL not in policy.actions:
        return
    depths = _depths(policy, key)
    if depths:
        for condition in _conditions(policy, depths):
            yield Atom(policy_id, policy.effect != "ask", condition)


def effect_atoms(policies: Iterable[tuple[str, Policy]], effect: str, where: str = "") -> Iterator[Atom]:
    """The objections of policies over an effect; ``where`` tells apart requests with other arguments."""
    for policy_id, policy in policies:
        if guards_effect(policy, effect):
            for condition in _conditions(policy, (where,)):
                yield Atom(policy_id, policy.effect != "ask", condition)


def _conditions(policy: Policy, seen_by: tuple[str, ...]) -> Iterator[Condition]:
    if policy.effect == "decide":
        yield Condition(
            f"{_CODE}{policy.decide}"
        )  # what it decides is not known: an objection of its own kind
    elif policy.when in (None, True, {}):
        yield ALWAYS
    elif policy.when is not False:
        made = digest("condition", policy.when)
        yield from (Condition(made, place, policy.when) for place in seen_by)


def _depths(policy: Policy, key: Key) -> tuple[str, ...]:
    """Whose arguments the condition sees: by the number of layers, nothing for the base; none where nothing matches."""
    tool = BoundTool(name="", extension=key.extension, raw=key.raw, selected_by="", chain=key.chain)
    return tuple(map(_depth, named_depths(policy, tool)))


def _depth(depth: int) -> str:
    return f"inside {depth}" if depth else ""


def _implied(conditions: frozenset[Condition], by: frozenset[Condition]) -> bool:
    if ALWAYS in by or conditions <= by:
        return True
    return all(any(one.implies(other) for other in by) for one in conditions - by)


def _simplest(conditions: frozenset[Condition]) -> frozenset[Condition]:
    return frozenset((ALWAYS,)) if ALWAYS in conditions else conditions
