"""Small workspaces as values, compiled: what the tests of policies are written in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symc.authority import Decision, decide, request_for
from symc.compose import Compilation, compile
from symc.composition import Composition
from symc.source import Workspace, read

Document = dict[str, Any]


def extension(name: str, tools: Mapping[str, Any] | None = None, **more: Any) -> Document:
    """An extension whose tools are given by name, each with the properties of its arguments."""
    rows = [
        {
            "name": tool,
            "invoke": "acme.tools:run",
            "input_schema": {"type": "object", "properties": properties},
        }
        for tool, properties in (tools or {}).items()
    ]
    return {"kind": "extension", "name": name, "version": "1.0", "tools": rows, **more}


def agent(name: str, tools: list[Any] | None = None, **more: Any) -> Document:
    """An agent that selects these rows and uses the extensions they name."""
    rows = tools or []
    named = dict.fromkeys((row if isinstance(row, str) else row["tool"]).partition("/")[0] for row in rows)
    uses = more.pop("extensions", [name for name in named if name != "*"])
    return {"kind": "agent", "name": name, "extensions": uses, "tools": rows, **more}


def workspace(**more: Any) -> Document:
    """The workspace manifest."""
    return {"kind": "workspace", "name": "acme", **more}


def deny(policy_id: str, *tools: Any, when: Any = None, way: str = "deny", **more: Any) -> Document:
    """A policy that denies (or asks about) these tools."""
    rule: Document = {"tools": list(tools)} if tools else {}
    if when is not None:
        rule["when"] = when
    return {"policy_id": policy_id, way: rule, **more}


def ask(policy_id: str, *tools: Any, when: Any = None, **more: Any) -> Document:
    """A policy that asks a person about these tools."""
    return deny(policy_id, *tools, when=when, way="ask", **more)


def compiled(*documents: Document) -> Compilation:
    """The documents compiled, each in a file of its own; JSON is YAML."""
    return compile(
        Workspace.of({f"{one.get('name', 'workspace')}.yaml": json.dumps(one).encode() for one in documents})
    )


def folder(path: Path) -> Compilation:
    """A folder of manifests compiled."""
    return compile(read(path))


def found(compilation: Compilation) -> list[str]:
    """The names of all that was reported, in report order."""
    return [one.name for one in compilation.diagnostics]


def composition(compilation: Compilation, name: str) -> Composition:
    """The composition of one agent of a workspace without errors."""
    assert compilation.lock is not None, compilation.diagnostics
    return compilation.lock.composition(name)


def decided(
    compilation: Compilation,
    name: str,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    through: tuple[str, ...] = (),
    origin: str = "model",
) -> Decision:
    """What happens when an agent calls a tool."""
    one = composition(compilation, name)
    callers = [composition(compilation, caller) for caller in through]
    return decide(one, request_for(one, tool, arguments, origin), through=callers)
