"""The agent facade (docs/contracts.md §2, F-10…F-47): one test or more per rule, named by its id.

F-01…F-03 are in `test_front_door.py`. What needs many runs at once, a wire or a lock has a part in `tests/runtime/`.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import gc
import inspect
import json
import os
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import pytest

import symc
from symc import (
    Agent,
    AgentEvent,
    AgentResult,
    Attachment,
    CapabilityConfig,
    ConfigurationError,
    ContractViolationError,
    Message,
    StructuredOutputError,
    SymfonicError,
    TokenUsage,
    ToolCall,
)
from symc.composition import Layer
from symc.contracts import (
    ALLOW,
    ASK,
    DENY,
    PolicyContribution,
    PolicyRequest,
    PolicyVerdict,
    ToolContribution,
    tool,
)
from symc.runtime.capabilities import (
    CapabilityContribution,
    ContributionRequest,
    GrantEffects,
    Stage,
    StageRecord,
    StageView,
)
from symc.runtime.events import FIELDS, TERMINAL
from symc.runtime.model import (
    ModelConfig,
    ModelOutput,
    ModelRequest,
    ModelResponse,
    SystemPart,
    TextDelta,
    ThinkingDelta,
)
from symc.runtime.policies import rule
from symc.runtime.providers import MockModelProvider, ModelProvider
from symc.runtime.toolset import ToolBinding

T = TypeVar("T")


def play(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in a loop of its own, and see that nothing is left behind."""

    async def watched() -> T:
        before = asyncio.all_tasks()
        result = await work
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == before, "a task is left over"
        return result

    return asyncio.run(watched())


def collect(stream: AsyncIterator[AgentEvent]) -> list[AgentEvent]:
    async def all_of() -> list[AgentEvent]:
        return [event async for event in stream]

    return play(all_of())


async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


async def fail() -> str:
    """Always fails."""
    raise ValueError("out of ink")


ADD = ToolCall("c1", "add", {"a": 1, "b": 2})


class Capability:
    """A capability with what the test gives it."""

    def __init__(
        self, name: str = "cap", *, sink: Callable[[AgentEvent], object] | None = None, **given: Any
    ) -> None:
        self._contribution = CapabilityContribution(name, **given)
        self.requests: list[ContributionRequest] = []
        if sink is not None:
            self.event_sink = sink

    def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        self.requests.append(request)
        return self._contribution


def handling(stage: Stage, handler: Callable[[StageView], Any], name: str = "cap") -> Capability:
    return Capability(name, stages=(stage,), handlers={stage: handler})


def vetoing(*verdicts: PolicyVerdict, when: Mapping[str, Any] | None = None) -> Capability:
    """A capability whose rules are about tool calls."""
    return Capability(
        policies=tuple(
            rule(f"cap/p{index}", verdict, covers=lambda effect, _tool: effect == "tool_call", when=when)
            for index, verdict in enumerate(verdicts)
        )
    )


def deciding(decide: Callable[[PolicyRequest], Awaitable[PolicyVerdict]], *actions: str) -> Capability:
    return Capability(policies=(PolicyContribution("judge", "cap", decide, frozenset(actions)),))


# F-10


def test_F_10_the_provider_is_the_only_required_argument() -> None:
    """[F-10]"""
    parameters = inspect.signature(Agent).parameters
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    assert required == ["model_provider"]
    assert [
        name
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name != "approver"
    ] == ["instructions", "model", "tools", "capabilities", "max_model_rounds"]
    assert play(Agent(MockModelProvider(["hello"])).run("Say hello.")).text == "hello"


def test_F_10_no_round_budget_is_ten() -> None:
    """[F-10]"""
    provider = MockModelProvider([lambda _: ADD] * 20)
    result = play(Agent(provider, tools=[add]).run("go"))
    assert (len(provider.requests), result.model_rounds, result.stop_reason) == (10, 10, "tool_limit")


@pytest.mark.parametrize("model", ["claude-sonnet-5", ModelConfig("claude-sonnet-5", temperature=0.5)])
def test_F_10_a_model_is_a_name_or_a_config(model: str | ModelConfig) -> None:
    """[F-10]"""
    provider = MockModelProvider(["hi"])
    play(Agent(provider, model=model).run("x"))
    asked = provider.requests[0].model
    assert asked is not None
    assert asked.name == "claude-sonnet-5"


# F-11

_FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("provider", {"model_provider": object()}, "no model provider"),
    ("instructions", {"instructions": 7}, "instructions"),
    ("model", {"model": 7}, "model"),
    ("round budget", {"max_model_rounds": 0}, "max_model_rounds"),
    ("capabilities", {"capabilities": [object()]}, "no capability"),
    (
        "event sinks",
        {"capabilities": [Capability("a", sink=print), Capability("b", sink=print)]},
        "event sink",
    ),
    ("fold", {"tools": [add, add]}, 'named "add"'),
]


@pytest.mark.parametrize("place", range(len(_FAULTS)), ids=[name for name, *_ in _FAULTS])
def test_F_11_faults_are_reported_in_order(place: int) -> None:
    """[F-11] With this fault and all later ones, this one is reported."""
    given: dict[str, Any] = {"model_provider": MockModelProvider()}
    for _, fault, _ in reversed(_FAULTS[place:]):
        given |= fault
    with pytest.raises(ConfigurationError, match=_FAULTS[place][2]):
        Agent(**given)


@pytest.mark.parametrize(
    "given",
    [{"model": " "}, {"model": ""}, {"tools": "add"}, {"tools": 3}, {"capabilities": "x"}, {"approver": 1}],
)
def test_F_11_other_faults(given: dict[str, Any]) -> None:
    """[F-11]"""
    with pytest.raises(ConfigurationError):
        Agent(MockModelProvider(), **given)


def test_F_11_a_provider_class_is_no_provider() -> None:
    """[F-11]"""
    with pytest.raises(ConfigurationError, match="is a class"):
        Agent(MockModelProvider)  # type: ignore[arg-type]


# F-12


@pytest.mark.parametrize("text", ["", " x \n", "{{ name }} ${env:HOME} %s", "e\u0301\u00e9\u202e", "a\r\nb"])
def test_F_12_instructions_are_verbatim(text: str) -> None:
    """[F-12]"""
    provider = MockModelProvider(["ok"])
    play(Agent(provider, instructions=text).run("x"))
    assert provider.requests[0].system == text


def test_F_12_none_sends_no_system_message() -> None:
    """[F-12]"""
    provider = MockModelProvider(["ok"])
    play(Agent(provider).run("x"))
    assert provider.requests[0].system is None
    assert provider.requests[0].system_parts == ()


# F-13


class LangChainTool:
    """The shape of LangChain's BaseTool, and nothing of LangChain."""

    name = "multiply"
    description = "Multiply."

    class Schema(pydantic.BaseModel):
        a: int
        b: int

    args_schema: Any = Schema

    async def ainvoke(self, arguments: dict[str, Any]) -> Any:
        return {"product": arguments["a"] * arguments["b"]}


class DictSchemaTool(LangChainTool):
    args_schema: Any = {  # noqa: RUF012  # as in LangChain
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    }


def shout(text: str) -> str:
    """Louder."""
    assert threading.current_thread() is not threading.main_thread()
    return text.upper()


@tool(extension="crm")
async def lookup(who: str) -> str:
    """Look someone up."""
    return f"found {who}"


@pytest.mark.parametrize(
    ("given", "call", "answer"),
    [
        (add, ADD, "3"),
        (lookup, ToolCall("c", "lookup", {"who": "Ada"}), "found Ada"),
        (LangChainTool(), ToolCall("c", "multiply", {"a": 3, "b": 4}), '{"product": 12}'),
        (DictSchemaTool(), ToolCall("c", "multiply", {"a": 3, "b": 4}), '{"product": 12}'),
        (shout, ToolCall("c", "shout", {"text": "hi"}), "HI"),
    ],
    ids=["async function", "contribution", "langchain", "langchain dict schema", "sync function"],
)
def test_F_13_every_shape_of_tool_runs(given: object, call: ToolCall, answer: str) -> None:
    """[F-13]"""
    provider = MockModelProvider([call, "done"])
    result = play(Agent(provider, tools=[given]).run("x"))
    assert result.tool_calls[0].result == answer
    spec = provider.requests[0].tools[0]
    assert spec.name == call.name
    assert spec.description
    assert spec.input_schema["type"] == "object"


