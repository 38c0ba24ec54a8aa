"""``symc.pins.discover`` against servers that behave badly (docs/policies.md P30), and nothing left of them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from symc.diagnostics import Span
from symc.pins import tools_of
from symc.pins.discover import DiscoveryError, discover
from symc.pins.launch import Launch
from tests.pins.http_stub import serving

STUB = Path(__file__).with_name("stub_server.py")
SECRET = "s3cr3t-CANARY"


def _stub(behaviour: str, **env: str) -> Launch:
    return Launch(command=(sys.executable, str(STUB), behaviour), env=env)


def _environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **more}


def _discover(launch: Launch, tmp_path: Path, *, timeout: float = 20, **environ: str) -> list[Any]:
    answer = discover(launch, environ=_environ(**environ), cwd=tmp_path, timeout=timeout)
    assert list(answer) == ["tools"]
    tools: list[Any] = answer["tools"]
    return tools


def _failure(launch: Launch, tmp_path: Path, *, timeout: float = 20, **environ: str) -> DiscoveryError:
    with pytest.raises(DiscoveryError) as caught:
        _discover(launch, tmp_path, timeout=timeout, **environ)
    error = caught.value
    shown = "\n".join((str(error), *error.notes, error.hint or ""))
    assert SECRET not in shown
    assert "Traceback (most" not in shown
    return error


def test_three_pages_are_one_answer(tmp_path: Path) -> None:
    said: list[str] = []
    answer = discover(_stub("three-pages"), environ=_environ(), cwd=tmp_path, progress=said.append)
    assert [tool["name"] for tool in answer["tools"]] == ["a", "b", "c"]
    assert said == ["page 1 of its tools", "page 2 of its tools", "page 3 of its tools"]


def test_unknown_keys_are_kept(tmp_path: Path) -> None:
    tools = _discover(_stub("unknown-keys"), tmp_path)
    assert [tool["name"] for tool in tools] == ["b", "a"]  # the server's order
    assert tools[0]["x"] == {"y": [1]}
    assert tools[1]["annotations"] == {"readOnlyHint": True, "x-cost": 1.5}


@pytest.mark.parametrize(
    ("behaviour", "code"), [("repeated-name", "pin-duplicate-tool"), ("no-schema", "pin-schema-missing")]
)
def test_what_is_wrong_with_a_tool_is_told_by_the_pin(behaviour: str, code: str, tmp_path: Path) -> None:
    answer = {"tools": _discover(_stub(behaviour), tmp_path)}
    _, found = tools_of(answer, lambda _: Span("stub.pin.json"), "stub")
    assert [diagnostic.name for diagnostic in found] == [code]


FAILURES = [
    ("stuck-cursor", "server-cursor", 'does not come to an end: the cursor "again" of page 1 came back on page 2'),
    ("empty-cursor", "server-cursor", 'does not come to an end: the cursor "" of page 1 came back on page 2'),
    ("number-cursor", "server-cursor", "gave a cursor on page 1 that is no text"),
    ("endless", "server-cursor", "does not come to an end: 1000 pages and a cursor for more"),
    ("endless-megabytes", "server-cursor", "does not come to an end: with page 8 its tools take more than 64 MiB"),
    ("error-on-page-two", "server-error", 'answered with error -32603: "the database is away", while asked for page 2 of its tools'),
    ("no-list", "server-error", "answered page 1 of its tools with something that is no list of tools"),
    ("odd-numbers", "pin-invalid", "answered with something that has no canonical form: the integer 1152921504606846976 is beyond 2^53-1 at /0/inputSchema/maxProperties"),
    ("odd-version", "server-error", "answered the greeting with something that is no MCP greeting"),
    ("garbage", "server-garbage", 'wrote something to its standard output that is no MCP message: "Listening on port 3000"'),
    ("garbage-on-list", "server-garbage", 'wrote something to its standard output that is no MCP message: "{"half": "'),
    ("crash-at-once", "server-exited", "ended with status 3, while greeting it"),
    ("crash-on-list", "server-exited", "ended with status 1, while asked for page 1 of its tools"),
    ("refusal", "server-error", 'answered with error -32600: "bad token ${env:DEMO}", while greeting it'),
]  # fmt: skip


@pytest.mark.parametrize(("behaviour", "code", "message"), FAILURES, ids=[row[0] for row in FAILURES])
def test_failures(behaviour: str, code: str, message: str, tmp_path: Path) -> None:
    error = _failure(_stub(behaviour, DEMO_TOKEN="${env:DEMO}"), tmp_path, DEMO=SECRET)
    assert (error.code.name, str(error)) == (code, message)


def test_the_end_of_stderr_is_shown_without_secrets(tmp_path: Path) -> None:
    error = _failure(_stub("crash-at-once", DEMO_TOKEN="${env:DEMO}"), tmp_path, DEMO=SECRET)
    assert error.notes == ("the end of its standard error:\nno such folder, token ${env:DEMO}",)


@pytest.mark.parametrize(
    ("behaviour", "step"),
    [("silence", "greeting it"), ("silent-list", "asked for page 1 of its tools"), ("deaf", "greeting it")],
)
def test_silence_ends_with_the_timeout(behaviour: str, step: str, tmp_path: Path) -> None:
    started = time.monotonic()
    error = _failure(_stub(behaviour), tmp_path, timeout=1)
    assert (error.code.name, str(error)) == ("server-silent", f"did not answer within 1 s, while {step}")
    assert time.monotonic() - started < 1 + 6  # the timeout, and a server that has to be killed


@pytest.mark.parametrize("behaviour", ["fine", "garbage", "crash-on-list", "silence", "deaf", "stuck-cursor"])
def test_no_process_is_left_behind(behaviour: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    launch = _stub(behaviour, PID_FILE=str(pids))
    try:
        _discover(launch, tmp_path, timeout=2)
    except DiscoveryError:
        assert behaviour != "fine"
    # A killed orphan is gone once its new parent has looked at it, which takes its own time.
    deadline = time.monotonic() + 5
    for pid in map(int, pids.read_text().split()):
        while _lives(pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.parametrize("timeout", [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01])
def test_time_that_runs_out_while_the_server_starts_leaves_nothing(
    timeout: float, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A start that is broken off half-way would leave a process that nobody knows, and a word of the event loop."""
    before = set(psutil.Process().children(recursive=True))
    for _ in range(3):
        assert _failure(_stub("silence"), tmp_path, timeout=timeout).code.name == "server-silent"
    assert not [one for one in psutil.Process().children(recursive=True) if one not in before]
    assert not caplog.records


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("no-such-server",), 'cannot be started with "no-such-server": there is no such program'),
        (("./no-such-server",), 'cannot be started with "./no-such-server": there is no such program'),
        ((str(STUB.parent),), f'cannot be started with "{STUB.parent}": it may not be executed'),
    ],
)
def test_a_server_that_cannot_be_started(command: tuple[str, ...], message: str, tmp_path: Path) -> None:
    error = _failure(Launch(command=command), tmp_path)
    assert (error.code.name, str(error)) == ("server-not-started", message)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    error = _failure(_stub("fine"), tmp_path / "gone")
    assert str(error) == f'cannot be started with "{sys.executable}": the folder "gone" does not exist'


