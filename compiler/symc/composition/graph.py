"""The policy graph of a composition: who contributes, derives, grants, guards, requires, delegates (docs/policies.md §3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symc.composition.parts import BoundTool

if TYPE_CHECKING:
    import networkx as nx

    from symc.composition.whole import Composition

NodeKind: TypeAlias = Literal["agent", "workspace", "extension", "tool", "variant", "effect", "policy"]
EdgeKind: TypeAlias = Literal["contributes", "delegates", "derives", "grants", "guards", "requires"]


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """One node: ``id`` is an opaque key that is unique in the graph; of a tool that cannot be called, ``hidden``."""

    id: str
    kind: NodeKind
    label: str
    hidden: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One edge between two nodes by id; ``label`` says through what: the layer of a variant, the tool of a delegate."""

    source: str
    target: str
    kind: EdgeKind
    label: str = ""


def graph(composition: Composition) -> nx.DiGraph[str]:
    """The graph as networkx has it: node attributes ``kind``, ``label``, ``hidden``; edge attributes ``kind``, ``label``."""
    # Its import costs as much as parsing fifty manifests, and nothing else of a composition needs it.
    import networkx as nx

    found: nx.DiGraph[str] = nx.DiGraph(agent=composition.name)
    nodes, edges = elements(composition)
    for node in nodes:
        found.add_node(node.id, kind=node.kind, label=node.label, hidden=node.hidden)
    for edge in edges:
        found.add_edge(edge.source, edge.target, kind=edge.kind, label=edge.label)
    return found


def elements(composition: Composition) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """The nodes and edges, each sorted and once: those of the agent, and of all that it delegates to."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    waiting, seen = [composition], {composition.name}
    while waiting:
        one = waiting.pop()
        for item in _elements(one):
            if isinstance(item, Node):
                nodes[item.id] = item
            else:
                edges[item.source, item.target, item.kind] = item
        for child in one.delegates.values():
            if child.name not in seen:
                seen.add(child.name)
                waiting.append(child)
    return tuple(sorted(nodes.values())), tuple(sorted(edges.values()))


def _elements(composition: Composition) -> Iterator[Node | Edge]:
    agent = composition.agent
    me = f"agent:{agent.name}"
    yield Node(me, "agent", agent.name)
    yield from _authors(composition, me)
    for name in agent.extensions:
        extension = composition.extensions[name]
        yield Node(f"extension:{name}", "extension", name)
        yield Edge(me, f"extension:{name}", "requires")
        for requirement in extension.requires:
            # Written as a name, or as a name, a blank and a specifier.
            yield Edge(f"extension:{name}", f"extension:{requirement.partition(' ')[0]}", "requires")
        yield from _policies(f"extension:{name}", name, extension.policies)
    for effect in agent.grants:
        yield Node(f"effect:{agent.name}/{effect}", "effect", effect)
        yield Edge(me, f"effect:{agent.name}/{effect}", "grants")
        for policy in agent.effects.get(effect, ()):
            yield Edge(f"policy:{policy}", f"effect:{agent.name}/{effect}", "guards")
    yield from _tools(composition)
    for child, edge in agent.delegates.items():
        yield Edge(me, f"agent:{child}", "delegates", edge.tool)


def _authors(composition: Composition, me: str) -> Iterator[Node | Edge]:
    for author in composition.authors:
        is_workspace = composition.workspace is not None and author.name == composition.workspace.name
        key = f"workspace:{author.name}" if is_workspace else f"agent:{author.name}"
        if key != me and author.policies:
            yield Node(key, "workspace" if is_workspace else "agent", author.name)
        yield from _policies(key, author.name, author.policies)


def _policies(key: str, owner: str, policies: Any) -> Iterator[Node | Edge]:
    for policy_id, policy in policies.items():
        joined = f"{owner}/{policy_id}"
        yield Node(f"policy:{joined}", "policy", f"{policy.effect} {joined}")
        yield Edge(key, f"policy:{joined}", "contributes")


def _tools(composition: Composition) -> Iterator[Node | Edge]:
    agent = composition.agent
    by_derivation = {_derivation(tool): name for name, tool in agent.tools.items()}
    for name, tool in agent.tools.items():
        key = f"tool:{agent.name}/{name}"
        yield Node(key, "variant" if tool.is_variant else "tool", name, not tool.exposed)
        if tool.is_variant:
            # Each variant stands on the one with a layer less, innermost the tool itself (V1).
            extension, raw, chain = _derivation(tool)
            below = by_derivation.get((extension, raw, chain[:-1]))
            if below is not None:
                yield Edge(f"tool:{agent.name}/{below}", key, "derives", tool.chain[-1].name)
        else:
            yield Edge(f"extension:{tool.extension}", key, "contributes")
        for policy in tool.guarded_by:
            yield Edge(f"policy:{policy}", key, "guards")


def _derivation(tool: BoundTool) -> tuple[str, str, tuple[Any, ...]]:
    return tool.extension, tool.raw, tool.chain
