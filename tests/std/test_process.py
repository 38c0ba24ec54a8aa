"""The backend `process`, with real worker processes (docs/variants.md V33)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from symc.lock import digest_lines
from symc.runtime import load
from tests.runtime.workbench import play
from tests.std.desk import answer, desk, error, opened

TRACED = {"seconds": {"type": "number"}, "trace": {"type": "string"}}
NONE: dict[str, Any] = {}


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or ") Z " not in Path(f"/proc/{pid}/stat").read_text()


def gone(*pids: int) -> bool:
    end = time.monotonic() + 8
    while time.monotonic() < end:
        if not any(map(lives, pids)):
            return True
        time.sleep(0.02)
    return False


async def begun(trace: Path, times: int = 1) -> list[int]:
    """The processes that said in the trace that they began, once there are so many; fails when nothing begins."""
    end = time.monotonic() + 40
    while time.monotonic() < end:
        lines = trace.read_text().splitlines() if trace.exists() else []
        pids = [int(line.split()[1]) for line in lines if line.startswith("begun")]
        if len(pids) >= times:
            return pids
        await asyncio.sleep(0.01)
    raise TimeoutError("nothing has begun")


def lines_of(trace: Path) -> list[str]:
    return [line.split()[0] for line in trace.read_text().splitlines()]


def test_process_runs_the_body_elsewhere_and_one_process_does_many_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[V33] The worker opens the owning extension once, and closes it; hooks and layers inside run there."""
    trace = tmp_path / "hooks"
    monkeypatch.setenv("STD_TRACE", str(trace))
    lock = desk(tmp_path, "cache", {"use": "process", "config": {"workers": 1}}, invoke="pid", hooks=True)

    async def work() -> list[int]:
        async with opened(lock) as agent:
            return [
                int(await answer(agent, "find_cache_process", key=key, **more))
                for key, more in (("a", NONE), ("b", {"limit": 3}), ("a", NONE), ("a", {"exp": 0}))
            ]

    here, (there,) = os.getpid(), set(play(work()))
    assert there != here
    assert trace.read_text().splitlines() == [
        f"install {here}",
        f"install {there}",
        # Undone in reverse: what the layers need closes after the hooks of the agent.
        f"teardown {here}",
        f"teardown {there}",
    ]
    assert gone(there)


def test_arguments_and_answers_cross_as_json(tmp_path: Path) -> None:
    given = {"key": "ä\u2028\n\U0001f600", "limit": 2**53, "more": [1, 1.5, None, {"x": [True]}]}
    properties = {"key": {"type": "string"}, "limit": {"type": "integer"}, "more": {"type": "array"}}

    async def work() -> Any:
        async with opened(desk(tmp_path, "process", properties=properties)) as agent:
            big = "x" * 3_000_000
            assert len(await answer(agent, "find_process", key=big, limit=1, more=[])) > len(big)
            return json.loads(await answer(agent, "find_process", **given))

    assert play(work()) == given


