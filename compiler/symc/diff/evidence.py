"""Evidence: everything the rules look at, found once (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from symc.diff import layouts, surfaces
from symc.diff.layouts import Placed
from symc.diff.model import Item
from symc.diff.moves import Move, Moves, moves
from symc.diff.side import SECTIONS, Side, Tree
from symc.diff.surfaces import Pair
from symc.diff.vetoes import Veto, vetoes
from symc.guarding import Identity

_PARTS: Final = ("fragments", "lifecycle", "tool_extensions", "tools")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Two sides, and what lies between them.

    ``differing`` are the names of entries that differ, by section; ``lifted`` and ``imposed`` the moves that each policy
    is a cause of; ``tools`` the tools of agents whose tools differ.
    """

    old: Side
    new: Side
    moves: Moves
    vetoes: tuple[Veto, ...]
    lifted: Mapping[str, tuple[Move, ...]]
    imposed: Mapping[str, tuple[Move, ...]]
    tools: tuple[Pair, ...]
    fragments_old: Mapping[str, Placed]
    fragments_new: Mapping[str, Placed]
    differing: Mapping[str, tuple[str, ...]]

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of both sides whose entries differ."""
        return tuple(
            name for name in self.differing["agents"] if name in self.old.agents and name in self.new.agents
        )

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions of both sides whose entries differ."""
        return tuple(
            name
            for name in self.differing["extensions"]
            if name in self.old.extensions and name in self.new.extensions
        )

    def readers(self, fragment: str, side: Side) -> tuple[str, ...]:
        """The agents whose prompt holds the fragment."""
        return side.readers.get(fragment, ())

    def users(self, extension: str, raw: str, side: Side) -> tuple[str, ...]:
        """The agents that have a tool of this identity, or a variant of it."""
        return side.callers.get((extension, raw), ())

    def stacked(self, extension: str, name: str, side: Side) -> tuple[str, ...]:
        """The agents that have a variant with this layer."""
        return side.stacked.get((extension, name), ())

    def policy(self, key: str) -> Item:
        """The policy of this key as what a change is about."""
        place = self.new.policies.get(key) or self.old.policies[key]
        return Item("policy", *place)

    @cached_property
    def reworded(self) -> frozenset[Identity]:
        """The tools of extensions whose description or input schema differs: what a model is sent of them."""
        return frozenset(
            (owner, raw)
            for owner in self.extensions
            for old, new in [(self.old.extensions[owner], self.new.extensions[owner])]
            if old.get("tools") != new.get("tools")
            for raw, tool in new.get("tools", {}).items()
            for was in [old.get("tools", {}).get(raw, {})]
            if any(was.get(key) != tool.get(key) for key in ("description", "input_schema"))
        )

    @cached_property
    def kept(self) -> tuple[tuple[str, Placed, Placed], ...]:
        """The fragments and slots of both sides that differ, by joined id."""
        return tuple(
            (key, self.fragments_old[key], new)
            for key, new in sorted(self.fragments_new.items())
            if key in self.fragments_old and self.fragments_old[key].part != new.part
        )

    @cached_property
    def prompted(self) -> tuple[str, ...]:
        """The agents of both sides whose prompt, or a fragment in it, differs."""
        touched = {agent for key, _, _ in self.kept for agent in self.new.readers.get(key, ())}
        return tuple(
            agent
            for agent in sorted(self.old.agents.keys() & self.new.agents.keys())
            if agent in touched
            or any(
                self.old.agents[agent].get(key) != self.new.agents[agent].get(key)
                for key in ("prompt", "rendered")
            )
        )

    @cached_property
    def replaced(self) -> tuple[tuple[str, Placed, Placed], ...]:
        """By agent, the fragments that went and came with the same digest under another id."""
        found = []
        for agent in self.prompted:
            before, after = (side.agents[agent].get("prompt", ()) for side in (self.old, self.new))
            gone = [self.fragments_old[one] for one in before if one not in after]
            by_digest = {one.part.get("digest"): one for one in gone}
            for one in after if gone else ():
                was = (
                    None if one in before else by_digest.pop(self.fragments_new[one].part.get("digest"), None)
                )
                if was is not None:
                    found.append((agent, was, self.fragments_new[one]))
        return tuple(found)


def gather(old: Side, new: Side) -> Evidence:
    """Find what differs; raises ``LockError`` for a differing entry that has not the form of a lock."""
    differing = {section: _differing(section, old, new) for section in SECTIONS}
    differing["workspace"] = (
        (new.workspace or old.workspace,) if old.tree.get("workspace") != new.tree.get("workspace") else ()
    )
    names = [
        name
        for section in SECTIONS
        for name in differing[section]
        if not _derived_only(old.authors.get(name), new.authors.get(name))
    ]
    old.check(names)
    new.check(names)
    for side, other in ((old, new), (new, old)):
        # What lost a part may be asked for it by an entry that did not change.
        side.check(
            agent for name in names if _lost(side, other, name) for agent in side.adopters.get(name, ())
        )
    found = moves(old, new)
    return Evidence(
        old=old,
        new=new,
        moves=found,
        vetoes=vetoes(found),
        lifted=_by_policy((move, (atom.policy for atom in move.lifted)) for move in found.found if move.up),
        imposed=_by_policy(
            (move, (atom.policy for atom in move.imposed)) for move in found.found if move.down
        ),
        tools=tuple(
            pair
            for name in differing["agents"]
            if not _same_tools(old.agents.get(name, {}), new.agents.get(name, {}))
            for pair in surfaces.pairs(found.old, found.new, name)
        ),
        fragments_old=layouts.placed(old),
        fragments_new=layouts.placed(new),
        differing=differing,
    )


def _differing(section: str, old: Side, new: Side) -> tuple[str, ...]:
    before, after = old.tree.get(section, {}), new.tree.get(section, {})
    if before == after:
        return ()
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _lost(side: Side, other: Side, name: str) -> bool:
    """Whether the extension lacks a part that it has on the other side."""
    mine, theirs = side.extensions.get(name, {}), other.extensions.get(name, {})
    return any(theirs.get(kind, {}).keys() - mine.get(kind, {}).keys() for kind in _PARTS)


def _derived_only(old: Tree | None, new: Tree | None) -> bool:
    """Whether two entries differ in nothing but which policies guard what, which nobody takes from a lock."""
    if old is None or new is None or old.keys() != new.keys():
        return False
    if any(old[key] != new[key] for key in old if key not in ("effects", "tools")):
        return False
    return _same_tools(old, new)


def _same_tools(old: Tree, new: Tree) -> bool:
    """Whether the tools are the same but for which policies guard them."""
    before, after = old.get("tools", {}), new.get("tools", {})
    return before.keys() == after.keys() and all(
        before[name] == after[name] or _own(before[name]) == _own(after[name]) for name in before
    )


def _own(tool: Tree) -> dict[str, object]:
    return {key: value for key, value in tool.items() if key != "guarded_by"}


def _by_policy(found: Iterable[tuple[Move, Iterable[str]]]) -> dict[str, tuple[Move, ...]]:
    causes: dict[str, dict[Move, None]] = {}
    for move, policies in found:
        if "open" in (move.before.state, move.after.state) and move.before.state == move.after.state:
            for policy in policies:
                causes.setdefault(policy, {})[move] = None
    return {policy: tuple(moved) for policy, moved in causes.items()}
