"""The kernel: the one loop behind `run` and `stream` (docs/contracts.md §3).

    [PROMPT_ASSEMBLY → PRE_MODEL → model → POST_MODEL → (PRE_TOOL → tool → POST_TOOL)*]* → FINALIZE

A `Blueprint` is what an agent is and never changes; a `Run` holds everything that one run has of its own, so that one
agent serves any number of runs at once (F-22).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Any

from symc.contracts.errors import ContractViolationError
from symc.contracts.frozen import FrozenDict
from symc.diagnostics.suggest import suggestion
from symc.runtime.capabilities import EventSink, Handler
from symc.runtime.events import AgentEvent, EventKind, Interrupt
from symc.runtime.gates import (
    NO_SCOPE,
    Approver,
    Gate,
    Reason,
    RefusedError,
    RunScope,
    entered,
    require_effect,
)
from symc.runtime.messages import UNREPORTED, Message, ToolCall
from symc.runtime.model import (
    ModelConfig,
    ModelOutput,
    ModelProvider,
    ModelRequest,
    ModelResponse,
    SystemPart,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
)
from symc.runtime.policies import Veto
from symc.runtime.results import AgentResult, StopReason
from symc.runtime.stages import Stage, StageRecord, StageView
from symc.runtime.streams import Channel
from symc.runtime.structured import OutputShape

__all__ = ["Blueprint", "Run", "Turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What an agent is, ready to run; `gates` holds the tools a model may name, in the order it sees them."""

    agent: str
    provider: ModelProvider
    model: ModelConfig | None
    instructions: str | None
    gates: Mapping[str, Gate]
    handlers: Mapping[Stage, tuple[tuple[str, Handler], ...]]
    grants: frozenset[str]
    vetoes: tuple[Veto, ...]
    approver: Approver | None
    sink: EventSink | None
    max_model_rounds: int

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told about them."""
        return tuple(each.tool.spec for each in self.gates.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a run is asked: the prompt and what goes with it, all checked."""

    prompt: Message
    history: tuple[Message, ...] = ()
    state: Mapping[str, Any]
    session_id: str = ""
    shape: OutputShape | None = None
    scope: RunScope = NO_SCOPE

    def request(self, blueprint: Blueprint) -> ModelRequest:
        """The first request but for its system text: enough for a provider to say whether it can serve it."""
        return ModelRequest(
            messages=(*self.history, self.prompt),
            tools=blueprint.specs,
            model=blueprint.model,
            output_schema=self.shape.schema if self.shape else None,
            session_id=self.session_id,
        )


