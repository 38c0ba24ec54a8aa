"""The seam to a model: what a provider is asked, and how it answers (docs/contracts.md §3).

A provider is any object with a method `respond`; nothing to inherit:

    class Echo:
        async def respond(self, request):
            yield ModelResponse(text=request.messages[-1].text)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from symc.contracts.frozen import FrozenDict, freeze
from symc.runtime.messages import UNREPORTED, Message, TokenUsage, ToolCall

__all__ = [
    "ModelConfig",
    "ModelOutput",
    "ModelProvider",
    "ModelRequest",
    "ModelResponse",
    "SystemPart",
    "TextDelta",
    "ThinkingDelta",
    "ToolSpec",
]

FRAGMENT_SEPARATOR = "\n\n"
"""What stands between two parts of the system text (docs/prompts.md §3)."""

FinishReason: TypeAlias = Literal["end_turn", "tool_use", "max_tokens", "refusal"]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Which model, and the settings of its sampling: `ModelConfig("claude-sonnet-4-5", max_tokens=2000)`.

    `settings` are passed to the provider as they are, by the names of its own model layer. Frozen JSON.
    """

    name: str
    temperature: float | None = None
    max_tokens: int | None = None
    settings: Mapping[str, Any] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", freeze(self.settings))


@dataclass(frozen=True, slots=True)
class SystemPart:
    """One part of the system text; parts join with an empty line.

    `cache_break` says that a prompt cache may end right after this part (docs/prompts.md §6).
    """

    text: str
    cache_break: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told about it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Everything a model sees in one round.

    `system_parts` empty means no system message at all. `output_schema` is the JSON Schema the answer must have, None
    for prose. `streaming` says that somebody watches: a provider may then yield deltas, else it need not.
    """

    system_parts: tuple[SystemPart, ...] = ()
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    model: ModelConfig | None = None
    output_schema: Mapping[str, Any] | None = None
    session_id: str = ""
    streaming: bool = False

    @property
    def system(self) -> str | None:
        """The system text, byte for byte what the model reads; None for no system message (F-12)."""
        if not self.system_parts:
            return None
        return FRAGMENT_SEPARATOR.join(part.text for part in self.system_parts)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's reasoning as it is written; it is shown, and never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """One round of the model, complete.

    A call whose arguments are no JSON object comes with its `error` already set, and is not executed. `native` is the
    provider's own form, handed back to it in later rounds of the same run (it may carry signed reasoning).
    """

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = UNREPORTED
    finish_reason: FinishReason = "end_turn"
    native: Any = field(default=None, compare=False, repr=False)


ModelOutput: TypeAlias = TextDelta | ThinkingDelta | ModelResponse


@runtime_checkable
class ModelProvider(Protocol):
    """Whatever can answer a `ModelRequest`.

    `respond` is an async generator: any number of deltas, then exactly one `ModelResponse`, last. What it raises
    reaches the caller of `run` unchanged (F-42). Two optional members: `vendor`, a word compared with the lock's
    `provider` (F-46), and `refusal(request)`, which answers why this provider cannot serve such a request (structured
    output, attachments), or None; it is asked once before the first round.
    """

    def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        """The model's answer to one round."""
        ...
