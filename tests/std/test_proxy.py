"""The layer `proxy`: the egress really goes through it, in this process and in a worker (docs/variants.md V34)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from symc.runtime import DiagnosedError
from tests.runtime.workbench import agent as agent_of
from tests.runtime.workbench import extension, play, tool
from tests.std.desk import TOOLS, answer, desk, error, opened

FETCH = {"url": {"type": "string"}, "client": {"type": "string"}}
ELSEWHERE = "http://crm.invalid/rows"


class Recorder(ThreadingHTTPServer):
    """An HTTP server on a free port that answers everything, and notes what it was asked for."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Recorder)
        self.server.seen.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"proxied")

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def egress() -> Iterator[Recorder]:
    with Recorder() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def proxied(url: str, **more: Any) -> dict[str, Any]:
    return {"use": "proxy", "config": {"url": url, **more}}


@pytest.mark.parametrize("client", ["urllib", "httpx2"])
@pytest.mark.parametrize("backend", [(), ("process",)], ids=["here", "process"])
def test_the_egress_goes_through_the_proxy(
    backend: tuple[str, ...], client: str, egress: Recorder, tmp_path: Path
) -> None:
    """The proxy travels with the body into the worker; the name in the address is resolved by nobody but the proxy."""
    lock = desk(tmp_path, proxied(egress.url), *backend, invoke="fetch", properties=FETCH)

    async def work() -> str:
        async with opened(lock) as agent:
            name = "_".join(("find_proxy", *backend))
            return await answer(agent, name, url=ELSEWHERE, client=client)

    assert play(work()) == "proxied"
    assert egress.seen == [ELSEWHERE]


def test_no_proxy_names_what_is_reached_directly(egress: Recorder, tmp_path: Path) -> None:
    chain = proxied("http://127.0.0.1:9", no_proxy=["127.0.0.1"])
    lock = desk(tmp_path, chain, invoke="fetch", properties=FETCH)

    async def work() -> str:
        async with opened(lock) as agent:
            return await answer(agent, "find_proxy", url=f"{egress.url}/direct", client="urllib")

    assert play(work()) == "proxied"
    assert egress.seen == ["/direct"]


def test_the_environment_is_as_it_was_after_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HTTP_PROXY", "http://before.invalid")
    monkeypatch.setenv("no_proxy", "everything.invalid")
    before = dict(os.environ)
    lock = desk(
        tmp_path, proxied("http://p.invalid"), invoke="variable", properties={"name": {"type": "string"}}
    )

    async def work() -> list[str]:
        async with opened(lock) as agent:
            return [
                await answer(agent, "find_proxy", name=name)
                for name in ("HTTP_PROXY", "https_proxy", "no_proxy")
            ]

    # What the process reaches directly otherwise goes through the proxy as well.
    assert play(work()) == ["http://p.invalid", "http://p.invalid", "not set"]
    assert {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"} == {
        k: v for k, v in before.items() if k != "PYTEST_CURRENT_TEST"
    }


def test_calls_under_another_proxy_wait_and_those_under_the_same_do_not(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    one, two = (
        desk(folder, proxied(f"http://{folder.name}.invalid"), "audit", invoke="late_variable",
             properties={"name": {"type": "string"}})
        for folder in folders
    )  # fmt: skip

    async def work() -> list[str]:
        async with opened(one) as first, opened(two) as second:
            return list(
                await asyncio.gather(
                    *[
                        answer(each, "find_proxy", name="HTTP_PROXY")
                        for each in (first, second, first, second)
                    ]
                )
            )

    assert play(work()) == ["http://one.invalid", "http://two.invalid"] * 2


def test_two_proxies_in_one_chain_are_an_error_and_no_hang(tmp_path: Path) -> None:
    lock = desk(tmp_path, proxied("http://a.invalid"), proxied("http://b.invalid"))

    async def work() -> tuple[str, str]:
        async with opened(lock) as agent:
            return await error(agent, "find_proxy_proxy", key="a"), await answer(agent, "find_proxy", key="a")

    said, _ = play(work())
    assert said == "tool_error: a call under one proxy cannot use another one"


def test_a_proxy_outside_a_backend_is_refused_at_compile_time(tmp_path: Path) -> None:
    """[V12]"""
    with pytest.raises(AssertionError, match="proxy"):
        desk(tmp_path, "process", proxied("http://a.invalid"))


def test_a_tool_of_a_server_is_not_said_to_be_proxied(tmp_path: Path) -> None:
    from tests.runtime.workbench import locked

    pin = {"tools": [{"name": "find", "description": "Does find.", "inputSchema": {"type": "object"}}]}
    lock = locked(
        tmp_path,
        extension("crm", mcp={"command": ["true"]}),
        agent_of("desk", "crm/*", variants={"crm/find": [proxied("http://a.invalid")]}),
        pins={"crm": pin},
    )

    async def work() -> None:
        async with opened(lock):
            pass

    with pytest.raises(DiagnosedError, match="runs in its MCP server"):
        play(work())
    assert tool("find", f"{TOOLS}:fetch")
