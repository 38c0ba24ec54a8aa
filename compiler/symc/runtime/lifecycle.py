"""Lifecycle: install and teardown hooks, extension by extension, and all else that closing undoes (docs/contracts.md X-20)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from symc.composition import Composition, Extension, Hook
from symc.contracts.errors import ContractViolationError
from symc.contracts.names import split_reference

__all__ = ["Closing", "HookError", "TeardownError", "Unit", "install", "units"]

Undo = Callable[[], Awaitable[None] | None]


class HookError(Exception):
    """An install hook raised; its cause is what it raised."""

    def __init__(self, extension: str, hook_id: str, error: BaseException) -> None:
        super().__init__(f'hook "{extension}/{hook_id}" raises {_said(error)}')
        self.extension = extension
        self.hook_id = hook_id


class TeardownError(ContractViolationError):
    """The agent is closed, and some of what closing does failed; `errors` are all failures, in the order they came.

    The first one is the cause.
    """

    code = "teardown"

    def __init__(self, failures: Iterable[tuple[str, BaseException]]) -> None:
        found = tuple(failures)
        self.errors = tuple(error for _, error in found)
        super().__init__("; ".join(f"{name} raises {_said(error)}" for name, error in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One extension's hooks, each with its id, in the order they run."""

    extension: str
    install: tuple[tuple[str, Callable[[], Any]], ...] = ()
    teardown: tuple[tuple[str, Callable[[], Any]], ...] = ()


class Closing:
    """What closing an agent undoes, the last first: each step once, every step tried, errors collected."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, Undo]] = []

    def add(self, name: str, undo: Undo) -> None:
        """Undo this, too, before all that was added earlier; `name` is what messages call it."""
        self._steps.append((name, undo))

    async def run(self) -> tuple[tuple[str, BaseException], ...]:
        """Undo everything, and answer what failed.

        Runs in a task of its own: whoever is cancelled while it waits here, the steps go on to the last, and only then
        is the cancellation let through.
        """
        task = asyncio.create_task(self._undo())
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                cancelled = error
        failures = task.result()
        if cancelled is not None:
            for name, failure in failures:
                cancelled.add_note(f"while closing, {name} raised {_said(failure)}")
            raise cancelled
        return failures

    async def _undo(self) -> tuple[tuple[str, BaseException], ...]:
        failures: list[tuple[str, BaseException]] = []
        while self._steps:
            name, undo = self._steps.pop()
            try:
                await _awaited(undo())
            except (Exception, asyncio.CancelledError) as error:
                failures.append((name, error))
        return tuple(failures)


async def install(found: Iterable[Unit], closing: Closing) -> None:
    """Run the install hooks of every unit in order; `closing` learns each unit's teardowns before its installs begin.

    Raises `HookError` for the first hook that fails: closing then runs the teardowns of its unit and of those before.
    """
    for unit in found:
        # Undone in reverse: the last hook of the unit's teardown is added first.
        for hook_id, run in reversed(unit.teardown):
            closing.add(f'hook "{unit.extension}/{hook_id}"', run)
        for hook_id, run in unit.install:
            try:
                await _awaited(run())
            except Exception as error:
                raise HookError(unit.extension, hook_id, error) from error


def units(
    compositions: Iterable[Composition],
    hook: Callable[[Extension, Hook], Callable[[], Any]],
    *,
    only: str | None = None,
) -> tuple[Unit, ...]:
    """The units of all these agents (or of one extension) in composed order, an extension that several use once.

    `hook` gives the callable of each hook.
    """
    extensions: dict[str, Extension] = {}
    installs: dict[str, tuple[str, ...]] = {}
    teardowns: dict[str, tuple[str, ...]] = {}
    for composition in compositions:
        agent = composition.agent
        for name in agent.extensions if only is None else {only}.intersection(agent.extensions):
            extensions[name] = composition.extensions[name]
            installs[name] = _of(name, agent.install)
            teardowns[name] = _of(name, agent.teardown)
    return tuple(
        Unit(
            extension=name,
            install=_bound(extensions[name], installs[name], hook),
            teardown=_bound(extensions[name], teardowns[name], hook),
        )
        for name in _composed_order(extensions)
    )


def _of(extension: str, joined_ids: tuple[str, ...]) -> tuple[str, ...]:
    split = map(split_reference, joined_ids)
    return tuple(hook_id for owner, hook_id in split if owner == extension)


def _bound(
    extension: Extension, ids: tuple[str, ...], hook: Callable[[Extension, Hook], Callable[[], Any]]
) -> tuple[tuple[str, Callable[[], Any]], ...]:
    return tuple((hook_id, hook(extension, extension.hooks[hook_id])) for hook_id in ids)


def _composed_order(extensions: Mapping[str, Extension]) -> tuple[str, ...]:
    """Each after all it requires, then by name."""
    waits = {
        name: {required.partition(" ")[0] for required in extension.requires} & extensions.keys()
        for name, extension in extensions.items()
    }
    free = [name for name, others in waits.items() if not others]
    heapify(free)
    order: list[str] = []
    while free:
        order.append(heappop(free))
        for name, others in waits.items():
            if order[-1] in others:
                others.remove(order[-1])
                if not others:
                    heappush(free, name)
    return tuple(order)


async def _awaited(answer: object) -> None:
    if inspect.isawaitable(answer):
        await answer


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
