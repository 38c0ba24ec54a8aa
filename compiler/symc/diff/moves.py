"""Moves: every cell that stands elsewhere than before, and the policies that made it so (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from symc.composition import Policy
from symc.diff.model import Direction
from symc.diff.powers import ABSENT, Access, Cell, Powers
from symc.diff.side import Key, Side, Tree
from symc.diff.standing import DENIED, Atom, Restriction, Standing, exceeds, unimplied
from symc.guarding import Reach, Roster, is_stacked_on, reach

MOST_THROUGH: Final = 200_000
"""Cells behind delegates that are compared at most: beyond that, the rest is not decided."""

# What of an agent's entry, and of a tool in it, decides where its cells stand; texts and limits do not.
_DECISIVE: Final = ("bases", "delegates", "extensions", "grants", "policies", "tools")
_OF_A_TOOL: Final = ("chain", "exposed", "extension", "raw")

Versions: TypeAlias = tuple[Policy | None, Policy | None]
"""A policy before and now; None where there is none."""


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


def direction(moves: Iterable[Move]) -> Direction:
    """Which way moves of one cause go; of several ways, the one that somebody has to say yes to."""
    found = {one for move in moves for one in move.directions}
    return next(
        (one for one in (Direction.UP, Direction.UNKNOWN, Direction.DOWN) if one in found), Direction.SAME
    )


@dataclass(frozen=True, slots=True)
class Moves:
    """All moves, the direct ones first, with the powers they were found with.

    ``affected`` are the agents whose cells could move, ``policies`` the policies that differ, on both sides.
    """

    old: Powers
    new: Powers
    affected: frozenset[str] = frozenset()
    policies: Mapping[str, Versions] = field(default_factory=dict)
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
    """Compare every cell of either side that could have moved; what is equal is not looked into."""
    policies = _differing_policies(old, new)
    powers_old, powers_new = Powers(old), Powers(new, _known_code(policies))
    affected = _affected(old, new)
    if not affected:
        return Moves(powers_old, powers_new, policies=policies)
    comparison = _Comparison(powers_old, powers_new, policies, affected)
    found = sorted(comparison.moves(), key=lambda move: move.cell.sort_key)
    return Moves(powers_old, powers_new, frozenset(affected), policies, tuple(found))


def _differing_policies(old: Side, new: Side) -> dict[str, Versions]:
    keys = {
        f"{owner}/{name}"
        for owner in _differing_owners(old, new)
        for side in (old, new)
        for name in side.authors.get(owner, {}).get("policies", ())
    }
    versions = {key: (old.policy(key), new.policy(key)) for key in sorted(keys)}
    return {key: (was, now) for key, (was, now) in versions.items() if was != now}


def _differing_owners(old: Side, new: Side) -> set[str]:
    return {
        owner
        for owner in old.authors.keys() | new.authors.keys()
        if old.authors.get(owner, {}).get("policies") != new.authors.get(owner, {}).get("policies")
    }


def _known_code(policies: Mapping[str, Versions]) -> dict[str, Policy]:
    """The new policies whose code took the place of other code, as the old objection: nobody knows better.

    That the target changed is a finding of its own, and makes the verdict unknown.
    """
    return {
        key: replace(now, decide=was.decide)
        for key, (was, now) in policies.items()
        if was is not None and now is not None and was.effect == now.effect == "decide"
    }


def _affected(old: Side, new: Side) -> set[str]:
    """The agents that have another decisive part, or are under a policy that differs."""
    owners = _differing_owners(old, new)
    if old.workspace != new.workspace:
        owners |= {old.workspace, new.workspace}
    found = {
        name
        for name in old.agents.keys() | new.agents.keys()
        if _differs(old.agents.get(name), new.agents.get(name))
    }
    if not owners:
        return found
    if owners & {old.workspace, new.workspace} - {""}:
        return {*old.agents, *new.agents}
    found.update(agent for owner in owners for agent in new.adopters.get(owner, ()))
    found.update(
        name
        for name, entry in new.agents.items()
        if name in owners or not owners.isdisjoint(entry.get("bases", ()))
    )
    return found


def _differs(old: Tree | None, new: Tree | None) -> bool:
    if old is None or new is None:
        return old is not new
    return bool(old != new) and any(old.get(key) != new.get(key) for key in _DECISIVE)


@dataclass(frozen=True, slots=True)
class _Delta:
    """What of one agent could make cells move: everything, or these tools and what these policies match."""

    everything: bool = False
    keys: frozenset[Key] = frozenset()
    policies: tuple[Policy, ...] = ()


_STILL: Final = _Delta()


@dataclass(slots=True)
class _Comparison:
    """The comparison of all cells, as far as something that bears on them changed."""

    old: Powers
    new: Powers
    policies: Mapping[str, Versions]
    affected: set[str]
    left: int = field(default=MOST_THROUGH)
    _deltas: dict[str, _Delta] = field(default_factory=dict)

    def moves(self) -> Iterator[Move]:
        """Every move."""
        for agent in sorted(self.affected):
            yield from self._direct(agent)
        for root in sorted(self.old.side.agents.keys() | self.new.side.agents.keys()):
            behind = dict.fromkeys((*self.old.reached(root), *self.new.reached(root)))
            if not self.affected.isdisjoint((root, *behind)):
                for agent in behind:
                    yield from self._behind(root, agent)

    def _direct(self, agent: str) -> Iterator[Move]:
        for cell, was, now in self._cells((agent,), agent):
            if was == now:
                continue
            up, down = exceeds(now.standing, was.standing), exceeds(was.standing, now.standing)
            if up or down:
                yield Move(cell, was, now, up, down)

    def _cells(self, rulers: Sequence[str], agent: str) -> Iterator[tuple[Cell, Access, Access]]:
        """The agent's own cells that could have moved because of it or of those that rule over it."""
        deltas = [self._delta(ruler) for ruler in rulers]
        if any(delta.everything for delta in deltas):
            before, after = self.old.direct(agent), self.new.direct(agent)
        else:
            keys = self._bearing(deltas, agent)
            before, after = self.old.calls(agent, keys), self.new.calls(agent, keys)
        for cell in dict.fromkeys((*before, *after)):
            yield (
                cell,
                before[cell] if cell in before else self.old.missing(cell),
                after[cell] if cell in after else self.new.missing(cell),
            )

    def _bearing(self, deltas: Iterable[_Delta], agent: str) -> list[Key]:
        """The tools of the agent on either side that the changed tools and policies are about."""
        keys = dict.fromkeys((*self.old.keys(agent).values(), *self.new.keys(agent).values()))
        roster = Roster.of(key.identity for key in keys)
        identities = {key.identity for delta in deltas for key in delta.keys}
        reaches = [reach(policy, roster) for delta in deltas for policy in delta.policies]
        return [
            key for key in keys if key.identity in identities or any(_matches(one, key) for one in reaches)
        ]

    def _delta(self, agent: str) -> _Delta:
        if agent not in self.affected:
            return _STILL
        if agent not in self._deltas:
            self._deltas[agent] = self._found_delta(agent)
        return self._deltas[agent]

    def _found_delta(self, agent: str) -> _Delta:
        old, new = self.old.side.agents.get(agent), self.new.side.agents.get(agent)
        if old is None or new is None:
            return _Delta(everything=True)
        if any(old.get(key) != new.get(key) for key in ("delegates", "grants")):
            return _Delta(everything=True)
        policies = tuple(self._differing(agent))
        # A policy that names no tools is over every call.
        if any(policy.tools is None for policy in policies):
            return _Delta(everything=True)
        return _Delta(keys=frozenset(self._changed_tools(agent, old, new)), policies=policies)

    def _differing(self, agent: str) -> Iterator[Policy]:
        """Both versions of each policy that differs, applies no longer, or applies newly."""
        before, after = self.old.applied(agent), self.new.applied(agent)
        for key in before.keys() | after.keys():
            if key in self.policies or (key in before) != (key in after):
                yield from (found[key] for found in (before, after) if key in found)

    def _changed_tools(self, agent: str, old: Tree, new: Tree) -> Iterator[Key]:
        before, after = old.get("tools", {}), new.get("tools", {})
        if before == after:
            return
        for powers, tools, others in ((self.old, before, after), (self.new, after, before)):
            for name, key in powers.keys(agent).items():
                other = others.get(name)
                if other == tools[name]:
                    continue
                if other is None or any(tools[name].get(one) != other.get(one) for one in _OF_A_TOOL):
                    yield key

    def _behind(self, root: str, agent: str) -> Iterator[Move]:
        paths = self.old.between(root, agent), self.new.between(root, agent)
        rulers = tuple(dict.fromkeys((*paths[0], *paths[1])))
        if self.affected.isdisjoint(rulers):
            return
        for cell, was, now in self._cells(rulers, agent):
            if cell.child or "open" not in (was.state, now.state):
                continue
            self.left -= 1
            if self.left < 0:
                if self.left == -1:
                    seen = replace(cell, root=root)
                    yield Move(seen, ABSENT, ABSENT, up=False, down=False, undecided=True)
                return
            yield from self._through(root, agent, cell, paths)

    def _through(
        self, root: str, agent: str, cell: Cell, paths: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> Iterator[Move]:
        was, now = (
            _standing(powers, root, agent, cell, path)
            for powers, path in zip((self.old, self.new), paths, strict=True)
        )
        if was == now and was is not None:
            return
        undecided = was is None or now is None
        up = was is not None and now is not None and exceeds(now, was)
        down = was is not None and now is not None and exceeds(was, now)
        if up or down or undecided:
            yield Move(
                replace(cell, root=root),
                _overall(self.old, agent, cell, paths[0], was),
                _overall(self.new, agent, cell, paths[1], now),
                up,
                down,
                undecided,
            )


def _matches(reached: Reach, key: Key) -> bool:
    return key.identity in reached.tools or any(
        is_stacked_on(selector, key.identity, key.chain) for selector in reached.variants
    )


def _standing(powers: Powers, root: str, agent: str, cell: Cell, path: tuple[str, ...]) -> Standing | None:
    if not path or _own(powers, agent, cell).state != "open":
        return DENIED
    return powers.through(root, agent, cell, path)


def _own(powers: Powers, agent: str, cell: Cell) -> Access:
    cells = powers.effects(agent) if cell.key is None else powers.calls(agent, (cell.key,))
    return cells.get(cell, ABSENT)


def _overall(
    powers: Powers, agent: str, cell: Cell, path: tuple[str, ...], standing: Standing | None
) -> Access:
    """What anybody on the way objects to: for the account, not for the decision."""
    own = _own(powers, agent, cell)
    if not path or own.state != "open":
        return replace(own, atoms=()) if path else ABSENT
    met = [atom for ruler in path for atom in powers.atoms(ruler, cell.effect, cell.key)]
    met += [atom for ruler in path[:-1] for atom in powers.atoms(ruler, "delegate", None)]
    atoms = tuple(dict.fromkeys(met))
    closed = standing == DENIED and not Restriction.of(atoms).closed
    return Access("ungranted" if closed else "open", atoms)
