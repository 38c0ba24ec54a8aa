"""Two hundred runs of one agent at once: a third run, a third streamed to the end, the others abandoned or cancelled.

A program as well as a test's scenario: `python -X dev -W error -m tests.runtime.crowd` prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from symc import Agent, ToolCall
from symc.contracts import ALLOW, ASK, PolicyContribution, PolicyRequest, PolicyVerdict
from symc.runtime.capabilities import CapabilityContribution, ContributionRequest, Stage, StageView
from symc.runtime.model import ModelOutput, ModelRequest, ModelResponse, SystemPart, TextDelta

CROWD = 200


class Provider:
    """Asks for a slow tool, then answers; its streams must all be closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        self.opened += 1
        try:
            number = request.messages[0].text
            assert request.system == f"You serve {number}."
            told = [message.text for message in request.messages if message.role == "tool"]
            await asyncio.sleep(0)
            if not told:
                yield ModelResponse(tool_calls=(ToolCall("same", "work", {"number": int(number)}),))
                return
            for word in ("the ", "answer"):
                yield TextDelta(word)
                await asyncio.sleep(0.001)
            yield ModelResponse(text=f"{number}: {told}")
        finally:
            self.closed += 1


class Everything:
    """A capability with a layout from the run's state, a policy that waits and one that asks."""

    def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        return CapabilityContribution(
            "everything",
            (Stage.PROMPT_ASSEMBLY, Stage.FINALIZE),
            {Stage.PROMPT_ASSEMBLY: self._assemble, Stage.FINALIZE: self._finalize},
            policies=(
                PolicyContribution("slow", "x", self._slow, frozenset({"tool_call"})),
                PolicyContribution("asks", "x", self._asks, frozenset({"tool_call"})),
            ),
        )

    def _assemble(self, view: StageView) -> list[SystemPart]:
        return [SystemPart(f"You serve {view.state['number']}.")]

    async def _finalize(self, view: StageView) -> None:
        assert view.result is not None
        assert view.result.text.startswith(f"{view.state['number']}:")

    async def _slow(self, request: PolicyRequest) -> PolicyVerdict:
        await asyncio.sleep(0.001 * (request.arguments["number"] % 3))
        return ALLOW

    async def _asks(self, request: PolicyRequest) -> PolicyVerdict:
        return PolicyVerdict.ALLOW if request.arguments["number"] % 2 else ASK("even numbers are asked")


async def approver(request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
    """Says yes, after a while."""
    await asyncio.sleep(0)
    return True


async def crowd() -> dict[str, Any]:
    """What became of all of them; every count is checked by the caller."""
    provider, working = Provider(), {"entered": 0, "left": 0}

    async def work(number: int) -> str:
        working["entered"] += 1
        try:
            await asyncio.sleep(60 if number % 6 == 5 else 0.002)
            return f"worked on {number}"
        finally:
            working["left"] += 1

    agent = Agent(provider, tools=[work], capabilities=[Everything()], approver=approver)
    before = dict(vars(agent))
    ends: dict[str, int] = {}

    async def one(number: int) -> None:
        named: Mapping[str, Any] = {"state": {"number": number}, "session_id": str(number)}
        expected = f"{number}: ['worked on {number}']"
        how = ("run", "stream", "break", "aclose", "forget", "cancel in the tool")[number % 6]
        if how == "run":
            assert (await agent.run(str(number), **named)).text == expected
        elif how == "stream":
            events = [event async for event in agent.stream(str(number), **named)]
            assert [event.index for event in events] == list(range(len(events)))
            assert events[-1].result is not None
            assert events[-1].result.text == expected
        elif how == "cancel in the tool":
            task: asyncio.Task[Any] = asyncio.create_task(agent.run(str(number), **named))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
        else:
            stream = agent.stream(str(number), **named)
            async with aclosing(stream) if how == "aclose" else _nothing():
                async for event in stream:
                    if event.index == number % 5:
                        break
            del stream
        ends[how] = ends.get(how, 0) + 1

    await asyncio.gather(*[one(number) for number in range(CROWD)])
    gc.collect()
    for _ in range(50):
        await asyncio.sleep(0.001)
    return {
        "ends": ends,
        "tasks": len(asyncio.all_tasks()) - 1,
        "streams left open": provider.opened - provider.closed,
        "tools left open": working["entered"] - working["left"],
        "tools": working["entered"],
        "unchanged": before == vars(agent),
    }


class _nothing:  # noqa: N801
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *exception: object) -> None: ...


if __name__ == "__main__":
    print(json.dumps(asyncio.run(crowd())))
