"""The example from its manifests to a run: compiled, loaded, opened with its real server, and driven by a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support_desk import crm
from symc import AgentEvent, AgentResult, ToolCall
from symc.authority import decide, request_for
from symc.contracts import PolicyRequest
from symc.runtime.composed import account
from tests.end_to_end.desk import compiled, scripts, terms

SLOTS = {"slots": {"support/customer": "Ada Byron, customer since 2021."}}


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, name, arguments)


class Person:
    """Says yes to amounts up to ten euros."""

    def __init__(self) -> None:
        self.asked: list[PolicyRequest] = []

    async def __call__(self, request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        self.asked.append(request)
        assert reasons == ("Money leaves the company.",)
        amount: float = request.arguments["amount"]
        return amount <= 10


SUPPORT = [
    [
        call("lookup_customer", key="C-17"),
        call("lookup_customer_cache_audit", key="ada@example.test", exp=60),
        call("list_orders_batch", calls=[{"customer": "C-17"}, {"customer": "C-42", "limit": 200}]),
    ],
    ["A moment. ", call("list_orders", customer="C-17", limit=100), call("lookup_customer", key=17)],
    [call("refund", order="O-1001", amount=10), call("refund", order="O-1001", amount=20)],
    [call("refund", order="O-1002", amount=500), call("refund_order", order="O-1001", amount=1)],
    [call("read_manual", article="hose-frost"), call("read_manual", article="nothing")],
    [call("lookup_customer", key="4111 1111 1111 1111")],
    [call("ask_researcher", message="How often are the blades changed?")],
    "All is settled.",
]

RESEARCHER = [
    [call("search_articles_timeout", query="blades"), call("delete_article", article="hose-frost")],
    [call("read_article", article="mower-blades")],
    "Every 50 hours [mower-blades].",
]

ANSWERS: list[tuple[str, str | None, str | None]] = [
    ("lookup_customer", '{"id": "C-17", "name": "Ada Byron"', None),
    ("lookup_customer_cache_audit", '{"id": "C-17", "name": "Ada Byron"', None),
    ("list_orders_batch", '{"results": [{"result": "[{\\"order\\": \\"O-1002\\"', None),
    ("list_orders", None, "policy_denied: crm/no-bulk-export: Bulk exports need a human."),
    ("lookup_customer", None, "invalid_arguments: /key must be a string"),
    ("refund", "refunded 10.00 EUR for O-1001", None),
    ("refund", None, "approval_refused: acme-desk/spend: Money leaves the company."),
    ("refund", None, "policy_denied: guardrails/large-refunds"),
    ("refund_order", None, 'unknown_tool: there is no tool "refund_order"'),
    ("read_manual", "Empty the hose before the first frost", None),
    ("read_manual", None, "tool_error: "),
    ("lookup_customer", None, "policy_denied: guardrails/card-numbers: the argument key looks like a card number"),
    ("ask_researcher", "Every 50 hours [mower-blades].", None),
]  # fmt: skip


def test_a_day_at_the_desk(tmp_path: Path) -> None:
    """Text, Python tools, the real server, variants, a denied call, one asked and answered yes and no, a delegate."""
    lock, person, providers = compiled(tmp_path), Person(), scripts(support=SUPPORT, researcher=RESEARCHER)

    async def run() -> tuple[AgentResult[Any], Mapping[str, Any], list[Any]]:
        async with lock.open("support", provider=providers, approver=person, **terms()) as agent:
            result = await agent.run("I have questions.", state=SLOTS)
            return result, agent.composition_manifest, crm.book().refunds

    result, manifest, refunds = asyncio.run(run())
    assert result.text == "All is settled."
    assert result.model_rounds == len(SUPPORT)
    for made, (name, answer, error) in zip(result.tool_calls, ANSWERS, strict=True):
        assert made.name == name
        if answer is not None:
            assert (made.result or made.error or "").startswith(answer)
        if error is not None:
            assert made.result is None
            assert error in (made.error or "")
    batch = json.loads(result.tool_calls[2].result or "")["results"]
    assert "crm/no-bulk-export" in batch[1]["error"]
    assert refunds == [{"order": "O-1001", "amount": 10}]
    assert [(one.tool, one.arguments["amount"]) for one in person.asked] == [("refund", 10), ("refund", 20)]
    told = [message.text for message in providers["researcher"].requests[-1].messages]
    assert "mower-blades" in told[2]
    assert "policy_denied: guardrails/no-deletes" in told[3]
    assert "Pull the spark plug first" in told[5]
    assert manifest == account(lock.lock.composition("support"))
    with pytest.raises(LookupError):
        crm.book()  # the teardown hook has closed it


def test_what_the_model_is_told_is_the_lock(tmp_path: Path) -> None:
    lock, providers = compiled(tmp_path), scripts(support=["Hello."])
    composition = lock.lock.composition("support")

    async def run() -> None:
        async with lock.open("support", provider=providers, **terms()) as agent:
            await agent.run("Hello?", state=SLOTS)

    asyncio.run(run())
    (request,) = providers["support"].requests
    assert request.system is not None
    for joined_id, part, text in composition.layout[:-1]:
        assert text in request.system, joined_id
        assert part is not None
    assert request.system.endswith(
        '<extension-text from="support/customer">\nAda Byron, customer since 2021.\n</extension-text>'
    )
    exposed = {name: tool for name, tool in composition.agent.tools.items() if tool.exposed}
    own = [spec for spec in request.tools if spec.name != "ask_researcher"]
    assert [spec.name for spec in request.tools] == sorted([*exposed, "ask_researcher"])
    for spec in own:
        tool = exposed[spec.name]
        assert (spec.description, spec.input_schema) == (tool.description, tool.input_schema)
    assert request.model is not None
    assert request.model.name == "claude-sonnet-4-5"


def test_the_stream_is_the_run(tmp_path: Path) -> None:
    """Events dense and paired, one terminal, its result what `run` answers."""

    async def streamed() -> list[AgentEvent]:
        providers = scripts(support=SUPPORT, researcher=RESEARCHER)
        async with compiled(tmp_path).open(
            "support", provider=providers, approver=Person(), **terms()
        ) as agent:
            return [event async for event in agent.stream("I have questions.", state=SLOTS)]

    async def ran() -> AgentResult[Any]:
        providers = scripts(support=SUPPORT, researcher=RESEARCHER)
        async with compiled(tmp_path).open(
            "support", provider=providers, approver=Person(), **terms()
        ) as agent:
            return await agent.run("I have questions.", state=SLOTS)

    events, result = asyncio.run(streamed()), asyncio.run(ran())
    assert [event.index for event in events] == list(range(len(events)))
    assert [event.kind for event in events if event.is_terminal] == ["done"]
    assert events[-1].result == result
    started = [event.tool_call.id for event in events if event.kind == "tool_call" and event.tool_call]
    ended = [event.tool_call.id for event in events if event.kind == "tool_result" and event.tool_call]
    assert started == ended == [made.id for made in result.tool_calls]
    asked = [event.interrupt.request.tool for event in events if event.interrupt]
    assert asked == ["refund", "refund"]


def test_the_limit(tmp_path: Path) -> None:
    """The budget of rounds is the lock's: three for triage."""
    look = call("lookup_customer", key="C-17")

    async def run() -> AgentResult[Any]:
        async with compiled(tmp_path).open("triage", provider=scripts(triage=[look] * 3), **terms()) as agent:
            return await agent.run("A ticket.")

    result = asyncio.run(run())
    assert (result.stop_reason, result.model_rounds) == ("tool_limit", 3)
    assert [made.error for made in result.tool_calls] == [None, None, "not executed: limit"]


