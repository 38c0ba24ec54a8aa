"""The backend `celery` over a real Redis: many calls, lost workers, a broker that goes and comes back."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from symc.runtime import LoadedLock
from tests.runtime.workbench import play
from tests.std.bureau import bureau
from tests.std.celery_worker import worker
from tests.std.desk import answer, error, opened
from tests.std.redis_server import RedisServer, needs_redis
from tests.std.test_process import begun, gone, lines_of

pytestmark = needs_redis

ENVIRON = {"STD_PROXY": "http://proxy.invalid:3128"}


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def lock(redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> LoadedLock:
    return bureau(tmp_path_factory.mktemp("bureau"), redis.url, timeout=60)


@pytest.fixture(scope="module")
def served(lock: LoadedLock) -> Iterator[LoadedLock]:
    """Two workers of one process each."""
    folder = lock.path.parent
    one = worker(lock.path, "--concurrency", "1", log=folder / "log1", **ENVIRON)
    two = worker(lock.path, "--concurrency", "1", log=folder / "log2", **ENVIRON)
    with one, two:
        yield lock


def test_of_1000_calls_over_two_workers_none_is_lost_or_doubled(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.touch()

    async def work() -> Counter[str]:
        async with opened(served, environ=ENVIRON) as agent:
            calls = [answer(agent, "append_celery", line=str(n), trace=str(trace)) for n in range(1000)]
            return Counter(await asyncio.gather(*calls))

    by_process = play(work())
    assert sorted(map(int, trace.read_text().split())) == list(range(1000))
    assert len(by_process) == 2
    assert sum(by_process.values()) == 1000


def test_no_call_waits_behind_a_long_one_while_a_worker_is_idle(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(served, environ=ENVIRON) as agent:
            long = asyncio.create_task(answer(agent, "slow_celery", seconds=8, trace=str(trace)))
            await begun(trace)
            assert len(set(await asyncio.gather(*[answer(agent, "pid_celery") for _ in range(8)]))) == 1
            assert not long.done()
            assert await long == "slept"

    play(work())


def test_a_process_of_the_pool_killed_in_mid_call_is_an_error_at_once(
    served: LoadedLock, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(served, environ=ENVIRON) as agent:
            run = asyncio.create_task(error(agent, "slow_celery", seconds=50, trace=str(trace)))
            (pid,) = await begun(trace)
            os.kill(pid, signal.SIGKILL)
            assert "WorkerLostError" in await asyncio.wait_for(run, 15)
            # The worker has a new process, and goes on.
            assert len({await answer(agent, "pid_celery") for _ in range(6)}) >= 1

    play(work())
    assert lines_of(trace) == ["begun"]


def test_cancelling_the_run_revokes_the_task(served: LoadedLock, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(served, environ=ENVIRON) as agent:
            run = asyncio.create_task(answer(agent, "stuck_celery", seconds=50, trace=str(trace)))
            (pid,) = await begun(trace)
            run.cancel()
            await asyncio.wait([run])
            await asyncio.to_thread(lambda: gone(pid))
            assert gone(pid)
            await answer(agent, "pid_celery")

    play(work())
    assert lines_of(trace) == ["begun"]


def test_a_worker_killed_in_mid_call_is_an_error_within_the_deadline(
    lock: LoadedLock, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(lock, environ=ENVIRON) as agent:
            with worker(lock.path, log=tmp_path / "log", **ENVIRON) as process:
                run = asyncio.create_task(error(agent, "late_celery", seconds=50, trace=str(trace)))
                (pid,) = await begun(trace)
                process.kill()
                process.wait()
            start = time.monotonic()
            assert "TimeoutError: no answer of a worker within 1.5 s" in await run
            assert time.monotonic() - start < 3
            assert gone(pid)

    play(work())
    assert "ended" not in lines_of(trace)


def test_a_worker_with_another_lock_refuses(served: LoadedLock, redis: RedisServer, tmp_path: Path) -> None:
    newer = bureau(tmp_path, redis.url, instructions="Work better.")

    async def work() -> str:
        async with opened(newer, environ=ENVIRON) as agent:
            return await error(agent, "pid_celery")

    assert play(work()).startswith('tool_error: the worker refuses to start: agent "desk" has the digest ')


def test_a_broker_that_goes_is_an_error_and_calls_work_when_it_is_back(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    server.start()
    lock = bureau(tmp_path, server.url, timeout=6)
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(lock, environ=ENVIRON) as agent:
            await answer(agent, "pid_celery")
            run = asyncio.create_task(error(agent, "slow_celery", seconds=50, trace=str(trace)))
            await begun(trace)
            server.stop()
            start = time.monotonic()
            said = await error(agent, "pid_celery")
            assert "BrokerError: the broker cannot be reached" in said
            assert "TimeoutError: no answer of a worker within 6 s" in await run
            assert time.monotonic() - start < 10
            server.start()
            end = time.monotonic() + 40
            while True:
                try:
                    await answer(agent, "pid_celery")
                except AssertionError:
                    assert time.monotonic() < end, (tmp_path / "log").read_text()
                else:
                    return

    try:
        with worker(lock.path, log=tmp_path / "log", **ENVIRON):
            play(work())
    finally:
        server.stop()
