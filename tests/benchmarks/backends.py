"""What a call costs in another process: `process` and `celery` beside a direct call, with two workers.

    python -m tests.benchmarks.backends

Celery runs over a Redis of its own, and is left out where there is no `redis-server`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symc.runtime import LoadedLock
from tests.std.celery_worker import worker
from tests.std.desk import Obeying, desk, opened
from tests.std.redis_server import RedisServer

__all__ = ["BackendFigures", "measure"]

WORKERS = 2


@dataclass(frozen=True, slots=True)
class BackendFigures:
    """Seconds a call takes through a layer when the one before is answered, and calls a second when many wait."""

    one_by_one: float
    per_second: float


def measure(calls: int = 300) -> dict[str, BackendFigures]:
    """The figures of `direct`, `process` and `celery`, each over so many calls of a tool that does next to nothing.

    The workers have started, and opened the extension, before anything is measured.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        places = [Path(folder, name) for name in ("direct", "process", "celery")]
        for place in places:
            place.mkdir()
        found = {
            "direct": _figures(desk(places[0], "timeout"), "find", calls),
            "process": _figures(
                desk(places[1], {"use": "process", "config": {"workers": WORKERS, "queue": 10 * calls}}),
                "find_process",
                calls,
            ),
        }
        if shutil.which("redis-server") is not None:
            lock = stack.enter_context(_served(places[2]))
            found["celery"] = _figures(lock, "find_celery", calls)
        return found


@contextmanager
def _served(folder: Path) -> Iterator[LoadedLock]:
    server = RedisServer(folder)
    server.start()
    try:
        lock = desk(folder, {"use": "celery", "config": {"broker": server.url}})
        with ExitStack() as stack:
            for number in range(WORKERS):
                log = folder / f"log{number}"
                stack.enter_context(worker(lock.path, "--concurrency", "1", log=log))
            yield lock
    finally:
        server.stop()


def _figures(lock: LoadedLock, name: str, calls: int) -> BackendFigures:
    async def run() -> BackendFigures:
        async with opened(lock, provider=Obeying()) as agent:

            async def made(many: int) -> None:
                arguments: Mapping[str, Any] = {"key": "a"}
                result = await agent.run(json.dumps([[name, arguments]] * many))
                assert all(call.error is None for call in result.tool_calls), result.tool_calls[0].error

            async def together(many: int) -> float:
                start = time.perf_counter()
                await asyncio.gather(*[made(1) for _ in range(many)])
                return time.perf_counter() - start

            await together(20 * WORKERS)
            start = time.perf_counter()
            await made(calls)
            one_by_one = (time.perf_counter() - start) / calls
            return BackendFigures(one_by_one, calls / await together(calls))

    return asyncio.run(run())


def _main() -> None:
    figures = measure()
    direct = figures["direct"].one_by_one
    for name, each in figures.items():
        overhead = (each.one_by_one - direct) * 1e3
        print(f"{name:8} {overhead:8.2f} ms more a call, {each.per_second:8.0f} calls a second")
    json.dump({name: asdict(each) for name, each in figures.items()}, sys.stderr)


if __name__ == "__main__":
    _main()