@pytest.mark.parametrize("given", [LangChainTool(), add])
def test_F_13_arguments_are_held_to_the_schema(given: object) -> None:
    """[F-13]"""
    name = getattr(given, "name", "add")
    provider = MockModelProvider([ToolCall("c", name, {"a": "3", "b": 4}), "done"])
    call = play(Agent(provider, tools=[given]).run("x")).tool_calls[0]
    assert call.reason == "invalid_arguments"
    assert "/a" in str(call.error)


def test_F_13_tools_are_fixed_at_construction() -> None:
    """[F-13] Neither the list nor the object decides later what is called."""
    changing = LangChainTool()
    given: list[object] = [changing]
    provider = MockModelProvider([ToolCall("c", "multiply", {"a": 1, "b": 1}), "done"])
    agent = Agent(provider, tools=given)
    given.clear()
    changing.ainvoke = fail  # type: ignore[method-assign, assignment]
    changing.name = "other"
    assert play(agent.run("x")).tool_calls[0].result == '{"product": 1}'


def _bare(x) -> str:  # type: ignore[no-untyped-def]
    return str(x)


async def _sync_shaped(arguments: Mapping[str, Any]) -> str:
    return ""


@pytest.mark.parametrize(
    "given",
    [
        object(),
        "add",
        None,
        _bare,
        LangChainTool,
        ToolContribution("t", "", lambda arguments: "x"),  # type: ignore[arg-type, return-value]
        ToolContribution("not a name", "", _sync_shaped),
        ToolContribution("t", "", _sync_shaped, input_schema={"type": "objekt"}),
        ToolContribution("t", "", _sync_shaped, input_schema={"$ref": "https://example.com/schema.json"}),
        ToolContribution("t", "", _sync_shaped, input_schema={"$schema": "https://example.com/own"}),
    ],
)
def test_F_13_anything_else_is_refused(given: object) -> None:
    """[F-13]"""
    with pytest.raises(ConfigurationError):
        Agent(MockModelProvider(), tools=[given])


# F-14


def test_F_14_no_boolean_flags() -> None:
    """[F-14][FAC-7] Absence means disabled."""
    for function in (Agent, Agent.run, Agent.stream):
        for parameter in inspect.signature(function).parameters.values():
            assert "bool" not in str(parameter.annotation)
            assert not isinstance(parameter.default, bool)


# F-15


def test_F_15_a_capability_is_anything_that_contributes() -> None:
    """[F-15]"""
    seen: list[Stage] = []

    async def record(view: StageView) -> None:
        seen.append(view.stage)

    async def compose(view: StageView) -> Sequence[SystemPart]:
        seen.append(view.stage)
        return [SystemPart("from a capability")]

    handlers: dict[Stage, Any] = dict.fromkeys(Stage, record) | {Stage.PROMPT_ASSEMBLY: compose}
    capability = Capability(stages=tuple(Stage), handlers=handlers, tools=(add,))
    assert isinstance(capability, CapabilityConfig)
    provider = MockModelProvider([ADD, "done"])
    agent = Agent(provider, instructions="own", capabilities=[capability, GrantEffects("tool_call")])
    play(agent.run("x"))
    assert provider.requests[0].system == "own\n\nfrom a capability"
    assert [str(stage) for stage in seen] == [
        "prompt_assembly",
        "pre_model",
        "post_model",
        "pre_tool",
        "post_tool",
        "prompt_assembly",
        "pre_model",
        "post_model",
        "finalize",
    ]
    assert agent.capabilities == ("cap",)


@pytest.mark.parametrize("given", [object(), 7, Capability, "x", None])
def test_F_15_anything_else_is_refused_by_its_type(given: object) -> None:
    """[F-15]"""
    kind = given.__name__ if isinstance(given, type) else type(given).__name__
    with pytest.raises(ConfigurationError, match=kind):
        Agent(MockModelProvider(), capabilities=[given])


class _Contributes:
    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    def contribute(self, request: ContributionRequest) -> Any:
        return self._answer()


class _ContributesLate:
    async def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        return CapabilityContribution("late")


def _raise(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    "capability",
    [
        _ContributesLate(),
        _Contributes(lambda: None),
        _Contributes(lambda: {"name": "x"}),
        _Contributes(lambda: CapabilityContribution("")),
        _Contributes(lambda: CapabilityContribution("x", stages=(Stage.FINALIZE,))),
        _Contributes(lambda: CapabilityContribution("x", handlers={Stage.FINALIZE: print})),
        _Contributes(lambda: CapabilityContribution("x", stages=("later",))),  # type: ignore[arg-type]
        _Contributes(
            lambda: CapabilityContribution("x", stages=(Stage.FINALIZE,), handlers={Stage.FINALIZE: 3})  # type: ignore[dict-item]
        ),
        _Contributes(lambda: CapabilityContribution("x", preconditions=(3,))),  # type: ignore[arg-type]
        _Contributes(lambda: CapabilityContribution("x", policies=(3,))),  # type: ignore[arg-type]
        _Contributes(lambda: CapabilityContribution("x", tools=(3,))),
        _Contributes(lambda: _raise(RuntimeError("broken"))),
    ],
)
def test_F_15_an_ill_formed_contribution_is_refused(capability: object) -> None:
    """[F-15]"""
    with pytest.raises(ConfigurationError):
        Agent(MockModelProvider(), capabilities=[capability])


def test_F_15_what_contribute_raises_is_the_cause() -> None:
    """[F-15]"""
    boom = RuntimeError("broken")
    with pytest.raises(ConfigurationError, match="broken") as caught:
        Agent(MockModelProvider(), capabilities=[_Contributes(lambda: _raise(boom))])
    assert caught.value.__cause__ is boom


def test_F_15_two_of_one_name_are_refused() -> None:
    """[F-15]"""
    with pytest.raises(ConfigurationError, match='"same"'):
        Agent(MockModelProvider(), capabilities=[Capability("same"), Capability("same")])


# F-16, F-17


@pytest.mark.parametrize("place", [0, 1, 2])
def test_F_16_grants_are_removed_wherever_they_stand(place: int) -> None:
    """[F-16]"""
    first, second = Capability("first"), Capability("second")
    given: list[object] = [first, second]
    given.insert(place, GrantEffects("delegate"))
    agent = Agent(MockModelProvider(), capabilities=given)
    assert agent.capabilities == ("first", "second")
    assert first.requests[0].effects == second.requests[0].effects == {"model_call", "delegate"}


def test_F_16_an_unknown_effect_is_refused() -> None:
    """[F-16]"""
    with pytest.raises(ConfigurationError, match='did you mean "tool_call"'):
        GrantEffects("tool_cal")


def test_F_17_tool_call_is_granted_iff_the_adopter_passed_tools() -> None:
    """[F-17]"""
    brings = Capability(tools=(add,))
    without = play(Agent(MockModelProvider([ADD, "x"]), capabilities=[brings]).run("x")).tool_calls[0]
    assert without.reason == "not_granted"
    assert without.error == 'not executed: not_granted: the effect "tool_call" is not granted'
    granted = play(
        Agent(MockModelProvider([ADD, "x"]), capabilities=[brings, GrantEffects("tool_call")]).run("x")
    ).tool_calls[0]
    assert granted.result == "3"
    own = play(
        Agent(MockModelProvider([ADD, "x"]), capabilities=[brings], tools=[shout]).run("x")
    ).tool_calls[0]
    assert own.result == "3"


@pytest.mark.parametrize("effects", [(), ("delegate",)])
def test_F_17_one_set_at_fold_and_at_dispatch(effects: tuple[str, ...]) -> None:
    """[F-17] What the capability was told is what the gate enforces."""
    ran: list[str] = []

    async def invoke(arguments: Mapping[str, Any]) -> str:
        ran.append("ran")
        return "ok"

    child = ToolBinding(name="ask_child", invoke=invoke, effect="delegate")
    capability = Capability(tools=(child,))
    agent = Agent(
        MockModelProvider([ToolCall("c", "ask_child"), "x"]),
        capabilities=[capability, GrantEffects(*effects)],
    )
    play(agent.run("x"))
    assert bool(ran) == ("delegate" in capability.requests[0].effects) == bool(effects)


