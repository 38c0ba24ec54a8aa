"""The example on the real SDKs, against a local server that speaks their wire formats: what arrives is the lock."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symc.cli.frame import root
from symc.compose import compile
from symc.lock import dumps
from symc.runtime import LoadedLock, load
from symc.runtime.providers import AnthropicProvider, OpenAIProvider
from symc.source import Workspace, read
from tests.end_to_end.desk import ROOT, compiled, terms
from tests.runtime.vendors import Answer, vendors


def shown(agent: str) -> str:
    """What `symc show AGENT --plain` prints."""
    result = CliRunner().invoke(root, ["show", agent, "--plain", "-w", str(ROOT / "manifests")])
    assert result.exit_code == 0
    return result.stdout


def tools_of(lock: LoadedLock, agent: str) -> list[tuple[str, str, Any]]:
    """Name, description and schema of every exposed tool, as the lock has them, by name."""
    tools = lock.lock.agents[agent].tools
    return [
        (name, tool.description, json.loads(json.dumps(tool.input_schema)))
        for name, tool in sorted(tools.items())
        if tool.exposed
    ]


async def asked(lock: LoadedLock, agent: str, provider: Any, *, stream: bool) -> None:
    async with lock.open(agent, provider=provider, **terms()) as opened:
        if stream:
            events = [event async for event in opened.stream("Hello?")]
            assert events[-1].kind == "done"
        else:
            await opened.run("Hello?")


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK's word on a model's age
@pytest.mark.parametrize("stream", [False, True], ids=["run", "stream"])
def test_anthropic(stream: bool, tmp_path: Path) -> None:
    """System text byte-equal, tools in the lock's order, breakpoints after the tools and where the plan has them."""
    lock = compiled(tmp_path)

    async def use() -> dict[str, Any]:
        async with vendors(Answer(["Hello."])) as server:
            provider = AnthropicProvider("unused", api_key="key", base_url=server.url)
            await asked(lock, "support", provider, stream=stream)
            (body,) = server.requests
            return body

    body = asyncio.run(use())
    assert body["model"] == "claude-sonnet-4-5"
    system = body["system"]
    assert "".join(block["text"] for block in system) == shown("support")
    # Both ends of the plan are the last static fragment here: one breakpoint.
    plan = lock.lock.agents["support"].cache_plan
    assert plan.deployment == plan.static == "crm/etiquette"
    assert [("cache_control" in block, block["text"][-18:]) for block in system] == [
        (True, "\n</extension-text>")
    ]
    sent = [(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]
    assert [tool for tool in sent if tool[0] != "ask_researcher"] == tools_of(lock, "support")
    assert [tool[0] for tool in sent] == sorted(tool[0] for tool in sent)
    assert ["cache_control" in tool for tool in body["tools"]] == [False] * (len(sent) - 1) + [True]


@pytest.mark.parametrize("stream", [False, True], ids=["run", "stream"])
def test_openai(stream: bool, tmp_path: Path) -> None:
    """The same workspace, compiled for another provider."""
    files = dict(read(ROOT / "manifests").files)
    files["workspace.yaml"] = files["workspace.yaml"].replace(b"provider: anthropic", b"provider: openai")
    compilation = compile(Workspace.of(files))
    assert compilation.lock is not None
    (tmp_path / "symc.lock").write_text(dumps(compilation.lock), encoding="utf-8")
    lock = load(tmp_path / "symc.lock")

    async def use() -> dict[str, Any]:
        async with vendors(Answer(["Hello."])) as server:
            provider = OpenAIProvider("unused", api_key="key", base_url=f"{server.url}/v1")
            await asked(lock, "triage", provider, stream=stream)
            (body,) = server.requests
            return body

    body = asyncio.run(use())
    (system, *_) = [one["content"] for one in body["messages"] if one["role"] in ("system", "developer")]
    assert system == shown("triage")
    sent = [
        (tool["function"]["name"], tool["function"]["description"], tool["function"]["parameters"])
        for tool in body["tools"]
    ]
    assert sent == tools_of(lock, "triage")
