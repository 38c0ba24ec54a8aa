"""The events of a run: one vocabulary for streams and event sinks (docs/contracts.md F-35)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from symc.contracts.verdict import PolicyRequest
from symc.runtime.messages import ToolCall
from symc.runtime.results import AgentResult
from symc.runtime.stages import StageRecord

__all__ = ["FIELDS", "TERMINAL", "AgentEvent", "EventKind", "Interrupt"]

EventKind: TypeAlias = Literal[
    "thinking",
    "text_delta",
    "tool_call",
    "tool_result",
    "done",
    "error",
    "cancelled",
    "ask_user",
    "interrupt",
    "stage",
]

FIELDS: Final[dict[str, str | None]] = {
    "thinking": "text",
    "text_delta": "text",
    "tool_call": "tool_call",
    "tool_result": "tool_call",
    "done": "result",
    "error": "error",
    "cancelled": None,
    "ask_user": "interrupt",
    "interrupt": "interrupt",
    "stage": "stage",
}
"""For each kind the one field it fills, beside `kind` and `index`."""

TERMINAL: Final = frozenset({"done", "error", "cancelled"})
"""The kinds of which a stream has exactly one, last."""

_PAYLOAD: Final = ("text", "tool_call", "result", "error", "interrupt", "stage")


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question for a person: may this request go ahead? (F-47)

    `reasons` are those of the policies that asked. The answer is given by the agent's approver; the event only shows
    that the question was put.
    """

    request: PolicyRequest
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One thing that happened in a run; `index` is its place, counted from 0 without gaps.

    Exactly the field that `FIELDS` gives for the kind is set. A `tool_call` is unanswered, a `tool_result` is the same
    call with `result` or `error`. ValueError for any other combination.
    """

    kind: EventKind
    index: int
    text: str | None = None
    tool_call: ToolCall | None = None
    result: AgentResult[Any] | None = None
    error: Exception | None = None
    interrupt: Interrupt | None = None
    stage: StageRecord | None = None

    def __post_init__(self) -> None:
        if self.kind not in FIELDS:
            raise ValueError(f"{self.kind!r} is no kind of event")
        filled = [name for name in _PAYLOAD if getattr(self, name) is not None]
        wanted = FIELDS[self.kind]
        if filled != ([wanted] if wanted else []):
            raise ValueError(
                f"a {self.kind} event fills {wanted or 'no field'}, not {', '.join(filled) or 'none'}"
            )
        call = self.tool_call
        if call is not None:
            answers = (call.result is not None) + (call.error is not None)
            if answers != (self.kind == "tool_result"):
                raise ValueError(f"a {self.kind} event carries a call with {answers} answers")

    @property
    def is_terminal(self) -> bool:
        """Whether nothing comes after this event."""
        return self.kind in TERMINAL
