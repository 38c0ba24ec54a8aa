"""A conversation with a live MCP server: official SDK, raw answers, nothing left behind (docs/policies.md P30, P34).

The SDK's models drop keys they do not know, and refuse a whole page for one tool. So its session does the talking and
the answers are kept as they came. Pinning has one conversation of one question; the runtime keeps its own open.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client.session import ClientSession, MessageHandlerFnT
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, ListToolsRequest, PaginatedRequestParams
from pydantic import BaseModel, ConfigDict, ValidationError

from symc._version import VERSION
from symc.canonical import CanonicalError, canonical_bytes
from symc.diagnostics import Code, Diagnostic, Span
from symc.diagnostics.codes import pins as codes
from symc.pins.launch import Launch
from symc.pins.stdio import StdioServer, start

TIMEOUT: Final = 30.0
"""Seconds for everything: starting, greeting, all pages."""

MOST_PAGES: Final = 1_000
"""Pages read at most; a server whose cursor is always new would never end."""

LARGEST_LIST: Final = 64 * 2**20
"""Characters of all tools together, as JSON: a larger pin is no file of a workspace."""

Progress = Callable[[str], None]

# Without any handler, `logging` prints warnings of libraries to stderr, where the diagnostics stand.
for _name in ("mcp", "client", "httpx2"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class DiscoveryError(Exception):
    """The server did not answer as it must; ``code``, the message and ``notes`` say how. No secret is in them."""

    def __init__(
        self, code: Code, message: str, notes: tuple[str, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.notes = notes
        self.hint = hint

    def diagnostic(self, span: Span, extension: str) -> Diagnostic:
        """The failure at ``span``, the place of the server in the manifest of ``extension``."""
        message = f'the server of "{extension}" {self}'
        return self.code.at(span, message, notes=self.notes, hint=self.hint, subject=extension)


class Recorder(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, keeping the last page of tools as it came."""

    answer: Any = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **more: Any
    ) -> dict[str, Any]:
        """Ask as the SDK does."""
        listing = method == "tools/list"  # other requests may be under way at the same time
        if listing:
            self.answer = None
        raw = await super().send_raw_request(method, params, opts, **more)
        if listing:
            self.answer = deepcopy(raw)
        return raw


class Anything(BaseModel):
    """What the session parses an answer into when nobody wants it parsed."""

    model_config = ConfigDict(extra="allow")


