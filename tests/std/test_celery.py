"""The backend `celery` with a real worker, over kombu's transport of files (docs/variants.md V33)."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symc.cli.frame import root
from symc.runtime import DiagnosedError, LoadedLock
from tests.runtime.workbench import play
from tests.std.bureau import bureau
from tests.std.celery_worker import worker
from tests.std.desk import answer, desk, error, opened
from tests.std.test_process import begun, gone, lines_of, lives

ENVIRON = {"STD_PROXY": "http://proxy.invalid:3128"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedLock]:
    """A lock, and a worker that serves it."""
    folder = tmp_path_factory.mktemp("celery")
    lock = bureau(folder, f"filesystem://{folder}/broker")
    hooks = folder / "hooks"
    with worker(lock.path, log=folder / "log", STD_TRACE=str(hooks), **ENVIRON):
        yield lock
    # Each process of the pool that opened the extension has closed it.
    assert lines_of(hooks).count("install") == lines_of(hooks).count("teardown") + len(_killed)


_killed: list[int] = []
"""Processes of the pool that a test had killed: they close nothing."""


async def yes(request: Any, reasons: Any) -> bool:
    return True


def test_the_body_runs_in_the_workers(served: LoadedLock) -> None:
    async def work() -> set[str]:
        async with opened(served, environ=ENVIRON) as agent:
            calls = [answer(agent, "pid_celery") for _ in range(8)]
            return set(await asyncio.gather(*calls))

    pids = play(work())
    assert str(os.getpid()) not in pids
    assert len(pids) in (1, 2)


def test_every_layer_and_gate_inside_runs_in_the_worker(served: LoadedLock) -> None:
    """[V32] `batch` and `audit` stand inside: a deny with `when` on the base, and a person's yes, hold there."""

    async def work() -> Any:
        async with opened(served, environ=ENVIRON, approver=yes) as agent:
            calls = [{"key": "ä\u2028"}, {"key": "x"}]
            return json.loads(await answer(agent, "echo_batch_audit_celery", calls=calls))

    first, second = play(work())["results"]
    # A yes to the batch is none to each call in it, and there is nobody to ask in a worker.
    assert "approval_required" in first["error"]
    assert "policy_denied" in second["error"]


def test_the_proxy_travels_with_the_body(served: LoadedLock) -> None:
    async def work() -> str:
        async with opened(served, environ=ENVIRON) as agent:
            return await answer(agent, "variable_proxy_celery", name="HTTPS_PROXY")

    assert play(work()) == ENVIRON["STD_PROXY"]


def test_errors_have_their_type_and_message(served: LoadedLock) -> None:
    async def work() -> tuple[str, str]:
        async with opened(served, environ=ENVIRON) as agent:
            return await error(agent, "fail_celery"), await error(agent, "die_celery")

    failed, died = play(work())
    assert failed == "tool_error: LookupError: no such row"
    assert died.startswith("tool_error: WorkerLostError: ")
    _killed.append(0)


