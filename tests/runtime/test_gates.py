"""The gate before a tool: its order, its refusals, and that it stands before every inner layer (docs/policies.md §1)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.composition import Layer
from symc.contracts import (
    ALLOW,
    ASK,
    DENY,
    ConfigurationError,
    PolicyContribution,
    PolicyRequest,
    PolicyVerdict,
    freeze,
)
from symc.runtime.events import Interrupt
from symc.runtime.gates import (
    Gate,
    Reason,
    RefusedError,
    RunScope,
    current_scope,
    entered,
    gate,
    require_effect,
)
from symc.runtime.policies import Veto, ask_all, everything, of_contribution, rule
from symc.runtime.toolset import ToolBinding

T = TypeVar("T")

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def play(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@dataclass
class Body:
    """A tool's body that keeps what reaches it."""

    answer: Any = "ok"
    reached: list[Mapping[str, Any]] = field(default_factory=list)

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        self.reached.append(arguments)
        return self.answer  # type: ignore[no-any-return]


def tool_of(body: Callable[[Mapping[str, Any]], Awaitable[str]], **given: Any) -> ToolBinding:
    said: dict[str, Any] = {"name": "t", "input_schema": freeze(SCHEMA), "extension": "crm", "raw": "t"}
    return ToolBinding(invoke=body, **said | given)


def gate_of(body: Any, *vetoes: Veto, grants: Iterable[str] = ("tool_call",), **given: Any) -> Gate:
    preconditions = given.pop("preconditions", ())
    return gate(tool_of(body, **given), agent="a", grants=grants, vetoes=vetoes, preconditions=preconditions)


def refusal(work: Coroutine[Any, Any, object]) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        play(work)
    return caught.value


def decide(
    answer: Callable[[PolicyRequest], Awaitable[Any]], policy_id: str = "x/judge", timeout: float = 5
) -> Veto:
    return Veto(policy_id=policy_id, covers=everything, decide=answer, timeout=timeout)


# the order

_FAULTS: list[tuple[Reason, dict[str, Any]]] = [
    (Reason.NOT_GRANTED, {"grants": ()}),
    (Reason.INVALID_ARGUMENTS, {"arguments": {"n": "x"}}),
    (Reason.PRECONDITION_FAILED, {"preconditions": [lambda request: "no"]}),
    (Reason.POLICY_DENIED, {"vetoes": [rule("x/deny", DENY("no"), covers=everything)]}),
    (Reason.APPROVAL_REQUIRED, {"vetoes": [rule("x/ask", ASK("?"), covers=everything)]}),
    (Reason.TOOL_ERROR, {"answer": 7}),
]


@pytest.mark.parametrize("place", range(len(_FAULTS)), ids=[str(reason) for reason, _ in _FAULTS])
def test_the_first_gate_that_does_not_hold_is_the_reason(place: int) -> None:
    """With this fault and all later ones; and nothing before `invoke` lets the body be reached."""
    merged: dict[str, Any] = {
        "grants": ("tool_call",),
        "arguments": {"n": 1},
        "preconditions": [],
        "vetoes": [],
        "answer": "ok",
    }
    for _, fault in reversed(_FAULTS[place:]):
        merged |= {key: [*merged[key], *value] if key == "vetoes" else value for key, value in fault.items()}
    body = Body(merged["answer"])
    checked = gate_of(body, *merged["vetoes"], grants=merged["grants"], preconditions=merged["preconditions"])
    error = refusal(checked.call(merged["arguments"]))
    assert error.reason is _FAULTS[place][0]
    assert bool(body.reached) == (error.reason is Reason.TOOL_ERROR)


def test_a_refusal_says_what_was_not_done_and_why() -> None:
    assert str(RefusedError(Reason.LIMIT)) == "not executed: limit"
    assert str(RefusedError(Reason.POLICY_DENIED, "a/b: no")) == "not executed: policy_denied: a/b: no"
    assert str(RefusedError(Reason.TOOL_ERROR, "broken")) == "tool_error: broken"


