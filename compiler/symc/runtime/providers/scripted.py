"""A provider without a model: does what the prompt spells out, to try an agent's tools and rules by hand."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

from symc.runtime.messages import Message, ToolCall
from symc.runtime.model import ModelOutput, ModelRequest, ModelResponse, TextDelta

__all__ = ["ScriptedProvider"]

_CALL: Final = re.compile(r"\s*(?:call\s+)?([A-Za-z0-9_.\-/]+)\s*(\{.*)")


class ScriptedProvider:
    """Calls the tools that the prompt names, a line each (`refund {"order": "O-1001", "amount": 20}`), and repeats what
    they answered; to any other prompt it says what a model would have been shown.

    `vendor` is the one it stands in for.
    """

    def __init__(self, vendor: str = "") -> None:
        self.vendor = vendor

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        """The calls of the prompt, then what became of them."""
        since = _since_prompt(request.messages)
        names = frozenset(tool.name for tool in request.tools)
        calls = tuple(_calls(since[0].text, names)) if len(since) == 1 else ()
        if calls:
            yield ModelResponse(tool_calls=calls, finish_reason="tool_use")
            return
        answers = [message.text for message in since if message.role == "tool"]
        text = "\n".join(answers) if answers else _shown(request)
        if request.streaming:
            for line in text.splitlines(keepends=True):
                yield TextDelta(line)
        yield ModelResponse(text=text)


def _since_prompt(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    last = max(at for at, message in enumerate(messages) if message.role == "user")
    return messages[last:]


def _calls(prompt: str, names: frozenset[str]) -> Iterator[ToolCall]:
    """The calls that the prompt spells out; a line that only begins like one is one where it names a tool."""
    for number, line in enumerate(prompt.splitlines(), 1):
        found = _CALL.fullmatch(line)
        if found and (found[2].rstrip().endswith("}") or found[1] in names):
            try:
                arguments = json.loads(found[2])
            except ValueError as error:
                yield ToolCall(f"line-{number}", found[1], error=f"the arguments are not JSON: {error}")
            else:
                yield ToolCall(f"line-{number}", found[1], arguments)


def _shown(request: ModelRequest) -> str:
    system = request.system or ""
    tools = ", ".join(tool.name for tool in request.tools) or "none"
    messages = "1 message" if len(request.messages) == 1 else f"{len(request.messages)} messages"
    return (
        f"(no model was asked) It would be shown {len(system)} characters of instructions, "
        f"{messages} and these tools: {tools}.\n"
        'Call one by its name and arguments, a line each: NAME {"argument": "value"}'
    )