def test_a_deadline_stops_the_work(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(served, environ=ENVIRON) as agent:
            start = time.monotonic()
            said = await error(agent, "late_celery", seconds=60, trace=str(trace))
            assert "TimeoutError" in said or "TimeLimitExceeded" in said
            assert time.monotonic() - start < 4
            (pid,) = await begun(trace)
        assert gone(pid)

    play(work())
    _killed.append(0)
    assert "ended" not in lines_of(trace)


def test_cancelling_the_run_revokes_the_task(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(served, environ=ENVIRON) as agent:
            run = asyncio.create_task(answer(agent, "stuck_celery", seconds=60, trace=str(trace)))
            (pid,) = await begun(trace)
            run.cancel()
            await asyncio.wait([run])
            assert run.cancelled()
        assert gone(pid)
        async with opened(served, environ=ENVIRON) as agent:
            await answer(agent, "pid_celery")

    play(work())
    _killed.append(0)
    assert lines_of(trace) == ["begun"]


def test_closing_the_agent_revokes_what_is_under_way(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> str:
        async with opened(served, environ=ENVIRON) as agent:
            run = asyncio.create_task(error(agent, "slow_celery", seconds=60, trace=str(trace)))
            (pid,) = await begun(trace)
        assert gone(pid)
        return await asyncio.wait_for(run, 5)

    assert play(work()) == "tool_error: the agent was closed in mid-call"
    _killed.append(0)


def test_a_worker_with_another_lock_refuses(served: LoadedLock) -> None:
    """The lock beside the worker's is compiled anew; the worker has the one it was started with."""
    folder = served.path.parent / "newer"
    folder.mkdir()
    newer = bureau(folder, f"filesystem://{served.path.parent}/broker", instructions="Work better.")

    async def work() -> str:
        async with opened(newer, environ=ENVIRON) as agent:
            return await error(agent, "pid_celery")

    said = play(work())
    assert said.startswith('tool_error: the worker refuses to start: agent "desk" has the digest ')


def test_without_a_worker_the_deadline_holds_and_nothing_runs_later(tmp_path: Path) -> None:
    lock = bureau(tmp_path, f"filesystem://{tmp_path}/broker")
    trace = tmp_path / "trace"

    async def work() -> str:
        async with opened(lock, environ=ENVIRON) as agent:
            return await error(agent, "late_celery", seconds=0, trace=str(trace))

    assert play(work()) == "tool_error: TimeoutError: no answer of a worker within 1.5 s"
    # A worker that comes later finds the message, and drops it.
    with worker(lock.path, log=tmp_path / "log", **ENVIRON):

        async def more() -> None:
            async with opened(lock, environ=ENVIRON) as agent:
                await answer(agent, "pid_celery")

        play(more())
    assert not trace.exists()


def test_no_process_of_the_pool_outlives_its_worker(tmp_path: Path) -> None:
    lock = bureau(tmp_path, f"filesystem://{tmp_path}/broker")
    trace = tmp_path / "trace"

    async def work() -> tuple[int, str]:
        async with opened(lock, environ=ENVIRON) as agent:
            with worker(lock.path, "--concurrency", "1", log=tmp_path / "log", **ENVIRON) as process:
                run = asyncio.create_task(error(agent, "late_celery", seconds=60, trace=str(trace)))
                (pid,) = await begun(trace)
                assert lives(pid)
                process.kill()
                process.wait()
                assert gone(pid)
            return pid, await asyncio.wait_for(run, 5)

    _, said = play(work())
    assert "TimeoutError: no answer of a worker within 1.5 s" in said


def test_a_broker_that_keeps_no_results_needs_a_store(tmp_path: Path) -> None:
    lock = desk(tmp_path, {"use": "celery", "config": {"broker": "amqp://localhost"}})

    async def work() -> None:
        async with opened(lock):
            pass

    with pytest.raises(DiagnosedError, match="a broker of the kind amqp keeps no results"):
        play(work())


@pytest.mark.parametrize("broker", ["redis://127.0.0.1:9/0", "redis://localhost:1/0"])
def test_a_broker_that_is_away_is_an_error_within_the_deadline(broker: str, tmp_path: Path) -> None:
    lock = bureau(tmp_path, broker, timeout=5)

    async def work() -> None:
        async with opened(lock, environ=ENVIRON) as agent:
            start = time.monotonic()
            said = await asyncio.gather(*[error(agent, "pid_celery") for _ in range(5)])
            assert time.monotonic() - start < 8
            assert all(
                one.startswith("tool_error: BrokerError: the broker cannot be reached") for one in said
            )

    play(work())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--backend", "celery"], "no tool in symc.lock has the backend celery"),
        (["--backend", "none"], "'none' is not one of"),
        ([], "Missing option '--backend'"),
        (["--backend", "celery", "--lock", "missing.lock"], "cannot use"),
    ],
)
def test_the_command_says_what_it_lacks(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk(tmp_path, "audit")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(root, ["worker", *options])
    assert result.exit_code == 2, result.output
    assert said in result.output


def test_the_command_asks_to_choose_between_brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chains = [[{"use": "celery", "config": {"broker": f"redis://{host}"}}] for host in "ab"]
    from tests.runtime.workbench import agent, extension, locked, tool

    locked(
        tmp_path,
        extension("crm", tools=[tool("one"), tool("two")]),
        agent("desk", "crm/*", variants={"crm/one": chains[0], "crm/two": chains[1]}),
    )
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(root, ["worker", "--backend", "celery"])
    assert result.exit_code == 2
    assert "more than one broker" in result.output
