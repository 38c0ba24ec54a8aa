"""A Redis of the system packages, on a free loopback port, stopped and started at will."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

needs_redis = [
    pytest.mark.ci,
    pytest.mark.skipif(
        not os.environ.get("CI"),
        reason="needs redis-server (apt-get install redis-server) and minutes; set CI=true to run it",
    ),
]
"""The marks of tests that start one."""


class RedisServer:
    """One server; it forgets everything when it stops."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "save": "",
            "appendonly": "no",
            "dir": self._folder,
        }
        self._process = subprocess.Popen(
            ["redis-server", *[word for key, value in options.items() for word in (f"--{key}", str(value))]],
            stdout=subprocess.DEVNULL,
        )
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert time.monotonic() < end, "redis-server does not start"
                time.sleep(0.02)
            else:
                return

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None
