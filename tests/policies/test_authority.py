"""Decisions: grants, denials, questions and code, of an agent alone and through others (docs/policies.md §1–2, §4)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from symc.authority import Authority, Conditions, decide, request_for
from symc.contracts.verdict import PolicyRequest
from tests.policies.workspaces import agent, ask, compiled, composition, decided, deny, extension, workspace

N = {"n": {"type": "integer"}}
LARGE = {"properties": {"n": {"type": "integer", "minimum": 100}}, "required": ["n"]}
OS = extension("os", {"read": N, "shell": N})
DECIDE = {"policy_id": "code", "actions": ["tool_call"], "decide": "acme.guard:decide"}


def test_deny_beats_ask_beats_code_beats_no_objection() -> None:
    policies = [deny("d", "os/read", when=LARGE), ask("a", "os/read"), DECIDE]
    for order in permutations(policies):
        found = compiled(OS, agent("desk", ["os/*"], policies=list(order)))
        assert decided(found, "desk", "read", {"n": 100}).outcome == "deny"
        asked = decided(found, "desk", "read", {"n": 99})
        assert (asked.outcome, asked.rules, asked.code) == ("ask", ("desk/a",), ("desk/code",))
        assert decided(found, "desk", "shell").outcome == "ask-code"
        assert decided(found, "desk", "shell").rules == ("desk/code",)
    silent = decided(compiled(OS, agent("desk", ["os/*"])), "desk", "read")
    assert (silent.outcome, silent.rule) == ("allow", "grant:tool_call")


def test_every_rule_that_denies_is_named_with_its_reason() -> None:
    first = deny("a", "os/*") | {"deny": {"tools": ["os/*"], "reason": "Not at night."}}
    found = compiled(
        OS, workspace(policies=[deny("z", "*/shell")]), agent("desk", ["os/*"], policies=[first])
    )
    decision = decided(found, "desk", "shell")
    assert decision.rules == ("acme/z", "desk/a")
    assert decision.reasons == ("acme/z", "desk/a: Not at night.")


def test_a_name_that_is_no_tool_of_the_agent_is_denied() -> None:
    found = compiled(OS, agent("desk", ["os/read"]))
    assert (decided(found, "desk", "shell").outcome, decided(found, "desk", "shell").rule) == (
        "deny",
        "unexposed",
    )


def test_a_delegate_that_the_agent_does_not_have_is_denied() -> None:
    one = composition(
        compiled(OS, agent("desk", ["os/read"], delegates=["other"]), agent("other", [])), "desk"
    )
    assert decide(one, PolicyRequest(agent="desk", effect="delegate", tool="ask_nobody")).rule == "unexposed"
    assert decide(one, PolicyRequest(agent="desk", effect="delegate", tool="ask_other")).outcome == "allow"
    # A delegate is not called with the effect of calling a tool.
    assert decide(one, PolicyRequest(agent="desk", effect="tool_call", tool="ask_other")).rule == "unexposed"


def test_an_effect_that_is_not_granted_is_denied_before_any_policy() -> None:
    one = composition(compiled(OS, agent("desk", ["os/read"], grants=["memory_read"])), "desk")
    request = PolicyRequest(agent="desk", effect="memory_write")
    assert decide(one, request).rules == ("grant:memory_write",)
    assert decide(one, request).outcome == "deny"
    assert decide(one, PolicyRequest(agent="desk", effect="memory_read")).outcome == "allow"


def test_a_policy_over_an_effect_needs_no_tool() -> None:
    policy = {"policy_id": "budget", "ask": {"reason": "Costs."}, "actions": ["model_call"]}
    one = composition(compiled(OS, agent("desk", ["os/read"], policies=[policy])), "desk")
    assert decide(one, PolicyRequest(agent="desk", effect="model_call")).rules == ("desk/budget",)
    assert decide(one, request_for(one, "read")).outcome == "allow"


# The condition of a rule sees the arguments of the tool that it names (V32).

CHAINED = {"os/shell": ["cache", "audit"]}


@pytest.mark.parametrize("tool", ["shell", "shell_cache", "shell_cache_audit"])
@pytest.mark.parametrize(("n", "outcome"), [(99, "allow"), (100, "deny")])
def test_a_condition_holds_through_wrappers(tool: str, n: int, outcome: str) -> None:
    rule = deny("large", "os/shell", when=LARGE)
    found = compiled(OS, agent("desk", ["os/shell"], variants=CHAINED, policies=[rule]))
    assert decided(found, "desk", tool, {"n": n}).outcome == outcome


@pytest.mark.parametrize(
    "layer", ["process", {"use": "output_schema", "config": {"schema": {"type": "string"}}}]
)
def test_a_condition_holds_through_every_layer_that_hands_the_arguments_on(layer: Any) -> None:
    rule = deny("large", "os/shell", when=LARGE)
    only = {"os/shell": [{"chain": [layer], "expose": "only", "as": "run"}]}
    found = compiled(OS, agent("desk", ["os/shell"], variants=only, policies=[rule]))
    assert decided(found, "desk", "run", {"n": 100}).outcome == "deny"
    assert decided(found, "desk", "run", {"n": 99}).outcome == "allow"


def test_a_rule_over_every_call_sees_each_call_of_a_chain() -> None:
    exact = {"properties": {"n": {"type": "integer"}}, "additionalProperties": False, "required": ["n"]}
    rule = deny("exact", when=exact, actions=["tool_call"])
    found = compiled(
        OS, agent("desk", ["os/shell"], variants={"os/shell": ["cache", "batch"]}, policies=[rule])
    )
    # The variant is called with `exp`, the tool below without.
    assert decided(found, "desk", "shell_cache", {"n": 1, "exp": 5}).outcome == "deny"
    assert decided(found, "desk", "shell_cache", {"exp": 5}).outcome == "allow"
    assert decided(found, "desk", "shell_cache_batch", {"calls": []}).outcome == "ask-code"


def test_of_several_selectors_each_sees_the_arguments_of_what_it_names() -> None:
    when = {"properties": {"exp": {"type": "number"}}, "required": ["exp"]}
    variant = {"variant": "os/shell", "chain": ["cache"]}
    rule = deny("fresh", "os/read", variant, {"variant": "os/shell", "chain": ["audit"]}, when=when)
    found = compiled(OS, agent("desk", ["os/*"], variants=CHAINED, policies=[rule]))
    outcomes = {
        tool: decided(found, "desk", tool, {"n": 1, "exp": 5}).outcome
        for tool in ("read", "shell", "shell_cache", "shell_cache_audit")
    }
    assert outcomes == {"read": "deny", "shell": "allow", "shell_cache": "deny", "shell_cache_audit": "deny"}


def test_what_a_wrapper_keeps_to_itself_is_not_seen_by_the_rule_of_its_base() -> None:
    only_n = {"properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    found = compiled(
        OS, agent("desk", ["os/shell"], variants=CHAINED, policies=[deny("exact", "os/shell", when=only_n)])
    )
    # `exp` is the cache's own: to the base the call is {n: 1}.
    assert decided(found, "desk", "shell_cache", {"n": 1, "exp": 5}).outcome == "deny"
    assert decided(found, "desk", "shell", {"n": 1, "exp": 5}).outcome == "allow"


def test_a_rule_over_a_variant_sees_the_variants_arguments_and_leaves_the_base_alone() -> None:
    fresh = {"properties": {"exp": {"type": "number", "minimum": 60}}, "required": ["exp"]}
    rule = deny("fresh", {"variant": "os/shell", "chain": ["cache"]}, when=fresh)
    found = compiled(OS, agent("desk", ["os/shell"], variants=CHAINED, policies=[rule]))
    for tool in ("shell_cache", "shell_cache_audit"):
        assert decided(found, "desk", tool, {"exp": 60}).outcome == "deny"
        assert decided(found, "desk", tool, {"exp": 59}).outcome == "allow"
    assert decided(found, "desk", "shell", {"exp": 60}).outcome == "allow"


def test_what_a_transformer_makes_of_a_call_is_judged_at_each_inner_call() -> None:
    rule = deny("large", "os/shell", when=LARGE)
    found = compiled(OS, agent("desk", ["os/shell"], variants={"os/shell": ["batch"]}, policies=[rule]))
    outer = decided(found, "desk", "shell_batch", {"calls": [{"n": 100}]})
    assert (outer.outcome, outer.rules) == ("ask-code", ("desk/large",))
    assert decided(found, "desk", "shell", {"n": 100}, origin="batch").outcome == "deny"
    # What a rule without a condition stops is stopped before anything is made of it.
    flat = compiled(
        OS, agent("desk", ["os/shell"], variants={"os/shell": ["batch"]}, policies=[deny("all", "os/shell")])
    )
    assert decided(flat, "desk", "shell_batch", {"calls": []}).rules == ("desk/all",)


def test_a_negated_condition_is_not_asked_of_a_batch() -> None:
    unless = {"not": {"properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}}
    rule = deny("small-only", "os/shell", when=unless)
    found = compiled(OS, agent("desk", ["os/shell"], variants={"os/shell": ["batch"]}, policies=[rule]))
    assert decided(found, "desk", "shell_batch", {"calls": [{"n": 1}]}).outcome == "ask-code"
    assert decided(found, "desk", "shell", {"n": 1}).outcome == "allow"
    assert decided(found, "desk", "shell", {}).outcome == "deny"


def test_a_hidden_tool_is_called_by_its_layer_and_by_nobody_else() -> None:
    only = {"os/shell": [{"chain": ["audit"], "expose": "only"}]}
    found = compiled(OS, agent("desk", ["os/shell"], variants=only))
    assert decided(found, "desk", "shell").rule == "unexposed"
    assert decided(found, "desk", "shell", origin="cache").rule == "unexposed"
    assert decided(found, "desk", "shell", origin="audit").outcome == "allow"


# Fail closed (P5).


@pytest.mark.parametrize("way", ["deny", "ask"])
def test_a_condition_that_cannot_be_told_denies(way: str) -> None:
    costly = {"properties": {"s": {"type": "string", "pattern": "^((?=a)a+)+$"}}, "required": ["s"]}
    rule = deny("slow", "os/shell", when=costly, way=way)
    text = extension("os", {"shell": {"s": {"type": "string"}}})
    found = compiled(text, agent("desk", ["os/shell"], policies=[rule]))
    decision = decided(found, "desk", "shell", {"s": "a" * 60 + "!"})
    assert decision.outcome == "deny"
    assert decision.reasons[0].startswith("policy_error: desk/slow")


def test_arguments_nested_too_deeply_deny() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    found = compiled(OS, agent("desk", ["os/shell"], policies=[deny("large", "os/shell", when=LARGE)]))
    assert decided(found, "desk", "shell", {"n": deep}).outcome == "deny"


# Through others (P22, P23).

PARENT = agent("parent", ["os/*"], delegates=["child"], policies=[deny("mine", "os/shell")])
CHILD = agent("child", ["os/*"], delegates=["grandchild"], policies=[ask("careful", "os/read")])
GRANDCHILD = agent("grandchild", ["os/*"], variants={"os/shell": ["audit"]})


def test_the_rules_of_all_callers_apply() -> None:
    found = compiled(OS, PARENT, CHILD, GRANDCHILD)
    assert decided(found, "grandchild", "shell").outcome == "allow"
    assert decided(found, "grandchild", "shell_audit", through=("child",)).outcome == "allow"
    for tool in ("shell", "shell_audit"):
        assert decided(found, "grandchild", tool, through=("parent", "child")).rules == ("parent/mine",)
    assert decided(found, "grandchild", "read", through=("parent", "child")).rules == ("child/careful",)


def test_only_along_delegation() -> None:
    found = compiled(OS, PARENT, CHILD, GRANDCHILD)
    with pytest.raises(ValueError, match='"parent" does not delegate to "grandchild"'):
        decided(found, "grandchild", "shell", through=("parent",))


def test_a_child_has_what_its_parent_has_and_what_it_may_exceed() -> None:
    web = extension("web", {"fetch": {}, "post": {}})
    parent = agent(
        "parent", ["os/read"], delegates=[{"agent": "child", "may_exceed": ["web/fetch", "memory_read"]}]
    )
    child = agent("child", ["os/read", "web/fetch"], grants=["memory_read"])
    found = compiled(OS, web, parent, child)
    authority = Authority.of(composition(found, "child"), [composition(found, "parent")])
    tools = authority.composition.agent.tools
    assert authority.permits("tool_call", tools["read"])
    assert authority.permits("tool_call", tools["fetch"])
    assert authority.permits("memory_read")
    assert not authority.permits("memory_write")


def test_conditions_are_compiled_once_for_many_decisions() -> None:
    found = compiled(OS, agent("desk", ["os/shell"], policies=[deny("large", "os/shell", when=LARGE)]))
    one = composition(found, "desk")
    conditions = Conditions()
    outcomes = [
        decide(one, request_for(one, "shell", {"n": n}), conditions=conditions).outcome
        for n in (99, 100, 101)
    ]
    assert outcomes == ["allow", "deny", "deny"]
