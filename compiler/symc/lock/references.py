"""References inside a lock: every name that an agent uses leads somewhere (docs/lockfile.md §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from symc.canonical import JsonPath
from symc.composition import Agent, Author, Composition, Extension


def unanswered(agent: Agent, tree: Mapping[str, Any]) -> Iterator[tuple[JsonPath, str]]:
    """What keeps the agent from being composed: names that the lock's tree does not hold, and delegation in a circle.

    Each as a path in the agent's entry and a reason that ends a sentence. Its tools' extensions were found already.
    """
    extensions = tree.get("extensions", {})
    for index, name in enumerate(agent.extensions):
        if name not in extensions:
            yield ("extensions", index), f'refers to the extension "{name}", which the lock does not hold'
    for index, name in enumerate(agent.bases):
        if name not in tree.get("bases", {}) and name not in tree["agents"]:
            yield ("bases", index), f'refers to the base "{name}", which the lock does not hold'
    for key, tool in agent.tools.items():
        for index, layer in enumerate(tool.chain):
            if layer.extension not in extensions:
                reason = f'refers to the extension "{layer.extension}", which the lock does not hold'
                yield ("tools", key, "chain", index), reason
    for child in agent.delegates:
        if agent.name in _below(child, tree["agents"]):
            yield ("delegates", child), f'leads back to "{agent.name}": delegation goes in a circle'


def _below(agent: str, agents: Mapping[str, Any]) -> set[str]:
    """The agent and all that it may call, as the tree has them."""
    found: set[str] = set()
    waiting = [agent]
    while waiting:
        name = waiting.pop()
        entry = agents.get(name)
        if name not in found and isinstance(entry, dict):
            found.add(name)
            children = entry.get("delegates", {})
            waiting.extend(children if isinstance(children, dict) else ())
    return found


def dangling(composition: Composition) -> Iterator[tuple[JsonPath, str]]:
    """Each reference to a part of an author or extension that is not there, as a path in the entry and the reference."""
    agent = composition.agent
    owners: dict[str, Author | Extension] = {one.name: one for one in composition.authors}
    owners.update(composition.extensions)
    placed = {f"{name}/{key}" for name, owner in owners.items() for key in owner.fragments}
    placed |= {f"{one.name}/{key}" for one in composition.authors for key in one.slots}
    hooks = {f"{name}/{key}" for name, one in composition.extensions.items() for key in one.hooks}
    for index, joined_id in enumerate(agent.prompt):
        if joined_id not in placed:
            yield ("prompt", index), joined_id
    for joined_id in agent.rendered:
        if joined_id not in placed:
            yield ("rendered", joined_id), joined_id
    for phase, ids in (("install", agent.install), ("teardown", agent.teardown)):
        for index, joined_id in enumerate(ids):
            if joined_id not in hooks:
                yield ("lifecycle", phase, index), joined_id
    for name, tool in agent.tools.items():
        for index, layer in enumerate(tool.chain):
            if layer.name not in composition.extensions[layer.extension].tool_extensions:
                yield ("tools", name, "chain", index), f"{layer.extension}/{layer.name}"
