"""Powers: the cells of one side — who may do what, directly and through delegation — and where they stand (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from symc.composition import Policy
from symc.diff.side import Key, Side, Tree
from symc.diff.standing import (
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
from symc.guarding import TOOL_CALL, Roster, guards, pattern, reach

State: TypeAlias = Literal["absent", "hidden", "ungranted", "open"]


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
    """Where an agent stands at a cell of its own: whether it is there, and what objects."""

    state: State = "absent"
    atoms: tuple[Atom, ...] = ()

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
    """What the agents of one side may do. ``policies`` are all of the side, by ``owner/policy_id``."""

    side: Side
    policies: Mapping[str, Policy]
    _applied: dict[str, dict[str, Policy]] = field(default_factory=dict, repr=False)
    _keys: dict[str, dict[str, Key]] = field(default_factory=dict, repr=False)
    _direct: dict[str, dict[Cell, Access]] = field(default_factory=dict, repr=False)
    _guards: dict[tuple[str, str], dict[Key, tuple[str, ...]]] = field(default_factory=dict, repr=False)

    def direct(self, agent: str) -> dict[Cell, Access]:
        """Every cell of the agent itself; of one that the side does not have, none."""
        if agent not in self._direct:
            entry = self.side.agents.get(agent)
            self._direct[agent] = {} if entry is None else self._cells(agent, entry)
        return self._direct[agent]

    def _cells(self, agent: str, entry: Tree) -> dict[Cell, Access]:
        grants = frozenset(entry.get("grants", ()))
        found: dict[Cell, Access] = {}
        for name, key in self.keys(agent).items():
            state: State = "open"
            if entry["tools"][name].get("exposed") is False:
                state = "hidden"
            elif TOOL_CALL not in grants:
                state = "ungranted"
            found[Cell(agent, TOOL_CALL, key)] = Access(
                state, tuple(self.atoms(agent, agent, TOOL_CALL, key))
            )
        for effect in sorted(grants - {TOOL_CALL, "delegate"}):
            found[Cell(agent, effect)] = Access("open", tuple(self.atoms(agent, agent, effect, None)))
        for child in entry.get("delegates", {}):
            state = "open" if "delegate" in grants else "ungranted"
            atoms = tuple(self.atoms(agent, agent, "delegate", None))
            found[Cell(agent, "delegate", child=child)] = Access(state, atoms)
        return found

    def applied(self, agent: str) -> dict[str, Policy]:
        """The policies over the agent itself."""
        if agent not in self._applied:
            self._applied[agent] = {key: self.policies[key] for key in self.side.applied(agent)}
        return self._applied[agent]

    def keys(self, agent: str) -> dict[str, Key]:
        """The tools of the agent by exposed name."""
        if agent not in self._keys:
            self._keys[agent] = self.side.keys(agent)
        return self._keys[agent]

    def atoms(self, ruler: str, agent: str, effect: str, key: Key | None) -> Iterator[Atom]:
        """What the policies over ``ruler`` object to ``agent`` causing the effect (P11, P22)."""
        policies = self.applied(ruler)
        if key is None:
            yield from effect_atoms(policies.items(), effect)
            return
        for policy_id in self.guards(ruler, agent)[key]:
            yield from tool_atoms(policy_id, policies[policy_id], key)
        # Over every call: its condition is asked at each depth of the chain.
        for policy_id, policy in policies.items():
            if policy.tools is None and (not policy.actions or effect in policy.actions):
                yield from tool_atoms(policy_id, policy, key)

    def guards(self, ruler: str, agent: str) -> dict[Key, tuple[str, ...]]:
        """For each tool of ``agent``, the policies over ``ruler`` that match it."""
        if (ruler, agent) not in self._guards:
            keys = dict.fromkeys(self.keys(agent).values())
            roster = Roster.of(key.identity for key in keys)
            named = {one: policy for one, policy in self.applied(ruler).items() if policy.tools is not None}
            reaches = {one: reach(policy, roster) for one, policy in named.items()}
            numbered = {str(number): key for number, key in enumerate(keys)}
            found = guards(reaches, {name: (key.identity, key.chain) for name, key in numbered.items()})
            self._guards[ruler, agent] = {numbered[name]: ids for name, ids in found.items()}
        return self._guards[ruler, agent]

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
                _Way(self._has(root, cell), self._met(root, agent, cell), self._met_delegating(root, agent)),
            ]
        }
        for caller in path:
            for child, edge in self.children(caller).items():
                if child not in inside or caller == agent:
                    continue
                has, exceeds = self._has(child, cell), _may_exceed(edge, cell)
                met = self._met(child, agent, cell)
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

    def _met(self, ruler: str, agent: str, cell: Cell) -> Restriction:
        return Restriction.of(self.atoms(ruler, agent, cell.effect, cell.key))

    def _met_delegating(self, ruler: str, agent: str) -> Restriction:
        return Restriction() if ruler == agent else Restriction.of(self.atoms(ruler, ruler, "delegate", None))


def _at(restriction: Restriction, hop: str) -> Restriction:
    """The restriction about one hop: what it asks is asked of that hop's arguments."""

    def placed(conditions: frozenset[Condition]) -> frozenset[Condition]:
        return frozenset(f"{one} on {hop}" if one else one for one in conditions)

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
