"""A run as a stream: hands the kernel's events to whoever iterates, and ends the run with the iteration (F-45)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from symc.runtime.events import AgentEvent

__all__ = ["Channel", "follow"]


class Channel:
    """One event at a time, from the kernel's task to the consumer's.

    The kernel waits in `taken` until the consumer has come back for more: nothing runs ahead of who watches it.
    """

    __slots__ = ("_consumer", "_events", "_producer")

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque()
        self._producer: asyncio.Future[None] | None = None
        self._consumer: asyncio.Future[None] | None = None

    def put(self, event: AgentEvent) -> None:
        """Hand an event over without waiting."""
        self._events.append(event)
        self.wake()

    async def taken(self) -> None:
        """Wait until every event is taken and the next one asked for."""
        self._producer = asyncio.get_running_loop().create_future()
        await self._producer

    def wake(self, _ended: object = None) -> None:
        """Let the consumer look again."""
        if self._consumer is not None and not self._consumer.done():
            self._consumer.set_result(None)

    async def next(self, run: asyncio.Task[Any]) -> AgentEvent | None:
        """The next event; None when the run has ended and nothing is left."""
        if not self._events and self._producer is not None and not self._producer.done():
            self._producer.set_result(None)
        while not self._events:
            if run.done():
                return None
            self._consumer = asyncio.get_running_loop().create_future()
            await self._consumer
        return self._events.popleft()


async def follow(start: Callable[[Channel], Coroutine[Any, Any, object]]) -> AsyncGenerator[AgentEvent, None]:
    """The events of the run that `start` makes, up to the terminal one.

    The run lives in one task, made with the first step and gone with the last: leaving the iteration at any point
    (`break`, an exception, cancellation, forgetting the iterator) cancels it and waits for its end. What the run
    raises is in its `error` event.
    """
    channel = Channel()
    run = asyncio.create_task(start(channel))
    run.add_done_callback(channel.wake)
    try:
        while (event := await channel.next(run)) is not None:
            yield event
    finally:
        run.add_done_callback(_retrieve)
        if not run.done():
            run.cancel()
            await asyncio.wait([run])


def _retrieve(run: asyncio.Task[Any]) -> None:
    """Look at the exception, so that the loop does not report it: the error event has carried it."""
    if not run.cancelled():
        run.exception()
