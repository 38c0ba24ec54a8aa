"""Servers of an opened agent: compared with the lock before anything, called by raw name, gone on every way out (P34)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from symc import ToolCall
from symc.runtime import DiagnosedError, LoadedLock
from symc.runtime.providers import MockModelProvider
from tests.runtime import served, shop
from tests.runtime.workbench import Document, agent, called, locked, play, ran

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    shop.log.clear()


@pytest.fixture
def pid_file(tmp_path: Path) -> Iterator[Path]:
    """Where the server writes its process ids; when the test is over, none of them may be left."""
    path = tmp_path / "pids"
    yield path
    assert alive(path) == []


def alive(path: Path) -> list[str]:
    pids = [int(pid) for pid in path.read_text(encoding="utf-8").split()]
    assert len(pids) == 2
    left = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, left = psutil.wait_procs([one for one in left if one.status() != "zombie"], timeout=5)
    return [str(one) for one in left if one.status() != "zombie"]


def lock_of(folder: Path, behaviour: str = "", **more: Any) -> LoadedLock:
    """An agent with every tool of the server, which was pinned before it got this behaviour."""
    files: Document = {
        "kind": "extension",
        "name": "files",
        "mcp": {
            "command": ["python", "-m", "tests.runtime.served", behaviour],
            "env": {"PID_FILE": str(folder / "pids"), "TOKEN": "${env:TOKEN}"},
        },
        **more,
    }
    rows = ["files/*", {"tool": "files/echo/it", "as": "echo"}]
    return locked(folder, files, agent("desk", *rows), pins={"files": {"tools": served.TOOLS}})


ENVIRON = {"PATH": os.environ["PATH"], "TOKEN": "swordfish-123"}


def calls(lock: LoadedLock, *made: tuple[str, dict[str, Any]]) -> tuple[ToolCall, ...]:
    return called(lock, "desk", *made, environ=ENVIRON, root=ROOT)


def refusal(lock: LoadedLock) -> DiagnosedError:
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", environ=ENVIRON, root=ROOT)
    return caught.value


def test_P_34_a_call_sends_the_raw_name_and_the_arguments_as_they_are(tmp_path: Path, pid_file: Path) -> None:
    """[P34] Whatever the tool is called here; null and 1.0 arrive as null and 1.0."""
    arguments = {"a": None, "b": [1.0, {"c": None}]}
    (call,) = calls(lock_of(tmp_path), ("echo", arguments))
    assert call.result == json.dumps({"name": "echo/it", "arguments": arguments})


def test_P_34_answers_in_every_form(tmp_path: Path, pid_file: Path) -> None:
    """[P34] Text parts join by newlines, others are described; `isError` is kept; an output schema is enforced."""
    parts, fails, errs, nonsense, fine, wrong = calls(
        lock_of(tmp_path),
        ("parts", {}),
        ("fails", {}),
        ("errs", {}),
        ("nonsense", {}),
        ("weather", {"sky": "blue"}),
        ("weather", {}),
    )
    assert parts.result == "\n".join(
        [
            "one",
            "[image: image/png, 4 bytes]",
            "[audio: audio/wav, 3 bytes]",
            "[resource: file:///a.txt, text/plain, 6 characters]",
            "[link: b file:///b.txt]",
            "two\nlines",
        ]
    )
    assert (fails.error, fails.reason) == ("tool_error: no such file", "tool_error")
    assert errs.error == (
        'tool_error: the server of "files" answered with error -32000: "told you so", while called "errs"'
    )
    assert nonsense.error is not None
    assert "something that is no result" in nonsense.error
    assert fine.result == '{"sky": "blue"}'
    assert wrong.error is not None
    assert "breaks its schema" in wrong.error


def test_P_34_a_change_after_the_pin_refuses_to_start(tmp_path: Path, pid_file: Path) -> None:
    """[P34] Which field of which tool, old and new, and the next command."""
    error = refusal(lock_of(tmp_path, "changed"))
    description, schema = error.diagnostics
    assert {one.name for one in error.diagnostics} == {"server-changed"}
    assert description.message == 'the server of "files" changed the description of the tool "echo/it"'
    assert "-Does echo/it.\n+Sends everything to the author." in description.notes[0]
    assert schema.message == 'the server of "files" changed the input schema of the tool "echo/it"'
    assert '+    "c": {}' in schema.notes[0]
    assert description.hint is not None
    assert "symc pin --check files" in description.hint.text
    assert description.primary.start.line > 1


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("fewer", 'no longer has the tool "parts"'), ("twice", 'has two tools named "parts"')],
)
def test_P_34_a_tool_that_went_or_came_twice(
    behaviour: str, said: str, tmp_path: Path, pid_file: Path
) -> None:
    """[P34]"""
    (fault,) = refusal(lock_of(tmp_path, behaviour)).diagnostics
    assert said in fault.message


def test_P_33_a_new_tool_is_nobodys_yet(tmp_path: Path, pid_file: Path) -> None:
    """[P33] It enters by a new pin only; until then it does not disturb."""
    (call,) = calls(lock_of(tmp_path, "more"), ("brand-new", {}))
    assert call.reason == "unknown_tool"


def test_P_34_a_notice_compares_again_before_the_next_call(tmp_path: Path, pid_file: Path) -> None:
    """[P34] From then on the server is not called."""
    before, change, after, other = calls(
        lock_of(tmp_path), ("parts", {}), ("change", {}), ("echo", {}), ("parts", {})
    )
    assert before.error is None
    assert change.error is None
    assert after.error == (
        'not executed: server_changed: the server of "files" changed the description of the tool "echo/it"; '
        'the server of "files" changed the input schema of the tool "echo/it"'
    )
    assert after.reason == other.reason == "server_changed"


def test_P_34_a_server_of_the_newer_protocol_is_listened_to(tmp_path: Path, pid_file: Path) -> None:
    """[P34] There a notice must be asked for."""
    before, change, after = calls(lock_of(tmp_path, "modern"), ("parts", {}), ("change", {}), ("parts", {}))
    assert before.error is None
    assert change.error is None
    assert after.reason == "server_changed"


def test_a_server_of_the_newer_protocol_that_gives_no_notices_is_used_all_the_same(
    tmp_path: Path, pid_file: Path
) -> None:
    (call,) = calls(lock_of(tmp_path, "modern-mute"), ("parts", {}))
    assert call.error is None


def test_a_server_that_dies_is_an_error_of_the_call_and_started_anew_for_the_next(
    tmp_path: Path, pid_file: Path
) -> None:
    """The call itself is not repeated: it may have done half of what it does."""
    first, second = calls(lock_of(tmp_path), ("die", {}), ("parts", {}))
    assert first.error is not None
    assert 'the server of "files" ended with status 4, while called "die"' in first.error
    assert second.error is None


def test_P_34_a_server_that_comes_back_changed_is_not_called(tmp_path: Path, pid_file: Path) -> None:
    """[P34] Compared anew, however it got lost; one that comes back as it was is called again."""
    path = tmp_path / "behaviour"
    path.write_text("", encoding="utf-8")
    lock = lock_of(tmp_path, f"@{path}")

    def becomes(behaviour: str) -> Any:
        def act(_request: Any) -> ToolCall:
            path.write_text(behaviour, encoding="utf-8")
            return ToolCall("1", "parts", {})

        return act

    script = [ToolCall("1", "die", {}), becomes("changed"), becomes("crash"), becomes("")]
    _, changed, crashed, fine = ran(lock, "desk", *script, environ=ENVIRON, root=ROOT).tool_calls
    assert changed.reason == "server_changed"
    assert "changed the description" in (changed.error or "")
    assert crashed.reason == "tool_error"
    assert "ended with status 3" in (crashed.error or "")
    assert fine.error is None


def test_a_server_that_does_not_start_is_told_without_secrets(tmp_path: Path, pid_file: Path) -> None:
    error = refusal(lock_of(tmp_path, "crash"))
    (fault,) = error.diagnostics
    assert fault.name == "server-exited"
    assert fault.hint is not None
    assert "start it by hand" in fault.hint.text
    assert "ended with status 3" in fault.message
    assert "cannot start with ${env:TOKEN}" in str(error)
    assert "swordfish" not in str(error)


def test_a_server_that_says_nothing(tmp_path: Path, pid_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symc.runtime.servers.TIMEOUT", 1.0)
    (fault,) = refusal(lock_of(tmp_path, "silent")).diagnostics
    assert fault.name == "server-silent"
    assert fault.hint is not None
    assert "--timeout" not in fault.hint.text


def test_a_failed_hook_ends_the_server_that_was_started(tmp_path: Path, pid_file: Path) -> None:
    hook = {"hook_id": "h", "phase": "install", "run": "tests.runtime.shop:fails_files"}
    assert refusal(lock_of(tmp_path, lifecycle=[hook])).diagnostics[0].name == "hook-failed"


@pytest.mark.parametrize("how", ["cancel", "raise", "abandon"])
def test_no_process_is_left(how: str, tmp_path: Path, pid_file: Path) -> None:
    """A call under way is no reason to stay."""
    lock = lock_of(tmp_path)

    async def hold(reached: asyncio.Event) -> None:
        provider = MockModelProvider([ToolCall("1", "slow", {})])
        async with lock.open("desk", provider=provider, environ=ENVIRON, root=ROOT) as opened:
            task = asyncio.create_task(_run(opened))
            while not provider.requests:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            reached.set()
            if how == "raise":
                task.cancel()
                raise LookupError("the body's")
            if how == "cancel":
                await asyncio.sleep(60)
        (answer,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(answer, AssertionError), "the script has no second round: the call was answered"

    async def _run(opened: Any) -> None:
        await opened.run("go")

    async def run() -> None:
        reached = asyncio.Event()
        task = asyncio.create_task(hold(reached))
        await reached.wait()
        if how == "cancel":
            task.cancel()
        (answer,) = await asyncio.gather(task, return_exceptions=True)
        expected: dict[str, type] = {
            "cancel": asyncio.CancelledError,
            "raise": LookupError,
            "abandon": type(None),
        }
        assert isinstance(answer, expected[how]), answer

    play(run())


def test_a_child_shares_its_parents_server(tmp_path: Path, pid_file: Path) -> None:
    """One process for all agents that open together."""
    files: Document = {
        "kind": "extension",
        "name": "files",
        "mcp": {
            "command": ["python", "-m", "tests.runtime.served"],
            "env": {"PID_FILE": str(tmp_path / "pids")},
        },
    }
    lock = locked(
        tmp_path,
        files,
        agent("desk", "files/parts", delegates=["child"]),
        agent("child", "files/parts"),
        pins={"files": {"tools": served.TOOLS}},
    )

    async def run() -> int:
        async with lock.open("desk", provider=MockModelProvider(), environ=ENVIRON, root=ROOT):
            children = psutil.Process().children(recursive=True)
            return len([one for one in children if "tests.runtime.served" in one.cmdline()])

    assert play(run()) == 1


def test_verify_connects_compares_and_closes(tmp_path: Path, pid_file: Path) -> None:
    play(lock_of(tmp_path).verify(environ=ENVIRON, root=ROOT))
    with pytest.raises(DiagnosedError):
        play(lock_of(tmp_path, "changed").verify(environ=ENVIRON, root=ROOT))


# over HTTP


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    behaviour = ""


class _Handler(BaseHTTPRequestHandler):
    """The same server over streamable HTTP, for those who know the token."""

    server: _Http
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.behaviour == "gone":
            self.close_connection = True  # and not a word
        elif self.headers["Authorization"] != f"Bearer {ENVIRON['TOKEN']}":
            self._send(401, b"")
        elif "id" not in message:
            self._send(202, b"")
        else:
            answer = served.respond(message, self.server.behaviour, changed=False)
            self._send(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def http(folder: Path, behaviour: str = "") -> Iterator[tuple[LoadedLock, _Http]]:
    """An agent with the tools of a server over HTTP, while the block lasts."""
    with _Http(("127.0.0.1", 0), _Handler) as server:
        server.behaviour = behaviour
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        files = {
            "kind": "extension",
            "name": "files",
            "mcp": {
                "url": f"http://127.0.0.1:{server.server_address[1]}/mcp",
                "headers": {"Authorization": "Bearer ${env:TOKEN}"},
            },
        }
        try:
            yield (
                locked(
                    folder,
                    files,
                    agent("desk", "files/parts", "files/fails"),
                    pins={"files": {"tools": served.TOOLS}},
                ),
                server,
            )
        finally:
            server.shutdown()
            thread.join()


def test_a_server_over_http_is_called_with_its_headers(tmp_path: Path) -> None:
    with http(tmp_path) as (lock, _):
        parts, fails = calls(lock, ("parts", {}), ("fails", {}))
    assert parts.result is not None
    assert parts.result.startswith("one\n[image")
    assert fails.error == "tool_error: no such file"


def test_a_server_over_http_that_changed_refuses_to_start(tmp_path: Path) -> None:
    with http(tmp_path, "fewer") as (lock, _):
        (fault,) = refusal(lock).diagnostics
    assert fault.name == "server-changed"


def test_a_server_over_http_that_knows_another_token(tmp_path: Path) -> None:
    with http(tmp_path) as (lock, _), pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", environ={"TOKEN": "wrong-canary"}, root=ROOT)
    assert "HTTP status 401" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_server_over_http_that_went_away_and_came_back(tmp_path: Path) -> None:
    with http(tmp_path) as (lock, server):

        def leave(_request: Any) -> ToolCall:
            server.behaviour = "gone"
            return ToolCall("1", "parts", {})

        def come_back(_request: Any) -> ToolCall:
            server.behaviour = ""
            return ToolCall("1", "parts", {})

        script = [leave, leave, come_back]
        first, second, third = ran(lock, "desk", *script, environ=ENVIRON, root=ROOT).tool_calls
    assert first.reason == second.reason == "tool_error"
    assert third.error is None


def test_a_server_over_http_that_is_not_there(tmp_path: Path) -> None:
    with http(tmp_path) as (lock, _):
        pass
    (fault,) = refusal(lock).diagnostics
    assert fault.name == "server-not-started"
    assert "cannot be reached at http://127.0.0.1" in fault.message
