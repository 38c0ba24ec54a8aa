"""``celery``: the body runs in the workers of a Celery deployment (docs/extending.md, docs/variants.md V33).

A job is one message of the task `symc.job`: acknowledged before it runs, so that it runs at most once; gone when its
deadline has passed; killed with its process when the deadline comes or the call is cancelled.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.jobs import Job, answer_of
from symc.runtime.layers import given
from symc.runtime.sites import Site, current_site
from symc.std.celery_app import DEFAULT_QUEUE, TASK, app_of, results_of

__all__ = ["celery"]

SOONEST: Final = 0.005
LATEST: Final = 0.1
"""Seconds between two looks for results: few while answers come, more while none does."""

LEAVING: Final = 3.0
"""Seconds that closing waits for revocations to go out."""


def celery(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that sends its calls to the `queue` of a `broker`, each to be answered within `timeout` seconds.

    Workers are started with `symc worker --backend celery`, or by a Celery deployment of yours that has the task
    (`symc.std.celery_app.register`). Nothing is connected before the first call.
    """
    site = current_site()
    broker = config["broker"]
    post = Post(
        site=site,
        broker=broker,
        results=results_of(broker, config.get("results")),
        queue=config.get("queue", DEFAULT_QUEUE),
        timeout=config.get("timeout", 60),
    )
    site.at_close(post.close)

    @functools.wraps(func)
    async def relocated(**arguments: Any) -> str:
        return await post.call(Job.of(site, given(arguments)))

    return relocated


class BrokerError(Exception):
    """The broker, or the result store, cannot be reached."""


@dataclass(slots=True, kw_only=True)
class Post:
    """Sends the jobs of one layer, and fetches what becomes of them.

    Celery's clients block: one thread sends and revokes, in order, another one fetches.
    """

    site: Site
    broker: str
    results: str
    queue: str
    timeout: float
    _sender: ThreadPoolExecutor = field(init=False)
    _fetcher: ThreadPoolExecutor = field(init=False)
    _sending: Any = None
    _fetching: Any = None
    _under_way: dict[str, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)
    _looking: asyncio.Task[None] | None = None
    _store_error: str = ""
    _closed: bool = False

    def __post_init__(self) -> None:
        self._sender = ThreadPoolExecutor(1, "symc-celery-send")
        self._fetcher = ThreadPoolExecutor(1, "symc-celery-fetch")

    async def call(self, job: Job) -> str:
        """The answer of the job; one that does not come within the deadline is revoked, and is an error."""
        if self._closed:
            raise RefusedError(Reason.TOOL_ERROR, "the agent is closed")
        number = str(uuid4())
        answered = self._under_way[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self.timeout) as deadline:
                try:
                    await self._in(self._sender, self._send, number, job.to_json())
                except Exception as error:
                    raise BrokerError(f"the broker cannot be reached: {type(error).__name__}") from error
                self._look()
                meta = await answered
        except BaseException as error:
            if not self._closed:  # else it is revoked already
                self._sender.submit(self._revoke, number)
            if isinstance(error, TimeoutError) and deadline.expired():
                why = (
                    f"; the result store cannot be reached: {self._store_error}" if self._store_error else ""
                )
                raise TimeoutError(f"no answer of a worker within {self.timeout:g} s{why}") from error
            raise
        finally:
            del self._under_way[number]
        return _answer_in(meta)

    async def close(self) -> None:
        """Revoke what is under way, and leave broker and result store."""
        self._closed = True
        for number, answered in self._under_way.items():
            self._sender.submit(self._revoke, number)
            if not answered.done():
                answered.set_exception(RefusedError(Reason.TOOL_ERROR, "the agent was closed in mid-call"))
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        for thread, app in ((self._sender, "_sending"), (self._fetcher, "_fetching")):
            thread.submit(self._leave, app)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(thread.shutdown), LEAVING)

    def _look(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_for_results())

    async def _look_for_results(self) -> None:
        pause = SOONEST
        while self._under_way:
            await asyncio.sleep(pause)
            try:
                found = await self._in(self._fetcher, self._fetch, tuple(self._under_way))
                self._store_error = ""
            except Exception as error:
                # It may come back within the deadlines of the calls.
                found, self._store_error = {}, type(error).__name__
            for number, meta in found.items():
                answered = self._under_way.get(number)
                if answered is not None and not answered.done():
                    answered.set_result(meta)
            pause = SOONEST if found else min(pause * 1.3, LATEST)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(thread, work, *arguments)

    # in the sending thread

    def _send(self, number: str, job: Mapping[str, Any]) -> None:
        if self._sending is None:
            # Without a result store: the client of a task would subscribe to each result, which `_fetch` does not need.
            self._sending = app_of(self.broker, None, self.queue)
        self._sending.send_task(
            TASK,
            args=[job],
            task_id=number,
            queue=self.queue,
            expires=self.timeout,
            time_limit=self.timeout,
            retry=False,
        )

    def _revoke(self, number: str) -> None:
        with suppress(Exception):  # with the broker away, the deadline ends the work
            if self._sending is not None:
                self._sending.control.revoke(number, terminate=True, signal="SIGKILL")

    # in the fetching thread

    def _fetch(self, numbers: Collection[str]) -> dict[str, Mapping[str, Any]]:
        if self._fetching is None:
            self._fetching = app_of(self.broker, self.results, self.queue)
        store = self._fetching.backend
        found = dict(store.get_many(set(numbers), interval=0, max_iterations=1))
        for number in found:
            store.forget(number)
        return found

    def _leave(self, app: str) -> None:
        if getattr(self, app) is not None:
            with suppress(Exception):
                getattr(self, app).close()


def _answer_in(meta: Mapping[str, Any]) -> str:
    """The answer in what the result store holds of a task."""
    if meta["status"] == "SUCCESS" and isinstance(meta["result"], Mapping):
        return answer_of(meta["result"])
    failed = meta["result"]
    if isinstance(failed, BaseException):
        kind, said = type(failed).__name__, str(failed)
    elif isinstance(failed, Mapping):
        kind, said = str(failed.get("exc_type")), str(failed.get("exc_message"))
    else:
        kind, said = "Celery", f"the task ended as {meta['status']}"
    raise RefusedError(Reason.TOOL_ERROR, f"{kind}: {said}")
