"""A server as a child process: one JSON-RPC message a line, and nothing of it left behind.

The SDK's own stdio transport hides what a person needs to know when a server fails: what it wrote to stderr, the line
that was no message, how it ended. It also leaves grandchildren of a server that exits by itself, as ``npx`` does.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

LONGEST_LINE: Final = 64 * 2**20
"""Bytes of one message that are read at most."""

_KEPT_ERRORS = 8 * 1024
_GRACE = 1.0  # seconds for a server to leave by itself once its stdin is closed, and again after SIGTERM
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class StdioServer:
    """A started server. ``garbage`` is the first line that was no message, ``errors`` the end of its stderr.

    ``silenced`` holds once nothing more can come from it.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self.garbage: bytes | None = None
        self.errors = b""
        self.silenced = False

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.returncode

    async def read(self, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass on every message of stdout until it ends or says something else."""
        assert self._process.stdout is not None
        try:
            await self._read(self._process.stdout, into)
        finally:
            self.silenced = True

    async def watch(self, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """End the reading once the process is gone: a child that it leaves behind may hold stdout open for ever."""
        await self._process.wait()
        await anyio.sleep(_GRACE)  # what it wrote last is still read
        self.silenced = True
        into.close()

    async def _read(
        self, stdout: ByteReceiveStream, into: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        with suppress(*_CLOSED):
            async with into:
                async for line in _lines(stdout):
                    if not line.strip():
                        continue
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        # MCP: a server must not write anything to stdout that is not a message.
                        self.garbage = line
                        return
                    await into.send(SessionMessage(message))

    async def write(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write every message to stdin."""
        assert self._process.stdin is not None
        async with messages:
            with suppress(*_CLOSED):
                async for sent in messages:
                    text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode() + b"\n")

    async def listen(self) -> None:
        """Keep the end of stderr."""
        assert self._process.stderr is not None
        with suppress(*_CLOSED):
            async for chunk in self._process.stderr:
                self.errors = (self.errors + chunk)[-_KEPT_ERRORS:]

    async def ended(self, within: float) -> bool:
        """Whether the process ends within so many seconds."""
        with anyio.move_on_after(within):
            while self._process.returncode is None:
                await anyio.sleep(0.01)
        return self._process.returncode is not None

    async def stop(self) -> None:
        """End the server and everything it started: ask, then insist, then kill."""
        assert self._process.stdin is not None
        with suppress(*_CLOSED):
            await self._process.stdin.aclose()
        if not await self.ended(_GRACE):
            self._signal(signal.SIGTERM)
            await self.ended(_GRACE)
        # Also after a clean exit: the group may hold children that outlived their parent.
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self.ended(_GRACE)
        self._let_go_of_pipes()

    def _let_go_of_pipes(self) -> None:
        """Close the loop's side of the pipes: a child that left the group may hold them open for ever.

        Nothing public exposes it; the SDK reaches it in the same way.
        """
        transport = getattr(getattr(self._process, "_process", None), "_transport", None)
        if transport is not None:
            transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)  # it leads its own group, see `start`
            else:
                self._process.send_signal(number)


@asynccontextmanager
async def start(
    command: Sequence[str], env: Mapping[str, str], cwd: Path
) -> AsyncIterator[tuple[StdioServer, Streams]]:
    """Start a server with exactly this environment and give the streams to talk to it.

    Raises ``OSError`` when it cannot be started. When the block ends, however it ends, no process is left.
    """
    program = shutil.which(command[0], path=env.get("PATH")) if os.sep not in command[0] else command[0]
    if program is None:
        raise FileNotFoundError(command[0])
    # Starting is short, and not to be broken off: of a process that is half started nobody knows, and it would stay.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            [program, *command[1:]], env=dict(env), cwd=cwd, start_new_session=True
        )
    server = StdioServer(process)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.read, incoming)
        tasks.start_soon(server.watch, incoming)
        tasks.start_soon(server.write, outgoing)
        tasks.start_soon(server.listen)
        try:
            yield server, (read, write)
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await server.stop()
            tasks.cancel_scope.cancel()


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    """The lines of a stream; one that never ends is given out as it is, once it is too long to be a message."""
    pieces: list[bytes] = []
    size = 0
    async for chunk in stream:
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            yield b"".join([*pieces, line])
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        if size > LONGEST_LINE:
            yield b"".join(pieces)
            return
    if size:
        yield b"".join(pieces)
