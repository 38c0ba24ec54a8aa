"""Servers: the MCP servers of an opened agent, compared with the lock before anything is called (docs/policies.md P34).

Each server has a conversation of its own that lives in one task: a server that dies, or that is slow to leave, disturbs
nobody but its callers. The SDK is imported when the first server is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from symc.composition import Composition, Extension, Lock, Tool
from symc.contracts.frozen import thaw
from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import pins, running
from symc.pins.drift import Drift, drift
from symc.pins.launch import Launch
from symc.runtime.answers import text_of
from symc.runtime.diagnosed import place
from symc.runtime.extras import installing
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.lifecycle import Closing
from symc.runtime.toolset import Invoke

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

    from symc.pins.conversation import Conversation, DiscoveryError, Recorder

__all__ = ["Server", "Servers"]

TIMEOUT: Final = 30.0
"""Seconds a server has to start, to greet and to list its tools."""

_FIELDS: Final = {
    "description": "description",
    "title": "title",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "annotations": "annotations",
}
"""The fields of a tool on the wire, and their names in the lock."""


@dataclass(slots=True, kw_only=True)
class Servers:
    """The servers that some agents need, by extension; none is started before `connect`."""

    lock: Lock
    root: Path
    environ: Mapping[str, str]
    _by_extension: dict[str, Server] = field(default_factory=dict)

    def invocation(self, extension: Extension, raw: str) -> Invoke:
        """The callable of one tool of the extension's server, by its raw name."""
        return self._of(extension).invocation(raw)

    def select(self, compositions: Iterable[Composition]) -> None:
        """Note the tools that these agents select: they are compared when the servers connect."""
        for composition in compositions:
            for tool in composition.agent.tools.values():
                extension = composition.extensions[tool.extension]
                if extension.mcp is not None:
                    self._of(extension).selected.add(tool.raw)

    def select_all(self, extension: Extension) -> None:
        """Note every tool that the lock holds of the extension's server: each is selected by some agent."""
        if extension.mcp is not None:
            self._of(extension).selected.update(extension.tools)

    async def connect(self, closing: Closing, extension: str | None = None) -> tuple[Diagnostic, ...]:
        """Start every server at once (or that of one extension) and compare its tools; what is not so, of all of them.

        `closing` learns how to end each server before it is started.
        """
        starting = {name: server for name, server in self._by_extension.items() if extension in (None, name)}
        for name, server in starting.items():
            closing.add(f'the server of "{name}"', server.close)
        found = await asyncio.gather(*[server.connect() for server in starting.values()])
        return tuple(diagnostic for diagnostics in found for diagnostic in diagnostics)

    def _of(self, extension: Extension) -> Server:
        if extension.name not in self._by_extension:
            self._by_extension[extension.name] = Server(
                lock=self.lock, extension=extension, root=self.root, environ=self.environ
            )
        return self._by_extension[extension.name]


