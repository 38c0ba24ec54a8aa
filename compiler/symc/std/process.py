"""``process``: the body runs in worker processes on this machine (docs/extending.md, docs/variants.md V33).

One job at a time and worker, as lines of JSON over the worker's stdin and stdout. A worker that does not stop when it is
told to is killed with all it started; one whose stdin closes, because this process ended, ends as well.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.jobs import Job, answer_of
from symc.runtime.layers import given
from symc.runtime.sites import Site, current_site

__all__ = ["process"]

GRACE: Final = 0.5
"""Seconds that a cancelled job has to stop, before its process is killed."""

CLOSING: Final = 5.0
"""Seconds that a worker has to close what it opened, before it is killed."""

LONGEST: Final = 64 * 1024 * 1024
"""Bytes of the longest answer that a worker can give."""

_BOOT: Final = (
    "import json, sys\n"
    "start = json.loads(sys.argv[1])\n"
    "sys.path[:] = start['path']\n"
    "from symc.std.process_worker import serve\n"
    "serve(start['lock'], start['root'])\n"
)
"""What a worker starts with: the same modules are found as here, and no variable says so to what it starts."""


def process(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that has its calls made in one of `workers` processes, each within `timeout` seconds.

    Workers start when they are needed. While all of them work, `queue` calls may wait; one more is refused.
    """
    site = current_site()
    crew = Crew(
        site=site,
        size=config.get("workers", 2),
        timeout=config.get("timeout", 60),
        queue=config.get("queue", 100),
    )
    site.at_close(crew.close)

    @functools.wraps(func)
    async def relocated(**arguments: Any) -> str:
        return await crew.call(Job.of(site, given(arguments)))

    return relocated


class WorkerLostError(Exception):
    """The worker process ended before it answered."""


class NotBegunError(WorkerLostError):
    """The worker process ended before it took the job: it may be given to another one."""


@dataclass(slots=True, kw_only=True)
class Crew:
    """The workers of one layer: at most `size` processes, started when they are needed."""

    site: Site
    size: int
    timeout: float
    queue: int
    _free: asyncio.Semaphore = field(init=False)
    _waiting: int = 0
    _idle: list[Worker] = field(default_factory=list)
    _hired: set[Worker] = field(default_factory=set)
    _closed: bool = False

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.size)

    async def call(self, job: Job) -> str:
        """The answer of the job; what is not answered within the deadline is stopped, and is an error."""
        if self._free.locked() and self._waiting >= self.queue:
            raise RefusedError(
                Reason.TOOL_ERROR, f"the queue is full: {self._waiting} calls wait for {self.size} workers"
            )
        try:
            async with asyncio.timeout(self.timeout) as deadline:
                self._waiting += 1
                try:
                    await self._free.acquire()
                finally:
                    self._waiting -= 1
                try:
                    return answer_of(await self._work(job.to_json()))
                finally:
                    self._free.release()
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise TimeoutError(f"no answer of a worker within {self.timeout:g} s") from error

    async def close(self) -> None:
        """End every worker; each has the time to close what it opened."""
        self._closed = True
        await asyncio.gather(*[worker.end() for worker in self._hired])

    async def _work(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        while True:
            worker, is_new = await self._hire()
            try:
                answer = await worker.perform(job)
            except BaseException as error:
                # The place is free again only once the work has stopped, however often this is cancelled.
                await _to_the_end(self._stop(worker))
                if isinstance(error, NotBegunError) and not is_new:
                    continue  # it ended while it waited for work; nothing was done
                raise
            self._idle.append(worker)
            return answer

    async def _hire(self) -> tuple[Worker, bool]:
        """A worker for one job, and whether it was started for it."""
        while self._idle:
            worker = self._idle.pop()
            if worker.lives:
                return worker, False
            await worker.kill()  # what it started may be left
            self._hired.discard(worker)
        if self._closed:
            raise RefusedError(Reason.TOOL_ERROR, "the agent is closed")
        worker = await Worker.start(self.site)
        self._hired.add(worker)
        return worker, True

    async def _stop(self, worker: Worker) -> None:
        if await worker.cancel():
            self._idle.append(worker)
        else:
            self._hired.discard(worker)


@dataclass(slots=True, eq=False)
class Worker:
    """One worker process; it does one job at a time."""

    process: asyncio.subprocess.Process
    _numbers: count[int] = field(default_factory=count)
    _current: int = -1
    _has_begun: bool = False

    @classmethod
    async def start(cls, site: Site) -> Worker:
        """A new process, which will find the modules and the lock of this one."""
        start = {
            "path": [str(Path(entry).absolute()) for entry in sys.path],
            "lock": str(site.lock),
            "root": str(site.root),
        }
        worker = cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _BOOT,
                json.dumps(start),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST,
                start_new_session=True,  # a group of its own: killed as a whole, and deaf to Ctrl-C in the terminal
            )
        )
        if site.environ is not os.environ:
            # By the pipe: what a process is started with can be read by others on the machine.
            worker._send({"environ": dict(site.environ)})
        return worker

    @property
    def lives(self) -> bool:
        """Whether the process is there; one that has ended is known before the loop has heard of it."""
        if self.process.returncode is not None or self._stdout.at_eof():
            return False
        if not hasattr(os, "waitid"):  # pragma: no cover - not on every system
            return True
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:  # it was waited for already
            return False

    async def perform(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """What becomes of the job; `WorkerLostError` when the process ends first, `NotBegunError` before it began."""
        self._current = next(self._numbers)
        self._has_begun = False
        self._send({"call": self._current, "job": job})
        with suppress(ConnectionError):  # its end is seen below
            await self._stdin.drain()
        return await self._answered()

    async def cancel(self) -> bool:
        """Stop the job under way; whether the process can go on with others. It is killed when it cannot."""
        try:
            async with asyncio.timeout(GRACE):
                self._send({"cancel": self._current})
                await self._answered()
        except (TimeoutError, WorkerLostError, ValueError):
            await self.kill()
            return False
        return True

    async def end(self) -> None:
        """Have the process close what it opened and end; kill it when it takes too long."""
        self._stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the process and all that it started, and wait for its end."""
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:  # pragma: no cover - Windows
                self.process.kill()
        self._stdin.close()
        while await self._stdout.read(65536):
            pass  # what was on the way is for nobody
        await self.process.wait()

    async def _answered(self) -> Mapping[str, Any]:
        while True:
            try:
                line = await self._stdout.readline()
            except ValueError:
                raise ValueError(f"the answer has more than {LONGEST} bytes") from None
            if not line.endswith(b"\n"):
                await self.kill()
                raise self._lost()
            message = json.loads(line)
            if message["call"] != self._current:
                continue
            if "begun" in message:
                self._has_begun = True
            else:
                return message  # type: ignore[no-any-return]

    def _lost(self) -> WorkerLostError:
        code = self.process.returncode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        if not self._has_begun:
            return NotBegunError(f"the worker ended with {how} before it took the call")
        return WorkerLostError(
            f"the worker ended with {how} in mid-call; what the call has done by then is not known"
        )

    def _send(self, message: Mapping[str, Any]) -> None:
        self._stdin.write(json.dumps(message).encode() + b"\n")

    @property
    def _stdin(self) -> asyncio.StreamWriter:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def _stdout(self) -> asyncio.StreamReader:
        assert self.process.stdout is not None
        return self.process.stdout


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for the work; a cancellation meanwhile is let through after it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
