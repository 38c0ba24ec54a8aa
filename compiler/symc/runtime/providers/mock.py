"""A scripted provider: a test double for symc and for adopters (docs/contracts.md §3)."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, TypeAlias

from symc.contracts.errors import ConfigurationError
from symc.runtime.messages import ToolCall
from symc.runtime.model import ModelOutput, ModelRequest, ModelResponse, TextDelta

__all__ = ["MockModelProvider", "Round"]

Round: TypeAlias = (
    str | ToolCall | Sequence[ToolCall | str] | ModelResponse | BaseException | Callable[[ModelRequest], Any]
)
"""One round of a script: a text, tool calls (and texts), a whole response, an exception to raise, or a callable of the
request (sync or async) that answers one of these."""


class MockModelProvider:
    """Plays a script, one item a round, over all runs that use it; records every request.

    `requests` holds what the model would have seen (`system`, `messages`, `tools`). A round beyond the script is
    AssertionError: a script that is too short is a mistake in the test. `vendor` and `structured_output` say
    what it stands in for. A watched text is written in pieces, a word each.
    """

    def __init__(
        self, script: Iterable[Round] = (), *, vendor: str = "mock", structured_output: bool = True
    ) -> None:
        if isinstance(script, str):
            raise ConfigurationError("a script is a sequence of rounds; put the text in a list")
        self._script = iter(tuple(script))
        self._structured_output = structured_output
        self.vendor = vendor
        self.requests: list[ModelRequest] = []

    def refusal(self, request: ModelRequest) -> str | None:
        """Why such a request cannot be served, or None."""
        if request.output_schema is not None and not self._structured_output:
            return "this provider has no structured output"
        return None

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        """The next round of the script."""
        self.requests.append(request)
        try:
            item = next(self._script)
        except StopIteration:
            raise AssertionError(
                f"the script has {len(self.requests) - 1} rounds, and one more was asked for"
            ) from None
        if callable(item):
            answer = item(request)
            item = await answer if inspect.isawaitable(answer) else answer
        if isinstance(item, BaseException):
            raise item
        response = _response(item)
        if request.streaming:
            for piece in _words(response.text):
                yield TextDelta(piece)
        yield response


def _response(item: object) -> ModelResponse:
    if isinstance(item, ModelResponse):
        return item
    parts = [item] if isinstance(item, str | ToolCall) else item
    if not isinstance(parts, Sequence) or not all(isinstance(part, str | ToolCall) for part in parts):
        raise ConfigurationError(f"a {type(item).__name__} is no round of a script")
    calls = tuple(part for part in parts if isinstance(part, ToolCall))
    text = "".join(part for part in parts if isinstance(part, str))
    return ModelResponse(text=text, tool_calls=calls, finish_reason="tool_use" if calls else "end_turn")


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)