class Conversation:
    """One conversation with one server; ``launch`` has its references resolved."""

    def __init__(
        self, launch: Launch, environ: Mapping[str, str], cwd: Path, progress: Progress = lambda _: None
    ) -> None:
        self.launch = launch
        self.environ = environ
        self.cwd = cwd
        self.progress = progress
        self.step = "starting"
        self.server: StdioServer | None = None
        self.status: int | None = None

    @asynccontextmanager
    async def held(
        self, hears: MessageHandlerFnT | None = None
    ) -> AsyncIterator[tuple[ClientSession, Recorder]]:
        """The connected and greeted session while the block lasts; afterwards no process of the server is left."""
        async with self._connected() as (read, write):
            recorder = Recorder(read, write, on_stream_exception=self._ignore)
            async with ClientSession(
                dispatcher=recorder, client_info=_client_info(), message_handler=hears
            ) as session:
                try:
                    self.step = "greeting it"
                    await self._greet(session)
                except MCPError as error:
                    raise await self.failed(error) from None
                yield session, recorder

    async def tools(self, session: ClientSession, recorder: Recorder) -> list[Any]:
        """All tools of the server, raw, in its order."""
        try:
            return await self._pages(session, recorder)
        except MCPError as error:
            raise await self.failed(error) from None

    def silent(self, seconds: float) -> DiscoveryError:
        """What to tell of a server that did not answer in time."""
        return DiscoveryError(
            codes.SERVER_SILENT,
            f"did not answer within {seconds:g} s, while {self.step}",
            self._stderr(),
            "allow more time with --timeout, or start the server by hand and look what it waits for",
        )

    def failure(self, raised: BaseException) -> DiscoveryError | None:
        """What to tell of an exception that ended the conversation; None for one that is not the server's doing."""
        leaves = tuple(_leaves(raised))
        for leaf in leaves:
            if isinstance(leaf, DiscoveryError):
                return leaf
        for leaf in leaves:
            if isinstance(leaf, httpx2.HTTPError | httpx2.InvalidURL):
                said = _printable(str(leaf)) or type(leaf).__name__
                message = f"cannot be reached at {self.launch.shown}: {said}"
                hint = "check the address, and that the server runs"
                return DiscoveryError(codes.SERVER_NOT_STARTED, message, hint=hint)
            if isinstance(leaf, OSError) and self.launch.command and self.server is None:
                return _not_started(self.launch.command[0], self.cwd, leaf)
        return None

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Any, Any]]:
        if self.launch.command:
            env = _inherited(self.environ) | dict(self.launch.env)
            async with start(self.launch.command, env, self.cwd) as (
                server,
                streams,
            ):
                self.server = server
                yield streams
        else:
            self.step = "connecting"
            headers, hooks = dict(self.launch.headers), {"response": [self._heard]}
            # One timeout for everything, ours; the client's own would only word it worse.
            async with (
                httpx2.AsyncClient(headers=headers, timeout=None, event_hooks=hooks) as client,
                streamable_http_client(self.launch.url, http_client=client) as streams,
            ):
                yield streams

    async def _heard(self, response: httpx2.Response) -> None:
        self.status = response.status_code

    async def _ignore(self, _: Exception) -> None:
        """A stray event of an HTTP stream; the answer that is due still comes, or the time runs out."""

    async def _greet(self, session: ClientSession) -> None:
        # `initialize` first: servers of the handshake era may hang up on anything else.
        try:
            await session.initialize()
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise
            try:
                await session.discover()
            except (MCPError, ValidationError, RuntimeError):
                raise error from None
        except (ValidationError, RuntimeError):
            message = "answered the greeting with something that is no MCP greeting"
            raise DiscoveryError(codes.SERVER_ERROR, message, self._stderr()) from None

    async def _pages(self, session: ClientSession, recorder: Recorder) -> list[Any]:
        tools: list[Any] = []
        cursors: dict[str, int] = {}
        cursor: str | None = None
        size = 0
        for page in range(1, MOST_PAGES + 1):
            self.step = f"asked for page {page} of its tools"
            self.progress(f"page {page} of its tools")
            answer = await self._page(session, recorder, cursor)
            listed = answer.get("tools") if isinstance(answer, dict) else None
            if not isinstance(listed, list):
                message = f"answered page {page} of its tools with something that is no list of tools"
                raise DiscoveryError(codes.SERVER_ERROR, message, self._stderr())
            tools += listed
            size += len(json.dumps(listed))
            if size > LARGEST_LIST:
                message = f"does not come to an end: with page {page} its tools take more than 64 MiB"
                raise DiscoveryError(codes.SERVER_CURSOR, message)
            cursor = answer.get("nextCursor")
            if cursor is None:
                return _canonical(tools)
            if not isinstance(cursor, str):
                message = f"gave a cursor on page {page} that is no text"
                raise DiscoveryError(codes.SERVER_CURSOR, message)
            if cursor in cursors:
                message = f'does not come to an end: the cursor "{cursor[:80]}" of page {cursors[cursor]} came back on page {page}'
                raise DiscoveryError(codes.SERVER_CURSOR, message)
            cursors[cursor] = page
        raise DiscoveryError(
            codes.SERVER_CURSOR, f"does not come to an end: {MOST_PAGES} pages and a cursor for more"
        )

    async def _page(self, session: ClientSession, recorder: Recorder, cursor: str | None) -> Any:
        request = ListToolsRequest(
            params=PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        )
        # The SDK has its own idea of a tool; ours is checked on the raw answer, tool by tool.
        with suppress(ValidationError):
            await session.send_request(request, Anything)
        return recorder.answer

    @property
    def over(self) -> bool:
        """Whether nothing more can come of it, as far as its server shows that."""
        return self.server is None or self.server.silenced

    async def failed(self, error: MCPError) -> DiscoveryError:
        """What to say when the conversation broke."""
        server = self.server
        if server is not None and server.garbage is not None:
            line = server.garbage[:200].decode("utf-8", "backslashreplace")
            return DiscoveryError(
                codes.SERVER_GARBAGE,
                f"wrote something to its standard output that is no MCP message: {_quoted(line)}",
                self._stderr(),
                "a server that logs must use its standard error; start it by hand to see what it writes",
            )
        # A server may use the code of a closed connection for an error of its own.
        if server is not None and error.code == CONNECTION_CLOSED and server.silenced:
            ended = await server.ended(1.0)
            how = (
                _ending(server.status)
                if ended and server.status is not None
                else "closed its standard output"
            )
            hint = "see that the files it is started with are there; start it by hand with the same arguments"
            return DiscoveryError(codes.SERVER_EXITED, f"{how}, while {self.step}", self._stderr(), hint)
        said = f"error {error.code}: {_quoted(error.message)}"
        if server is None and self.status is not None and self.status >= 400:
            said = f"HTTP status {self.status}"
        return DiscoveryError(codes.SERVER_ERROR, f"answered with {said}, while {self.step}", self._stderr())

    def _stderr(self) -> tuple[str, ...]:
        if self.server is None or not self.server.errors.strip():
            return ()
        text = self.server.errors.decode("utf-8", "backslashreplace")
        lines = [_printable(line) for line in text.splitlines() if line.strip()]
        return ("\n".join(("the end of its standard error:", *lines[-10:])),)


