"""Surfaces: what the model sees of each tool on both sides — name, texts, schemas — and which tools are the same one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from symc.canonical import canonical_bytes
from symc.diff.powers import Powers
from symc.diff.side import Key, Side

Json = Any
ASPECTS = ("annotations", "description", "input_schema", "output_schema")


@dataclass(frozen=True, slots=True)
class Bound:
    """One tool of one agent under its exposed name."""

    agent: str
    name: str
    key: Key
    exposed: bool
    selected_by: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One tool of one agent on both sides; None where a side does not have it, or hides it."""

    agent: str
    old: Bound | None
    new: Bound | None

    @property
    def label(self) -> str:
        """The tool by raw identity and chain, as it is now."""
        one = self.new or self.old
        assert one is not None
        return str(one.key)


def bound(powers: Powers, agent: str) -> dict[str, Bound]:
    """The tools of the agent by exposed name, hidden ones too."""
    tools = powers.side.agents.get(agent, {}).get("tools", {})
    if not tools:
        return {}
    return {
        name: Bound(agent, name, key, tools[name].get("exposed") is not False, tools[name]["selected_by"])
        for name, key in powers.keys(agent).items()
    }


def pairs(old: Powers, new: Powers, agent: str) -> Iterator[Pair]:
    """The exposed tools of the agent, matched by identity and chain, then by name, then by content without the name."""
    before = {one.key: one for one in bound(old, agent).values() if one.exposed}
    after = {one.key: one for one in bound(new, agent).values() if one.exposed}
    for key in [key for key in before if key in after]:
        yield Pair(agent, before.pop(key), after.pop(key))
    named = {one.name: key for key, one in after.items()}
    for key in [key for key, one in before.items() if one.name in named]:
        if before[key].key.identity == named[before[key].name].identity:
            one = before.pop(key)
            yield Pair(agent, one, after.pop(named[one.name]))
    # Of two tools that stand on both sides, neither is the other under a new name.
    gone = [key for key in before if not _is_declared(new.side, key)]
    come = [key for key in after if not _is_declared(old.side, key)]
    if gone and come:
        contents: dict[bytes, list[Key]] = {}
        for key in come:
            contents.setdefault(content(new.side, after[key]), []).append(key)
        for key in gone:
            same = contents.get(content(old.side, before[key]))
            if same:
                yield Pair(agent, before.pop(key), after.pop(same.pop(0)))
    yield from (Pair(agent, one, None) for one in before.values())
    yield from (Pair(agent, None, one) for one in after.values())


def _is_declared(side: Side, key: Key) -> bool:
    return key.raw in side.extensions.get(key.extension, {}).get("tools", {})


def content(side: Side, one: Bound) -> bytes:
    """All that makes the tool what it is, but its names."""
    declared = side.extensions[one.key.extension]["tools"][one.key.raw]
    own = side.agents[one.agent]["tools"][one.name]
    layers = [(layer.extension, layer.name) for layer in one.key.chain]
    return canonical_bytes(
        [
            {key: value for key, value in declared.items() if key != "digest"},
            {key: own[key] for key in ASPECTS if key in own},
            layers,
            [config.decode() for config in one.key.configs],
        ]
    )


def aspect(side: Side, one: Bound, name: str) -> Json:
    """A text or schema of the tool as the agent has it: its own, or its extension's."""
    own = side.agents[one.agent]["tools"][one.name]
    if name in own:
        return own[name]
    return side.extensions[one.key.extension]["tools"][one.key.raw].get(name)


def joined(lines: Json) -> str:
    """The text of an array of lines (L2); empty for no text."""
    return "\n".join(lines) if lines else ""
