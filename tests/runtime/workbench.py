"""Small workspaces compiled to a lock in a folder, and agents opened from it with a script: what these tests are written in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from symc import AgentResult, ToolCall
from symc.compose import compile
from symc.lock import dumps
from symc.runtime import LoadedLock, load
from symc.runtime.providers import MockModelProvider
from symc.source import Workspace

T = TypeVar("T")

Document = dict[str, Any]

SHOP = "tests.runtime.shop"


def play(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def extension(name: str, **more: Any) -> Document:
    return {"kind": "extension", "name": name, "version": "1.0", **more}


def tool(
    name: str, invoke: str = f"{SHOP}:echo", properties: Mapping[str, Any] | None = None, **more: Any
) -> Document:
    """A tool whose arguments have these properties, all required but those with a default."""
    properties = {**(properties or {}), **more}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key, value in properties.items() if "default" not in value],
    }
    return {"name": name, "description": f"Does {name}.", "invoke": invoke, "input_schema": schema}


def agent(name: str, *tools: Any, **more: Any) -> Document:
    rows = list(tools)
    named = dict.fromkeys((row if isinstance(row, str) else row["tool"]).partition("/")[0] for row in rows)
    return {"kind": "agent", "name": name, "extensions": list(named), "tools": rows, **more}


def write_lock(folder: Path, *documents: Document, pins: Mapping[str, Any] | None = None) -> Path:
    """The lock of these documents as a file in the folder."""
    files = {f"{one.get('name', 'workspace')}.yaml": json.dumps(one).encode() for one in documents}
    files |= {f"{name}.pin.json": json.dumps(pin).encode() for name, pin in (pins or {}).items()}
    compilation = compile(Workspace.of(files))
    assert compilation.lock is not None, [one.message for one in compilation.diagnostics]
    path = folder / "symc.lock"
    path.write_text(dumps(compilation.lock), encoding="utf-8")
    return path


def locked(folder: Path, *documents: Document, pins: Mapping[str, Any] | None = None) -> LoadedLock:
    """The lock of these documents, loaded."""
    return load(write_lock(folder, *documents, pins=pins))


def called(
    lock: LoadedLock, agent: str, *calls: tuple[str, Mapping[str, Any]], **terms: Any
) -> tuple[ToolCall, ...]:
    """The calls of a run whose model makes these calls, one a round, answered."""
    return ran(lock, agent, *[ToolCall(f"c{at}", *call) for at, call in enumerate(calls)], **terms).tool_calls


def ran(lock: LoadedLock, agent: str, *script: Any, **terms: Any) -> AgentResult[Any]:
    """The result of a run of the agent over this script and a last answer."""

    async def run() -> AgentResult[Any]:
        given: dict[str, Any] = {"provider": MockModelProvider([*script, "done"]), "environ": {}} | terms
        state = given.pop("state", None)
        async with lock.open(agent, **given) as opened:
            return await opened.run("go", state=state)

    return play(run())
