"""One side of a comparison: a lock as the JSON tree it is stored as, with the few questions rules ask of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from symc.canonical import canonical_bytes
from symc.composition import Layer, Lock, Policy, records
from symc.guarding import Identity
from symc.lock import tree as lock_tree
from symc.lock.schema import lock_schema

T = TypeVar("T")
Tree = Mapping[str, Any]
SECTIONS = ("agents", "bases", "extensions")
_FEW: Final = 50
"""Entries that are read one by one, without looking at the whole lock first."""


@dataclass(frozen=True, slots=True)
class Key:
    """A tool of an agent as rules and cells know it: raw identity and chain, whatever it is called (docs/diff.md §1)."""

    extension: str
    raw: str
    chain: tuple[Layer, ...] = ()
    # The canonical texts of the layers' configs, in which 1 is not true: the layers themselves carry none.
    configs: tuple[bytes, ...] = ()

    @property
    def identity(self) -> Identity:
        """Extension and raw name."""
        return (self.extension, self.raw)

    def stands_on(self, other: Key) -> bool:
        """Whether it is ``other``, or a variant made from it."""
        depth = len(other.chain)
        return (
            self.identity == other.identity
            and self.chain[:depth] == other.chain
            and self.configs[:depth] == other.configs
        )

    def __str__(self) -> str:
        return " + ".join([f"{self.extension}/{self.raw}", *(layer.name for layer in self.chain)])


@dataclass(frozen=True)
class Side:
    """A lock whose entries are compared as they are stored; entries that are equal on both sides are not read.

    What is asked of an entry that has not the form of a lock ends in the errors of Python; :meth:`check` says it in words.
    """

    lock: Lock
    tree: Tree

    @classmethod
    def of(cls, lock: Lock) -> Side:
        """The side of a lock, read or compiled."""
        return cls(lock, lock_tree(lock) if lock.stored is None else lock.stored.tree)

    @property
    def agents(self) -> Tree:
        """Agents by name."""
        found: Tree = self.tree.get("agents", {})
        return found

    @property
    def extensions(self) -> Tree:
        """Extensions by name."""
        found: Tree = self.tree.get("extensions", {})
        return found

    @cached_property
    def authors(self) -> Mapping[str, Tree]:
        """Everything that owns fragments, slots or policies, by name."""
        found: dict[str, Tree] = {**self.extensions, **self.tree.get("bases", {}), **self.agents}
        if "workspace" in self.tree:
            found[self.workspace] = self.tree["workspace"]
        return found

    @property
    def workspace(self) -> str:
        """The name of the workspace as an owner; empty without one."""
        name: str = self.tree.get("workspace", {}).get("name", "")
        return name

    @cached_property
    def policies(self) -> Mapping[str, tuple[str, str]]:
        """Owner and id of every policy of the lock, by ``owner/policy_id``."""
        return {
            f"{owner}/{name}": (owner, name)
            for owner, entry in self.authors.items()
            for name in entry.get("policies", ())
        }

    def policy(self, key: str) -> Policy | None:
        """The policy of that key, which is read when it is first asked for; None where there is none."""
        place = self.policies.get(key)
        if place is None:
            return None
        owner, name = place
        if owner not in self._read:
            written = self.authors[owner]["policies"]
            self._read[owner] = records.POLICIES.form.read(written, (owner, "policies"))
        return self._read[owner][name]

    @cached_property
    def _read(self) -> dict[str, Mapping[str, Policy]]:
        return {}

    def check(self, names: Iterable[str]) -> None:
        """Raise ``LockError`` unless the entries of these names, as far as there are any, have the form of a lock."""
        wanted = [name for name in names if name in self.authors and name != self.workspace]
        if len(wanted) > _FEW and self._is_sound():
            return
        for name in wanted:
            for section in (self.lock.agents, self.lock.bases, self.lock.extensions):
                if name in section:
                    section[name]  # raises: it says what is wrong, and where

    def _is_sound(self) -> bool:
        """Whether the whole lock has its form and holds no key twice: for many entries much cheaper than reading each."""
        import jsonschema_rs

        if self.lock.stored is None:
            return True
        try:
            json.loads(self.lock.stored.text, object_pairs_hook=_without_twins)
        except ValueError:
            return False
        return bool(jsonschema_rs.validator_for(lock_schema()).is_valid(dict(self.tree)))

    def owners(self, agent: str) -> Iterator[str]:
        """The names of all whose policies and fragments may apply to the agent: workspace, bases, itself, extensions."""
        entry = self.agents[agent]
        if "workspace" in self.tree:
            yield self.workspace
        yield from entry.get("bases", ())
        yield agent
        yield from self.used(agent)

    def used(self, agent: str) -> tuple[str, ...]:
        """The extensions of the agent in composed order, then those that only a tool or a layer names."""
        entry = self.agents[agent]
        named = dict.fromkeys(entry.get("extensions", ()))
        for tool in entry.get("tools", {}).values():
            named[tool["extension"]] = None
            if "chain" in tool:
                named.update(dict.fromkeys(layer["extension"] for layer in tool["chain"]))
        return tuple(named)

    @cached_property
    def adopters(self) -> Mapping[str, tuple[str, ...]]:
        """By extension, the agents that use it."""
        return _inverted((owner, agent) for agent in sorted(self.agents) for owner in self.used(agent))

    @cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        """By fragment, the agents whose prompt holds it."""
        return _inverted(
            (fragment, agent)
            for agent in sorted(self.agents)
            for fragment in self.agents[agent].get("prompt", ())
        )

    @cached_property
    def callers(self) -> Mapping[Identity, tuple[str, ...]]:
        """By extension and raw name, the agents that have the tool or a variant of it."""
        return _inverted(
            ((tool["extension"], tool["raw"]), agent)
            for agent in sorted(self.agents)
            for tool in self.agents[agent].get("tools", {}).values()
        )

    @cached_property
    def stacked(self) -> Mapping[Identity, tuple[str, ...]]:
        """By extension and name of a layer, the agents that have a variant with it."""
        return _inverted(
            ((layer["extension"], layer["name"]), agent)
            for agent in sorted(self.agents)
            for tool in self.agents[agent].get("tools", {}).values()
            if "chain" in tool
            for layer in tool["chain"]
        )

    @cached_property
    def delegators(self) -> Mapping[str, tuple[str, ...]]:
        """By agent, the agents that call it."""
        return _inverted(
            (child, agent)
            for agent in sorted(self.agents)
            for child in self.agents[agent].get("delegates", ())
        )

    def applied(self, agent: str) -> list[str]:
        """The keys of the policies over the agent."""
        return [
            f"{owner}/{name}"
            for owner in self.owners(agent)
            for name in self.authors.get(owner, {}).get("policies", ())
        ]

    def keys(self, agent: str) -> dict[str, Key]:
        """The tools of the agent by exposed name, hidden ones too."""
        tools: Tree = self.agents[agent].get("tools", {})
        return {name: _key(tool) for name, tool in tools.items()}

    def source(self, owner: str) -> str:
        """The manifest that the entry of this name was written in; empty where there is none."""
        found: str = self.authors.get(owner, {}).get("from", "")
        return found


def _key(tool: Tree) -> Key:
    layers = tool.get("chain", ())
    if not layers:
        return Key(tool["extension"], tool["raw"])
    chain = tuple(Layer(extension=one["extension"], name=one["name"]) for one in layers)
    configs = tuple(canonical_bytes(one.get("config")) for one in layers)
    return Key(tool["extension"], tool["raw"], chain, configs)


def _without_twins(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")


def _inverted(pairs: Iterable[tuple[T, str]]) -> dict[T, tuple[str, ...]]:
    found: dict[T, dict[str, None]] = {}
    for key, agent in pairs:
        found.setdefault(key, {})[agent] = None
    return {key: tuple(agents) for key, agents in found.items()}