def test_the_tool_gets_plain_arguments_of_its_own() -> None:
    """Lists are lists and may be changed: neither the policies' record nor the caller's value is."""
    body = Body()
    sent = {"n": 1, "of": [1, {"a": [2]}]}
    play(gate_of(body, input_schema=freeze({})).call(sent))
    (got,) = body.reached
    assert got == sent
    assert type(got) is dict
    assert type(got["of"]) is list
    got["of"].append(3)
    assert sent == {"n": 1, "of": [1, {"a": [2]}]}


def test_at_most_three_faults_are_told() -> None:
    body = Body()
    schema = freeze({"type": "object", "required": ["a", "b", "c", "d", "e"]})
    error = refusal(gate_of(body, input_schema=schema).call({}))
    assert error.detail.count("required") == 3
    assert error.detail.endswith("and 2 more")


@pytest.mark.parametrize("key", ["input_schema", "output_schema"])
@pytest.mark.parametrize("schema", [{"type": 7}, {"$ref": "#/$defs/none"}, {"$ref": "http://127.0.0.1:9/x"}])
def test_a_schema_that_is_none_is_found_when_the_gate_is_built(key: str, schema: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match='"t"'):
        gate_of(Body(), **{key: freeze(schema)})


def test_a_remote_reference_is_not_followed() -> None:
    """Nobody is even asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.3)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/schema.json"
        with pytest.raises(ConfigurationError, match="Retrieval is disabled"):
            gate_of(Body(), input_schema=freeze({"$ref": url}))
        with pytest.raises(TimeoutError):
            listening.accept()


# policies: X-16…X-18, P1, P5


async def _raises(request: PolicyRequest) -> PolicyVerdict:
    raise ValueError("x")


async def _cancels_itself(request: PolicyRequest) -> PolicyVerdict:
    raise asyncio.CancelledError


async def _late(request: PolicyRequest) -> PolicyVerdict:
    await asyncio.sleep(5)
    return ALLOW


async def _swallows(request: PolicyRequest) -> PolicyVerdict:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(5)
    return ALLOW


def _answers(value: Any) -> Callable[[PolicyRequest], Awaitable[Any]]:
    async def answer(request: PolicyRequest) -> Any:
        return value

    return answer


@pytest.mark.parametrize(
    "broken",
    [_raises, _cancels_itself, _late, _swallows, *map(_answers, (None, True, "allow", 0, PolicyVerdict))],
)
@pytest.mark.parametrize("beside", [0, 1, 2])
def test_X_18_a_broken_policy_denies_and_others_are_unaffected(broken: Any, beside: int) -> None:
    """[X-18][P5] Also among others, each of which is asked once."""
    asked: list[int] = []

    def other(number: int) -> Veto:
        async def answer(request: PolicyRequest) -> PolicyVerdict:
            asked.append(number)
            return ALLOW

        return decide(answer, f"x/{number}")

    body = Body()
    error = refusal(
        gate_of(body, decide(broken, "x/broken", 0.02), *map(other, range(beside))).call({"n": 1})
    )
    assert (error.reason, error.detail) == (Reason.POLICY_ERROR, "x/broken: policy_error: x/broken")
    assert sorted(asked) == list(range(beside))
    assert body.reached == []


def test_X_18_a_rule_that_fails_denies() -> None:
    """[X-18]"""

    def judge(request: PolicyRequest) -> PolicyVerdict:
        raise RecursionError

    error = refusal(gate_of(Body(), Veto(policy_id="x/r", covers=everything, judge=judge)).call({"n": 1}))
    assert error.reason is Reason.POLICY_ERROR


def test_X_18_a_denial_beside_a_failure_is_a_denial() -> None:
    """[X-18] Both are named."""
    error = refusal(
        gate_of(Body(), decide(_raises, "x/a"), decide(_answers(DENY("no")), "x/b")).call({"n": 1})
    )
    assert (error.reason, error.detail) == (Reason.POLICY_DENIED, "x/a: policy_error: x/a; x/b: no")


def test_X_16_policies_are_asked_concurrently() -> None:
    """[X-16] Each waits for all to have been asked."""
    arrived = 0
    everyone = asyncio.Event()

    async def meet(request: PolicyRequest) -> PolicyVerdict:
        nonlocal arrived
        arrived += 1
        if arrived == 3:
            everyone.set()
        await everyone.wait()
        return ALLOW

    body = Body()
    assert play(gate_of(body, *(decide(meet, f"x/{i}") for i in range(3))).call({"n": 1})) == "ok"


def test_X_16_a_named_action_keeps_a_policy_off_all_others() -> None:
    """[X-16] 0 calls."""
    calls: list[str] = []

    async def count(request: PolicyRequest) -> PolicyVerdict:
        calls.append(request.effect)
        return ALLOW

    vetoes = [
        of_contribution(PolicyContribution("p", "x", count, frozenset({action})))
        for action in ("delegate", "model_call")
    ]
    play(gate_of(Body(), *vetoes).call({"n": 1}))
    assert calls == []
    play(gate_of(Body(), *vetoes, effect="delegate", grants=["delegate"]).call({"n": 1}))
    assert calls == ["delegate"]


@pytest.mark.parametrize(("n", "reason"), [(1, None), (10, Reason.POLICY_DENIED), (11, Reason.POLICY_DENIED)])
def test_a_rule_sees_the_arguments(n: int, reason: Reason | None) -> None:
    """`when` is a JSON Schema over the arguments object."""
    limited = rule(
        "x/limit",
        DENY("too much"),
        covers=everything,
        when={"properties": {"n": {"minimum": 10}}, "required": ["n"]},
    )
    call = gate_of(Body(), limited).call({"n": n})
    if reason:
        assert refusal(call).reason is reason
    else:
        assert play(call) == "ok"


@pytest.mark.parametrize(("when", "fires"), [(None, True), (True, True), (False, False), ({}, True)])
def test_a_rule_without_a_condition_fires_always(when: Any, fires: bool) -> None:
    request = PolicyRequest(agent="a", effect="tool_call")
    answers = play(ask_all([rule("x/r", DENY("no"), covers=everything, when=when)], request))
    assert answers.verdict.denies == fires


def test_a_rule_whose_condition_is_no_schema_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="x/r"):
        rule("x/r", DENY("no"), covers=everything, when={"type": 7})


VERDICTS = st.sampled_from([ALLOW, DENY("a"), DENY("b"), ASK("a"), ASK("b"), None])


@settings(max_examples=60)
@given(st.lists(VERDICTS, max_size=4), VERDICTS)
def test_X_17_adding_a_policy_never_weakens(verdicts: list[Any], another: Any) -> None:
    """[X-17] deny > ask > no objection, whichever policies ask and in whatever order."""

    def strength(answers: list[Any], order: Iterable[int]) -> int:
        vetoes = [decide(_answers(answers[i]), f"x/{i}") for i in order]
        found = play(ask_all(vetoes, PolicyRequest(agent="a", effect="tool_call")))
        return ["allow", "ask", "deny"].index(found.verdict.decision)

    alone = strength(verdicts, range(len(verdicts)))
    assert strength([*verdicts, another], range(len(verdicts) + 1)) >= alone
    for order in list(permutations(range(len(verdicts))))[:4]:
        assert strength(verdicts, order) == alone


def test_cancellation_passes_through_policies() -> None:
    """A cancelled run is no broken policy; no policy's task is left."""
    waiting = asyncio.Event()

    async def hang(request: PolicyRequest) -> PolicyVerdict:
        waiting.set()
        await asyncio.Event().wait()
        return ALLOW

    async def use() -> None:
        for vetoes in ([decide(hang)], [decide(hang, "x/1"), decide(hang, "x/2")]):
            waiting.clear()
            task = asyncio.create_task(gate_of(Body(), *vetoes).call({"n": 1}))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

    play(use())


