"""Knots: cycles among references, worded by one path each, and the order of what is free of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Knot:
    """Names that all reach each other; ``path`` is a shortest cycle from the smallest name back to it."""

    members: frozenset[str]
    path: tuple[str, ...]

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """The references along the path, each as (from, to)."""
        return tuple(zip(self.path, self.path[1:], strict=False))

    def __str__(self) -> str:
        names = list(self.path)
        if len(names) > _SHOWN:
            half = _SHOWN // 2
            names[half:-half] = [f"({len(names) - 2 * half} more)"]
        return " → ".join(names)


def knots(references: Mapping[str, Collection[str]]) -> tuple[Knot, ...]:
    """Every knot of the graph, ordered by its smallest name; empty for a graph without cycles."""
    try:
        TopologicalSorter(references).prepare()
    except CycleError:
        # Only a workspace with a mistake pays for the analysis.
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((name, other) for name, others in references.items() for other in others)
        tied = [
            frozenset(members)
            for members in nx.strongly_connected_components(graph)
            if len(members) > 1 or any(name in references[name] for name in members)
        ]
        return tuple(Knot(each, _shortest_cycle(each, references)) for each in sorted(tied, key=min))
    return ()


def untied(references: Mapping[str, Collection[str]], found: tuple[Knot, ...]) -> dict[str, tuple[str, ...]]:
    """The graph without the references inside its knots."""
    if not found:
        return {name: tuple(others) for name, others in references.items()}
    knot_of = {name: knot for knot in found for name in knot.members}
    return {
        name: tuple(
            other for other in others if name not in knot_of or knot_of[name] is not knot_of.get(other)
        )
        for name, others in references.items()
    }


def composed_order(references: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Each name after all it refers to, then by name (X-20); the graph has no cycle.

    The order of any part that is closed under references is this one, restricted to it: every agent sees its
    extensions in the same order as every other.
    """
    sorter = TopologicalSorter(references)
    sorter.prepare()
    ready: list[str] = []
    order: list[str] = []
    while sorter.is_active():
        for name in sorter.get_ready():
            heappush(ready, name)
        order.append(heappop(ready))
        sorter.done(order[-1])
    return tuple(order)


def _shortest_cycle(members: frozenset[str], references: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    start = min(members)
    came_from: dict[str, str] = {}
    front = [start]
    step = 0
    while True:  # breadth first; in a knot there is a way back
        name = front[step]
        step += 1
        for other in sorted(members.intersection(references[name])):
            if other == start:
                path = [start, name]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return tuple(reversed(path))
            if other not in came_from:
                came_from[other] = name
                front.append(other)
