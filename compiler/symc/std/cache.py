"""``cache``: an answer that was given lately is given again, and equal calls under way are one (docs/extending.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

import makefun
from cachetools import TTLCache

from symc.canonical import canonical_bytes
from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.layers import OMITTED, given

__all__ = ["cache"]

Clock = Callable[[], float]


def cache(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that remembers answers by their arguments, for `ttl` seconds; errors are not remembered.

    Its parameter `exp` says how old an answer may be, in seconds: 0 asks anew (and remembers the new answer).
    """
    answers = Answers(ttl=config.get("ttl", 300), max_entries=config.get("max_entries", 1024))

    async def cached(**arguments: Any) -> str:
        asked = given(arguments)
        exp: float | None = asked.pop("exp", None)
        return await answers.of(canonical_bytes(asked), exp, lambda: func(**asked))

    layer: LayerCallable = makefun.with_signature(
        _with_exp(func), func_name=name if name.isidentifier() else "cached", doc=description
    )(cached)
    return layer


def _with_exp(func: LayerCallable) -> Any:
    """The signature of `func` and `exp`, which a call may leave out."""
    received = signature(func)
    exp = Parameter("exp", Parameter.KEYWORD_ONLY, default=OMITTED)
    kept = list(received.parameters.values())
    at = len(kept) - any(one.kind is Parameter.VAR_KEYWORD for one in kept)
    return received.replace(parameters=[*kept[:at], exp, *kept[at:]])


@dataclass(slots=True)
class _Flight:
    """A call under way, and how many wait for its answer."""

    task: asyncio.Task[str]
    waiting: int = 0


@dataclass(slots=True)
class Answers:
    """Answers with the time they were given, at most `max_entries`, none older than `ttl` seconds."""

    ttl: float
    max_entries: int
    clock: Clock = time.monotonic
    _kept: TTLCache[bytes, tuple[float, str]] = field(init=False)
    _flights: dict[bytes, _Flight] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kept = TTLCache(self.max_entries, self.ttl, timer=self.clock)

    async def of(self, key: bytes, exp: float | None, ask: Callable[[], Awaitable[str]]) -> str:
        """The answer for `key`, at most `exp` seconds old; `ask` makes a new one where none is kept."""
        kept = self._kept.get(key)
        if kept is not None and (exp is None or (exp > 0 and self.clock() - kept[0] <= exp)):
            return kept[1]
        flight = self._flights.get(key)
        if flight is None:
            return await self._joined(key, self._start(key, ask))
        try:
            return await self._joined(key, flight)
        except RefusedError as refused:
            # What a gate refuses to one caller says nothing about another: it may ask for itself.
            if refused.reason is Reason.TOOL_ERROR:
                raise
            return await ask()

    def _start(self, key: bytes, ask: Callable[[], Awaitable[str]]) -> _Flight:
        async def fly() -> str:
            try:
                answer = await ask()
                self._kept[key] = (self.clock(), answer)
                return answer
            finally:
                self._forget(key, flight)

        flight = self._flights[key] = _Flight(asyncio.ensure_future(fly()))
        return flight

    def _forget(self, key: bytes, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _joined(self, key: bytes, flight: _Flight) -> str:
        flight.waiting += 1
        try:
            # Shielded: one that is cancelled leaves the call to the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight)  # nobody joins what is being cancelled
                flight.task.cancel()
                await asyncio.gather(flight.task, return_exceptions=True)
