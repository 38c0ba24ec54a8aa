"""Moves: every cell that stands elsewhere than before, and the policies that made it so (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from symc.composition import Policy
from symc.diff.model import Direction
from symc.diff.powers import ABSENT, Access, Cell, Powers
from symc.diff.side import Side
from symc.diff.standing import DENIED, Atom, Restriction, Standing, exceeds, unimplied

MOST_THROUGH: Final = 200_000
"""Cells behind delegates that are compared at most: beyond that, the rest is not decided."""

# What of an agent's entry decides where its cells stand; texts and limits do not.
_DECISIVE: Final = ("bases", "delegates", "extensions", "grants", "policies", "tools")


@dataclass(frozen=True, slots=True)
class Move:
    """One cell and where it stands on both sides. ``up`` and ``down`` can both be true: no order of the two is known.

    For a cell behind delegates, the accesses hold what all agents on the way object to.
    """

    cell: Cell
    before: Access
    after: Access
    up: bool
    down: bool
    undecided: bool = False

    @property
    def lifted(self) -> tuple[Atom, ...]:
        """The objections of before that nothing makes as strongly now."""
        return tuple(unimplied(self.before.atoms, Restriction.of(self.after.atoms)))

    @property
    def imposed(self) -> tuple[Atom, ...]:
        """The objections of now that nothing made as strongly before."""
        return tuple(unimplied(self.after.atoms, Restriction.of(self.before.atoms)))

    @property
    def directions(self) -> Iterator[Direction]:
        """What it says about authority."""
        if self.up:
            yield Direction.UP
        if self.down:
            yield Direction.DOWN
        if self.undecided:
            yield Direction.UNKNOWN


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves, the direct ones first; and the powers they were found with."""

    old: Powers
    new: Powers
    affected: frozenset[str] = frozenset()
    found: tuple[Move, ...] = ()

    @property
    def direct(self) -> Iterator[Move]:
        """Moves of agents themselves."""
        return (move for move in self.found if move.cell.is_direct)

    @property
    def indirect(self) -> Iterator[Move]:
        """Moves behind delegates."""
        return (move for move in self.found if not move.cell.is_direct)


def moves(old: Side, new: Side) -> Moves:
    """Compare every cell of either side; entries that are equal are not looked into."""
    powers_old = Powers(old, old.policies)
    powers_new = Powers(new, _with_known_code(old.policies, new.policies))
    affected = _affected(old, new)
    if not affected:
        return Moves(powers_old, powers_new)
    found = [move for agent in sorted(affected) for move in _direct(agent, powers_old, powers_new)]
    found.extend(_Behind(powers_old, powers_new, affected).moves())
    found.sort(key=lambda move: move.cell.sort_key)
    return Moves(powers_old, powers_new, frozenset(affected), tuple(found))


def _with_known_code(old: Mapping[str, Policy], new: Mapping[str, Policy]) -> dict[str, Policy]:
    """The new policies; code that took the place of other code counts as the same objection: nobody knows better.

    That the target changed is a finding of its own, and makes the verdict unknown.
    """
    return {
        key: replace(policy, decide=old[key].decide)
        if policy.effect == "decide" and key in old and old[key].effect == "decide"
        else policy
        for key, policy in new.items()
    }


def _affected(old: Side, new: Side) -> set[str]:
    owners = {
        owner
        for owner in old.authors.keys() | new.authors.keys()
        if old.authors.get(owner, {}).get("policies") != new.authors.get(owner, {}).get("policies")
    }
    return {
        name
        for name in old.agents.keys() | new.agents.keys()
        if _differs(old.agents.get(name), new.agents.get(name))
        or (owners and not owners.isdisjoint(new.owners(name)))
        or old.workspace != new.workspace
    }


def _differs(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is not new
    return bool(old != new) and any(old.get(key) != new.get(key) for key in _DECISIVE)


def _direct(agent: str, old: Powers, new: Powers) -> Iterator[Move]:
    before, after = old.direct(agent), new.direct(agent)
    for cell in dict.fromkeys((*before, *after)):
        was, now = before.get(cell, ABSENT), after.get(cell, ABSENT)
        if was == now:
            continue
        up, down = exceeds(now.standing, was.standing), exceeds(was.standing, now.standing)
        if up or down:
            yield Move(cell, was, now, up, down)


@dataclass(slots=True)
class _Behind:
    """The comparison of cells behind delegates."""

    old: Powers
    new: Powers
    affected: set[str]
    left: int = field(default=MOST_THROUGH)

    def moves(self) -> Iterator[Move]:
        """The moves of every agent that calls others, as far as something on the way changed."""
        for root in sorted(self.old.side.agents.keys() | self.new.side.agents.keys()):
            behind = dict.fromkeys((*self.old.reached(root), *self.new.reached(root)))
            if self.affected.isdisjoint((root, *behind)):
                continue
            for agent in behind:
                yield from self._pair(root, agent)

    def _pair(self, root: str, agent: str) -> Iterator[Move]:
        paths = self.old.between(root, agent), self.new.between(root, agent)
        if self.affected.isdisjoint((*paths[0], *paths[1])):
            return
        for cell in _open_cells(agent, self.old, self.new):
            self.left -= 1
            if self.left < 0:
                if self.left == -1:
                    yield Move(_seen_from(root, cell), ABSENT, ABSENT, up=False, down=False, undecided=True)
                return
            yield from self._cell(root, agent, cell, paths)

    def _cell(
        self, root: str, agent: str, cell: Cell, paths: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> Iterator[Move]:
        was, now = (
            _through(powers, root, agent, cell, path)
            for powers, path in zip((self.old, self.new), paths, strict=True)
        )
        if was == now and was is not None:
            return
        undecided = was is None or now is None
        up = was is not None and now is not None and exceeds(now, was)
        down = was is not None and now is not None and exceeds(was, now)
        if up or down or undecided:
            yield Move(
                _seen_from(root, cell),
                _overall(self.old, agent, cell, paths[0], was),
                _overall(self.new, agent, cell, paths[1], now),
                up,
                down,
                undecided,
            )


def _seen_from(root: str, cell: Cell) -> Cell:
    return replace(cell, root=root)


def _open_cells(agent: str, *sides: Powers) -> Iterable[Cell]:
    return dict.fromkeys(
        cell
        for powers in sides
        for cell, access in powers.direct(agent).items()
        if access.state == "open" and not cell.child
    )


def _through(powers: Powers, root: str, agent: str, cell: Cell, path: tuple[str, ...]) -> Standing | None:
    if not path or powers.direct(agent).get(cell, ABSENT).state != "open":
        return DENIED
    return powers.through(root, agent, cell, path)


def _overall(
    powers: Powers, agent: str, cell: Cell, path: tuple[str, ...], standing: Standing | None
) -> Access:
    """What anybody on the way objects to: for the account, not for the decision."""
    own = powers.direct(agent).get(cell, ABSENT)
    if not path or own.state != "open":
        return replace(own, atoms=()) if path else ABSENT
    met = [atom for ruler in path for atom in powers.atoms(ruler, agent, cell.effect, cell.key)]
    met += [atom for ruler in path[:-1] for atom in powers.atoms(ruler, ruler, "delegate", None)]
    atoms = dict.fromkeys(met)
    closed = standing == DENIED and not Restriction.of(atoms).closed
    return Access("ungranted" if closed else "open", tuple(atoms))
