"""Digests: the composition digests that a change makes others, for whoever pins them outside (docs/lockfile.md §3, L12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symc.composition import Lock
from symc.composition.cover import digest_of, reached
from symc.diff.side import Side


@dataclass(frozen=True, slots=True)
class DigestChange:
    """The composition digest of an agent before and now; None where there is no such agent."""

    agent: str
    before: str | None
    after: str | None


def digest_changes(old: Lock, new: Lock) -> tuple[DigestChange, ...]:
    """Every agent whose composition digest is another one, by name; computed from the contents of both locks."""
    before, after = Side.of(old), Side.of(new)
    if before.tree == after.tree:
        return ()
    known: tuple[dict[int, str], dict[int, str]] = ({}, {})
    found = []
    for agent in sorted(_reaching(before, after)):
        was, now = (
            digest_of(reached(side.tree, agent), agent, cache) if agent in side.agents else None
            for side, cache in ((before, known[0]), (after, known[1]))
        )
        if was != now:
            found.append(DigestChange(agent, was, now))
    return tuple(found)


def _reaching(old: Side, new: Side) -> set[str]:
    """The agents that reach something that differs: in their own entry, what they use, or behind their delegates."""
    if any(old.tree.get(key) != new.tree.get(key) for key in ("lock_version", "workspace")):
        return {*old.agents, *new.agents}
    differing = {
        name
        for name in old.authors.keys() | new.authors.keys()
        if old.authors.get(name) != new.authors.get(name)
    }
    waiting = [agent for side in (old, new) for agent in side.agents if _touches(side, agent, differing)]
    found: set[str] = set()
    while waiting:
        agent = waiting.pop()
        if agent not in found:
            found.add(agent)
            waiting.extend(_callers(old, new, agent))
    return found


def _touches(side: Side, agent: str, differing: set[str]) -> bool:
    entry = side.agents[agent]
    return agent in differing or not differing.isdisjoint((*entry.get("bases", ()), *side.used(agent)))


def _callers(old: Side, new: Side, agent: str) -> Iterator[str]:
    for side in (old, new):
        yield from side.delegators.get(agent, ())