def test_all_missing_variables_are_named(tmp_path: Path) -> None:
    error = _failure(_stub("fine", A="${env:ONE}", B="${env:TWO} ${env:ONE}"), tmp_path)
    assert (error.code.name, str(error)) == ("env-missing", "needs ONE, TWO, which are not set")
    assert error.hint == "set them and run again"


def test_a_server_sees_its_own_environment_and_runs_in_its_folder(tmp_path: Path) -> None:
    env, folder = _discover(_stub("environment", DEMO_TOKEN="short"), tmp_path, UNASKED="visible to nobody")
    assert env["description"] == '{"DEMO_TOKEN": "short", "UNASKED": ""}'
    assert folder["description"] == str(tmp_path)


def test_a_server_that_tells_a_secret_is_not_pinned(tmp_path: Path) -> None:
    error = _failure(_stub("environment", DEMO_TOKEN="${env:DEMO}"), tmp_path, DEMO=SECRET)
    assert (error.code.name, str(error)) == (
        "pin-holds-secret",
        "repeats the value of DEMO in what it says of its tools",
    )


def test_a_failure_becomes_a_diagnostic_at_the_server(tmp_path: Path) -> None:
    found = _failure(_stub("garbage"), tmp_path).diagnostic(Span("files.yaml"), "files")
    assert (found.name, found.subject, found.primary) == ("server-garbage", "files", Span("files.yaml"))
    assert found.message.startswith('the server of "files" wrote something')


# Streamable HTTP


@pytest.mark.parametrize("behaviour", ["three-pages", "events"])
def test_over_http(behaviour: str, tmp_path: Path) -> None:
    with serving(behaviour) as (url, _):
        tools = _discover(Launch(url=url), tmp_path)
    assert [tool["name"] for tool in tools] == (["a", "b", "c"] if behaviour == "three-pages" else ["a"])


def test_headers_are_sent_with_their_secrets_resolved(tmp_path: Path) -> None:
    with serving("wants-a-token") as (url, server):
        launch = Launch(url=url, headers={"Authorization": "Bearer ${env:DEMO}"})
        assert len(_discover(launch, tmp_path, DEMO=SECRET)) == 1
        assert server.headers_seen["Authorization"] == f"Bearer {SECRET}"


HTTP_FAILURES = [
    ("wants-a-token", "server-error", "answered with HTTP status 401, while greeting it"),
    ("away", "server-error", "answered with HTTP status 503, while greeting it"),
    (
        "page",
        "server-error",
        'answered with error -32600: "Unexpected content type: text/html", while greeting it',
    ),
    (
        "stuck-cursor",
        "server-cursor",
        'does not come to an end: the cursor "again" of page 1 came back on page 2',
    ),
]


@pytest.mark.parametrize(
    ("behaviour", "code", "message"), HTTP_FAILURES, ids=[row[0] for row in HTTP_FAILURES]
)
def test_failures_over_http(behaviour: str, code: str, message: str, tmp_path: Path) -> None:
    with serving(behaviour) as (url, _):
        error = _failure(
            Launch(url=url, headers={"Authorization": "Bearer wrong-${env:DEMO}"}), tmp_path, DEMO=SECRET
        )
    assert (error.code.name, str(error)) == (code, message)


def test_silence_over_http(tmp_path: Path) -> None:
    with serving("silence") as (url, _):
        error = _failure(Launch(url=url), tmp_path, timeout=1)
    assert (error.code.name, str(error)) == ("server-silent", "did not answer within 1 s, while greeting it")


def test_nobody_listens(tmp_path: Path) -> None:
    with serving("fine") as (url, _):
        pass
    secret_url = url.replace("//", "//user:${env:DEMO}@")
    error = _failure(Launch(url=secret_url), tmp_path, DEMO=SECRET)
    assert error.code.name == "server-not-started"
    assert str(error).startswith(f"cannot be reached at {url}: ")