@pytest.mark.parametrize(
    ("invoke", "expected"),
    [
        ("fail", "tool_error: LookupError: no such row"),
        ("die", "tool_error: WorkerLostError: the worker ended with exit code 9 in mid-call"),
    ],
)
def test_an_error_in_the_worker_is_the_error_of_the_call(invoke: str, expected: str, tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with opened(desk(tmp_path, "process", invoke=invoke)) as agent:
            return [await error(agent, "find_process", key="a") for _ in range(2)]

    said = play(work())
    assert all(one.startswith(expected) for one in said), said


def test_what_a_tool_prints_disturbs_nothing(tmp_path: Path) -> None:
    async def work() -> str:
        async with opened(desk(tmp_path, "process", invoke="shout")) as agent:
            return await answer(agent, "find_process", key="a")

    assert play(work()) == "said"


def test_the_gates_inside_hold_in_the_worker(tmp_path: Path) -> None:
    """[V32] A deny with `when` on the base holds for what a transformer inside the worker calls."""
    rule = {
        "policy_id": "no-x",
        "deny": {
            "tools": ["crm/find"],
            "when": {"properties": {"key": {"const": "x"}}, "required": ["key"]},
            "reason": "x is private",
        },
    }

    async def work() -> Any:
        async with opened(desk(tmp_path, "batch", "process", policies=[rule])) as agent:
            calls = [{"key": "a"}, {"key": "x"}]
            return json.loads(await answer(agent, "find_batch_process", calls=calls))["results"]

    first, second = play(work())
    assert json.loads(first["result"]) == {"key": "a"}
    assert second["error"].startswith("not executed: policy_denied: desk/no-x")


def test_a_yes_goes_along_with_the_call(tmp_path: Path) -> None:
    """[F-47] Who was asked here is not asked there; and a yes holds for one call."""
    asked: list[Any] = []

    async def approver(request: Any, reasons: Any) -> bool:
        asked.append(request.tool)
        return bool(request.arguments["key"] != "no")

    rule = {"policy_id": "careful", "ask": {"tools": ["crm/find"], "reason": "Look first."}}

    async def work() -> None:
        async with opened(desk(tmp_path, "process", policies=[rule]), approver=approver) as agent:
            assert json.loads(await answer(agent, "find_process", key="a")) == {"key": "a"}
            assert json.loads(await answer(agent, "find_process", key="a")) == {"key": "a"}
            assert "approval_refused" in await error(agent, "find_process", key="no")

    play(work())
    assert asked == ["find_process"] * 3


def test_a_deadline_cancels_the_work(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chain = {"use": "process", "config": {"workers": 1, "timeout": 3}}

    async def work() -> None:
        async with opened(desk(tmp_path, chain, invoke="slow", properties=TRACED)) as agent:
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "slept"
            start = time.monotonic()
            said = await error(agent, "find_process", seconds=60, trace=str(trace))
            assert said == "tool_error: TimeoutError: no answer of a worker within 3 s"
            assert 2.9 < time.monotonic() - start < 6
            # The worker stopped when it was told to, and does the next call.
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "slept"

    play(work())
    assert lines_of(trace) == ["begun", "ended", "begun", "cancelled", "begun", "ended"]
    assert len(set(play(begun(trace)))) == 1


def test_cancelling_the_run_stops_the_work(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        chain = {"use": "process", "config": {"workers": 1}}
        async with opened(desk(tmp_path, chain, invoke="slow", properties=TRACED)) as agent:
            run = asyncio.create_task(answer(agent, "find_process", seconds=60, trace=str(trace)))
            await begun(trace)
            run.cancel()
            await asyncio.wait([run])
            assert run.cancelled()
            assert lines_of(trace) == ["begun", "cancelled"]

    play(work())


def test_cancelling_kills_what_does_not_stop(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        async with opened(desk(tmp_path, "process", invoke="stuck", properties=TRACED)) as agent:
            run = asyncio.create_task(answer(agent, "find_process", seconds=60, trace=str(trace)))
            (pid,) = await begun(trace)
            run.cancel()
            await asyncio.wait([run])
            assert not lives(pid)
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "woke"

    play(work())
    assert lines_of(trace) == ["begun", "begun", "ended"]


def test_a_worker_killed_in_mid_call_is_an_error_at_once_and_replaced(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chain = {"use": "process", "config": {"workers": 1}}

    async def work() -> None:
        async with opened(desk(tmp_path, chain, invoke="slow", properties=TRACED)) as agent:
            run = asyncio.create_task(error(agent, "find_process", seconds=60, trace=str(trace)))
            (first,) = await begun(trace)
            os.kill(first, signal.SIGKILL)
            said = await asyncio.wait_for(run, 5)
            assert said.startswith("tool_error: WorkerLostError: the worker ended with signal 9 in mid-call")
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "slept"
            _, second = await begun(trace, 2)
            os.kill(second, signal.SIGKILL)  # while it waits for work
            assert gone(second)
            # The loop of the agent has not heard of it yet.
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "slept"

    play(work())


def test_a_call_that_a_lost_worker_had_not_begun_goes_to_another(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chain = {"use": "process", "config": {"workers": 1}}

    async def work() -> None:
        async with opened(desk(tmp_path, chain, invoke="slow", properties=TRACED)) as agent:
            assert await answer(agent, "find_process", seconds=0, trace=str(trace)) == "slept"
            (first,) = await begun(trace)
            os.kill(first, signal.SIGSTOP)  # it lives, and does not read
            run = asyncio.create_task(answer(agent, "find_process", seconds=0, trace=str(trace)))
            await asyncio.sleep(0.5)
            assert not run.done()
            os.kill(first, signal.SIGKILL)
            assert await asyncio.wait_for(run, 30) == "slept"
            assert len(set(await begun(trace, 2))) == 2

    play(work())


def test_so_many_calls_wait_and_no_more(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chain = {"use": "process", "config": {"workers": 1, "queue": 1}}

    async def work() -> None:
        async with opened(desk(tmp_path, chain, invoke="slow", properties=TRACED)) as agent:
            given = {"seconds": 0.2, "trace": str(trace)}
            first = asyncio.create_task(answer(agent, "find_process", **given))
            await asyncio.sleep(0.05)
            second = asyncio.create_task(answer(agent, "find_process", **given))
            await asyncio.sleep(0.05)
            said = await error(agent, "find_process", **given)
            assert said == "tool_error: the queue is full: 1 calls wait for 1 workers"
            assert list(await asyncio.gather(first, second)) == ["slept", "slept"]
            # A place is given back by a call that is cancelled while it waits.
            first = asyncio.create_task(answer(agent, "find_process", **given))
            await asyncio.sleep(0.05)
            second = asyncio.create_task(answer(agent, "find_process", **given))
            await asyncio.sleep(0.05)
            second.cancel()
            await asyncio.wait([second])
            again = answer(agent, "find_process", **given)
            assert list(await asyncio.gather(first, again)) == ["slept", "slept"]

    play(work())
    assert lines_of(trace).count("ended") == 4


def test_two_workers_do_every_call_once(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    properties = {"line": {"type": "string"}, "trace": {"type": "string"}}

    async def work() -> set[str]:
        async with opened(desk(tmp_path, "process", invoke="append", properties=properties)) as agent:
            calls = [answer(agent, "find_process", line=f"{n}", trace=str(trace)) for n in range(60)]
            return set(await asyncio.gather(*calls))

    assert len(play(work())) == 2
    assert sorted(map(int, trace.read_text().split())) == list(range(60))


def test_a_worker_refuses_another_lock(tmp_path: Path) -> None:
    lock = desk(tmp_path, "process")

    async def work() -> str:
        async with opened(lock) as agent:
            desk(
                tmp_path, "process", instructions="Somebody else."
            )  # the file changes under the running agent
            return await error(agent, "find_process", key="a")

    said = play(work())
    assert said.startswith('tool_error: the worker refuses to start: agent "desk" has the digest ')


def test_the_environment_given_to_the_agent_is_the_worker_s(tmp_path: Path) -> None:
    """A config inside the backend that refers to the environment finds it there, also a given one."""
    lock = desk(tmp_path, {"use": "proxy", "config": {"url": "${env:STD_PROXY}"}}, "process", invoke="variable",
                properties={"name": {"type": "string"}})  # fmt: skip

    async def work() -> str:
        async with opened(lock, environ={"STD_PROXY": "http://127.0.0.1:9"}) as agent:
            return await answer(agent, "find_proxy_process", name="HTTP_PROXY")

    assert play(work()) == "http://127.0.0.1:9"


def test_the_command_does_jobs_from_stdin(tmp_path: Path) -> None:
    lock = desk(tmp_path, "process")
    digest = next(line.split()[0] for line in digest_lines(lock.lock) if line.endswith("  desk"))
    job = {
        "opened": "desk",
        "digest": digest,
        "agent": "desk",
        "tool": "find_process",
        "depth": 0,
        "arguments": {"key": "a"},
        "passage": {"through": []},
    }
    wrong = {**job, "digest": f"sha256:{'0' * 64}"}
    lines = [{"call": 1, "job": job}, {"call": 2, "job": wrong}, {"call": 3, "job": {}}, {"cancel": 9}]
    with subprocess.Popen(
        [sys.executable, "-m", "symc.cli", "worker", "--backend", "process", "--lock", str(lock.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        worker.stdin.flush()
        answers = [json.loads(worker.stdout.readline()) for _ in range(6)]
        said = {answer["call"]: answer for answer in answers if "begun" not in answer}
        worker.stdin.close()
        assert worker.wait(10) == 0
    assert json.loads(said[1]["answer"]) == {"key": "a"}
    assert "has the digest" in said[2]["error"]["detail"]
    assert "a form that it does not know" in said[3]["error"]["detail"]


HOST = """
import asyncio, sys
from tests.std.desk import answer, opened
from symc.runtime import load

async def work():
    async with opened(load(sys.argv[1])) as agent:
        await answer(agent, "find_process", seconds=60, trace=sys.argv[2])

asyncio.run(work())
"""


@pytest.mark.parametrize("invoke", ["slow", "stuck"])
def test_no_worker_outlives_a_crash_of_its_parent(invoke: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    lock = desk(tmp_path, "process", invoke=invoke, properties=TRACED)
    assert load(lock.path).agents == ("desk",)
    with subprocess.Popen([sys.executable, "-c", HOST, str(lock.path), str(trace)], cwd=Path.cwd()) as host:
        (pid,) = play(begun(trace))
        host.kill()
    assert gone(pid)
    assert "ended" not in lines_of(trace)


def test_nothing_is_left_after_close(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> tuple[int, str]:
        async with opened(desk(tmp_path, "process", invoke="slow", properties=TRACED)) as agent:
            run = asyncio.create_task(error(agent, "find_process", seconds=60, trace=str(trace)))
            (pid,) = await begun(trace)
        assert not lives(pid)
        return pid, await asyncio.wait_for(run, 5)

    _, said = play(work())
    assert "tool_error" in said