def test_F_17_a_capability_cannot_add_to_it() -> None:
    """[F-17] Nothing in a contribution is a grant, and the set it is told is frozen."""
    assert "grant" not in " ".join(each.name for each in fields(CapabilityContribution))
    capability = Capability()
    Agent(MockModelProvider(), capabilities=[capability])
    with pytest.raises(AttributeError):
        capability.requests[0].effects.add("tool_call")  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        capability.requests[0].effects = frozenset()  # type: ignore[misc]


# F-18, F-19


def test_F_18_the_sink_sees_every_event_of_a_run() -> None:
    """[F-18]"""
    seen: list[AgentEvent] = []
    agent = Agent(MockModelProvider([ADD, "three"]), tools=[add], capabilities=[Capability(sink=seen.append)])
    result = play(agent.run("x"))
    assert [event.kind for event in seen] == ["tool_call", "tool_result", "text_delta", "done"]
    assert seen[-1].result == result


def test_F_18_a_stream_and_its_sink_see_the_same() -> None:
    """[F-18]"""
    seen: list[AgentEvent] = []
    agent = Agent(MockModelProvider([ADD, "three"]), tools=[add], capabilities=[Capability(sink=seen.append)])
    assert collect(agent.stream("x")) == seen


def test_F_18_an_async_sink_is_refused() -> None:
    """[F-18]"""

    async def sink(event: AgentEvent) -> None: ...

    with pytest.raises(ConfigurationError, match="sync"):
        Agent(MockModelProvider(), capabilities=[Capability(sink=sink)])


@pytest.mark.parametrize("kind", ["text_delta", "tool_call", "tool_result", "done"])
def test_F_18_a_sink_that_fails_ends_the_run(kind: str) -> None:
    """[F-18] An observer is not dropped silently, and the stream still ends well-formed."""

    def sink(event: AgentEvent) -> None:
        if event.kind == kind:
            raise OSError("disk full")

    agent = Agent(MockModelProvider([["a", ADD], "b"]), tools=[add], capabilities=[Capability(sink=sink)])
    events = collect(agent.stream("x"))
    assert_well_formed(events)
    assert isinstance(events[-1].error, ContractViolationError)
    assert isinstance(events[-1].error.__cause__, OSError)


@pytest.mark.parametrize("kind", ["error", "tool_result"])
def test_F_18_a_sink_that_fails_while_a_run_fails_hides_nothing(kind: str) -> None:
    """[F-18] The stream still gets every event, and the first error."""

    def sink(event: AgentEvent) -> None:
        if event.kind == kind:
            raise OSError("disk full")

    def refuse(view: StageView) -> None:
        raise LookupError("first")

    capability = Capability(sink=sink, stages=(Stage.PRE_TOOL,), handlers={Stage.PRE_TOOL: refuse})
    events = collect(Agent(MockModelProvider([ADD]), tools=[add], capabilities=[capability]).stream("x"))
    assert_well_formed(events)
    assert [event.kind for event in events] == ["tool_call", "stage", "tool_result", "error"]
    assert isinstance(events[-1].error, ContractViolationError)
    assert isinstance(events[-1].error.__cause__, LookupError)


def _unsure(_request: PolicyRequest) -> Any:
    return True


def _breaks(_request: PolicyRequest) -> Any:
    raise KeyError("x")


async def _too_late(_request: PolicyRequest) -> str:
    return "too late"


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda request: None, None),
        (lambda request: ALLOW, None),
        (lambda request: "not on Sundays", "not executed: precondition_failed: not on Sundays"),
        (lambda request: DENY("no"), "not executed: precondition_failed: no"),
        (_too_late, "not executed: precondition_failed: too late"),
        (_unsure, "not executed: precondition_failed"),
        (_breaks, "not executed: precondition_failed: a precondition raised KeyError"),
    ],
)
def test_F_19_preconditions_can_only_refuse(check: Any, error: str | None) -> None:
    """[F-19]"""
    agent = Agent(
        MockModelProvider([ADD, "x"]), tools=[add], capabilities=[Capability(preconditions=(check,))]
    )
    call = play(agent.run("x")).tool_calls[0]
    assert call.error == error
    assert (call.result is None) == (error is not None)


def test_F_19_no_objection_undoes_no_denial() -> None:
    """[F-19]"""
    agent = Agent(
        MockModelProvider([ADD, "x"]),
        tools=[add],
        capabilities=[Capability("yes", preconditions=(lambda request: ALLOW,)), vetoing(DENY("never"))],
    )
    assert play(agent.run("x")).tool_calls[0].reason == "policy_denied"


# F-20


def test_F_20_a_name_clash_is_an_error_that_shows_both() -> None:
    """[F-20]"""
    with pytest.raises(ConfigurationError, match=r'"add".*passed to Agent.*capability "crm"'):
        Agent(MockModelProvider(), tools=[add], capabilities=[Capability("crm", tools=(add,))])


def test_F_20_one_set_feeds_model_attestation_and_execution() -> None:
    """[F-20] Sorted by name: providers cache the tools as a prefix."""
    provider = MockModelProvider(["x"])
    agent = Agent(provider, tools=[shout, add], capabilities=[Capability(tools=(fail,))])
    play(agent.run("x"))
    names = [each.name for each in provider.requests[0].tools]
    assert names == ["add", "fail", "shout"] == list(agent.composition_manifest["tools"])


def test_F_20_what_is_not_exposed_cannot_be_called() -> None:
    """[F-20]"""

    async def invoke(arguments: Mapping[str, Any]) -> str:
        return "reached"

    hidden = ToolBinding(name="secret_tool", invoke=invoke, exposed=False)
    provider = MockModelProvider([ToolCall("c", "secret_tool"), "x"])
    call = play(Agent(provider, tools=[add, hidden]).run("x")).tool_calls[0]
    assert call.reason == "unknown_tool"
    assert [each.name for each in provider.requests[0].tools] == ["add"]


def test_F_20_an_unknown_name_gets_the_nearest() -> None:
    """[F-20]"""
    call = play(Agent(MockModelProvider([ToolCall("c", "adds"), "x"]), tools=[add]).run("x")).tool_calls[0]
    assert call.error == 'not executed: unknown_tool: there is no tool "adds"; did you mean "add"?'


# F-21, F-22


def test_F_21_construction_touches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """[F-21][FAC-8]"""
    from symc.runtime.providers import AnthropicProvider, OpenAIProvider

    Agent(MockModelProvider(), tools=[add])  # imports what it needs

    def touched(*args: object, **named: object) -> Any:
        raise AssertionError("construction touched the world")

    class Poison(dict[str, str]):
        __getitem__ = get = __contains__ = __iter__ = touched

    with monkeypatch.context() as world:
        world.setattr(builtins, "open", touched)
        world.setattr(Path, "open", touched)
        world.setattr(os, "environ", Poison())
        world.setattr(os, "getenv", touched)
        world.setattr(socket, "socket", touched)
        world.setattr(threading.Thread, "start", touched)
        world.setattr(asyncio, "create_task", touched)
        world.setattr(asyncio, "new_event_loop", touched)
        for provider in (MockModelProvider(), AnthropicProvider("claude-sonnet-5"), OpenAIProvider("gpt-5")):
            Agent(
                provider,
                instructions="x",
                model="m",
                tools=[add, lookup],
                capabilities=[Capability(tools=(fail,))],
            )


def test_F_22_nothing_of_a_run_is_kept() -> None:
    """[F-22][FAC-9] 200 runs at once: each gets its own answer, and the agent stays as it was."""

    async def answer(request: ModelRequest) -> object:
        await asyncio.sleep(0)
        told = [message.text for message in request.messages if message.role == "tool"]
        number = int(request.messages[0].text)
        return f"{number}: {told[0]}" if told else ToolCall("same", "add", {"a": number, "b": 1})

    agent = Agent(MockModelProvider([answer] * 400), tools=[add])
    before = dict(vars(agent))

    async def all_runs() -> list[str]:
        results = await asyncio.gather(
            *[agent.run(str(number), session_id=str(number)) for number in range(200)]
        )
        return [result.text for result in results]

    assert play(all_runs()) == [f"{number}: {number + 1}" for number in range(200)]
    assert vars(agent) == before


