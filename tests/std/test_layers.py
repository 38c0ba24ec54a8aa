"""The layers that ship and run in place: cache, retry, timeout, audit, batch, output_schema (docs/variants.md V34)."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from symc.contracts import freeze
from symc.lock import digest_lines
from symc.runtime.gates import Reason, RefusedError
from symc.std.cache import Answers
from symc.std.retry import is_failure
from tests.runtime.workbench import play
from tests.std import tools
from tests.std.desk import answer, call, compiled, desk, error, opened

SLOW = {"seconds": {"type": "number"}, "trace": {"type": "string", "default": ""}}

RULE = {
    "policy_id": "no-x",
    "deny": {
        "tools": ["crm/find"],
        "when": {"properties": {"key": {"const": "x"}}, "required": ["key"]},
        "reason": "x is private",
    },
}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tools.calls.clear()
    tools.answers.clear()


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# cache


def test_cache_presents_what_the_lock_says(tmp_path: Path) -> None:
    lock = desk(tmp_path, "cache")
    schema = compiled(lock, "find_cache").input_schema
    assert set(schema["properties"]) == {"key", "limit", "exp"}
    assert schema["required"] == ("key",)

    async def work() -> None:
        async with opened(lock) as agent:
            assert "minimum" in await error(agent, "find_cache", key="a", exp=-1)

    play(work())


def test_cache_answers_again_by_the_arguments_alone(tmp_path: Path) -> None:
    async def work() -> list[str]:
        async with opened(desk(tmp_path, "cache", invoke="counted")) as agent:
            return [
                await answer(agent, "find_cache", **given)
                for given in (
                    {"key": "a", "limit": 1},
                    {"limit": 1, "key": "a"},  # the same in another order
                    {"key": "a", "limit": 1, "exp": 60},  # `exp` is none of the tool's arguments
                    {"key": "a"},  # a default that was left out is another call
                    {"key": "a", "limit": 1, "exp": 0},  # asks anew
                    {"key": "a", "limit": 1},  # and is remembered
                )
            ]

    assert play(work()) == ["1", "1", "1", "2", "3", "3"]
    assert all("exp" not in arguments for arguments in tools.calls)


def test_cache_does_not_remember_errors(tmp_path: Path) -> None:
    tools.answers[:] = [LookupError("not yet"), "there"]

    async def work() -> None:
        async with opened(desk(tmp_path, "cache", invoke="scripted")) as agent:
            assert await error(agent, "find_cache", key="a") == "tool_error: LookupError: not yet"
            assert await answer(agent, "find_cache", key="a") == "there"
            assert await answer(agent, "find_cache", key="a") == "there"

    play(work())


def test_cache_keeps_as_many_as_it_may(tmp_path: Path) -> None:
    async def work() -> list[str]:
        chain = {"use": "cache", "config": {"max_entries": 2}}
        async with opened(desk(tmp_path, chain, invoke="counted")) as agent:
            return [await answer(agent, "find_cache", key=key) for key in "abcca"]

    assert play(work()) == ["1", "2", "3", "3", "4"]


@pytest.mark.parametrize(
    ("age", "exp", "again"),
    [
        (0, None, True),
        (9.9, None, True),
        (10, None, False),  # `ttl` is 10
        (5, 5, True),
        (5.1, 5, False),
        (9, 100, True),
        (11, 100, False),  # what is not kept cannot be given, however old it may be
        (0, 0, False),
    ],
)
def test_cache_expires(age: float, exp: float | None, again: bool) -> None:
    async def work() -> list[str]:
        clock, made = Clock(), iter(("old", "new"))
        answers = Answers(ttl=10, max_entries=5, clock=clock)

        async def ask() -> str:
            return next(made)

        first = await answers.of(b"k", None, ask)
        clock.now += age
        return [first, await answers.of(b"k", exp, ask)]

    assert play(work()) == ["old", "old" if again else "new"]


def test_equal_calls_under_way_are_one(tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    async def work() -> None:
        given = {"seconds": 0.05, "trace": str(trace)}
        async with opened(desk(tmp_path, "cache", invoke="slow", properties=SLOW)) as agent:
            both = await asyncio.gather(*[answer(agent, "find_cache", **given) for _ in range(20)])
            assert both == ["slept"] * 20

    play(work())
    assert len(trace.read_text().splitlines()) == 2


class Asked:
    """A call that lasts until it is let go, and counts."""

    def __init__(self) -> None:
        self.count = 0
        self.cancelled = 0
        self.go = asyncio.Event()

    async def __call__(self) -> str:
        self.count += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return f"answer {self.count}"


def test_one_that_is_cancelled_leaves_the_call_to_the_others() -> None:
    async def work() -> None:
        answers, ask = Answers(ttl=10, max_entries=5), Asked()
        first, second, third = (asyncio.create_task(answers.of(b"k", None, ask)) for _ in range(3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        ask.go.set()
        assert list(await asyncio.gather(second, third)) == ["answer 1", "answer 1"]
        assert (ask.count, ask.cancelled, first.cancelled()) == (1, 0, True)

    play(work())


def test_a_call_that_nobody_waits_for_is_cancelled_and_not_joined() -> None:
    async def work() -> None:
        answers, ask = Answers(ttl=10, max_entries=5), Asked()
        waiting = [asyncio.create_task(answers.of(b"k", None, ask)) for _ in range(2)]
        await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        later = asyncio.create_task(answers.of(b"k", None, ask))
        await asyncio.wait(waiting)
        assert ask.cancelled == 1
        ask.go.set()
        assert await later == "answer 2"
        assert len(asyncio.all_tasks()) == 1

    play(work())


def test_a_call_that_is_cancelled_before_it_starts_blocks_no_other() -> None:
    async def work() -> None:
        answers, ask = Answers(ttl=10, max_entries=5), Asked()
        ask.go.set()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(-1):
                await answers.of(b"k", None, ask)
        assert await answers.of(b"k", None, ask) == f"answer {ask.count}"

    play(work())


@pytest.mark.parametrize(
    ("raised", "shared"),
    [
        (LookupError("gone"), True),
        (RefusedError(Reason.TOOL_ERROR, "gone"), True),
        (RefusedError(Reason.APPROVAL_REFUSED, "not for you"), False),
    ],
)
def test_a_refusal_to_one_caller_is_no_answer_to_another(raised: Exception, shared: bool) -> None:
    async def work() -> None:
        answers, count = Answers(ttl=10, max_entries=5), 0

        async def ask() -> str:
            nonlocal count
            count += 1
            await asyncio.sleep(0.01)
            raise raised

        found = await asyncio.gather(*[answers.of(b"k", None, ask) for _ in range(3)], return_exceptions=True)
        assert found == [raised] * 3
        assert count == (1 if shared else 3)

    play(work())


# retry


def retried(folder: Path, **config: Any) -> Any:
    return desk(folder, {"use": "retry", "config": {"wait": 0, **config}}, invoke="scripted")


@pytest.mark.parametrize(
    ("answers", "attempts", "expected"),
    [
        (["a"], 3, "a"),
        ([ValueError("1"), "b"], 3, "b"),
        ([ValueError("1"), KeyError("2"), "c"], 3, "c"),
        ([ValueError("1"), ValueError("2")], 2, "tool_error: ValueError: 2"),
        ([TimeoutError("late"), "d"], 2, "d"),
        ([RefusedError(Reason.TOOL_ERROR, "the server failed"), "e"], 2, "e"),
        ([ValueError("1")], 1, "tool_error: ValueError: 1"),
    ],
)
def test_retry_calls_again_while_the_tool_fails(
    answers: list[Any], attempts: int, expected: str, tmp_path: Path
) -> None:
    tools.answers[:] = answers

    async def work() -> Any:
        async with opened(retried(tmp_path, attempts=attempts)) as agent:
            return await call(agent, "find_retry", key="a")

    made = play(work())
    assert expected == (made.result or made.error)
    assert tools.answers == []
    assert len(tools.calls) == len(answers)


def test_retry_asks_no_gate_twice(tmp_path: Path) -> None:
    lock = desk(tmp_path, {"use": "retry", "config": {"wait": 0}}, invoke="scripted", policies=[RULE])

    async def work() -> str:
        async with opened(lock) as agent:
            return await error(agent, "find_retry", key="x")

    assert "policy_denied" in play(work())
    assert tools.calls == []


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.TOOL_ERROR}))
def test_no_refusal_is_a_failure(reason: Reason) -> None:
    assert not is_failure(RefusedError(reason))
    assert not is_failure(asyncio.CancelledError())


def test_retry_waits_longer_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    tools.answers[:] = [ValueError("no")] * 4

    async def work() -> None:
        async with opened(retried(tmp_path, attempts=4, wait=0.5)) as agent:
            await error(agent, "find_retry", key="a")

    play(work())
    assert [seconds for seconds in waited if seconds in (0.5, 1, 2)] == [0.5, 1, 2]


# timeout


def test_timeout_cancels_the_call(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    lock = desk(tmp_path, {"use": "timeout", "config": {"seconds": 0.05}}, invoke="slow", properties=SLOW)

    async def work() -> None:
        async with opened(lock) as agent:
            said = await error(agent, "find_timeout", seconds=30, trace=str(trace))
            assert said == "tool_error: TimeoutError: no answer within 0.05 s"
            assert await answer(agent, "find_timeout", seconds=0, trace=str(trace)) == "slept"

    play(work())
    assert [line.split()[0] for line in trace.read_text().splitlines()] == [
        "begun",
        "cancelled",
        "begun",
        "ended",
    ]


def test_a_timeout_of_the_tool_itself_stays_its_own(tmp_path: Path) -> None:
    tools.answers[:] = [TimeoutError("the database sleeps")]

    async def work() -> str:
        async with opened(desk(tmp_path, "timeout", invoke="scripted")) as agent:
            return await error(agent, "find_timeout", key="a")

    assert play(work()) == "tool_error: TimeoutError: the database sleeps"


# audit

DENIED = RefusedError(Reason.POLICY_DENIED, "by a gate further inside")


@pytest.mark.parametrize(
    ("answers", "arguments", "expected"),
    [
        (["four"], {"key": "a"}, {"outcome": "answered", "characters": 4}),
        ([ValueError("s3cret")], {"key": "a"}, {"outcome": "failed", "error": "ValueError"}),
        ([DENIED], {"key": "a"}, {"outcome": "refused", "reason": "policy_denied"}),
    ],
)
def test_audit_writes_one_line_a_call(
    answers: list[Any],
    arguments: dict[str, Any],
    expected: dict[str, Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools.answers[:] = answers
    lock = desk(tmp_path, "cache", "audit", invoke="scripted")

    async def work() -> Any:
        async with opened(lock) as agent:
            await call(agent, "find_cache_audit", **arguments)

    digest = next(one.split()[0] for one in digest_lines(lock.lock) if one.endswith("  desk"))
    with caplog.at_level(logging.INFO, "symc.audit"):
        play(work())
    (record,) = [one for one in caplog.records if one.name == "symc.audit"]
    line = json.loads(record.getMessage())
    assert record.levelname == "INFO"
    assert line.pop("seconds") >= 0
    assert line.pop("timestamp").endswith("Z")
    assert line.pop("composition") == digest
    assert line == expected | {
        "agent": "desk",
        "opened": "desk",
        "event": "tool call",
        "level": "info",
        "tool": "find_cache_audit",
        "extension": "crm",
        "raw": "find",
        "chain": ["cache", "audit"],
    }


def test_audit_says_that_a_call_was_cancelled(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lock = desk(tmp_path, "audit", invoke="slow", properties={"seconds": {"type": "number"}})

    async def work() -> None:
        async with opened(lock) as agent:
            run = asyncio.create_task(call(agent, "find_audit", seconds=30))
            await asyncio.sleep(0.05)
            run.cancel()
            await asyncio.wait([run])

    with caplog.at_level(logging.INFO, "symc.audit"):
        play(work())
    assert [
        json.loads(one.getMessage())["outcome"] for one in caplog.records if one.name == "symc.audit"
    ] == ["cancelled"]


def test_audit_shows_values_of_the_arguments_it_is_told_to(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chain = {"use": "audit", "config": {"level": "warning", "arguments": ["limit", "other"]}}

    async def work() -> None:
        async with opened(desk(tmp_path, chain)) as agent:
            await answer(agent, "find_audit", key="s3cret", limit=7)
            await answer(agent, "find_audit", key="s3cret")

    play(work())
    lines = [json.loads(one.getMessage()) for one in caplog.records if one.name == "symc.audit"]
    assert [line.get("arguments") for line in lines] == [{"limit": 7}, None]
    assert {line["level"] for line in lines} == {"warning"}
    assert "s3cret" not in caplog.text


# batch


def test_batch_answers_in_the_order_of_the_calls(tmp_path: Path) -> None:
    lock = desk(tmp_path, "batch", invoke="late_echo", properties={"seconds": {"type": "number"}})

    async def work() -> Any:
        async with opened(lock) as agent:
            calls = [{"seconds": seconds} for seconds in (0.04, 0, 0.02)]
            return json.loads(await answer(agent, "find_batch", calls=calls))

    assert play(work()) == {"results": [{"result": "0.04"}, {"result": "0"}, {"result": "0.02"}]}
    assert [one["seconds"] for one in tools.calls] == [0, 0.02, 0.04]


def test_batch_passes_the_gate_of_the_tool_with_every_call(tmp_path: Path) -> None:
    """[V32] A deny with `when` on the base holds inside the batch."""
    tools.answers[:] = ["first", ValueError("broken"), "third"]
    lock = desk(tmp_path, {"use": "batch", "config": {"concurrency": 1}}, invoke="scripted", policies=[RULE])

    async def work() -> Any:
        async with opened(lock) as agent:
            return json.loads(await answer(agent, "find_batch", calls=[{"key": key} for key in "axbc"]))

    assert play(work()) == {
        "results": [
            {"result": "first"},
            {"error": "not executed: policy_denied: desk/no-x: x is private"},
            {"error": "tool_error: ValueError: broken"},
            {"result": "third"},
        ]
    }
    assert [one["key"] for one in tools.calls] == ["a", "b", "c"]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_batch_makes_so_many_calls_at_once(concurrency: int, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    chain = {"use": "batch", "config": {"concurrency": concurrency}}
    lock = desk(tmp_path, chain, invoke="slow", properties=SLOW)

    async def work() -> None:
        async with opened(lock) as agent:
            await answer(agent, "find_batch", calls=[{"seconds": 0.02, "trace": str(trace)}] * 6)

    play(work())
    running, most = 0, 0
    for line in trace.read_text().splitlines():
        running += 1 if line.startswith("begun") else -1
        most = max(most, running)
    assert most == concurrency


@pytest.mark.parametrize("calls", [[], [{}], [{"key": 1}], [{"key": "a"}] * 101])
def test_batch_is_held_to_its_schema(calls: list[Any], tmp_path: Path) -> None:
    async def work() -> str:
        async with opened(desk(tmp_path, "batch")) as agent:
            return await error(agent, "find_batch", calls=calls)

    assert "invalid_arguments" in play(work())
    assert tools.calls == []


# output_schema

ROW = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('{"id": 1}', '{"id": 1}'),
        (' {"id": 1, "more": true}\n', ' {"id": 1, "more": true}\n'),  # passed on as it is
        ('{"id": "1"}', "breaks its schema"),
        ("{}", "breaks its schema"),
        ("no row", "not JSON"),
    ],
)
def test_output_schema_advertises_and_enforces(said: str, expected: str, tmp_path: Path) -> None:
    tools.answers[:] = [said]
    lock = desk(tmp_path, {"use": "output_schema", "config": {"schema": ROW}}, "audit", invoke="scripted")
    for name in ("find_output_schema", "find_output_schema_audit"):
        assert compiled(lock, name).output_schema == freeze(ROW)
    assert compiled(lock, "find").output_schema is None

    async def work() -> Any:
        async with opened(lock) as agent:
            return await call(agent, "find_output_schema_audit", key="a")

    made = play(work())
    if expected == said:
        assert made.result == said
    else:
        assert made.error.startswith("tool_error: ")
        assert expected in made.error


# all of them


@pytest.mark.parametrize("word", ["from", "repo-path", "class"])
@pytest.mark.parametrize("name", ["cache", "retry", "timeout", "audit"])
def test_a_property_that_is_no_name_in_python_passes(name: str, word: str, tmp_path: Path) -> None:
    lock = desk(
        tmp_path, name, properties={word: {"type": "string"}, "self": {"type": "string", "default": ""}}
    )

    async def work() -> str:
        async with opened(lock) as agent:
            return await answer(agent, f"find_{name}", **{word: "a", "self": "b"})

    assert json.loads(play(work())) == {word: "a", "self": "b"}


@pytest.mark.parametrize("word", ["func", "fn", "name", "config", "arguments", "agent", "answer", "key"])
@pytest.mark.parametrize("name", ["cache", "retry", "timeout", "audit"])
def test_no_property_collides_with_a_name_of_the_layer(name: str, word: str, tmp_path: Path) -> None:
    lock = desk(tmp_path, name, properties={word: {"type": "string"}})

    async def work() -> str:
        async with opened(lock) as agent:
            made = await agent.run(json.dumps([[f"find_{name}", {word: "a"}]]))
            assert made.tool_calls[0].error is None
            return made.tool_calls[0].result or ""

    assert json.loads(play(work())) == {word: "a"}