# every compiled policy is wired


WITNESS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "acme-desk/spend": [("support", "refund", {"order": "O-1001", "amount": 1})],
    "crm/no-bulk-export": [
        ("support", "list_orders", {"customer": "C-17", "limit": 100}),
        ("support", "list_orders_batch", {"calls": [{"customer": "C-17", "limit": 100}]}),
    ],
    "guardrails/card-numbers": [
        ("support", "lookup_customer", {"key": "4111 1111 1111 1111"}),
        ("support", "lookup_customer_cache", {"key": "4111 1111 1111 1111"}),
        ("support", "lookup_customer_cache_audit", {"key": "4111 1111 1111 1111"}),
        ("researcher", "search_articles_timeout", {"query": "4111 1111 1111 1111"}),
        ("triage", "lookup_customer", {"key": "4111 1111 1111 1111"}),
    ],
    "guardrails/large-refunds": [("support", "refund", {"order": "O-1002", "amount": 500})],
    "guardrails/no-deletes": [("researcher", "delete_article", {"article": "hose-frost"})],
}
"""For every policy of the example, requests that it stops: an agent, a tool, its arguments."""


def test_every_policy_of_the_lock_has_a_witness(tmp_path: Path) -> None:
    """And every tool that a policy guards, where it can be called, is among them."""
    lock = compiled(tmp_path)
    policies: set[str] = set()
    guarded: set[tuple[str, str, str]] = set()
    for name in lock.agents:
        composition = lock.lock.composition(name)
        policies |= set(composition.policies)
        for tool in composition.agent.tools.values():
            guarded |= {(policy, name, tool.name) for policy in tool.guarded_by if tool.exposed}
    assert policies == set(WITNESS)
    assert guarded <= {(policy, made[0], made[1]) for policy, rows in WITNESS.items() for made in rows}


