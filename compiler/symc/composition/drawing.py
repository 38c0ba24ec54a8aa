"""Drawings of the policy graph: Mermaid, which a pull request renders, Graphviz' DOT, and JSON (docs/policies.md §3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from symc.composition.graph import Edge, Node, elements
from symc.composition.whole import Composition

_MERMAID_SHAPES: Final[Mapping[str, tuple[str, str]]] = {
    "agent": ("([", "])"),
    "workspace": ("([", "])"),
    "extension": ("[/", "/]"),
    "tool": ("[", "]"),
    "variant": ("[[", "]]"),
    "effect": ("{{", "}}"),
    "policy": (">", "]"),
}
_DOT_SHAPES: Final[Mapping[str, str]] = {
    "agent": "ellipse",
    "workspace": "ellipse",
    "extension": "parallelogram",
    "tool": "box",
    "variant": "box3d",
    "effect": "hexagon",
    "policy": "cds",
}


def mermaid(composition: Composition) -> str:
    """A Mermaid flowchart; hidden tools are dashed, what guards is drawn with a dotted arrow."""
    nodes, edges = elements(composition)
    names = {node.id: f"n{number}" for number, node in enumerate(nodes)}
    lines = ["flowchart LR"]
    for node in nodes:
        left, right = _MERMAID_SHAPES[node.kind]
        lines.append(f'  {names[node.id]}{left}"{_mermaid_text(node.label)}"{right}:::{_class(node)}')
    for edge in edges:
        arrow = "-.->" if edge.kind == "guards" else "-->"
        lines.append(f'  {names[edge.source]} {arrow}|"{_mermaid_text(_said(edge))}"| {names[edge.target]}')
    lines += [
        "  classDef policy fill:#fde8e8,stroke:#c0392b,color:#222",
        "  classDef effect fill:#e8f0fd,stroke:#2c5aa0,color:#222",
        "  classDef hidden stroke-dasharray:4 3,color:#777",
    ]
    return "\n".join(lines) + "\n"


def dot(composition: Composition) -> str:
    """A Graphviz digraph."""
    nodes, edges = elements(composition)
    lines = [f"digraph {_quoted(composition.name)} {{", "  rankdir=LR;"]
    for node in nodes:
        style = ", style=dashed" if node.hidden else ""
        lines.append(
            f"  {_quoted(node.id)} [label={_quoted(node.label)}, shape={_DOT_SHAPES[node.kind]}{style}];"
        )
    for edge in edges:
        style = ", style=dotted" if edge.kind == "guards" else ""
        lines.append(
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(_said(edge))}{style}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def as_json(composition: Composition) -> str:
    """The nodes and edges as JSON: ``{"agent", "nodes": [{id, kind, label, hidden}], "edges": [{source, target, …}]}``."""
    nodes, edges = elements(composition)
    found = {
        "agent": composition.name,
        "nodes": [{"id": n.id, "kind": n.kind, "label": n.label, "hidden": n.hidden} for n in nodes],
        "edges": [{"source": e.source, "target": e.target, "kind": e.kind, "label": e.label} for e in edges],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


DRAWINGS: Final[Mapping[str, Callable[[Composition], str]]] = {
    "mermaid": mermaid,
    "dot": dot,
    "json": as_json,
}
"""Format → what draws it."""


def _class(node: Node) -> str:
    return "hidden" if node.hidden else node.kind


def _said(edge: Edge) -> str:
    return f"{edge.kind} {edge.label}" if edge.label else edge.kind


def _mermaid_text(text: str) -> str:
    # Names hold none of these today; a raw tool name of a server may hold what it likes.
    text = text.replace("#", "#35;").replace("&", "#amp;")
    return text.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
