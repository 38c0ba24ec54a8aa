"""Rules about the order of prompts: where fragments stand, whom they are shared with, what a cache keeps (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symc.contracts.vocabulary import is_authored
from symc.diagnostics import Level
from symc.diff import layouts
from symc.diff.evidence import Evidence
from symc.diff.layouts import Placed
from symc.diff.model import Axis, Finding, Item, Json, Rule
from symc.rendering import SEPARATOR
from symc.reordering import moves


def fragment_moved(evidence: Evidence) -> Iterator[Finding]:
    """Fragments that stand elsewhere in the order, or came from another owner with the same text."""
    for agent, was, now in evidence.replaced:
        yield Finding(
            subject=now.id,
            about=Item("fragment", now.owner, now.name),
            before={"id": was.id},
            after={"id": now.id},
            touches=(agent,),
        )
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for agent in evidence.prompted:
        before, after = _orders(evidence, agent)
        for move in moves(before, after):
            groups.setdefault((move.item, move.past), []).append(agent)
    for (fragment, passed), agents in sorted(groups.items()):
        part = evidence.fragments_new[fragment]
        positions = [
            list(side.agents[agents[0]].get("prompt", ())).index(fragment) + 1
            for side in (evidence.old, evidence.new)
        ]
        yield Finding(
            subject=fragment,
            about=Item("fragment", part.owner, part.name),
            before={"position": positions[0]},
            after={"position": positions[1], "past": list(passed)},
            touches=tuple(agents),
        )


def trust_boundary_crossed(evidence: Evidence) -> Iterator[Finding]:
    """Fragments that changed between authored and learned text, or between what all and what one user share."""
    for key, old, new in evidence.kept:
        before, after = _trust(old), _trust(new)
        if before != after:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=before,
                after=after,
                touches=evidence.readers(key, evidence.new),
            )


def cache_prefix_broken(evidence: Evidence) -> Iterator[Finding]:
    """What of each agent's static prompt a provider's cache can no longer use (docs/prompts.md §6)."""
    groups: dict[str, dict[str, int]] = {}
    for agent in dict.fromkeys((*evidence.agents, *evidence.prompted)):
        broken = _broken(evidence, agent)
        if broken is not None:
            first, share = broken
            groups.setdefault(first, {})[agent] = share
    for first, shares in sorted(groups.items()):
        part = evidence.fragments_new.get(first) or evidence.fragments_old.get(first)
        agents, most = tuple(sorted(shares)), max(shares.values())
        bound = "" if most == min(shares.values()) else "up to "
        yield Finding(
            subject=first,
            about=Item("agent", agents[0]) if part is None else Item("fragment", part.owner, part.name),
            after={"invalidated_percent": most},
            witness=f"{bound}{most} % of the cached prompt is lost",
            touches=agents,
        )


def placement_without_effect(evidence: Evidence) -> Iterator[Finding]:
    """Fragments whose layer, tier, scope or order differs, and that stand where they stood."""
    crossing = {finding.subject for finding in trust_boundary_crossed(evidence)}
    moved = {finding.subject for finding in fragment_moved(evidence)}
    for key, old, new in evidence.kept:
        before, after = _placing(old), _placing(new)
        if after.get("truncated"):
            after = after | {"truncated": before.get("truncated")}  # told by a rule of its own
        if before != after and key not in crossing and key not in moved:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=before,
                after=after,
                touches=evidence.readers(key, evidence.new),
            )


def _orders(evidence: Evidence, agent: str) -> tuple[list[str], list[str]]:
    """The order of what the agent reads on both sides, without what came and went."""
    before, after = (list(side.agents[agent].get("prompt", ())) for side in (evidence.old, evidence.new))
    if before == after:
        return [], []
    both = frozenset(before) & frozenset(after)
    return [one for one in before if one in both], [one for one in after if one in both]


def _trust(part: Placed) -> Json:
    return {
        "trust": "authored" if is_authored(part.part["tier"]) else "learned",
        "scope": part.part["scope"],
    }


def _placing(part: Placed) -> dict[str, Json]:
    keys = ("layer", "tier", "scope", "order", "truncated")
    return {key: part.part.get(key) for key in keys}


def _broken(evidence: Evidence, agent: str) -> tuple[str, int] | None:
    """The first thing of the static prefix that differs, and how much of the old prefix is lost, in per cent."""
    old, new = evidence.old.agents[agent], evidence.new.agents[agent]
    if _tools_differ(evidence, agent):
        return "tools", 100  # tools go first on the wire
    before, after = (
        [(one, layouts.read(side, parts, agent, one)) for one in side.agents[agent].get("prompt", ())]
        for side, parts in ((evidence.old, evidence.fragments_old), (evidence.new, evidence.fragments_new))
    )
    if before == after or not old.get("prompt") or not new.get("prompt"):
        return None
    sizes = [len(text) + len(SEPARATOR) for _, text in before]
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    lost = sum(sizes[same:])
    if not lost:
        return None
    first = after[same][0] if same < len(after) else before[same][0]
    return first, max(1, round(100 * lost / sum(sizes)))


def _tools_differ(evidence: Evidence, agent: str) -> bool:
    old, new = evidence.old.agents[agent].get("tools", {}), evidence.new.agents[agent].get("tools", {})
    if old != new and _wire(old) != _wire(new):
        return True
    reworded = evidence.reworded
    return bool(reworded) and any((tool["extension"], tool["raw"]) in reworded for tool in new.values())


_ON_THE_WIRE = ("description", "input_schema", "exposed", "extension", "raw")


def _wire(tools: Mapping[str, Mapping[str, Json]]) -> Json:
    return {name: {key: tool.get(key) for key in _ON_THE_WIRE} for name, tool in tools.items()}


RULES = (
    Rule(
        "SYD204",
        "fragment-moved",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "moved",
        "A fragment stands elsewhere in the prompt, or the same text comes from another owner.",
        "order: 10  →  order: 90",
        fragment_moved,
    ),
    Rule(
        "SYD205",
        "trust-boundary-crossed",
        Axis.BEHAVIOUR,
        Level.ERROR,
        "fragment",
        "crossed a trust boundary",
        "A fragment changed between authored and learned text, or between scopes of those who share it.",
        "tier: session  →  tier: operating",
        trust_boundary_crossed,
    ),
    Rule(
        "SYD206",
        "cache-prefix-broken",
        Axis.BEHAVIOUR,
        Level.INFO,
        "cached prefix from",
        "broken",
        "A provider's prompt cache holds the prefix of before; the share that it can no longer use is said.",
        "an edit of the first fragment of the prompt",
        cache_prefix_broken,
    ),
    Rule(
        "SYD405",
        "placement-without-effect",
        Axis.NEUTRAL,
        Level.INFO,
        "placement of",
        "changed without effect",
        "The layer, tier, scope or order of a fragment differs, and it stands where it stood.",
        "order: 100  →  order: 110, with nothing between",
        placement_without_effect,
    ),
)
