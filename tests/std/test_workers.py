"""What a worker opens, and what goes along with a call into it (docs/variants.md V32, V33; docs/extending.md §6)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from symc import ToolCall
from symc.compose import compile
from symc.lock import dumps
from symc.runtime import LoadedLock, load
from symc.runtime.providers import MockModelProvider
from symc.source import Workspace
from tests.runtime.workbench import agent, extension, locked, play, tool
from tests.std.desk import TOOLS, answer, call, opened
from tests.std.test_process import gone

ROOT = Path(__file__).parents[2]
KEY = {"key": {"type": "string"}}


def served(folder: Path) -> LoadedLock:
    """The example's extension with an MCP server, its tool in a worker."""
    files = {
        name: (ROOT / "manifests" / name).read_bytes()
        for name in ("extensions/knowledge.yaml", "extensions/knowledge.pin.json")
    }
    files["desk.yaml"] = json.dumps(
        agent("desk", "knowledge/*", variants={"knowledge/*": [{"use": "process", "config": {"workers": 1}}]})
    ).encode()
    compilation = compile(Workspace.of(files))
    assert compilation.lock is not None, [one.message for one in compilation.diagnostics]
    (folder / "symc.lock").write_text(dumps(compilation.lock), encoding="utf-8")
    return load(folder / "symc.lock")


def test_a_worker_has_a_server_of_its_own_which_ends_with_it(tmp_path: Path) -> None:
    environ = {**os.environ, "KNOWLEDGE_TOKEN": "t"}
    here = psutil.Process()
    before = here.children(recursive=True)

    async def work() -> None:
        async with opened(served(tmp_path), root=ROOT, environ=environ) as agent:
            first = await answer(agent, "search_articles_process", query="mower")
            assert first == await answer(agent, "search_articles", query="mower")
            (worker,) = [one for one in here.children() if "process_worker" in " ".join(one.cmdline())]
            (server,) = worker.children()
            assert "support_desk.knowledge_server" in server.cmdline()
            left = [one.pid for one in here.children(recursive=True) if one not in before]
            assert server.pid in left
            worker.send_signal(signal.SIGKILL)
        assert gone(*left)

    play(work())


def test_only_the_extension_that_owns_the_tool_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STD_TRACE", str(tmp_path / "trace"))
    hook = {"hook_id": "open", "phase": "install", "run": f"{TOOLS}:install"}
    lock = locked(
        tmp_path,
        extension("crm", tools=[tool("find", f"{TOOLS}:echo", KEY)]),
        extension("other", tools=[tool("seek", f"{TOOLS}:echo", KEY)], lifecycle=[hook]),
        agent("desk", "crm/find", "other/seek", variants={"crm/find": ["process"]}),
    )

    async def work() -> None:
        async with opened(lock) as agent:
            await answer(agent, "find_process", key="a")

    play(work())
    assert (tmp_path / "trace").read_text().splitlines() == [f"install {os.getpid()}"]


def test_the_rules_of_the_agents_it_was_called_through_hold_in_the_worker(tmp_path: Path) -> None:
    """[P22] The parent denies what the child's batch does inside the worker."""
    rule = {
        "policy_id": "no-x",
        "deny": {
            "tools": ["crm/find"],
            "when": {"properties": {"key": {"const": "x"}}, "required": ["key"]},
            "reason": "the parent says no",
        },
    }
    lock = locked(
        tmp_path,
        extension("crm", tools=[tool("find", f"{TOOLS}:echo", KEY)]),
        agent("child", "crm/find", description="Finds.", variants={"crm/find": ["batch", "process"]}),
        agent("parent", "crm/find", policies=[rule], delegates=["child"]),
    )
    calls = {"calls": [{"key": "a"}, {"key": "x"}]}
    child = MockModelProvider(
        [
            ToolCall("1", "find_batch_process", calls),
            lambda request: request.messages[-1].text,
        ]
    )
    parent = MockModelProvider([ToolCall("1", "ask_child", {"message": "go"}), "done"])

    async def work() -> Any:
        async with lock.open("parent", provider={"parent": parent, "child": child}, environ={}) as opened_:
            result = await opened_.run("go")
        return json.loads(result.tool_calls[0].result or "")

    first, second = play(work())["results"]
    assert json.loads(first["result"]) == {"key": "a"}
    assert "policy_denied: parent/no-x: the parent says no" in second["error"]


def test_a_worker_that_cannot_open_the_extension_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STD_HERE", str(os.getpid()))
    hook = {"hook_id": "open", "phase": "install", "run": f"{TOOLS}:install_here_only"}
    lock = locked(
        tmp_path,
        extension("crm", tools=[tool("find", f"{TOOLS}:echo", KEY)], lifecycle=[hook]),
        agent("desk", "crm/find", variants={"crm/find": ["process"]}),
    )

    async def work() -> list[Any]:
        async with opened(lock) as agent:
            return [(await call(agent, "find_process", key="a")).error for _ in range(2)]

    said = play(work())
    assert (
        said
        == ['tool_error: the worker refuses to start: hook "crm/open" raises RuntimeError: not in a worker']
        * 2
    )


def test_a_call_inside_a_running_loop_of_another_thread_is_served(tmp_path: Path) -> None:
    """An agent may be opened on any loop, in any thread."""
    lock = locked(
        tmp_path,
        extension("crm", tools=[tool("find", f"{TOOLS}:echo", KEY)]),
        agent("desk", "crm/find", variants={"crm/find": ["process"]}),
    )

    async def work() -> str:
        async with opened(lock) as agent:
            return await answer(agent, "find_process", key="a")

    async def outer() -> str:
        return await asyncio.to_thread(asyncio.run, work())

    assert json.loads(play(outer())) == {"key": "a"}
