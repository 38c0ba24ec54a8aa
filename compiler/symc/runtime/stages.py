"""The stages of a run, and the record of what happened in one (docs/contracts.md §3, F-15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from symc.contracts.frozen import FrozenDict
from symc.runtime.messages import ToolCall
from symc.runtime.model import ModelRequest, ModelResponse
from symc.runtime.results import AgentResult

__all__ = ["Outcome", "Phase", "Stage", "StageRecord", "StageView"]

Phase: TypeAlias = Literal["fold", "run"]
Outcome: TypeAlias = Literal["ok", "refused"]


class Stage(StrEnum):
    """Where a capability's handler may stand; the order of the members is the order of a round."""

    PROMPT_ASSEMBLY = "prompt_assembly"
    PRE_MODEL = "pre_model"
    POST_MODEL = "post_model"
    PRE_TOOL = "pre_tool"
    POST_TOOL = "post_tool"
    FINALIZE = "finalize"


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One handler's turn at one stage: numbers and names, never contents (F-35).

    `phase` is `fold` for what construction recorded, `run` for what a run did. `reason` is empty unless the outcome is
    `refused`, and then the name of the exception's type. `counts` says how much passed: parts, characters, calls.
    """

    stage: Stage
    phase: Phase
    capability: str
    outcome: Outcome = "ok"
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", FrozenDict(self.counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class StageView:
    """What a handler is shown; it may refuse by raising, and changes nothing.

    `request` is None in PROMPT_ASSEMBLY, `response` from POST_MODEL on, `tool_call` in PRE_TOOL and (answered) in
    POST_TOOL, `result` in FINALIZE. `state` is what the caller passed to the run.
    """

    stage: Stage
    session_id: str
    state: Mapping[str, Any]
    round: int
    request: ModelRequest | None = None
    response: ModelResponse | None = None
    tool_call: ToolCall | None = None
    result: AgentResult[Any] | None = None