def _client_info() -> Any:
    from mcp_types import Implementation

    return Implementation(name="symc", version=VERSION)


def _canonical(tools: list[Any]) -> list[Any]:
    """The tools, unless something in them has no canonical form (P32)."""
    try:
        canonical_bytes(tools)
    except CanonicalError as error:
        raise DiscoveryError(
            codes.PIN_INVALID, f"answered with something that has no canonical form: {error}"
        ) from None
    return tools


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """The few variables a server gets unasked, with the folder of this interpreter first on its path.

    So a manifest that says ``python`` means the interpreter that runs symc, with all that is installed beside it.
    """
    inherited = {name: environ[name] for name in DEFAULT_INHERITED_ENV_VARS if name in environ}
    folders = [str(Path(sys.executable).parent), *filter(None, [inherited.get("PATH")])]
    return inherited | {"PATH": os.pathsep.join(folders)}


def _not_started(program: str, cwd: Path, error: Exception) -> DiscoveryError:
    if isinstance(error, FileNotFoundError):
        why = "there is no such program" if cwd.is_dir() else f'the folder "{cwd.name}" does not exist'
    elif isinstance(error, PermissionError):
        why = "it may not be executed"
    else:
        why = (getattr(error, "strerror", None) or str(error)).lower()
    hint = "install it, or name it with its path from the folder that holds the workspace"
    return DiscoveryError(codes.SERVER_NOT_STARTED, f'cannot be started with "{program}": {why}', hint=hint)


def _ending(status: int) -> str:
    if status < 0:
        return f"was ended by signal {-status}"
    return f"ended with status {status}" if status else "ended by itself"


def _leaves(raised: BaseException) -> Iterator[BaseException]:
    """The exceptions that came up together."""
    if isinstance(raised, BaseExceptionGroup):
        for one in raised.exceptions:
            yield from _leaves(one)
    else:
        yield raised


def _quoted(text: str) -> str:
    shown = _printable(text)
    return f'"{shown}"' if len(shown) <= 120 else f'"{shown[:117]}…"'


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
