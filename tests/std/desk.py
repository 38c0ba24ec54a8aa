"""One agent over one tool with one chain, compiled, loaded and opened: what the tests of `std` are written in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from symc import Agent, ToolCall
from symc.composition import BoundTool
from symc.runtime import LoadedLock
from symc.runtime.model import ModelRequest, ModelResponse
from tests.runtime.workbench import agent, extension, locked, tool

TOOLS = "tests.std.tools"
TEXT = {"type": "string"}
KEY = {"key": TEXT, "limit": {"type": "integer", "default": 5}}


def desk(
    folder: Path,
    *chain: Any,
    invoke: str = "echo",
    properties: Mapping[str, Any] | None = None,
    hooks: bool = False,
    base: Mapping[str, Any] | None = None,
    **more: Any,
) -> LoadedLock:
    """An agent `desk` whose tool `crm/find` has this chain; `more` is more of the agent."""
    properties = KEY if properties is None else properties
    find = {**tool("find", f"{TOOLS}:{invoke}", properties), **(base or {})}
    lifecycle = [
        {"hook_id": "open", "phase": "install", "run": f"{TOOLS}:install"},
        {"hook_id": "close", "phase": "teardown", "run": f"{TOOLS}:teardown"},
    ]
    return locked(
        folder,
        extension("crm", tools=[find], **({"lifecycle": lifecycle} if hooks else {})),
        agent("desk", "crm/*", variants={"crm/find": list(chain)}, **more),
    )


def compiled(lock: LoadedLock, name: str) -> BoundTool:
    """The tool of this name, as it was compiled."""
    return lock.lock.agents["desk"].tools[name]


class Obeying:
    """A model that makes the calls its prompt spells out, all in one round; serves any number of runs."""

    vendor = "mock"

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelResponse]:
        last = request.messages[-1]
        if last.role != "user":
            yield ModelResponse(text="done")
            return
        calls = [ToolCall(f"c{at}", name, given) for at, (name, given) in enumerate(json.loads(last.text))]
        yield ModelResponse(tool_calls=tuple(calls), finish_reason="tool_use")


def opened(lock: LoadedLock, **terms: Any) -> AbstractAsyncContextManager[Agent]:
    """The agent `desk`, open, with a model that does what `call` says."""
    given: dict[str, Any] = {"provider": Obeying(), "environ": {}} | terms
    return lock.open("desk", **given)


async def call(agent: Agent, name: str, /, **arguments: Any) -> ToolCall:
    """One call in a run of its own, answered."""
    result = await agent.run(json.dumps([[name, arguments]]))
    (made,) = result.tool_calls
    return made


async def answer(agent: Agent, name: str, /, **arguments: Any) -> str:
    """What the tool answers; fails the test with its error."""
    made = await call(agent, name, **arguments)
    assert made.error is None, made.error
    assert made.result is not None
    return made.result


async def error(agent: Agent, name: str, /, **arguments: Any) -> str:
    """The error of the call; fails the test when it has none."""
    made = await call(agent, name, **arguments)
    assert made.error is not None, made.result
    return made.error
