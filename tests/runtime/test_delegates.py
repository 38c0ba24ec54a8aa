"""An agent inside another agent's run: what its scope carries (docs/policies.md §4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symc import Agent, AgentEvent, ToolCall
from symc.contracts import ASK, DENY, PolicyRequest
from symc.runtime.capabilities import CapabilityContribution, ContributionRequest, GrantEffects
from symc.runtime.gates import current_scope
from symc.runtime.policies import Veto, rule
from symc.runtime.providers import MockModelProvider
from symc.runtime.toolset import ToolBinding


class Composition:
    """Stands in for a composition from a lock: a name, tools, policies."""

    def __init__(self, agent: str, *tools: object, policies: tuple[Veto, ...] = ()) -> None:
        self._contribution = CapabilityContribution("lock", tools=tools, policies=policies, agent=agent)

    def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        return self._contribution


def about(raw: str, effect: str = "tool_call") -> Any:
    return lambda of, tool: of == effect and tool is not None and tool.raw == raw


async def act(arguments: Mapping[str, Any]) -> str:
    return f"did {arguments['what']}"


ACT = ToolBinding(name="act", raw="act", invoke=act)


def family(*, parent_rule: Veto, script: list[Any], permits: Any = None) -> tuple[Agent, list[PolicyRequest]]:
    """A parent that delegates to a child, under one rule of the parent about the child's tool."""
    asked: list[PolicyRequest] = []

    async def approve(request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        asked.append(request)
        return True

    child = Agent(
        MockModelProvider(
            [*script, lambda request: "; ".join(m.text for m in request.messages if m.role == "tool")]
        ),
        capabilities=[Composition("child", ACT), GrantEffects("tool_call")],
    )

    async def delegate(arguments: Mapping[str, Any]) -> str:
        scope = current_scope()
        inherited = replace(
            scope,
            origin="parent",
            inherited=(*scope.inherited, parent_rule),
            permits=permits or scope.permits,
        )
        return (await child.run_for(inherited, arguments["task"])).text

    ask_child = ToolBinding(name="ask_child", raw="child", invoke=delegate, effect="delegate")
    parent = Agent(
        MockModelProvider([ToolCall("p", "ask_child", {"task": "go"}), "done"]),
        capabilities=[Composition("parent", ask_child, policies=(parent_rule,)), GrantEffects("delegate")],
        approver=approve,
    )
    return parent, asked


def events_of(agent: Agent) -> list[AgentEvent]:
    async def collect() -> list[AgentEvent]:
        return [event async for event in agent.stream("x")]

    return asyncio.run(collect())


CALL = ToolCall("c", "act", {"what": "it"})


def test_P_22_a_parents_deny_holds_in_the_child() -> None:
    """[P22]"""
    parent, _ = family(parent_rule=rule("parent/never", DENY("no"), covers=about("act")), script=[CALL])
    (call,) = asyncio.run(parent.run("x")).tool_calls
    assert call.result == "not executed: policy_denied: parent/never: no"


def test_P_22_a_parents_ask_reaches_its_approver_and_its_stream() -> None:
    """[P22][F-47] The child has no approver of its own; the question is shown where someone watches."""
    parent, asked = family(parent_rule=rule("parent/ask", ASK("sure?"), covers=about("act")), script=[CALL])
    events = events_of(parent)
    assert [event.kind for event in events] == ["tool_call", "ask_user", "tool_result", "text_delta", "done"]
    assert [event.index for event in events] == list(range(5))
    assert events[2].tool_call is not None
    assert events[2].tool_call.result == "did it"
    (request,) = asked
    assert (request.agent, request.tool, request.origin) == ("child", "act", "parent")


def test_P_22_a_parents_rule_about_another_tool_changes_nothing() -> None:
    """[P22]"""
    parent, asked = family(parent_rule=rule("parent/other", DENY("no"), covers=about("other")), script=[CALL])
    (call,) = asyncio.run(parent.run("x")).tool_calls
    assert call.result == "did it"
    assert asked == []


def test_P_23_the_child_has_no_more_than_its_scope_permits() -> None:
    """[P23]"""
    parent, _ = family(
        parent_rule=rule("parent/other", DENY("no"), covers=about("other")),
        script=[CALL],
        permits=lambda effect, tool: effect == "model_call",
    )
    (call,) = asyncio.run(parent.run("x")).tool_calls
    assert call.result == 'not executed: not_granted: the effect "tool_call" is not granted'


def test_P_22_a_rule_about_delegation_stands_before_the_child() -> None:
    """[P22] `delegate` is an effect like any other."""
    parent, _ = family(
        parent_rule=rule("parent/alone", DENY("no"), covers=about("child", "delegate")), script=[]
    )
    (call,) = asyncio.run(parent.run("x")).tool_calls
    assert call.error == "not executed: policy_denied: parent/alone: no"
