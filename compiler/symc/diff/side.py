"""One side of a comparison: a lock as the JSON tree it is stored as, with the few questions rules ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from symc.canonical import canonical_bytes
from symc.composition import Layer, Lock, Policy, records
from symc.composition.form import FormError
from symc.guarding import Identity
from symc.lock import tree as lock_tree

Tree = Mapping[str, Any]
SECTIONS = ("agents", "bases", "extensions")


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
    """A lock whose entries are compared as they are stored; equal entries are never looked into.

    Construct with :meth:`of`, which refuses a lock whose outer form is not sound with a ``LockError``.
    """

    lock: Lock
    tree: Tree

    @classmethod
    def of(cls, lock: Lock) -> Side:
        """The side of a lock, read or compiled."""
        side = cls(lock, lock_tree(lock) if lock.stored is None else lock.stored.tree)
        for section, entries in (
            ("agents", lock.agents),
            ("bases", lock.bases),
            ("extensions", lock.extensions),
        ):
            for name, entry in side.tree.get(section, {}).items():
                if not _is_sound(entry) or (section == "agents" and not _is_sound_agent(entry)):
                    entries[name]  # raises: it says what is wrong, and where
        return side

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
    def policies(self) -> Mapping[str, Policy]:
        """Every policy of the lock by ``owner/policy_id``, sorted."""
        found: dict[str, Policy] = {}
        for owner, entry in self.authors.items():
            if "policies" in entry:
                found.update(
                    {f"{owner}/{key}": one for key, one in self._read_policies(owner, entry).items()}
                )
        return dict(sorted(found.items()))

    def _read_policies(self, owner: str, entry: Tree) -> Mapping[str, Policy]:
        try:
            made: Mapping[str, Policy] = records.POLICIES.form.read(entry["policies"], (owner, "policies"))
        except FormError:
            self.check(owner)  # raises: it says what is wrong, and where
            raise
        return made

    def check(self, owner: str) -> None:
        """Raise ``LockError`` unless the entry of this name has the form of a lock."""
        for section in (self.lock.agents, self.lock.bases, self.lock.extensions):
            if owner in section:
                section[owner]

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
            named.update(dict.fromkeys(layer["extension"] for layer in tool.get("chain", ())))
        return tuple(named)

    def applied(self, agent: str) -> dict[str, Policy]:
        """The policies over the agent by ``owner/policy_id``."""
        found: dict[str, Policy] = {}
        for owner in self.owners(agent):
            for policy_id in self.authors.get(owner, {}).get("policies", ()):
                key = f"{owner}/{policy_id}"
                found[key] = self.policies[key]
        return found

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


_LISTS = ("bases", "extensions", "prompt", "grants", "env")
_PARTS = ("fragments", "policies", "slots", "tools")


def _is_sound(entry: Any) -> bool:
    """Whether what is asked of every entry, changed or not, can be asked of this one."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("from", ""), str)
        and all(_is_records(entry.get(kind, {})) for kind in _PARTS)
        and all(map(_is_sound_fragment, entry.get("fragments", {}).values()))
    )


def _is_sound_agent(entry: Any) -> bool:
    return (
        all(_is_words(entry.get(key, [])) for key in _LISTS)
        and _is_records(entry.get("delegates", {}))
        and all(_is_words(edge.get("may_exceed", [])) for edge in entry.get("delegates", {}).values())
        and _is_records(entry.get("rendered", {}))
        and all(_is_words(text.get("text")) for text in entry.get("rendered", {}).values())
        and all(map(_is_sound_tool, entry.get("tools", {}).values()))
    )


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _is_records(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())


def _is_sound_fragment(part: Any) -> bool:
    rendered = part.get("rendered", part)
    return _is_words(part.get("text")) and isinstance(rendered, dict) and _is_words(rendered.get("text"))


def _is_sound_tool(tool: Any) -> bool:
    layers = tool.get("chain", [])
    return (
        all(isinstance(tool.get(key), str) for key in ("extension", "raw", "selected_by"))
        and isinstance(layers, list | tuple)
        and all(map(_is_sound_layer, layers))
    )


def _is_sound_layer(layer: Any) -> bool:
    return (
        isinstance(layer, dict)
        and all(isinstance(layer.get(key), str) for key in ("extension", "name"))
        and isinstance(layer.get("config", {}), dict)
    )
