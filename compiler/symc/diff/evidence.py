"""Evidence: everything the rules look at, found once (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symc.diff import layouts, surfaces
from symc.diff.layouts import Placed
from symc.diff.moves import Move, Moves, moves
from symc.diff.side import SECTIONS, Side
from symc.diff.surfaces import Pair
from symc.diff.vetoes import Veto, vetoes


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Two sides, and what lies between them.

    ``differing`` are the names of entries that differ, by section; ``lifted`` and ``imposed`` the moves that each policy
    is a cause of; ``tools`` the tools of agents whose tools differ; ``readers`` which agents of the new side (of the old
    one, for what is gone) read a fragment.
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
        return tuple(name for name in sorted(side.agents) if fragment in side.agents[name].get("prompt", ()))

    def users(self, extension: str, raw: str, side: Side) -> tuple[str, ...]:
        """The agents that have a tool of this identity, or a variant of it."""
        return tuple(
            name
            for name in sorted(side.agents)
            if any(
                tool["extension"] == extension and tool["raw"] == raw
                for tool in side.agents[name].get("tools", {}).values()
            )
        )

    def stacked(self, extension: str, name: str, side: Side) -> tuple[str, ...]:
        """The agents that have a variant with this layer."""
        return tuple(
            agent
            for agent in sorted(side.agents)
            if any(
                (layer["extension"], layer["name"]) == (extension, name)
                for tool in side.agents[agent].get("tools", {}).values()
                for layer in tool.get("chain", ())
            )
        )


def gather(old: Side, new: Side) -> Evidence:
    """Find what differs; raises ``LockError`` for a differing entry that has not the form of a lock."""
    differing = {section: _differing(section, old, new) for section in SECTIONS}
    differing["workspace"] = (
        (new.workspace or old.workspace,) if old.tree.get("workspace") != new.tree.get("workspace") else ()
    )
    for names in differing.values():
        for name in names:
            old.check(name)
            new.check(name)
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
            if old.agents.get(name, {}).get("tools") != new.agents.get(name, {}).get("tools")
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


def _by_policy(found: Iterable[tuple[Move, Iterable[str]]]) -> dict[str, tuple[Move, ...]]:
    causes: dict[str, dict[Move, None]] = {}
    for move, policies in found:
        if "open" in (move.before.state, move.after.state) and move.before.state == move.after.state:
            for policy in policies:
                causes.setdefault(policy, {})[move] = None
    return {policy: tuple(moved) for policy, moved in causes.items()}
