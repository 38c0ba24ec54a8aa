"""Layouts: the prompt of each agent on both sides, fragment by fragment, and what of it a prompt cache keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symc.diff.side import Side, Tree
from symc.rendering import piece

Json = Any


@dataclass(frozen=True, slots=True)
class Placed:
    """One fragment or slot: its joined id, its owner and id there, and its entry."""

    id: str
    owner: str
    name: str
    part: Tree
    is_slot: bool


def placed(side: Side) -> Mapping[str, Placed]:
    """Every fragment and slot of the lock by its joined id."""
    return {
        f"{owner}/{name}": Placed(f"{owner}/{name}", owner, name, part, kind == "slots")
        for owner, entry in side.authors.items()
        for kind in ("fragments", "slots")
        for name, part in entry.get(kind, {}).items()
    }


def source(part: Placed) -> str:
    """The text of a fragment as it is written; of a slot, none."""
    return "\n".join(part.part.get("text", ()))


def lines(side: Side, parts: Mapping[str, Placed], agent: str, fragment: str) -> Sequence[str]:
    """The text of a fragment for the agent, as an array of lines; of a slot, none."""
    rendered = side.agents[agent].get("rendered", {}).get(fragment)
    if rendered is not None:
        found: Sequence[str] = rendered["text"]
        return found
    one = parts.get(fragment)
    if one is None or one.is_slot:
        return ()
    part = one.part
    default: Sequence[str] = part["rendered"]["text"] if "rendered" in part else part["text"]
    return default


def read(side: Side, parts: Mapping[str, Placed], agent: str, fragment: str) -> str:
    """The fragment as the agent's model reads it, its frame included (docs/prompts.md §3); empty for a slot."""
    one = parts.get(fragment)
    if one is None or one.is_slot:
        return ""
    text = "\n".join(lines(side, parts, agent, fragment))
    return piece(fragment, text, tier=one.part["tier"], truncated=bool(one.part.get("truncated")))
