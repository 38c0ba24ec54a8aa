"""A local server that speaks the wire formats of two vendors, scripted, with every request recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer: text pieces and tool calls (id, name, arguments as JSON text), or an HTTP error."""

    texts: Sequence[str] = ()
    calls: Sequence[tuple[str, str, str]] = ()
    thinking: str = ""
    finish: str = ""
    status: int = 200
    hang: bool = False
    """Write what there is, then nothing more, until the client goes away."""


@dataclass(slots=True)
class Vendors:
    """The running server: its address, what it was sent, and how many connections are open now."""

    script: list[Answer]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    open_connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        self.left.clear()
        try:
            await self._exchange(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_connections -= 1
            if not self.open_connections:
                self.left.set()
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        path = lines[0].split(" ")[1]
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.paths.append(path)
        self.requests.append(body)
        answer = self.script.pop(0)
        vendor = _anthropic if "messages" in path and "completions" not in path else _openai
        if answer.status != 200:
            await _plain(
                writer,
                answer.status,
                {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
            )
        elif body.get("stream"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            for event in vendor(answer, stream=True):
                name = f"event: {event['type']}\n" if "type" in event else ""
                writer.write(f"{name}data: {json.dumps(event)}\n\n".encode())
                await writer.drain()
                if answer.hang and _is_text(event):
                    await reader.read()  # ends when the client does
                    return
            if vendor is _openai:
                writer.write(b"data: [DONE]\n\n")
            await writer.drain()
        else:
            await _plain(writer, 200, vendor(answer, stream=False)[0])
            await reader.read()  # the connection could be used again: it ends when the client says so


async def _plain(writer: asyncio.StreamWriter, status: int, body: Mapping[str, Any]) -> None:
    payload = json.dumps(body).encode()
    writer.write(
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(payload)}\r\n"
        "\r\n".encode()
        + payload
    )
    await writer.drain()


def _is_text(event: Mapping[str, Any]) -> bool:
    if event.get("type") == "content_block_delta":
        return True
    choices = event.get("choices") or [{}]
    return bool(choices[0].get("delta", {}).get("content"))


def _anthropic(answer: Answer, *, stream: bool) -> list[dict[str, Any]]:
    finish = answer.finish or ("tool_use" if answer.calls else "end_turn")
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 2,
    }
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    if not stream:
        content: list[dict[str, Any]] = []
        if answer.thinking:
            content.append({"type": "thinking", "thinking": answer.thinking, "signature": "sig"})
        if answer.texts:
            content.append({"type": "text", "text": "".join(answer.texts)})
        content += [
            {"type": "tool_use", "id": call, "name": name, "input": json.loads(arguments)}
            for call, name, arguments in answer.calls
        ]
        return [message | {"content": content, "stop_reason": finish}]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    index = 0

    def block(start: dict[str, Any], *deltas: dict[str, Any]) -> None:
        nonlocal index
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
        index += 1

    if answer.thinking:
        block(
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": answer.thinking},
            {"type": "signature_delta", "signature": "sig"},
        )
    if answer.texts:
        block({"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in answer.texts))
    for call, name, arguments in answer.calls:
        half = len(arguments) // 2
        block(
            {"type": "tool_use", "id": call, "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": arguments[:half]},
            {"type": "input_json_delta", "partial_json": arguments[half:]},
        )
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": finish, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        }
    )
    events.append({"type": "message_stop"})
    return events


def _openai(answer: Answer, *, stream: bool) -> list[dict[str, Any]]:
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    head: dict[str, Any] = {"id": "chat_1", "created": 1700000000, "model": "gpt-5"}
    calls = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call, name, arguments in answer.calls
    ]
    if not stream:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(answer.texts) or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        return [head | {"object": "chat.completion", "choices": [choice], "usage": usage}]
    head["object"] = "chat.completion.chunk"
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text} for text in answer.texts]
    for index, call in enumerate(calls):
        function = call["function"]
        half = len(function["arguments"]) // 2  # type: ignore[index]
        deltas.append({"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]})  # type: ignore[dict-item]
        for part in (function["arguments"][:half], function["arguments"][half:]):  # type: ignore[index]
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    chunks = [head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append(head | {"choices": [], "usage": usage})
    return chunks


@asynccontextmanager
async def vendors(*script: Answer, port: int = 0) -> AsyncIterator[Vendors]:
    """The server, for as long as the block lasts."""
    running = Vendors(list(script))
    server = await asyncio.start_server(running.serve, "127.0.0.1", port)
    running.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield running
        if running.requests:
            await asyncio.wait_for(running.left.wait(), 5)  # nothing is kept open that nobody will close
    finally:
        server.close()
        await server.wait_closed()