# F-23


def _attested(**changed: Any) -> Mapping[str, Any]:
    given: dict[str, Any] = {
        "instructions": "You help.",
        "model": ModelConfig("m", settings={"top_p": 0.5}),
        "tools": [add],
        "capabilities": [Capability(preconditions=(lambda request: None,))],
    } | changed
    return Agent(
        changed.pop("model_provider", MockModelProvider()),
        **{k: v for k, v in given.items() if k != "model_provider"},
    ).composition_manifest


def test_F_23_equal_input_gives_equal_attestations() -> None:
    """[F-23]"""
    assert _attested() == _attested()


async def _add_otherwise(a: int, b: int) -> str:
    """Add two numbers, somehow."""
    return ""


_add_otherwise.__name__ = "add"


@pytest.mark.parametrize(
    "changed",
    [
        {"instructions": "You help. "},
        {"instructions": None},
        {"model": ModelConfig("m", settings={"top_p": 0.6})},
        {"model": None},
        {"tools": [_add_otherwise]},
        {"tools": []},
        {"tools": [add, shout]},
        {"capabilities": []},
        {"capabilities": [Capability("other")]},
        {"capabilities": [Capability(preconditions=())]},
        {"capabilities": [vetoing(ALLOW)]},
        {"capabilities": [Capability(preconditions=(lambda request: None,)), GrantEffects("delegate")]},
        {"max_model_rounds": 3},
        {"model_provider": MockModelProvider(vendor="other")},
    ],
)
def test_F_23_anything_listed_changes_it(changed: dict[str, Any]) -> None:
    """[F-23]"""
    one, other = _attested(), _attested(**changed)
    assert one != other
    assert one["digest"] != other["digest"]


def test_F_23_no_payload() -> None:
    """[F-23] Planted secrets appear nowhere."""
    secret = "hunter2"

    async def leak(text: str = secret) -> str:
        return ""

    leak.__doc__ = f"Uses {secret}."
    agent = Agent(
        MockModelProvider(),
        instructions=f"key {secret}",
        model=ModelConfig("m", settings={"extra_headers": {"authorization": secret}}),
        tools=[leak, replace(lookup, description=secret, origin=f"https://{secret}@example.com")],
        capabilities=[vetoing(DENY(secret), when={"properties": {"x": {"const": secret}}})],
    )
    told = repr(agent.composition_manifest) + repr(agent)
    assert secret not in told
    assert "leak" in told
    json.dumps(agent.composition_manifest)


def test_F_23_it_is_read_only() -> None:
    """[F-23]"""
    manifest = Agent(MockModelProvider(), tools=[add]).composition_manifest
    with pytest.raises(TypeError):
        manifest["vendor"] = "x"  # type: ignore[index]
    with pytest.raises(TypeError):
        manifest["tools"]["add"] = "x"


def test_F_23_a_composition_gives_its_own_account() -> None:
    """[F-23] Alone it is the whole account; with anything beside it, a part."""
    account = {"agent": "support", "digest": "sha256:0"}
    capability = Capability(agent="support", attestation=account)
    assert Agent(MockModelProvider(), capabilities=[capability]).composition_manifest == account
    mixed = Agent(MockModelProvider(), capabilities=[capability], instructions="more").composition_manifest
    assert mixed["composition"] == account


# F-30, F-31


def test_F_30_closing_is_optional() -> None:
    """[F-30][LIF-1] No warning and no task is left by agents that nobody closed, run, streamed or not."""

    async def use() -> None:
        await Agent(MockModelProvider(["x"])).run("x")
        async for _ in Agent(MockModelProvider(["x"])).stream("x"):
            pass
        Agent(MockModelProvider()).stream("never iterated")
        async with Agent(MockModelProvider(["x"])) as agent:
            await agent.run("x")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(use())
        gc.collect()


def test_F_31_close_is_idempotent_and_may_be_awaited() -> None:
    """[F-31][LIF-4]"""

    async def use() -> None:
        agent = Agent(MockModelProvider())
        agent.close()
        agent.close()
        await agent.close()
        for call in (agent.run, agent.stream):
            with pytest.raises(ContractViolationError, match="closed"):
                call("x")

    play(use())


def test_F_31_close_closes_nothing_of_the_adopter() -> None:
    """[F-31]"""

    class Provider(MockModelProvider):
        closed = False

        async def aclose(self) -> None:
            self.closed = True

        close = __aexit__ = aclose

    provider = Provider(["x"])

    async def use() -> None:
        async with Agent(provider):
            pass

    play(use())
    assert not provider.closed


def test_F_31_runs_in_flight_go_on() -> None:
    """[F-31]"""
    running = asyncio.Event()
    closed = asyncio.Event()

    async def wait(request: ModelRequest) -> str:
        running.set()
        await closed.wait()
        return "finished"

    async def use() -> str:
        agent = Agent(MockModelProvider([wait]))
        run = asyncio.ensure_future(agent.run("x"))
        await running.wait()
        agent.close()
        closed.set()
        return (await run).text

    assert play(use()) == "finished"


# F-32, F-33


def test_F_32_the_arguments_of_run() -> None:
    """[F-32]"""
    for function in (Agent.run, Agent.stream):
        parameters = inspect.signature(function).parameters
        assert list(parameters) == [
            "self",
            "prompt",
            "attachments",
            "history",
            "state",
            "session_id",
            "output_type",
        ]
        assert {name: parameter.default for name, parameter in list(parameters.items())[2:]} == {
            "attachments": (),
            "history": (),
            "state": None,
            "session_id": "",
            "output_type": None,
        }


def test_F_32_all_of_them_arrive() -> None:
    """[F-32]"""
    seen: list[StageView] = []
    provider = MockModelProvider(["ok"])
    picture = Attachment("image", "base64", "aGk=")
    agent = Agent(provider, capabilities=[handling(Stage.PRE_MODEL, seen.append)])
    play(
        agent.run(
            "now",
            attachments=[picture],
            history=[Message("user", "before"), Message("assistant", "yes")],
            state={"slots": {"a": "b"}},
            session_id="s1",
        )
    )
    assert [message.text for message in provider.requests[0].messages] == ["before", "yes", "now"]
    assert provider.requests[0].messages[-1].attachments == (picture,)
    assert provider.requests[0].session_id == seen[0].session_id == "s1"
    assert seen[0].state == {"slots": {"a": "b"}}


_BAD_ARGUMENTS: list[tuple[Any, dict[str, Any]]] = [
    (7, {}),
    (None, {}),
    ("x", {"attachments": ["photo.png"]}),
    ("x", {"history": ["hi"]}),
    ("x", {"history": "hi"}),
    ("x", {"history": [Message("system", "hi")]}),  # type: ignore[arg-type]
    ("x", {"history": [Message("assistant", "", (ADD,))]}),
    ("x", {"history": [Message("assistant", "", (ADD,)), Message("user", "well?")]}),
    ("x", {"history": [Message("tool", "3", tool_call_id="c1")]}),
    ("x", {"state": [1]}),
    ("x", {"session_id": 4}),
    ("x", {"output_type": object()}),
]


@pytest.mark.parametrize(("prompt", "named"), _BAD_ARGUMENTS)
def test_F_33_argument_errors_raise_at_the_call(prompt: Any, named: dict[str, Any]) -> None:
    """[F-33][EVT-8] Before iteration, before awaiting, and before any provider call."""
    provider = MockModelProvider(["x"])
    agent = Agent(provider)
    for call in (agent.stream, agent.run):
        with pytest.raises(ConfigurationError):
            call(prompt, **named)
    assert provider.requests == []


def test_F_33_stream_is_a_plain_function() -> None:
    """[F-33][EVT-8]"""
    assert not inspect.iscoroutinefunction(Agent.stream)
    assert not inspect.isasyncgenfunction(Agent.stream)


# F-34, F-35, F-36


