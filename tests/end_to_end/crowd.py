"""Two hundred runs of the example at once, on its real server: half abandoned or cancelled, some of them inside tools.

A program as well as a test's scenario: `python -X dev -W error -m tests.end_to_end.crowd LOCK` prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import psutil

from symc import ToolCall
from symc.runtime import load
from symc.runtime.model import ModelOutput, ModelRequest, ModelResponse, TextDelta
from tests.end_to_end.desk import terms

CROWD = 200

ANSWERS = ("Ada Byron", "mower-blades", "refunded", "mower", "from the manuals")


class Desk:
    """A model that calls one tool, chosen by the prompt's number, and repeats its answer; its streams must be closed."""

    vendor = "anthropic"

    def __init__(self) -> None:
        self.opened = self.closed = 0

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        self.opened += 1
        try:
            text = request.messages[0].text
            told = [message.text for message in request.messages if message.role == "tool"]
            await asyncio.sleep(0)
            if "from the parent" in text:
                yield ModelResponse(text=f"{text}: from the manuals")
            elif told:
                for word in ("the ", "answer"):
                    yield TextDelta(word)
                yield ModelResponse(text=f"{text}: {told[0]}")
            else:
                yield ModelResponse(tool_calls=(_call(int(text)),))
        finally:
            self.closed += 1


def _call(number: int) -> ToolCall:
    made: list[tuple[str, dict[str, Any]]] = [
        ("lookup_customer_cache_audit", {"key": "C-17"}),
        ("read_manual", {"article": "mower-blades"}),
        ("refund", {"order": "O-1001", "amount": 1}),
        ("list_orders_batch", {"calls": [{"customer": "C-17"}] * 3}),
        ("ask_researcher", {"message": f"{number} from the parent"}),
    ]
    return ToolCall("same", *made[number % 5])


async def person(request: Any, reasons: tuple[str, ...]) -> bool:
    """Says yes, after a while."""
    await asyncio.sleep(0.001)
    return True


async def crowd(path: str) -> dict[str, Any]:
    """What became of all of them."""
    desk, ends = Desk(), {"run": 0, "stream": 0, "break": 0, "cancel": 0}
    async with load(path).open("support", provider=desk, approver=person, **terms()) as agent:
        before = dict(vars(agent))

        async def one(number: int) -> None:
            how = list(ends)[number % 4]
            if how == "run":
                text = (await agent.run(str(number))).text
                assert text.startswith(f"{number}: "), text
                assert number % 5 in (1, 4) or ANSWERS[number % 5] in text, text
            elif how == "stream":
                events = [event async for event in agent.stream(str(number))]
                assert [event.index for event in events] == list(range(len(events)))
                result = events[-1].result
                assert result is not None
                assert result.text.startswith(f"{number}: ")
            elif how == "break":
                async for event in agent.stream(str(number)):
                    if event.index == number % 3:
                        break
            else:
                task: asyncio.Task[Any] = asyncio.create_task(agent.run(str(number)))
                await asyncio.sleep(0.002 * (number % 7))
                task.cancel()
                await asyncio.wait([task])
            ends[how] += 1

        await asyncio.gather(*[one(number) for number in range(CROWD)])
        unchanged = before == vars(agent)
    gc.collect()
    for _ in range(50):
        await asyncio.sleep(0.001)
    return {
        "ends": ends,
        "tasks": len(asyncio.all_tasks()) - 1,
        "streams left open": desk.opened - desk.closed,
        "processes": len(psutil.Process().children(recursive=True)),
        "unchanged": unchanged,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(crowd(sys.argv[1]))))
