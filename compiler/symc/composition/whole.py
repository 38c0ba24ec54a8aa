"""The whole: a lock as a value, and the composition of one agent with all that it reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symc.composition import cover, records
from symc.composition.entries import write_agent
from symc.composition.parts import LOCK_VERSION, Agent, Author, Extension, Fragment, Policy, Slot

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Stored:
    """What a lock was read from: the file's name and text, and the JSON tree with its digests."""

    file: str
    text: str = field(repr=False)
    tree: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The compositions of a workspace, shared things once (docs/lockfile.md §2).

    ``bases`` are the documents that agents inherit from and that are no agents themselves. ``stored`` is None for a lock
    that was compiled; it takes no part in comparison.
    """

    agents: Mapping[str, Agent] = field(default_factory=dict)
    bases: Mapping[str, Author] = field(default_factory=dict)
    extensions: Mapping[str, Extension] = field(default_factory=dict)
    workspace: Author | None = None
    lock_version: int = LOCK_VERSION
    stored: Stored | None = field(default=None, compare=False)

    def composition(self, agent: str, made: dict[str, Composition] | None = None) -> Composition:
        """The agent with all that it reaches; raises ``KeyError`` for an agent that the lock does not hold.

        ``made`` takes every composition on the way, by name; given again, none of them is made twice.
        """
        made = {} if made is None else made
        waiting = [] if agent in made else [agent]
        while waiting:  # children first, without recursion: a chain of delegates may be long
            one = self.agents[waiting[-1]]
            missing = [child for child in sorted(one.delegates) if child not in made]
            if missing:
                waiting.extend(missing)
            else:
                waiting.pop()
                made[one.name] = self._composed(one, made)
        return made[agent]

    def _composed(self, agent: Agent, made: Mapping[str, Composition]) -> Composition:
        return Composition(
            agent=agent,
            extensions={used: self.extensions[used] for used in _used(agent)},
            bases={base: self.author(base) for base in agent.bases},
            workspace=self.workspace,
            delegates={child: made[child] for child in sorted(agent.delegates)},
            lock_version=self.lock_version,
        )

    def author(self, name: str) -> Author:
        """The base of that name; an agent that others extend gives its own fragments, slots and policies."""
        if name in self.bases:
            return self.bases[name]
        agent = self.agents[name]
        return Author(
            name=name,
            source=agent.source,
            fragments=agent.fragments,
            slots=agent.slots,
            policies=agent.policies,
        )


def _used(agent: Agent) -> list[str]:
    """The extensions in composed order, then those that only a tool or a layer names."""
    named = dict.fromkeys(agent.extensions)
    for tool in agent.tools.values():
        named.update(dict.fromkeys((tool.extension, *(layer.extension for layer in tool.chain))))
    return list(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """One agent with all that it reaches: its extensions, its authors, and the compositions of its delegates.

    ``extensions`` are the lock's entries, in composed order; ``bases`` in the order they are extended.
    """

    agent: Agent
    extensions: Mapping[str, Extension] = field(default_factory=dict)
    bases: Mapping[str, Author] = field(default_factory=dict)
    workspace: Author | None = None
    delegates: Mapping[str, Composition] = field(default_factory=dict)
    lock_version: int = LOCK_VERSION

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def digest(self) -> str:
        """The composition's digest, computed from all that the agent reaches (L12)."""
        return cover.digest_of(cover.reached(lock_tree(self._as_lock()), self.name), self.name)

    @property
    def authors(self) -> tuple[Author, ...]:
        """The operator's documents that the agent is made of: workspace, bases, the agent's own."""
        own = Author(
            name=self.agent.name,
            source=self.agent.source,
            fragments=self.agent.fragments,
            slots=self.agent.slots,
            policies=self.agent.policies,
        )
        shared = () if self.workspace is None else (self.workspace,)
        return (*shared, *self.bases.values(), own)

    @property
    def policies(self) -> Mapping[str, Policy]:
        """Every policy that applies to the agent itself, by ``owner/policy_id``, sorted."""
        owners: tuple[Author | Extension, ...] = (*self.authors, *self.extensions.values())
        found = {f"{o.name}/{key}": policy for o in owners for key, policy in o.policies.items()}
        return dict(sorted(found.items()))

    @property
    def layout(self) -> tuple[tuple[str, Fragment | Slot, str], ...]:
        """The prompt in order: joined id, the fragment or slot, and its text for this agent (of a slot: empty)."""
        return tuple(self._placed())

    def _placed(self) -> Iterator[tuple[str, Fragment | Slot, str]]:
        parts: dict[str, Fragment | Slot] = {}
        for extension in self.extensions.values():
            parts.update({f"{extension.name}/{key}": one for key, one in extension.fragments.items()})
        for author in self.authors:
            parts.update({f"{author.name}/{key}": one for key, one in author.fragments.items()})
            parts.update({f"{author.name}/{key}": one for key, one in author.slots.items()})
        for joined_id in self.agent.prompt:
            part = parts[joined_id]
            if isinstance(part, Slot):
                yield joined_id, part, ""
                continue
            default = part.text if part.rendered is None else part.rendered
            yield joined_id, part, self.agent.rendered.get(joined_id, default)

    def policy_graph(self) -> nx.DiGraph[str]:
        """The directed graph of agents, extensions, tools, variants, effects and policies (docs/policies.md §3).

        Nodes have the attributes ``kind``, ``label`` and ``hidden``, edges ``kind`` and ``label``.
        """
        from symc.composition.graph import graph

        return graph(self)

    def _as_lock(self) -> Lock:
        agents: dict[str, Agent] = {}
        bases: dict[str, Author] = {}
        extensions: dict[str, Extension] = {}
        waiting = [self]
        while waiting:
            one = waiting.pop()
            agents[one.name] = one.agent
            bases.update(one.bases)
            extensions.update(one.extensions)
            waiting.extend(one.delegates.values())
        return Lock(
            agents=agents,
            bases=bases,
            extensions=extensions,
            workspace=self.workspace,
            lock_version=self.lock_version,
        )


def lock_tree(lock: Lock) -> dict[str, Any]:
    """The lock as a JSON tree without digests; it shares frozen schemas with the lock, and its own dicts are new."""
    tree: dict[str, Any] = {}
    for (section, *name), value in entries(lock):
        if name:
            tree.setdefault(section, {})[name[0]] = value
        else:
            tree[section] = value
    return tree


def entries(lock: Lock) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What the lock's JSON tree is made of, in order, each with the path that leads to it: ``("agents", "support")``."""
    if not lock.agents:
        yield ("agents",), {}
    for name in sorted(lock.agents):
        yield ("agents", name), write_agent(lock.agents[name], lock.extensions)
    # L1: a section that would be empty is left out.
    for name in sorted(lock.bases):
        yield ("bases", name), records.AUTHOR.write(lock.bases[name])
    for name in sorted(lock.extensions):
        yield ("extensions", name), records.EXTENSION.write(lock.extensions[name])
    yield ("lock_version",), lock.lock_version
    if lock.workspace is not None:
        yield ("workspace",), records.WORKSPACE.write(lock.workspace)