def assert_well_formed(events: Sequence[AgentEvent]) -> None:
    """Dense, one terminal event and it is the last, exactly the fields of its kind, every call answered once."""
    assert [event.index for event in events] == list(range(len(events)))
    assert [event.kind in TERMINAL for event in events] == [False] * (len(events) - 1) + [True]
    for event in events:
        filled = [each.name for each in fields(AgentEvent)[2:] if getattr(event, each.name) is not None]
        assert filled == [name for name in [FIELDS[event.kind]] if name]
    asked = [event.tool_call for event in events if event.kind == "tool_call"]
    answered = [event.tool_call for event in events if event.kind == "tool_result"]
    assert [call.id for call in asked if call] == [call.id for call in answered if call]
    assert len({call.id for call in asked if call}) == len(asked)
    assert all(call and call.result is None and call.error is None for call in asked)
    assert all(call and (call.result is None) != (call.error is None) for call in answered)


class Thinking:
    """A provider that thinks aloud, streams or not, and reports usage."""

    def __init__(self, *, deltas: bool) -> None:
        self._deltas = deltas

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        if self._deltas and request.streaming:
            yield ThinkingDelta("hm")
            yield TextDelta("")
            yield TextDelta("an")
            yield TextDelta("swer")
        elif request.streaming:
            yield TextDelta("")
        yield ModelResponse(text="answer", thinking="hm", usage=TokenUsage(3, 4))