class Run:
    """One run of an agent; `execute` once."""

    def __init__(self, blueprint: Blueprint, turn: Turn, channel: Channel | None = None) -> None:
        self._blueprint = blueprint
        self._turn = turn
        self._channel = channel
        self._sink = blueprint.sink
        self._request = turn.request(blueprint)
        self._messages: list[Message] = [turn.prompt]
        self._calls: list[ToolCall] = []
        self._ids = {call.id for message in turn.history for call in message.tool_calls}
        self._usage = UNREPORTED
        self._round = 0
        self._index = 0
        self._open: ToolCall | None = None

    async def execute(self) -> AgentResult[Any]:
        """The result of the run. What the provider raises is raised, the same object (F-42)."""
        try:
            with entered(self._scope()):
                result = await self._loop()
            self._finish("done", result=result)
        except asyncio.CancelledError:
            self._abort(Reason.CANCELLED, "cancelled")
            raise
        except Exception as error:
            self._abort(Reason.RUN_FAILED, "error", error=error)
            raise
        return result

    def _scope(self) -> RunScope:
        outer = self._turn.scope
        return replace(
            outer,
            approver=self._blueprint.approver or outer.approver,
            notify=self._put_question,
            state=self._turn.state,
            session_id=self._turn.session_id,
        )

    async def _loop(self) -> AgentResult[Any]:
        blueprint = self._blueprint
        stop: StopReason = "tool_limit"
        while True:
            self._round += 1
            response = await self._ask_model()
            if not response.tool_calls:
                stop = _stop_reason(response)
                break
            if self._round == blueprint.max_model_rounds:  # F-38
                for call in response.tool_calls:
                    await self._refuse_at_limit(call)
                break
            for call in response.tool_calls:
                await self._call_tool(call, response)
        result: AgentResult[Any] = AgentResult(
            text=response.text,
            output=None,
            messages=tuple(replace(message, attachments=(), native=None) for message in self._messages),
            tool_calls=tuple(self._calls),
            usage=self._usage,
            stop_reason=stop,
            model_rounds=self._round,
        )
        if self._turn.shape is not None:
            result = replace(result, output=self._turn.shape.read(result))
        await self._stage(
            Stage.FINALIZE, {"rounds": self._round, "tool_calls": len(self._calls)}, result=result
        )
        return result

    # the model

    async def _ask_model(self) -> ModelResponse:
        request = replace(
            self._request,
            system_parts=await self._assemble(),
            messages=(*self._turn.history, *self._messages),
            streaming=self._watched,
        )
        await self._stage(
            Stage.PRE_MODEL,
            {"messages": len(request.messages), "tools": len(request.tools)},
            request=request,
        )
        blueprint = self._blueprint
        await require_effect(
            "model_call", agent=blueprint.agent, grants=blueprint.grants, vetoes=blueprint.vetoes
        )
        response = self._accepted(await self._respond(request))
        self._usage += response.usage
        self._messages.append(
            Message("assistant", response.text, _unanswered(response.tool_calls), native=response.native)
        )
        await self._stage(
            Stage.POST_MODEL,
            {"characters": len(response.text), "tool_calls": len(response.tool_calls)},
            request=request,
            response=response,
        )
        return response

    async def _assemble(self) -> tuple[SystemPart, ...]:
        instructions = self._blueprint.instructions
        parts = [] if instructions is None else [SystemPart(instructions)]  # F-12
        for name, handler in self._blueprint.handlers.get(Stage.PROMPT_ASSEMBLY, ()):
            view = self._view(Stage.PROMPT_ASSEMBLY)
            answer = await self._handle(view, name, handler)
            if answer is None:
                answer = ()
            if not isinstance(answer, Sequence) or not all(isinstance(part, SystemPart) for part in answer):
                raise ContractViolationError(
                    f'the capability "{name}" answered no sequence of system parts in prompt_assembly'
                )
            parts += answer
            counts = {"parts": len(answer), "characters": sum(len(part.text) for part in answer)}
            await self._emit("stage", stage=StageRecord(view.stage, "run", name, counts=counts))
        return tuple(parts)

    async def _respond(self, request: ModelRequest) -> ModelResponse:
        response: ModelResponse | None = None
        told = {TextDelta: False, ThinkingDelta: False}
        async with AsyncExitStack() as stack:
            outputs: AsyncIterator[ModelOutput] = self._blueprint.provider.respond(request)
            if isinstance(outputs, AsyncGenerator):
                await stack.enter_async_context(aclosing(outputs))
            async for output in outputs:
                if response is not None:
                    raise ContractViolationError("the provider went on after its ModelResponse")
                if isinstance(output, ModelResponse):
                    response = output
                elif isinstance(output, TextDelta | ThinkingDelta):
                    told[type(output)] |= bool(output.text)
                    await self._emit_delta(output)
                else:
                    raise ContractViolationError(f"the provider answered a {type(output).__name__}")
        if response is None:
            raise ContractViolationError("the provider answered no ModelResponse")
        # A provider that does not stream: whoever watches still sees all of the answer, in one piece.
        if response.thinking and not told[ThinkingDelta]:
            await self._emit_delta(ThinkingDelta(response.thinking))
        if response.text and not told[TextDelta]:
            await self._emit_delta(TextDelta(response.text))
        return response

    def _accepted(self, response: ModelResponse) -> ModelResponse:
        """The response with every call frozen, and its id new to the conversation (F-36)."""
        calls = tuple(self._with_distinct_id(_frozen(call)) for call in response.tool_calls)
        same = [call.id for call in calls] == [call.id for call in response.tool_calls]
        # A native form with the old ids would not fit the answers.
        return replace(response, tool_calls=calls, native=response.native if same else None)

    def _with_distinct_id(self, call: ToolCall) -> ToolCall:
        stem, distinct, number = call.id or "call", call.id, 1
        while not distinct or distinct in self._ids:
            number += 1
            distinct = f"{stem}_{number}"
        self._ids.add(distinct)
        return replace(call, id=distinct)

    # tools

    async def _call_tool(self, call: ToolCall, response: ModelResponse) -> None:
        asked = _unanswered((call,))[0]
        await self._emit("tool_call", tool_call=asked)
        counts = {"arguments": len(asked.arguments)}
        await self._stage(Stage.PRE_TOOL, counts, response=response, tool_call=asked)
        answered = await self._answer(call)
        await self._record(answered)
        counts = {"characters": len(answered.error or answered.result or "")}
        await self._stage(Stage.POST_TOOL, counts, response=response, tool_call=answered)

    async def _answer(self, call: ToolCall) -> ToolCall:
        """The call with its result or its error; only cancellation gets past."""
        try:
            result = await self._gate(call).call(call.arguments)
        except RefusedError as refused:
            return replace(call, result=None, error=str(refused), reason=str(refused.reason))
        except Exception as error:
            text = f"{Reason.TOOL_ERROR}: {type(error).__name__}: {error}"
            return replace(call, result=None, error=text, reason=str(Reason.TOOL_ERROR))
        return replace(call, result=result, error=None, reason=None)

    def _gate(self, call: ToolCall) -> Gate:
        if call.error is not None:  # the provider could not read the arguments
            raise RefusedError(Reason.INVALID_ARGUMENTS, call.error)
        gate = self._blueprint.gates.get(call.name)
        if gate is None:
            known = suggestion(call.name, self._blueprint.gates)
            raise RefusedError(Reason.UNKNOWN_TOOL, f'there is no tool "{call.name}"; {known}'.rstrip("; "))
        return gate

    async def _refuse_at_limit(self, call: ToolCall) -> None:
        asked = _unanswered((call,))[0]
        await self._emit("tool_call", tool_call=asked)
        refused = RefusedError(Reason.LIMIT)
        await self._record(replace(asked, error=str(refused), reason=str(refused.reason)))

    async def _record(self, answered: ToolCall) -> None:
        self._calls.append(answered)
        self._messages.append(
            Message(
                "tool",
                answered.result if answered.result is not None else answered.error or "",
                tool_call_id=answered.id,
                is_error=answered.error is not None,
            )
        )
        await self._emit("tool_result", tool_call=answered)

    async def _put_question(self, interrupt: Interrupt) -> None:
        await self._emit("ask_user", interrupt=interrupt)
        await self._turn.scope.notify(interrupt)

    # stages

    async def _stage(self, stage: Stage, counts: Mapping[str, int], **shown: Any) -> None:
        for name, handler in self._blueprint.handlers.get(stage, ()):
            await self._handle(self._view(stage, **shown), name, handler)
            await self._emit("stage", stage=StageRecord(stage, "run", name, counts=counts))

    def _view(self, stage: Stage, **shown: Any) -> StageView:
        turn = self._turn
        return StageView(
            stage=stage, session_id=turn.session_id, state=turn.state, round=self._round, **shown
        )

    async def _handle(self, view: StageView, name: str, handler: Handler) -> Any:
        """What a handler answers; what it raises refuses the run, in its own type only where F-43 says so."""
        try:
            answer = handler(view)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception as error:
            record = StageRecord(view.stage, "run", name, "refused", type(error).__name__)
            await self._emit("stage", stage=record)
            if (
                view.stage is not Stage.PROMPT_ASSEMBLY
                and isinstance(error, ContractViolationError)
                and error.preserve_contract_identity
            ):
                raise
            raise ContractViolationError(
                f'the capability "{name}" refused at {view.stage}: {type(error).__name__}'
            ) from error

    # events

    @property
    def _watched(self) -> bool:
        return self._sink is not None or self._channel is not None

    async def _emit(self, kind: EventKind, **payload: Any) -> None:
        if self._watched:
            self._deliver(kind, payload)
            if self._channel is not None:
                await self._channel.taken()

    async def _emit_delta(self, delta: TextDelta | ThinkingDelta) -> None:
        if delta.text:
            await self._emit("text_delta" if isinstance(delta, TextDelta) else "thinking", text=delta.text)

    def _deliver(self, kind: EventKind, payload: Mapping[str, Any]) -> None:
        """Show one event to the sink and put it in the channel."""
        event = AgentEvent(kind, self._index, **payload)
        sink, self._sink = self._sink, None
        if sink is not None:
            try:
                sink(event)
            except Exception as error:  # an observer that fails ends the run, and is not asked again
                raise ContractViolationError(f"the event sink raised {type(error).__name__}") from error
            self._sink = sink
        self._index += 1
        if kind == "tool_call":
            self._open = event.tool_call
        elif kind == "tool_result":
            self._open = None
        if self._channel is not None:
            self._channel.put(event)

    def _finish(self, kind: EventKind, **payload: Any) -> None:
        """Deliver the terminal event, waiting for nobody."""
        if self._watched:
            self._deliver(kind, payload)

    def _abort(self, reason: Reason, kind: EventKind, **payload: Any) -> None:
        """End a run that fails: the open call is answered (F-36), then comes the terminal event."""
        call = self._open
        if call is not None:
            answered = replace(call, error=str(RefusedError(reason)), reason=str(reason))
            self._deliver_surely("tool_result", {"tool_call": answered})
        self._deliver_surely(kind, payload)

    def _deliver_surely(self, kind: EventKind, payload: Mapping[str, Any]) -> None:
        if self._watched:
            try:
                self._deliver(kind, payload)
            except ContractViolationError:
                self._deliver(kind, payload)  # without the sink now


def _frozen(call: ToolCall) -> ToolCall:
    """The call with frozen arguments: what was shown, checked and approved is what is executed."""
    try:
        return replace(call, arguments=FrozenDict(call.arguments))
    except (TypeError, ValueError) as error:
        return replace(call, arguments=FrozenDict(), error=f"the arguments are no JSON object: {error}")


def _unanswered(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(call.id, call.name, call.arguments) for call in calls)


def _stop_reason(response: ModelResponse) -> StopReason:
    return response.finish_reason if response.finish_reason in ("max_tokens", "refusal") else "end_turn"
