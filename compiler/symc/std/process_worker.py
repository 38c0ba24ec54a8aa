"""The worker of ``process``: jobs as lines of JSON on stdin, what becomes of them as lines on stdout.

A line is `{"call": N, "job": {…}}`, `{"cancel": N}`, or first of all `{"environ": {…}}`. A job is taken with
`{"call": N, "begun": true}`; its answer is `{"call": N, "answer": …}` or `{"call": N, "error": {…}}`. When stdin
ends, the worker ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final

from symc.runtime import load
from symc.runtime.jobs import CANCELLED, failure, perform
from symc.runtime.workshop import Workshop
from symc.std.logs import log_to_stderr

__all__ = ["serve"]

ENDING: Final = 5.0
"""Seconds to close everything once stdin has ended; then the process ends anyhow."""


def serve(lock: str | Path, root: str | Path | None = None) -> None:
    """Do jobs until stdin ends; what tools print goes to stderr, and stdin is empty for them."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    log_to_stderr()
    asyncio.run(_Desk(Path(lock), None if root is None else Path(root), answers).work(jobs))


class _Desk:
    """What is under way in this process."""

    def __init__(self, lock: Path, root: Path | None, answers: BinaryIO) -> None:
        self._lock = lock
        self._root = root
        self._answers = answers
        self._environ: Mapping[str, str] = os.environ
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ended = threading.Event()
        self._workshop: Workshop | None = None

    async def work(self, jobs: BinaryIO) -> None:
        """Do the jobs in these lines, and close everything at their end."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(jobs, loop), daemon=True).start()
        async with AsyncExitStack() as closing:
            while (line := await self._lines.get()) is not None:
                match json.loads(line):
                    case {"environ": environ}:
                        self._environ = environ
                    case {"cancel": number}:
                        if number in self._tasks:
                            self._tasks[number].cancel()
                    case {"call": number, "job": job}:
                        self._say({"call": number, "begun": True})
                        self._tasks[number] = loop.create_task(self._do(number, job, closing))
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._ended.set()

    def _read(self, jobs: BinaryIO, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: sees the end of stdin also while a tool blocks the loop."""
        for line in jobs:
            loop.call_soon_threadsafe(self._lines.put_nowait, line)
        loop.call_soon_threadsafe(self._lines.put_nowait, None)
        if not self._ended.wait(ENDING):
            _end_all()

    async def _do(self, number: int, job: Mapping[str, Any], closing: AsyncExitStack) -> None:
        try:
            outcome = await self._outcome(job, closing)
        except asyncio.CancelledError:
            outcome = CANCELLED
        finally:
            del self._tasks[number]
        self._say({"call": number, **outcome})

    def _say(self, message: Mapping[str, Any]) -> None:
        try:
            self._answers.write(json.dumps(message).encode() + b"\n")
            self._answers.flush()
        except BrokenPipeError:
            pass  # nobody is there any more; stdin ends, too

    async def _outcome(self, job: Mapping[str, Any], closing: AsyncExitStack) -> dict[str, Any]:
        if self._workshop is None:
            try:
                loaded = load(self._lock)
            except Exception as error:
                return failure(error)
            self._workshop = Workshop(loaded, root=self._root, environ=self._environ)
            closing.push_async_callback(self._workshop.close)
        return await perform(self._workshop, job)


def _end_all() -> None:
    """End this process and, where it leads a group, all that it started."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    sys.stderr.flush()
    os._exit(1)
