"""Powers: the cells of one side — who may do what, directly and through delegation — and where they stand (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from symc.composition import Policy
from symc.diff.side import Key, Side, Tree
from symc.diff.standing import (
    ALWAYS,
    DENIED,
    MOST_WAYS,
    Atom,
    Condition,
    Restriction,
    Standing,
    effect_atoms,
    standing,
    tool_atoms,
)
from symc.guarding import TOOL_CALL, pattern

State: TypeAlias = Literal["absent", "otherwise", "hidden", "ungranted", "open"]
"""``otherwise``: not there, but the same variant is with another config of its layers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing that one agent may or may not do: call a tool, delegate to a child, or cause another effect.

    ``root`` is the agent that calls it, itself where nobody does.
    """

    agent: str
    effect: str
    key: Key | None = None
    child: str = ""
    root: str = ""

    @property
    def is_direct(self) -> bool:
        """Whether nobody stands between the agent and whoever runs it."""
        return self.root in ("", self.agent)

    @property
    def label(self) -> str:
        """What is done, for people: the tool by its raw identity and chain, or the effect."""
        if self.key is not None:
            return str(self.key)
        return f"delegate to {self.child}" if self.child else self.effect

    @property
    def sort_key(self) -> tuple[str, ...]:
        """Directly reached first, then by name."""
        return ("" if self.is_direct else self.root, self.agent, self.label, self.effect)


@dataclass(frozen=True, slots=True)
class Access:
    """Where an agent stands at a cell of its own: whether it is there, and what objects.

    ``accepts`` is the input schema of the tool that stands at the base; None where there is none.
    """

    state: State = "absent"
    atoms: tuple[Atom, ...] = ()
    accepts: Any = field(default=None, compare=False, repr=False)

    @property
    def standing(self) -> Standing:
        """The one way there is, or none."""
        return standing((Restriction.of(self.atoms),)) if self.state == "open" else DENIED


ABSENT = Access()


@dataclass(frozen=True, slots=True)
class _Way:
    """One path of delegation as far as it goes: whether the thing is granted along it, and what it meets."""

    granted: bool
    met: Restriction
    delegating: Restriction

    def is_beaten_by(self, other: _Way) -> bool:
        return (
            (other.granted or not self.granted)
            and other.met <= self.met
            and other.delegating <= self.delegating
        )


@dataclass(frozen=True, slots=True)
class Powers:
    """What the agents of one side may do; ``instead`` are policies that count in place of the side's own, by key."""

    side: Side
    instead: Mapping[str, Policy] = field(default_factory=dict)
    _applied: dict[str, dict[str, Policy]] = field(default_factory=dict, repr=False)
    _keys: dict[str, dict[str, Key]] = field(default_factory=dict, repr=False)
    _named: dict[str, dict[Key, str]] = field(default_factory=dict, repr=False)
    _direct: dict[str, dict[Cell, Access]] = field(default_factory=dict, repr=False)
    _atoms: dict[tuple[str, Key], tuple[Atom, ...]] = field(default_factory=dict, repr=False)

    def direct(self, agent: str) -> dict[Cell, Access]:
        """Every cell of the agent itself; of one that the side does not have, none."""
        if agent not in self._direct:
            self._direct[agent] = self.effects(agent) | self.calls(agent, self.keys(agent).values())
        return self._direct[agent]

    def calls(self, agent: str, keys: Iterable[Key]) -> dict[Cell, Access]:
        """The agent's cells of these of its tools."""
        entry = self.side.agents.get(agent)
        if entry is None:
            return {}
        granted = TOOL_CALL in entry.get("grants", ())
        found: dict[Cell, Access] = {}
        for key in keys:
            name = self._names(agent).get(key)
            if name is None:
                continue
            state: State = "open" if granted else "ungranted"
            if entry["tools"][name].get("exposed") is False:
                state = "hidden"
            tools = self.side.extensions.get(key.extension, {}).get("tools", {})
            found[Cell(agent, TOOL_CALL, key)] = Access(
                state, tuple(self.atoms(agent, TOOL_CALL, key)), tools.get(key.raw, {}).get("input_schema")
            )
        return found

    def missing(self, cell: Cell) -> Access:
        """Where the agent stands at a cell that it has not: nowhere, or beside it."""
        key = cell.key
        if key is None or not key.chain:
            return ABSENT
        alike = any(
            own.identity == key.identity and own.chain == key.chain for own in self.keys(cell.agent).values()
        )
        return Access("otherwise") if alike else ABSENT

    def effects(self, agent: str) -> dict[Cell, Access]:
        """The agent's cells that are about no tool: its other effects, and its delegates."""
        entry = self.side.agents.get(agent)
        if entry is None:
            return {}
        grants = frozenset(entry.get("grants", ()))
        found: dict[Cell, Access] = {}
        for effect in sorted(grants - {TOOL_CALL, "delegate"}):
            found[Cell(agent, effect)] = Access("open", tuple(self.atoms(agent, effect, None)))
        for child in entry.get("delegates", {}):
            state: State = "open" if "delegate" in grants else "ungranted"
            atoms = tuple(self.atoms(agent, "delegate", None))
            found[Cell(agent, "delegate", child=child)] = Access(state, atoms)
        return found

    def applied(self, agent: str) -> dict[str, Policy]:
        """The policies over the agent itself."""
        if agent not in self._applied:
            self._applied[agent] = {key: self.policy(key) for key in self.side.applied(agent)}
        return self._applied[agent]

    def policy(self, key: str) -> Policy:
        """The policy of that key, as it counts."""
        found = self.instead.get(key) or self.side.policy(key)
        assert found is not None
        return found

    def keys(self, agent: str) -> dict[str, Key]:
        """The tools of the agent by exposed name; of one that the side does not have, none."""
        if agent not in self._keys:
            self._keys[agent] = self.side.keys(agent) if agent in self.side.agents else {}
        return self._keys[agent]

    def _names(self, agent: str) -> dict[Key, str]:
        if agent not in self._named:
            self._named[agent] = {key: name for name, key in self.keys(agent).items()}
        return self._named[agent]

    def atoms(self, ruler: str, effect: str, key: Key | None) -> Iterator[Atom]:
        """What the policies over ``ruler`` object to an agent causing the effect (P11, P22)."""
        policies = self.applied(ruler)
        if key is None:
            yield from effect_atoms(policies.items(), effect)
            return
        for policy_id, policy in policies.items():
            yield from self._over(policy_id, policy, key)

    def matching(self, agent: str, keys: Iterable[Key]) -> set[str]:
        """The policies over the agent that match one of these tools by name."""
        return {
            policy_id
            for policy_id, policy in self.applied(agent).items()
            if policy.tools is not None and any(self._over(policy_id, policy, key) for key in keys)
        }

    def _over(self, policy_id: str, policy: Policy, key: Key) -> tuple[Atom, ...]:
        # Agents share tools and policies: each pair is looked at once.
        known = self._atoms.get((policy_id, key))
        if known is None:
            known = self._atoms[policy_id, key] = tuple(tool_atoms(policy_id, policy, key))
        return known

    def children(self, agent: str) -> Mapping[str, Tree]:
        """The delegates of the agent that the side has."""
        found: Mapping[str, Tree] = self.side.agents.get(agent, {}).get("delegates", {})
        return {child: found[child] for child in sorted(found) if child in self.side.agents}

    def reached(self, root: str) -> tuple[str, ...]:
        """The agents that ``root`` reaches through delegation, callers before those they call; without itself."""
        order: list[str] = []
        done: set[str] = set()
        waiting = [(root, iter(self.children(root)))] if root in self.side.agents else []
        done.add(root)
        while waiting:  # depth first, without recursion: a chain of delegates may be long
            agent, children = waiting[-1]
            child = next((one for one in children if one not in done), None)
            if child is None:
                order.append(agent)
                waiting.pop()
            else:
                done.add(child)
                waiting.append((child, iter(self.children(child))))
        return tuple(reversed(order))[1:]

    def between(self, root: str, agent: str) -> tuple[str, ...]:
        """The agents on some path from ``root`` to ``agent``, both included, callers first; empty: there is none."""
        forward = (root, *self.reached(root))
        leads = {agent}
        for one in reversed(forward):
            if any(child in leads for child in self.children(one)):
                leads.add(one)
        return tuple(one for one in forward if one in leads) if agent in forward else ()

    def through(self, root: str, agent: str, cell: Cell, path: tuple[str, ...]) -> Standing | None:
        """Where ``root`` stands at a cell of ``agent`` that it reaches along ``path``; None: too many ways to decide.

        P22, P23: the rules of all callers apply, and what is granted is the caller's ∩ the agent's, or what the edge lets
        it exceed.
        """
        inside = frozenset(path)
        ways: dict[str, list[_Way]] = {
            root: [
                _Way(self._has(root, cell), self._met(root, cell), self._met_delegating(root, agent)),
            ]
        }
        for caller in path:
            for child, edge in self.children(caller).items():
                if child not in inside or caller == agent:
                    continue
                has, exceeds = self._has(child, cell), _may_exceed(edge, cell)
                met = self._met(child, cell)
                delegating = self._met_delegating(child, agent)
                arriving = ways.setdefault(child, [])
                for way in ways.get(caller, ()):
                    _keep(
                        arriving,
                        _Way(
                            has and (way.granted or exceeds),
                            way.met | met | _at(way.delegating, f"{caller} to {child}"),
                            way.delegating | delegating,
                        ),
                    )
                if len(arriving) > MOST_WAYS:
                    return None
        return standing(way.met for way in ways.get(agent, ()) if way.granted)

    def _has(self, agent: str, cell: Cell) -> bool:
        entry = self.side.agents[agent]
        if cell.effect not in entry.get("grants", ()):
            return False
        if cell.key is None:
            return True
        return any(
            entry["tools"][name].get("exposed") is not False and cell.key.stands_on(own)
            for name, own in self.keys(agent).items()
            if own.identity == cell.key.identity
        )

    def _met(self, ruler: str, cell: Cell) -> Restriction:
        return Restriction.of(self.atoms(ruler, cell.effect, cell.key))

    def _met_delegating(self, ruler: str, agent: str) -> Restriction:
        return Restriction() if ruler == agent else Restriction.of(self.atoms(ruler, "delegate", None))


def _at(restriction: Restriction, hop: str) -> Restriction:
    """The restriction about one hop: what it asks is asked of that hop's arguments."""

    def placed(conditions: frozenset[Condition]) -> frozenset[Condition]:
        return frozenset(
            one if one == ALWAYS else replace(one, place=f"{one.place} on {hop}") for one in conditions
        )

    return Restriction(placed(restriction.denied), placed(restriction.objected))


def _keep(ways: list[_Way], new: _Way) -> None:
    if new.met.closed or any(new.is_beaten_by(other) for other in ways):
        return
    ways[:] = [other for other in ways if not other.is_beaten_by(new)]
    ways.append(new)


def _may_exceed(edge: Tree, cell: Cell) -> bool:
    items: Iterable[str] = edge.get("may_exceed", ())
    if cell.key is None:
        return cell.effect in items
    return any(pattern(item).matches(*cell.key.identity) for item in items if "/" in item)
