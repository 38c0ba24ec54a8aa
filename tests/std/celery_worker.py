"""A real Celery worker in a process of its own, as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

READY = 40.0


@contextmanager
def worker(lock: Path, *options: str, log: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """The worker while the block lasts; it is ready when the block begins."""
    # Both the pool's processes and the worker are found by the group.
    command = [
        sys.executable,
        "-m",
        "symc.cli",
        "worker",
        "--backend",
        "celery",
        "--lock",
        str(lock),
        *options,
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(Path.cwd()), **environ},
        )
    try:
        end = time.monotonic() + READY
        while "symc worker: ready" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