@pytest.mark.parametrize("name", ["support", "researcher", "triage"])
def test_every_policy_fires(name: str, tmp_path: Path) -> None:
    """On the tool and on its variants; a question that nobody answers is a no. The decision function agrees."""
    rows = [(policy, *made[1:]) for policy, found in WITNESS.items() for made in found if made[0] == name]
    lock = compiled(tmp_path)
    composition = lock.lock.composition(name)

    async def run() -> AgentResult[Any]:
        script = [
            [ToolCall(f"{at}", tool, arguments) for at, (_, tool, arguments) in enumerate(rows)],
            "done",
        ]
        async with lock.open(name, provider=scripts(**{name: script}), **terms()) as agent:
            return await agent.run("go")

    for made, (policy, tool, arguments) in zip(asyncio.run(run()).tool_calls, rows, strict=True):
        said = f"{made.result}{made.error}"
        assert policy in said
        assert ("approval_required" if policy == "acme-desk/spend" else "policy_denied") in said
        decision = decide(composition, request_for(composition, tool, arguments))
        assert decision.outcome in ("deny", "ask", "ask-code")


def test_every_policy_fires_through_delegation(tmp_path: Path) -> None:
    card = "4111 1111 1111 1111"
    made = {
        "delete_article": ({"article": "hose-frost"}, "guardrails/no-deletes"),
        "read_article": ({"article": card}, "guardrails/card-numbers"),
        "search_articles_timeout": ({"query": card}, "guardrails/card-numbers"),
    }
    answers: list[str] = []

    def last(request: Any) -> str:
        answers.extend(message.text for message in request.messages if message.role == "tool")
        return "done"

    providers = scripts(
        support=[call("ask_researcher", message="go"), "done"],
        researcher=[[ToolCall(tool, tool, arguments) for tool, (arguments, _) in made.items()], last],
    )

    async def run() -> None:
        async with compiled(tmp_path).open("support", provider=providers, **terms()) as agent:
            await agent.run("go")

    asyncio.run(run())
    for answer, (_, policy) in zip(answers, made.values(), strict=True):
        assert f"policy_denied: {policy}" in answer