# inner layers: V32, and what a yes covers


def over(inner: Gate, times: int = 1, **changed: Any) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """A layer that calls the gated inner tool so many times, with `n` counted up."""

    async def layer(arguments: Mapping[str, Any]) -> str:
        answers = [
            await inner.call({"n": arguments["n"] + place} | changed, origin="layer")
            for place in range(times)
        ]
        return ",".join(answers)

    return layer


def test_V_32_a_deny_on_the_base_holds_inside_a_transformer() -> None:
    """[V32] Each of three inner calls is checked; the third is refused, and with it the whole call."""
    body = Body()
    small = rule(
        "x/small",
        DENY("at most 2"),
        covers=everything,
        when={"properties": {"n": {"minimum": 3}}, "required": ["n"]},
    )
    base = gate_of(body, small)
    assert (
        refusal(
            gate_of(over(base, 3), name="t_bulk", layers=(Layer(extension="x", name="bulk"),)).call({"n": 1})
        ).detail
        == "x/small: at most 2"
    )
    assert [arguments["n"] for arguments in body.reached] == [1, 2]


def test_V_32_inner_calls_are_held_to_the_inner_schema() -> None:
    """[V32]"""
    body = Body()
    error = refusal(gate_of(over(gate_of(body), extra="x"), name="t_bulk").call({"n": 1}))
    assert error.reason is Reason.INVALID_ARGUMENTS
    assert body.reached == []


