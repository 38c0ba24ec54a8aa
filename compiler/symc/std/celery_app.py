"""The Celery application behind the backend ``celery``: the same settings on both sides, and the one task."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from celery import Celery, Task
from celery.signals import worker_process_init, worker_process_shutdown

from symc.runtime import LoadedLock, load
from symc.runtime.jobs import failure, perform
from symc.runtime.workshop import Workshop

__all__ = ["DEFAULT_QUEUE", "TASK", "app_of", "register", "results_of"]

TASK: Final = "symc.job"
"""The name of the task, in every deployment."""

DEFAULT_QUEUE: Final = "symc"

CONNECTING: Final = 3.0
"""Seconds to reach a broker or a result store."""

RESULTS_KEPT: Final = 3600
"""Seconds after which a result that nobody fetched is dropped."""

ORPHANED: Final = 0.5
"""Seconds between two looks whether the worker that started this process is still there."""


def results_of(broker: str, results: str | None) -> str:
    """Where results are kept: what is said, else the broker where it can keep them; ValueError where it cannot."""
    if results is not None:
        return results
    address = urlsplit(broker)
    if address.scheme == "filesystem":
        return f"file://{address.path}/results"
    if address.scheme in ("redis", "rediss", "unix", "redis+socket", "sentinel"):
        return broker
    raise ValueError(
        f"a broker of the kind {address.scheme} keeps no results: give `results`, such as redis://…"
    )


def app_of(broker: str, results: str | None, queue: str) -> Celery:
    """An application with these addresses and JSON only; nothing is connected. `results` None: it fetches none."""
    app = Celery("symc", broker=broker, backend=results, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        result_serializer="json",
        accept_content=["json"],
        result_accept_content=["json"],
        task_default_queue=queue,
        task_acks_late=False,
        # A worker takes what it can begin: a job does not wait behind a long one while another worker is idle.
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=urlsplit(broker).scheme.startswith("redis"),
        result_expires=RESULTS_KEPT,
        worker_hijack_root_logger=False,
        broker_connection_timeout=CONNECTING,
        broker_connection_retry_on_startup=True,
        broker_transport_options=_transport_options(broker),
        redis_socket_connect_timeout=CONNECTING,
        redis_socket_timeout=CONNECTING,
        result_backend_transport_options={"retry_policy": {"max_retries": 2, "interval_start": 0.1}},
    )
    return app


def _transport_options(broker: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        # A broker that is away is an error of the call, and no reason to try for ever.
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        "interval_max": 0.1,
    }
    address = urlsplit(broker)
    if address.scheme == "filesystem":
        folders = {key: Path(address.path) / key for key in ("queue", "control", "processed", "results")}
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        options |= {
            "data_folder_in": str(folders["queue"]),
            "data_folder_out": str(folders["queue"]),
            "control_folder": str(folders["control"]),
            "processed_folder": str(folders["processed"]),
            "polling_interval": 0.05,
        }
    elif address.scheme.startswith("redis"):
        options |= {"socket_connect_timeout": CONNECTING, "socket_keepalive": True}
    return options


def register(
    app: Celery, lock: str | os.PathLike[str] | LoadedLock, *, root: str | os.PathLike[str] | None = None
) -> Task:
    """Add the task to an application of yours; its workers then do the jobs of this lock.

    Raises `DiagnosedError` for a lock that cannot be loaded. `root` is the working folder of servers (default: the
    folder of the lock). Only the prefork pool can kill a job that is cancelled.
    """
    shop = _Shop(lock if isinstance(lock, LoadedLock) else load(lock), None if root is None else Path(root))
    worker_process_init.connect(shop.watch_parent, weak=False)
    worker_process_shutdown.connect(shop.close, weak=False)
    task: Task = app.task(name=TASK, ignore_result=False)(shop.do)
    return task


class _Shop:
    """The workshop of one worker process, on a loop of its own that runs between jobs, too."""

    def __init__(self, loaded: LoadedLock, root: Path | None) -> None:
        self._loaded = loaded
        self._root = root
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workshop: Workshop | None = None

    def do(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The body of the task."""
        try:
            with self._starting:
                loop = self._loop or self._start()
            return asyncio.run_coroutine_threadsafe(self._perform(job), loop).result()
        except Exception as error:
            return failure(error)

    def close(self, **_signal: object) -> None:
        """Close what was opened, when the worker shuts down."""
        if self._loop is not None and self._workshop is not None:
            asyncio.run_coroutine_threadsafe(self._workshop.close(), self._loop).result()

    def watch_parent(self, **_signal: object) -> None:
        """End this process when the worker that started it is gone: nobody could take its results."""
        parent = os.getppid()

        def watch() -> None:
            while os.getppid() == parent:
                time.sleep(ORPHANED)
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()

    def _start(self) -> asyncio.AbstractEventLoop:
        loop = self._loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        return loop

    async def _perform(self, job: Mapping[str, Any]) -> dict[str, Any]:
        if self._workshop is None:
            self._workshop = Workshop(self._loaded, root=self._root)
        return await perform(self._workshop, job)
