"""The tools behind the workspaces of these tests; in a worker they leave their traces in files."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

calls: list[dict[str, Any]] = []
"""The calls that reached a tool of this process; each test starts with none."""

answers: list[Any] = []
"""What `scripted` answers, in order; an exception is raised."""


async def echo(arguments: Mapping[str, Any]) -> str:
    """Answer the arguments."""
    calls.append(dict(arguments))
    return json.dumps(arguments, sort_keys=True)


async def counted(arguments: Mapping[str, Any]) -> str:
    """Answer how many calls there were."""
    calls.append(dict(arguments))
    return str(len(calls))


async def scripted(arguments: Mapping[str, Any]) -> str:
    """Answer the next of `answers`."""
    calls.append(dict(arguments))
    answer = answers.pop(0)
    if isinstance(answer, BaseException):
        raise answer
    return str(answer)


async def slow(arguments: Mapping[str, Any]) -> str:
    """Answer after `seconds`; say in the file `trace` when it began, and when it ended or was cancelled."""
    trace = Path(arguments["trace"]) if arguments.get("trace") else None
    _note(trace, f"begun {os.getpid()}")
    try:
        await asyncio.sleep(arguments["seconds"])
    except asyncio.CancelledError:
        _note(trace, "cancelled")
        raise
    _note(trace, "ended")
    return "slept"


async def late_echo(arguments: Mapping[str, Any]) -> str:
    """Answer `seconds` after that many."""
    await asyncio.sleep(arguments["seconds"])
    calls.append(dict(arguments))
    return str(arguments["seconds"])


async def stuck(arguments: Mapping[str, Any]) -> str:
    """Block the process for `seconds`, deaf to cancellation, and say so in the file `trace`."""
    _note(Path(arguments["trace"]), f"begun {os.getpid()}")
    time.sleep(arguments["seconds"])
    _note(Path(arguments["trace"]), "ended")
    return "woke"


async def append(arguments: Mapping[str, Any]) -> str:
    """Add a line to the file `trace`, and answer the process."""
    _note(Path(arguments["trace"]), arguments["line"])
    return str(os.getpid())


async def pid(arguments: Mapping[str, Any]) -> str:
    """Answer the number of the process."""
    return str(os.getpid())


async def die(arguments: Mapping[str, Any]) -> str:
    """End the process without a word."""
    os._exit(9)


async def fail(arguments: Mapping[str, Any]) -> str:
    """Raise."""
    raise LookupError("no such row")


async def shout(arguments: Mapping[str, Any]) -> str:
    """Print, as careless code does, and answer."""
    print("noise on stdout", flush=True)
    os.write(1, b"more noise\n")
    return "said"


async def fetch(arguments: Mapping[str, Any]) -> str:
    """GET `url` with the client named `client`, as a tool does that knows of no proxy."""
    if arguments["client"] == "httpx2":
        import httpx2

        async with httpx2.AsyncClient() as client:
            return (await client.get(arguments["url"])).text
    from urllib.request import urlopen

    def read() -> str:
        with urlopen(arguments["url"], timeout=5) as answer:
            return str(answer.read().decode())

    return await asyncio.to_thread(read)


async def variable(arguments: Mapping[str, Any]) -> str:
    """Answer a variable of the environment."""
    return os.environ.get(arguments["name"], "not set")


def install() -> None:
    """Install hook: say in the file of `STD_TRACE` that this process opened."""
    _note(_trace(), f"install {os.getpid()}")


def teardown() -> None:
    """Teardown hook: say that it closed."""
    _note(_trace(), f"teardown {os.getpid()}")


def _trace() -> Path | None:
    return Path(os.environ["STD_TRACE"]) if "STD_TRACE" in os.environ else None


def _note(trace: Path | None, line: str) -> None:
    if trace is not None:
        with trace.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


async def late_variable(arguments: Mapping[str, Any]) -> str:
    """Answer a variable of the environment after a while."""
    await asyncio.sleep(0.03)
    return os.environ.get(arguments["name"], "not set")


def install_here_only() -> None:
    """Install hook: raise in every process but the one of `STD_HERE`."""
    if os.environ["STD_HERE"] != str(os.getpid()):
        raise RuntimeError("not in a worker")