@dataclass(slots=True, kw_only=True)
class Server:
    """One server, and the tools of it that are selected, by raw name."""

    lock: Lock
    extension: Extension
    root: Path
    environ: Mapping[str, str]
    selected: set[str] = field(default_factory=set)
    _task: asyncio.Task[None] | None = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _comparing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _live: _Live | None = None
    _closed: bool = False
    _unsure: bool = False  # a notice said that the tools changed
    _deaf: bool = False  # notices no longer arrive
    _changed: str = ""  # what changed, once something did

    @property
    def launch(self) -> Launch:
        """How it is started or reached; references stay references."""
        mcp = self.extension.mcp
        assert mcp is not None
        return Launch(command=mcp.command, env=mcp.env, url=mcp.url, headers=mcp.headers)

    async def connect(self) -> tuple[Diagnostic, ...]:
        """Start it and compare every selected tool with the lock; what is not so, as diagnostics."""
        try:
            from symc.pins.conversation import Conversation, DiscoveryError
        except ModuleNotFoundError as error:
            return (self._without(error),)
        self._leave, self._unsure, self._deaf, self._changed = asyncio.Event(), False, False, ""
        conversation = Conversation(self.launch.resolve(self.environ), self.environ, self.root)
        connected: asyncio.Future[_Live] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._converse(conversation, connected, self._leave))
        try:
            async with asyncio.timeout(TIMEOUT):
                live = await connected
                found = await self._compare(live)
        except TimeoutError:
            return (self._failed(conversation.silent(TIMEOUT)),)
        except DiscoveryError as error:
            return (self._failed(error),)
        self._live = live
        return tuple(map(self._told, found))

    async def close(self) -> None:
        """End the conversation for good, and the server with all it started."""
        self._closed = True
        await self._end()

    async def _end(self) -> None:
        self._live = None
        self._leave.set()
        if self._task is not None:
            # One that still waits for an answer does not see that it shall leave.
            self._task.cancel()
            await asyncio.wait([self._task])

    def invocation(self, raw: str) -> Invoke:
        """The callable of the tool with this raw name."""
        declared = self.extension.tools[raw]

        async def invoke(arguments: Mapping[str, Any]) -> str:
            return await self._call(declared, arguments)

        return invoke

    async def _converse(
        self, conversation: Conversation, connected: asyncio.Future[_Live], leave: asyncio.Event
    ) -> None:
        """Hold the conversation until it shall end; the one task in which everything of the server lives."""
        try:
            async with conversation.held(self._hears) as (session, recorder):
                notices = asyncio.create_task(self._listen(session))
                try:
                    if not connected.done():
                        connected.set_result(_Live(conversation, session, recorder))
                    await leave.wait()
                finally:
                    notices.cancel()
                    await asyncio.wait([notices])
        except BaseException as raised:
            failure = conversation.failure(raised)
            if failure is None and not isinstance(raised, Exception | BaseExceptionGroup):
                raise
            if not connected.done():
                connected.set_exception(failure or raised)
                connected.exception()  # whoever waited may be gone

    async def _hears(self, message: object) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._unsure = True

    async def _listen(self, session: ClientSession) -> None:
        """Hear that tools changed where the protocol wants it asked for; older ones tell it unasked."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
        from mcp.shared.exceptions import MCPError

        with suppress(ListenNotSupportedError, MCPError, SubscriptionLost):
            async with listen(session, tools_list_changed=True) as notices:
                try:
                    async for _ in notices:
                        self._unsure = True
                finally:
                    self._deaf = True

    async def _compare(self, live: _Live) -> tuple[Drift, ...]:
        answered = await live.conversation.tools(live.session, live.recorder)
        named = [tool for tool in answered if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        new = {tool["name"]: tool for tool in reversed(named) if tool["name"] in self.selected}
        twice = sorted({name for name in new if sum(tool["name"] == name for tool in named) > 1})
        old = [_on_the_wire(self.extension.tools[raw]) for raw in sorted(self.selected)]
        return (
            *(Drift(change="added", tool=name, field="name", new=new[name]) for name in twice),
            *drift(old, new.values()),
        )

    async def _call(self, declared: Tool, arguments: Mapping[str, Any]) -> str:
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, CallToolRequest, CallToolRequestParams
        from pydantic import ValidationError

        from symc.pins.conversation import Anything

        live = await self._sure()
        request = CallToolRequest(params=CallToolRequestParams(name=declared.name, arguments=dict(arguments)))
        try:
            answer = await live.session.send_request(request, Anything)
        except MCPError as error:
            live.conversation.step = f'called "{declared.name}"'
            failure = await live.conversation.failed(error)
            if error.code == CONNECTION_CLOSED and self._live is live and live.conversation.over:
                self._live = None  # the next call finds a new one
            raise self._refusal(failure) from error
        except ValidationError:
            raise RefusedError(
                Reason.TOOL_ERROR, f'{self._name} answered "{declared.name}" with something that is no result'
            ) from None
        result = answer.model_extra or {}
        text = text_of(result, structured=declared.output_schema is not None)
        if result.get("isError"):
            raise RefusedError(Reason.TOOL_ERROR, text or "the server says that the call failed")
        return text

    async def _sure(self) -> _Live:
        """The conversation, once it is certain that the tools are still those of the lock."""
        async with self._comparing:
            if self._closed:
                raise RefusedError(Reason.TOOL_ERROR, f"{self._name} is not connected: the agent is closed")
            if self._live is None or self._task is None or self._task.done():
                return await self._reconnected()
            if self._unsure or self._deaf:
                await self._look_again(self._live)
            if self._changed:
                raise RefusedError(Reason.SERVER_CHANGED, self._changed)
            return self._live

    async def _look_again(self, live: _Live) -> None:
        from symc.pins.conversation import DiscoveryError

        self._unsure = False  # a notice that comes meanwhile is another one
        try:
            found = await self._compare(live)
        except BaseException as error:
            self._unsure = True
            raise self._refusal(error) if isinstance(error, DiscoveryError) else error from None
        self._changed = "; ".join(self._told(one).message for one in found)

    async def _reconnected(self) -> _Live:
        """A new conversation for one that broke off: the server is started anew, and compared before it is called."""
        await self._end()
        try:
            found = await self.connect()
        except BaseException:
            await self._end()
            raise
        if self._live is not None and not found:
            return self._live
        await self._end()
        drifted = any(one.code == running.SERVER_CHANGED.code for one in found)
        said = "; ".join(one.message for one in found)
        raise RefusedError(Reason.SERVER_CHANGED if drifted else Reason.TOOL_ERROR, said)

    @property
    def _name(self) -> str:
        return f'the server of "{self.extension.name}"'

    def _refusal(self, error: DiscoveryError) -> RefusedError:
        return RefusedError(Reason.TOOL_ERROR, f"{self._name} {self.launch.redact(str(error), self.environ)}")

    def _failed(self, error: DiscoveryError) -> Diagnostic:
        """A failure to connect, without the values of the environment."""
        hint = error.hint
        if error.code is pins.SERVER_SILENT:
            hint = "start the server by hand and look what it waits for"
        notes = tuple(self.launch.redact(note, self.environ) for note in error.notes)
        return error.code.at(
            place(self.lock, "extensions", self.extension.name, "mcp"),
            f"{self._name} {self.launch.redact(str(error), self.environ)}",
            notes=notes,
            hint=hint,
            subject=self.extension.name,
        )

    def _without(self, error: ModuleNotFoundError) -> Diagnostic:
        return running.TARGET_MISSING.at(
            place(self.lock, "extensions", self.extension.name, "mcp"),
            f'{self._name} needs "{error.name}", which is not installed',
            hint=installing(error),
            subject=self.extension.name,
        )

    def _told(self, one: Drift) -> Diagnostic:
        """A difference between the lock and what the server says now, at its place in the lock."""
        name = self.extension.name
        at: tuple[str, ...] = ("extensions", name, "tools", one.tool)
        if one.change == "removed":
            message = f'{self._name} no longer has the tool "{one.tool}"'
        elif one.change == "added":
            message = f'{self._name} has two tools named "{one.tool}"'
        else:
            key = _FIELDS[one.field]
            message = f'{self._name} changed the {key.replace("_", " ")} of the tool "{one.tool}"'
            if getattr(self.extension.tools[one.tool], key) not in (None, "", {}):
                at = (*at, key)
        notes = ("\n".join(("in the lock and now:", *one.diff)),) if one.change == "changed" else ()
        return running.SERVER_CHANGED.at(
            place(self.lock, *at),
            message,
            notes=tuple(self.launch.redact(note, self.environ) for note in notes),
            hint=f"look at it with: symc pin --check {name}; to take it over: symc pin {name}, symc compile",
            subject=f"{name}/{one.tool}",
        )


@dataclass(frozen=True, slots=True)
class _Live:
    """A conversation that is held."""

    conversation: Conversation
    session: ClientSession
    recorder: Recorder


def _on_the_wire(tool: Tool) -> dict[str, Any]:
    """The tool of the lock as its server would say it."""
    said = {wire: thaw(getattr(tool, key)) for wire, key in _FIELDS.items()}
    return {"name": tool.name, **said}
