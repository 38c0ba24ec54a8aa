"""Pairs of workspaces, and what lies between them: what the rules and verdicts are held to (docs/diff.md §1–2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symc.compose import Compilation, compile
from symc.composition import Lock
from symc.diff import Comparison, compare
from symc.source import Workspace
from tests.policies.workspaces import Document

ECHOES = frozenset({"cache-prefix-broken", "provenance-only"})
"""Rules that speak up beside others in most pairs; a pair that names none of them says nothing of them."""

MIRRORED = {
    "WIDENING": "NARROWING",
    "NARROWING": "WIDENING",
    "MIXED": "MIXED",
    "UNKNOWN": "UNKNOWN",
    "SAME AUTHORITY": "SAME AUTHORITY",
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two workspaces as documents, the verdict, and the changes as ``rule subject``.

    ``witness`` is held to the comparison's where it is given. ``mirror`` is the verdict of the way back, where it is not
    the opposite one.
    """

    name: str
    old: tuple[Document, ...]
    new: tuple[Document, ...]
    verdict: str
    changes: tuple[str, ...] = ()
    witness: str = ""
    mirror: str = ""
    remote: int = 0

    @property
    def back(self) -> str:
        """The verdict of the way back."""
        return self.mirror or MIRRORED[self.verdict]


def server(name: str, tools: Mapping[str, Mapping[str, Any]], **more: Any) -> Document:
    """An MCP extension with its pin: tools by raw name, with whatever differs from a plain one."""
    pin = {
        "tools": [
            {"name": raw, "description": f"Does {raw}.", "inputSchema": {"type": "object"}, **fields}
            for raw, fields in sorted(tools.items())
        ]
    }
    mcp = more.pop("mcp", {"command": ["run", name]})
    return {"kind": "extension", "name": name, "mcp": mcp, "_pin": pin, **more}


def files(*documents: Document) -> dict[str, bytes]:
    """The files of these documents, each named after itself; JSON is YAML."""
    found: dict[str, bytes] = {}
    for document in documents:
        shown = {key: value for key, value in document.items() if not key.startswith("_")}
        path = document.get("_path", f"{document.get('name', 'workspace')}.yaml")
        found[path] = json.dumps(shown).encode()
        if "_pin" in document:
            found[path.removesuffix(".yaml") + ".pin.json"] = json.dumps(document["_pin"]).encode()
    return found


def compiled(*documents: Document) -> Compilation:
    """The documents compiled."""
    return compile(Workspace.of(files(*documents)))


def lock(*documents: Document) -> Lock:
    """The lock of documents that are free of errors."""
    found = compiled(*documents)
    assert found.lock is not None, [one.message for one in found.diagnostics]
    return found.lock


def compared(pair: Pair) -> Comparison:
    """The comparison of a pair."""
    return compare(lock(*pair.old), lock(*pair.new))


def said(comparison: Comparison, expected: tuple[str, ...] = ()) -> set[str]:
    """The changes as ``rule subject``; echoes only where one is expected."""
    named = {one.split(" ", 1)[0] for one in expected}
    return {
        f"{change.name} {change.subject}"
        for change in comparison.changes
        if change.name not in ECHOES or change.name in named
    }
