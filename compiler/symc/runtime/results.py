"""The result of a run (docs/contracts.md F-37)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from symc.runtime.messages import UNREPORTED, Message, TokenUsage, ToolCall

__all__ = ["AgentResult", "StopReason"]

OutputT = TypeVar("OutputT")

StopReason: TypeAlias = Literal["end_turn", "tool_limit", "max_tokens", "refusal"]
"""Why a run ended: the model was done, the round budget was, the model's token budget was, or the model declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult(Generic[OutputT]):
    """What a run came to.

    `text` is the model's last text, never None. `output` is the validated value where an output type was asked for,
    None otherwise. `messages` are all of this turn, the prompt first, and can be passed on as `history` after the
    history of the run itself. `tool_calls` are answered, in the order they were made. `model_rounds` counts the calls
    of the provider.
    """

    text: str
    output: OutputT
    messages: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage = UNREPORTED
    stop_reason: StopReason = "end_turn"
    model_rounds: int = 1