def test_V_32_an_inner_request_names_the_inner_tool_and_who_calls() -> None:
    """[V32]"""
    seen: list[PolicyRequest] = []

    async def watch(request: PolicyRequest) -> PolicyVerdict:
        seen.append(request)
        return ALLOW

    base = gate_of(Body(), decide(watch))
    play(
        gate_of(over(base), decide(watch), name="t_memo", layers=(Layer(extension="x", name="memo"),)).call(
            {"n": 1}
        )
    )
    assert [(request.tool, request.chain, request.origin) for request in seen] == [
        ("t_memo", ("memo",), "model"),
        ("t", (), "layer"),
    ]


@dataclass
class Approver:
    """Says yes, and keeps what it was asked."""

    answer: bool = True
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def __call__(self, request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        self.asked.append((request.tool, request.arguments))
        return self.answer


ASKING = rule("x/ask", ASK("sure?"), covers=everything)


async def within(scope: RunScope, work: Callable[[], Awaitable[T]]) -> T:
    with entered(scope):
        return await work()


def test_F_47_one_yes_holds_for_the_call_down_its_layers() -> None:
    """[F-47] Two layers that pass the call on as it is: the person is asked once."""
    approver = Approver()
    base = gate_of(Body(), ASKING)
    middle = gate_of(over(base), ASKING, name="t_a")
    outer = gate_of(over(middle), ASKING, name="t_a_b")
    assert play(within(RunScope(approver=approver), lambda: outer.call({"n": 1}))) == "ok"
    assert approver.asked == [("t_a_b", {"n": 1})]


@pytest.mark.parametrize(
    ("layer", "questions"),
    [
        (lambda base: over(base, 3), 3),  # 1 as it is; 2 and 3 are calls that nobody was shown
        (lambda base: over(base, 1, n=True), 2),
        (lambda base: over(base, 1, n=1.0), 2),
    ],
)
def test_F_47_another_call_is_another_question(layer: Any, questions: int) -> None:
    """[F-47]"""
    approver = Approver()
    base = gate_of(Body(), ASKING, input_schema=freeze({}))
    play(within(RunScope(approver=approver), lambda: gate_of(layer(base), ASKING, name="t_x").call({"n": 1})))
    assert len(approver.asked) == questions


def test_F_47_a_second_attempt_is_another_question() -> None:
    """[F-47] One answer holds for one call, also where a layer makes the same one again."""
    approver = Approver()
    base = gate_of(Body(), ASKING)

    async def twice(arguments: Mapping[str, Any]) -> str:
        await base.call(arguments)
        return await base.call(arguments)

    play(within(RunScope(approver=approver), lambda: gate_of(twice, ASKING, name="t_retry").call({"n": 1})))
    assert [name for name, _ in approver.asked] == ["t_retry", "t"]


def test_F_47_a_yes_covers_the_policies_that_asked_and_no_other() -> None:
    """[F-47]"""
    approver = Approver()
    stricter = rule("x/other", ASK("really?"), covers=everything)
    base = gate_of(Body(), ASKING, stricter)
    play(within(RunScope(approver=approver), lambda: gate_of(over(base), ASKING, name="t_a").call({"n": 1})))
    assert len(approver.asked) == 2


def test_F_47_a_yes_does_not_outlive_its_call() -> None:
    """[F-47]"""
    approver = Approver()
    base = gate_of(Body(), ASKING)

    async def two_calls() -> None:
        await gate_of(over(base), ASKING, name="t_a").call({"n": 1})
        await base.call({"n": 1})

    play(within(RunScope(approver=approver), two_calls))
    assert [name for name, _ in approver.asked] == ["t_a", "t"]


def test_without_a_run_nobody_is_asked() -> None:
    """In a worker an inner layer has no approver: fail closed."""
    assert current_scope() == RunScope()
    assert refusal(gate_of(Body(), ASKING).call({"n": 1})).reason is Reason.APPROVAL_REQUIRED


# delegation: P22, P23


def test_P_22_inherited_vetoes_hold_for_a_delegate() -> None:
    """[P22] deny, ask and decide of the parent, where they cover the child's tool."""
    shown: list[Interrupt] = []

    async def notify(interrupt: Interrupt) -> None:
        shown.append(interrupt)

    of_crm = lambda effect, tool: tool is not None and tool.extension == "crm"  # noqa: E731
    scope = RunScope(inherited=(rule("parent/deny", DENY("no"), covers=of_crm),), notify=notify)
    assert refusal(within(scope, lambda: gate_of(Body()).call({"n": 1}))).detail == "parent/deny: no"
    assert play(within(scope, lambda: gate_of(Body(), extension="web").call({"n": 1}))) == "ok"
    asking = RunScope(inherited=(rule("parent/ask", ASK("?"), covers=of_crm),), notify=notify)
    assert refusal(within(asking, lambda: gate_of(Body()).call({"n": 1}))).reason is Reason.APPROVAL_REQUIRED
    assert [interrupt.reasons for interrupt in shown] == [("?",)]


def test_P_22_a_yes_to_the_parents_call_is_none_to_the_delegates() -> None:
    """[P22] The child's calls are new calls."""
    approver = Approver()
    child = gate_of(Body(), ASKING)

    async def delegate(arguments: Mapping[str, Any]) -> str:
        return await within(current_scope(), lambda: child.call(arguments))

    play(
        within(
            RunScope(approver=approver), lambda: gate_of(delegate, ASKING, name="ask_child").call({"n": 1})
        )
    )
    assert [name for name, _ in approver.asked] == ["ask_child", "t"]


def test_P_23_a_delegate_is_narrowed_to_what_its_parent_has() -> None:
    """[P23] Tools and effects."""
    scope = RunScope(
        permits=lambda effect, tool: tool is not None and tool.raw == "t" and effect == "tool_call"
    )
    assert play(within(scope, lambda: gate_of(Body()).call({"n": 1}))) == "ok"
    assert (
        refusal(within(scope, lambda: gate_of(Body(), raw="other").call({"n": 1}))).reason
        is Reason.NOT_GRANTED
    )

    async def model_call() -> None:
        await require_effect("model_call", agent="a", grants=frozenset({"model_call"}), vetoes=())

    assert refusal(within(scope, model_call)).reason is Reason.NOT_GRANTED
    play(model_call())