SCRIPTS: dict[str, Callable[[], list[Any]]] = {
    "text": lambda: ["hello there"],
    "nothing": lambda: [""],
    "tool": lambda: [["one moment", ADD], "three"],
    "many tools": lambda: [
        [ADD, ToolCall("c2", "fail"), ToolCall("c3", "nope"), ToolCall("c4", "add", {})],
        "so",
    ],
    "duplicate ids": lambda: [[ADD, ADD], [ADD], "so"],
    "limit": lambda: [[ADD], [ADD], [["going on", ADD]][0]],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_F_34_the_stream_and_run_agree(script: str) -> None:
    """[F-34][EVT-1] One kernel behind both."""

    def agent() -> Agent:
        return Agent(MockModelProvider(SCRIPTS[script]()), tools=[add, fail], max_model_rounds=3)

    events = collect(agent().stream("x"))
    result = play(agent().run("x"))
    assert events[-1].kind == "done"
    assert events[-1].result == result
    assert_well_formed(events)


@pytest.mark.parametrize("deltas", [True, False])
def test_F_34_deltas_are_the_answer(deltas: bool) -> None:
    """[F-34] Whoever watches sees all of it, also of a provider that does not stream."""
    events = collect(Agent(Thinking(deltas=deltas)).stream("x"))
    assert_well_formed(events)
    assert "".join(event.text or "" for event in events if event.kind == "text_delta") == "answer"
    assert "".join(event.text or "" for event in events if event.kind == "thinking") == "hm"
    assert events[-1].result is not None
    assert events[-1].result.text == "answer"


def test_F_34_a_provider_streams_only_for_who_watches() -> None:
    """[F-34]"""
    provider = MockModelProvider(["a", "b", "c"])
    play(Agent(provider).run("x"))
    collect(Agent(provider).stream("x"))
    play(Agent(provider, capabilities=[Capability(sink=print)]).run("x"))
    assert [request.streaming for request in provider.requests] == [False, True, True]


def test_F_34_the_providers_stream_is_closed_with_the_round() -> None:
    """[F-34] At once, not when it is forgotten."""
    closed: list[bool] = []

    class Provider:
        async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
            try:
                yield TextDelta("a")
                yield ModelResponse(text="a")
            finally:
                closed.append(True)

    def sink(event: AgentEvent) -> None:
        raise OSError

    async def use() -> None:
        with pytest.raises(ContractViolationError) as caught:
            await Agent(Provider(), capabilities=[Capability(sink=sink)]).run("x")
        assert closed
        assert caught.value.__cause__

    play(use())


def test_F_34_a_provider_of_ones_own_works() -> None:
    """[F-34] Any object that satisfies the protocol."""
    provider = Thinking(deltas=True)
    assert isinstance(provider, ModelProvider)
    assert play(Agent(provider).run("x")).usage == TokenUsage(3, 4)


class Misbehaving:
    def __init__(self, *outputs: object) -> None:
        self._outputs = outputs

    async def respond(self, request: ModelRequest) -> AsyncIterator[Any]:
        for output in self._outputs:
            yield output


@pytest.mark.parametrize(
    "outputs", [(), ("text",), (ModelResponse(text="a"), ModelResponse(text="b")), (TextDelta("a"),)]
)
def test_F_34_a_provider_that_breaks_the_protocol_is_told(outputs: tuple[object, ...]) -> None:
    """[F-34]"""
    with pytest.raises(ContractViolationError, match="provider"):
        play(Agent(Misbehaving(*outputs)).run("x"))


def test_F_35_the_kinds_and_their_fields() -> None:
    """[F-35]"""
    assert FIELDS == {
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


@pytest.mark.parametrize(
    "build",
    [
        lambda: AgentEvent("done", 0),
        lambda: AgentEvent("cancelled", 0, text="x"),
        lambda: AgentEvent("text_delta", 0, text="x", tool_call=ADD),
        lambda: AgentEvent("tool_call", 0, tool_call=replace(ADD, result="3")),
        lambda: AgentEvent("tool_result", 0, tool_call=ADD),
        lambda: AgentEvent("tool_result", 0, tool_call=replace(ADD, result="3", error="no")),
        lambda: AgentEvent("finished", 0),  # type: ignore[arg-type]
    ],
)
def test_F_35_no_event_has_other_fields(build: Callable[[], AgentEvent]) -> None:
    """[F-35]"""
    with pytest.raises(ValueError, match=r"event|kind"):
        build()


def test_F_35_stage_events_carry_counts_and_never_contents() -> None:
    """[F-35]"""

    def parts(view: StageView) -> list[SystemPart]:
        return [SystemPart("hunter2")]

    def nothing(view: StageView) -> None: ...

    handlers: dict[Stage, Any] = dict.fromkeys(Stage, nothing) | {Stage.PROMPT_ASSEMBLY: parts}
    agent = Agent(
        MockModelProvider([["hunter2", replace(ADD)], "hunter2"]),
        tools=[add],
        capabilities=[Capability(stages=tuple(Stage), handlers=handlers)],
    )
    events = collect(agent.stream("hunter2"))
    assert_well_formed(events)
    records = [event.stage for event in events if event.stage]
    assert "hunter2" not in repr(records)
    assert [(record.stage, dict(record.counts)) for record in records[:5]] == [
        (Stage.PROMPT_ASSEMBLY, {"parts": 1, "characters": 7}),
        (Stage.PRE_MODEL, {"messages": 1, "tools": 1}),
        (Stage.POST_MODEL, {"characters": 7, "tool_calls": 1}),
        (Stage.PRE_TOOL, {"arguments": 2}),
        (Stage.POST_TOOL, {"characters": 1}),
    ]
    assert all(isinstance(count, int) for record in records for count in record.counts.values())
    assert [each.name for each in fields(StageRecord)] == [
        "stage",
        "phase",
        "capability",
        "outcome",
        "reason",
        "counts",
    ]


def test_F_35_an_error_is_an_event() -> None:
    """[F-35] The terminal one; the iteration ends and does not raise."""
    boom = RuntimeError("down")
    events = collect(Agent(MockModelProvider([boom])).stream("x"))
    assert [event.kind for event in events] == ["error"]
    assert events[0].error is boom


@pytest.mark.parametrize("stage", [Stage.PRE_TOOL, Stage.POST_TOOL])
def test_F_36_calls_are_answered_when_the_run_fails(stage: Stage) -> None:
    """[F-36][RES-3]"""

    def refuse(view: StageView) -> None:
        raise RuntimeError("no")

    agent = Agent(
        MockModelProvider([[ADD, ToolCall("c2", "add")], "x"]),
        tools=[add],
        capabilities=[handling(stage, refuse)],
    )
    events = collect(agent.stream("x"))
    assert_well_formed(events)
    answered = [event.tool_call for event in events if event.kind == "tool_result"]
    assert [call and call.reason for call in answered] == ["run_failed" if stage is Stage.PRE_TOOL else None]
    assert events[-1].kind == "error"


@pytest.mark.parametrize("streamed", [True, False])
def test_F_36_calls_are_answered_on_cancellation(streamed: bool) -> None:
    """[F-36] The sink sees the pair, and `cancelled` last."""
    seen: list[AgentEvent] = []
    started = asyncio.Event()

    async def hang() -> str:
        started.set()
        await asyncio.Event().wait()
        return ""

    async def use() -> None:
        agent = Agent(
            MockModelProvider([[ToolCall("c", "hang")]]),
            tools=[hang],
            capabilities=[Capability(sink=seen.append)],
        )
        if streamed:

            async def iterate() -> None:
                async for _ in agent.stream("x"):
                    pass

            task: asyncio.Task[Any] = asyncio.create_task(iterate())
        else:
            task = asyncio.create_task(agent.run("x"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(use())
    assert_well_formed(seen)
    assert [event.kind for event in seen] == ["tool_call", "tool_result", "cancelled"]
    assert seen[1].tool_call is not None
    assert seen[1].tool_call.error == "not executed: cancelled"


def test_F_36_a_run_that_cancels_itself_tells_the_stream() -> None:
    """[F-36] Cancellation from within reaches whoever iterates as the terminal event."""

    async def give_up() -> str:
        raise asyncio.CancelledError

    events = collect(Agent(MockModelProvider([ToolCall("c", "give_up")]), tools=[give_up]).stream("x"))
    assert_well_formed(events)
    assert [event.kind for event in events] == ["tool_call", "tool_result", "cancelled"]


def test_F_36_duplicate_ids_are_made_distinct() -> None:
    """[F-36] In a round, over rounds, against the history, and where a provider gives none."""
    before = (
        Message("user", "x"),
        Message("assistant", "", (ToolCall("a", "add"),)),
        Message("tool", "3", tool_call_id="a"),
    )
    script: list[Any] = [
        [ToolCall("a", "add"), ToolCall("", "add"), ToolCall("", "add")],
        [ToolCall("a", "add")],
        "so",
    ]
    provider = MockModelProvider(script)
    result = play(Agent(provider, tools=[add]).run("y", history=before))
    ids = [call.id for call in result.tool_calls]
    assert len({"a", *ids}) == 5
    assert all(ids)
    sent = provider.requests[-1].messages
    assert [call.id for message in sent for call in message.tool_calls] == [
        message.tool_call_id for message in sent if message.role == "tool"
    ]


def test_F_36_unreadable_arguments_are_refused() -> None:
    """[F-36] What the provider could not read is not executed."""
    call = ToolCall("c", "add", error="the arguments are not JSON")
    result = play(Agent(MockModelProvider([call, "x"]), tools=[add]).run("x"))
    assert result.tool_calls[0].error == "not executed: invalid_arguments: the arguments are not JSON"


@pytest.mark.parametrize(
    "arguments", ["text", [1], None, {1: 2}, {"a": float("nan"), "b": 1}, {"a": object(), "b": 1}]
)
def test_F_36_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    """[F-36]"""
    result = play(Agent(MockModelProvider([ToolCall("c", "add", arguments), "x"]), tools=[add]).run("x"))
    assert result.tool_calls[0].reason == "invalid_arguments"


async def _number() -> Any:
    """Answers a number."""
    return 7


async def _none() -> Any:
    """Answers nothing."""


@pytest.mark.parametrize("given", [_number, _none])
def test_F_36_an_answer_that_is_no_text_is_a_tool_error(given: Any) -> None:
    """[F-36][X-12]"""
    call = play(
        Agent(MockModelProvider([ToolCall("c", given.__name__), "x"]), tools=[given]).run("x")
    ).tool_calls[0]
    assert call.reason == "tool_error"
    assert call.result is None


@pytest.mark.parametrize(
    ("answer", "reason"), [('{"n": 1}', None), ('{"n": "1"}', "tool_error"), ("n", "tool_error")]
)
def test_F_36_an_output_schema_is_enforced(answer: str, reason: str | None) -> None:
    """[F-36][X-12]"""

    async def invoke(arguments: Mapping[str, Any]) -> str:
        return answer

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    given = ToolContribution("t", "", invoke, output_schema=schema)
    call = play(Agent(MockModelProvider([ToolCall("c", "t"), "x"]), tools=[given]).run("x")).tool_calls[0]
    assert call.reason == reason


# F-37, F-38, F-39


def test_F_37_the_result_is_the_whole_turn() -> None:
    """[F-37][RES-1]"""
    result = play(Agent(MockModelProvider([["wait", ADD], "three"]), tools=[add, fail]).run("sum"))
    answered = replace(ADD, result="3")
    assert result == AgentResult(
        text="three",
        output=None,
        messages=(
            Message("user", "sum"),
            Message("assistant", "wait", (ADD,)),
            Message("tool", "3", tool_call_id="c1"),
            Message("assistant", "three"),
        ),
        tool_calls=(answered,),
        stop_reason="end_turn",
        model_rounds=2,
    )


def test_F_37_text_is_never_none() -> None:
    """[F-37]"""
    assert play(Agent(MockModelProvider([""])).run("x")).text == ""


def test_F_37_messages_can_be_passed_back() -> None:
    """[F-37] The model sees every text again, byte for byte; the caller's history is untouched."""
    odd = " a\r\n\u202e\ud83d\ude00 "
    provider = MockModelProvider([[odd, ADD], "three", "again"])
    agent = Agent(provider, tools=[add])
    history: list[Message] = []
    first = play(agent.run("sum" + odd, history=history))
    assert history == []
    kept = list(first.messages)
    second = play(agent.run("and now?", history=kept))
    assert tuple(kept) == first.messages
    assert provider.requests[-1].messages == (*first.messages, Message("user", "and now?"))
    assert second.messages == (Message("user", "and now?"), Message("assistant", "again"))


def test_F_37_attachments_are_not_replayed() -> None:
    """[F-37]"""
    provider = MockModelProvider(["a", "b"])
    agent = Agent(provider)
    picture = Attachment("image", "url", "https://example.com/a.png")
    first = play(agent.run("look", attachments=[picture]))
    assert first.messages[0] == Message("user", "look")
    play(
        agent.run(
            "more", history=[Message("user", "look", attachments=(picture,)), Message("assistant", "a")]
        )
    )
    assert not any(message.attachments for message in provider.requests[-1].messages)


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("refusal", "refusal"),
        ("tool_use", "end_turn"),
    ],
)
def test_F_37_the_stop_reason(finish: Any, reason: str) -> None:
    """[F-37]"""
    result = play(Agent(MockModelProvider([ModelResponse(text="x", finish_reason=finish)])).run("x"))
    assert result.stop_reason == reason


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_F_38_at_most_n_provider_calls(limit: int) -> None:
    """[F-38]"""
    ran: list[int] = []

    async def count() -> str:
        ran.append(1)
        return "ok"

    provider = MockModelProvider([lambda _: ["so far", ToolCall("c", "count")]] * 9)
    result = play(Agent(provider, tools=[count], max_model_rounds=limit).run("x"))
    assert (len(provider.requests), len(ran), result.model_rounds) == (limit, limit - 1, limit)
    assert (result.stop_reason, result.text) == ("tool_limit", "so far")
    assert result.tool_calls[-1].error == "not executed: limit"
    assert result.messages[-1] == Message(
        "tool", "not executed: limit", tool_call_id=result.tool_calls[-1].id, is_error=True
    )


def test_F_38_an_answer_in_the_last_round_is_no_limit() -> None:
    """[F-38]"""
    assert play(Agent(MockModelProvider(["x"]), max_model_rounds=1).run("x")).stop_reason == "end_turn"


@pytest.mark.parametrize("rounds", [0, -1, True, False, 2.0, "3"])
def test_F_38_other_values_are_refused(rounds: Any) -> None:
    """[F-38]"""
    with pytest.raises(ConfigurationError, match="max_model_rounds"):
        Agent(MockModelProvider(), max_model_rounds=rounds)


def test_F_39_usage_is_summed_and_never_estimated() -> None:
    """[F-39][RES-4]"""
    assert play(Agent(MockModelProvider(["a long text " * 50])).run("x")).usage == TokenUsage(0, 0, 0, 0)
    rounds = [
        ModelResponse(tool_calls=(ADD,), usage=TokenUsage(1, 2, 3, 4)),
        ModelResponse(text="x", usage=TokenUsage(10, 0, 0, 0)),
    ]
    assert play(Agent(MockModelProvider(rounds), tools=[add]).run("x")).usage == TokenUsage(11, 2, 3, 4)


# F-40


@pytest.mark.parametrize(
    "given",
    [
        ("image", "url", "file:///etc/passwd"),
        ("image", "url", "data:image/png;base64,aGk="),
        ("image", "url", "//example.com/a.png"),
        ("image", "url", " https://example.com/a.png"),
        ("image", "url", "https://example.com/a.png\n"),
        ("image", "url", "https:///a.png"),
        ("image", "url", "http:example.com"),
        ("image", "url", "ftp://example.com/a.png"),
        ("image", "url", "https://[::1"),
        ("image", "url", ""),
        ("image", "base64", "not base64!"),
        ("image", "base64", "aGk"),
        ("image", "base64", ""),
        ("image", "path", "a.png"),
        ("video", "url", "https://example.com/a.mp4"),
        ("image", "url", b"https://example.com"),
    ],
)
def test_F_40_other_sources_are_refused(given: Any) -> None:
    """[F-40]"""
    with pytest.raises(ConfigurationError):
        Attachment(*given)


def test_F_40_a_refused_url_is_not_repeated() -> None:
    """[F-40]"""
    with pytest.raises(ConfigurationError) as caught:
        Attachment("image", "url", "ftp://user:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "media_type"),
    [
        (("image", "url", "https://example.com/a?b=c#d"), "image/png"),
        (("document", "url", "HTTP://example.com/a"), "application/pdf"),
        (("image", "base64", "aGk="), "image/png"),
        (("document", "base64", "aGk=", "text/plain", "a.txt"), "text/plain"),
    ],
)
def test_F_40_the_defaults(given: Any, media_type: str) -> None:
    """[F-40]"""
    assert Attachment(*given).media_type == media_type


# F-41, F-42, F-43


def test_F_41_the_root_of_every_documented_failure() -> None:
    """[F-41][FERR-1]"""
    for error in (ConfigurationError, ContractViolationError, StructuredOutputError):
        assert issubclass(error, SymfonicError)
    assert StructuredOutputError.code == "unprocessable"


def test_F_41_the_root_is_never_raised_itself() -> None:
    """[F-41] Nowhere in the package."""
    for path in Path(symc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Raise):
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                assert not (isinstance(raised, ast.Name) and raised.id == "SymfonicError"), path


class _DownError(Exception):
    pass


@pytest.mark.parametrize(
    "error",
    [
        _DownError("x"),
        ConfigurationError("x"),
        TimeoutError(),
        StructuredOutputError("x"),
        ExceptionGroup("g", [_DownError()]),
    ],
)
@pytest.mark.parametrize("after_tools", [True, False])
def test_F_42_provider_exceptions_are_the_same_object(error: Exception, after_tools: bool) -> None:
    """[F-42][FERR-4]"""
    script: list[Any] = [ADD, error] if after_tools else [error]
    with pytest.raises(type(error)) as caught:
        play(Agent(MockModelProvider(script), tools=[add]).run("x"))
    assert caught.value is error
    assert error.__cause__ is None
    events = collect(Agent(MockModelProvider(script), tools=[add]).stream("x"))
    assert events[-1].error is error


class _QuotaError(ContractViolationError):
    preserve_contract_identity = True


class _PlainError(ContractViolationError):
    pass


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize(
    "error", [_QuotaError("over"), _PlainError("no"), ValueError("x"), ConfigurationError("x")]
)
def test_F_43_only_a_preserved_violation_keeps_its_type(stage: Stage, error: Exception) -> None:
    """[F-43] And in PROMPT_ASSEMBLY not even that."""

    async def refuse(view: StageView) -> None:
        raise error

    agent = Agent(MockModelProvider([ADD, "x"]), tools=[add], capabilities=[handling(stage, refuse, "crm")])
    with pytest.raises(ContractViolationError) as caught:
        play(agent.run("x"))
    if isinstance(error, _QuotaError) and stage is not Stage.PROMPT_ASSEMBLY:
        assert caught.value is error
    else:
        assert type(caught.value) is ContractViolationError
        assert caught.value.__cause__ is error
        assert "crm" in str(caught.value)
        assert stage in str(caught.value)


def test_F_43_the_refusal_is_a_stage_event() -> None:
    """[F-43][F-35]"""

    def refuse(view: StageView) -> None:
        raise _QuotaError("hunter2")

    events = collect(
        Agent(MockModelProvider(["x"]), capabilities=[handling(Stage.PRE_MODEL, refuse)]).stream("x")
    )
    assert events[0].stage == StageRecord(Stage.PRE_MODEL, "run", "cap", "refused", "_QuotaError")


@pytest.mark.parametrize("answer", ["text", [1], 7])
def test_F_43_prompt_assembly_answers_parts_or_nothing(answer: Any) -> None:
    """[F-43]"""
    agent = Agent(
        MockModelProvider(["x"]), capabilities=[handling(Stage.PROMPT_ASSEMBLY, lambda view: answer)]
    )
    with pytest.raises(ContractViolationError, match="cap"):
        play(agent.run("x"))


# F-44, F-46


class City(pydantic.BaseModel):
    name: str
    people: int


class Tree(pydantic.BaseModel):
    label: str
    children: list[Tree] = []


@pytest.mark.parametrize(
    ("output_type", "text", "output"),
    [
        (City, '{"name": "Ulm", "people": 126000}', City(name="Ulm", people=126000)),
        (list[int], '{"value": [1, 2]}', [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (int | None, '{"value": null}', None),
        (
            Tree,
            '{"value": {"label": "a", "children": [{"label": "b"}]}}',
            Tree(label="a", children=[Tree(label="b")]),
        ),
        (dict[str, int], '{"value": 3}', {"value": 3}),
        (str, "plain", "plain"),
    ],
)
def test_F_44_the_answer_becomes_the_value(output_type: Any, text: str, output: object) -> None:
    """[F-44]"""
    provider = MockModelProvider([text])
    result = play(Agent(provider).run("x", output_type=output_type))
    assert (result.output, result.text) == (output, text)
    schema = provider.requests[0].output_schema
    assert (schema is None) == (output_type is str)
    assert schema is None or schema["type"] == "object"


@pytest.mark.parametrize("text", ["", "I cannot.", "{}", '{"name": "Ulm", "people": "many"}', "[1"])
def test_F_44_an_answer_of_another_shape_is_an_error(text: str) -> None:
    """[F-44] Never None."""
    with pytest.raises(StructuredOutputError) as caught:
        play(Agent(MockModelProvider([text])).run("x", output_type=City))
    assert caught.value.code == "unprocessable"
    assert caught.value.partial.text == text


@pytest.mark.parametrize("output_type", [City, str])
def test_F_44_together_with_the_limit(output_type: Any) -> None:
    """[F-44] The partial result is carried."""
    agent = Agent(MockModelProvider([["part", ADD]]), tools=[add], max_model_rounds=1)
    with pytest.raises(StructuredOutputError, match="limit") as caught:
        play(agent.run("x", output_type=output_type))
    assert caught.value.partial.text == "part"
    assert caught.value.partial.stop_reason == "tool_limit"


def test_F_44_validated_after_the_loop() -> None:
    """[F-44] Text beside tool calls is no answer yet."""
    agent = Agent(MockModelProvider([["not json", ADD], '{"name": "Ulm", "people": 3}']), tools=[add])
    assert play(agent.run("x", output_type=City)).output == City(name="Ulm", people=3)


def test_F_46_structured_output_the_provider_cannot_do() -> None:
    """[F-46][FERR-3] Before the first provider call."""
    provider = MockModelProvider(["x"], structured_output=False)
    agent = Agent(provider)
    for call in (agent.run, agent.stream):
        with pytest.raises(ConfigurationError, match="structured output"):
            call("x", output_type=City)
    assert provider.requests == []
    assert play(agent.run("x")).text == "x"


@pytest.mark.parametrize(
    ("vendor", "wanted", "fine"),
    [
        ("anthropic", "anthropic", True),
        ("openai", "anthropic", False),
        ("", "anthropic", False),
        ("openai", "", True),
    ],
)
def test_F_46_a_vendor_that_is_not_the_locks(vendor: str, wanted: str, fine: bool) -> None:
    """[F-46]"""
    provider = MockModelProvider(vendor=vendor)
    if fine:
        Agent(provider, capabilities=[Capability(vendor=wanted)])
    else:
        with pytest.raises(ConfigurationError, match=wanted):
            Agent(provider, capabilities=[Capability(vendor=wanted)])


# F-45


@pytest.mark.parametrize("how", ["break", "aclose", "forget", "raise", "cancel"])
def test_F_45_an_abandoned_stream_cancels_its_work(how: str) -> None:
    """[F-45] However it is left: the model's call ends, its context closes, no task stays."""
    closed: list[str] = []

    class Provider:
        async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
            try:
                yield TextDelta("a")
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                closed.append(how)

    async def leave() -> None:
        stream = Agent(Provider()).stream("x")
        if how == "aclose":
            async with aclosing(stream):
                await anext(stream)
        elif how == "forget":
            await anext(stream)
            del stream
            gc.collect()
        elif how == "cancel":

            async def iterate() -> None:
                async for _ in stream:
                    reached.set()

            reached = asyncio.Event()
            task = asyncio.create_task(iterate())
            await reached.wait()
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(LookupError) if how == "raise" else warnings.catch_warnings():
                async for _ in stream:
                    if how == "raise":
                        raise LookupError
                    break
            del stream
        for _ in range(10):
            await asyncio.sleep(0)

    play(leave())
    assert closed == [how]


def test_F_45_closing_a_stream_waits_for_the_end_of_its_work() -> None:
    """[F-45] What the run held is free when `aclose` comes back."""
    freed: list[bool] = []

    async def hold() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            freed.append(True)
        return ""

    async def leave() -> None:
        stream = Agent(MockModelProvider([ToolCall("c", "hold")]), tools=[hold]).stream("x")
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert freed

    play(leave())


def test_F_45_a_failed_run_is_not_reported_twice() -> None:
    """[F-45] Its error event carried the exception; the loop has nothing to complain of."""
    complaints: list[object] = []

    async def use() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
        async for _ in Agent(MockModelProvider([_DownError()])).stream("x"):
            pass
        gc.collect()

    play(use())
    gc.collect()
    assert complaints == []


def test_F_45_a_stream_whose_run_never_began_ends() -> None:
    """[F-45] As when a loop shuts down and cancels all it has."""

    async def use() -> list[AgentEvent]:
        async def iterate() -> list[AgentEvent]:
            return [event async for event in Agent(MockModelProvider(["x"])).stream("x")]

        iterating = asyncio.create_task(iterate())
        await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {iterating, asyncio.current_task()}:
            task.cancel()
        return await asyncio.wait_for(iterating, 5)

    assert asyncio.run(use()) == []


def test_F_45_nothing_runs_ahead_of_who_watches() -> None:
    """[F-45] A tool is not executed before the event that announces it was seen, and the next asked for."""
    ran: list[str] = []

    async def act() -> str:
        ran.append("ran")
        return "ok"

    async def leave() -> None:
        stream = Agent(MockModelProvider([ToolCall("c", "act"), "x"]), tools=[act]).stream("x")
        event = await anext(stream)
        assert event.kind == "tool_call"
        await asyncio.sleep(0.01)
        assert ran == []
        await stream.aclose()

    play(leave())
    assert ran == []


# F-47


class Approver:
    """Answers with what it is given, and keeps what it was asked."""

    def __init__(self, *answers: object, timeout: float = 5) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[PolicyRequest, tuple[str, ...]]] = []
        self.timeout = timeout

    async def __call__(self, request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        self.asked.append((request, reasons))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
        return answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (True, None),
        (False, "approval_refused"),
        (None, "approval_required"),
        ("yes", "approval_required"),
        (1, "approval_required"),
        (RuntimeError("x"), "approval_required"),
        (0.5, "approval_required"),
    ],
)
def test_F_47_an_ask_is_answered_by_the_approver(answer: object, reason: str | None) -> None:
    """[F-47]"""
    approver = Approver(answer, timeout=0.05)
    agent = Agent(
        MockModelProvider([ADD, "x"]),
        tools=[add],
        capabilities=[vetoing(ASK("is it wise?"))],
        approver=approver,
    )
    events = collect(agent.stream("x"))
    assert_well_formed(events)
    assert [event.kind for event in events[:3]] == ["tool_call", "ask_user", "tool_result"]
    question = events[1].interrupt
    assert question is not None
    assert (question.request, question.reasons) == approver.asked[0]
    assert question.reasons == ("is it wise?",)
    assert question.request.arguments == {"a": 1, "b": 2}
    call = events[2].tool_call
    assert call is not None
    assert call.reason == reason
    if reason:
        assert call.error == f"not executed: {reason}: cap/p0: is it wise?"


def test_F_47_no_approver_is_no_yes() -> None:
    """[F-47]"""
    agent = Agent(MockModelProvider([ADD, "x"]), tools=[add], capabilities=[vetoing(ASK("sure?"))])
    events = collect(agent.stream("x"))
    assert "ask_user" in [event.kind for event in events]
    assert (
        play(Agent(MockModelProvider([ADD, "x"]), tools=[add], capabilities=[vetoing(ASK("sure?"))]).run("x"))
        .tool_calls[0]
        .reason
        == "approval_required"
    )


def test_F_47_one_answer_holds_for_one_call() -> None:
    """[F-47] And one question covers all reasons to ask."""
    approver = Approver(True, False)
    agent = Agent(
        MockModelProvider([[ADD, ADD], "x"]),
        tools=[add],
        capabilities=[vetoing(ASK("a?"), ASK("b?"))],
        approver=approver,
    )
    calls = play(agent.run("x")).tool_calls
    assert [reasons for _, reasons in approver.asked] == [("a?", "b?")] * 2
    assert [call.reason for call in calls] == [None, "approval_refused"]


def test_F_47_deny_is_not_asked() -> None:
    """[F-47][P1] deny over ask over no objection."""
    approver = Approver()
    agent = Agent(
        MockModelProvider([ADD, "x"]),
        tools=[add],
        capabilities=[vetoing(ASK("a?"), DENY("never"), ALLOW)],
        approver=approver,
    )
    call = play(agent.run("x")).tool_calls[0]
    assert call.error == "not executed: policy_denied: cap/p1: never"
    assert approver.asked == []


def test_F_47_cancelling_an_unanswered_question_cancels_the_run() -> None:
    """[F-47]"""

    class Silent:
        async def __call__(self, request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
            waiting.set()
            await asyncio.Event().wait()
            return True

    waiting = asyncio.Event()

    async def use() -> None:
        agent = Agent(
            MockModelProvider([ADD]), tools=[add], capabilities=[vetoing(ASK("?"))], approver=Silent()
        )
        task: asyncio.Task[Any] = asyncio.create_task(agent.run("x"))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(use())


# the policies of a capability, and the effect model_call (docs/policies.md §1)


@pytest.mark.parametrize("verdict", [DENY("budget"), ASK("really?")])
def test_F_17_a_model_call_is_gated_like_any_effect(verdict: PolicyVerdict) -> None:
    """[F-17][P1] The run is refused, and the provider not called."""

    async def decide(request: PolicyRequest) -> PolicyVerdict:
        assert request.effect == "model_call"
        return verdict

    provider = MockModelProvider(["x"])
    with pytest.raises(ContractViolationError, match="cap/judge"):
        play(Agent(provider, capabilities=[deciding(decide, "model_call")]).run("x"))
    assert provider.requests == []


def test_F_17_a_policy_sees_the_whole_request() -> None:
    """[F-17][P4]"""
    seen: list[PolicyRequest] = []

    async def decide(request: PolicyRequest) -> PolicyVerdict:
        seen.append(request)
        return ALLOW

    async def invoke(arguments: Mapping[str, Any]) -> str:
        return "ok"

    bound = ToolBinding(
        name="exposed",
        invoke=invoke,
        extension="crm",
        raw="raw",
        layers=(Layer(extension="crm", name="memo"),),
    )
    agent = Agent(
        MockModelProvider([ToolCall("c", "exposed", {"a": [1]}), "x"]),
        tools=[bound],
        capabilities=[deciding(decide, "tool_call")],
    )
    play(agent.run("x"))
    assert seen == [
        PolicyRequest(
            agent="",
            effect="tool_call",
            tool="exposed",
            raw="raw",
            extension="crm",
            chain=("memo",),
            arguments={"a": [1]},
        )
    ]
