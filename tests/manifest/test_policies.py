"""Policies: one way to object, to something, and no way to allow (docs/policies.md §1–2)."""

from __future__ import annotations

import pytest

from tests.manifest.written import AGENT, EXTENSION, WORKSPACE, manifests, marked, only, places

RULES: list[tuple[str, str]] = [
    ("policy_id: a, deny: {tools: [crm/x]}", ""),
    ("policy_id: a, ask: {tools: [crm/x], reason: Why.}", ""),
    ("policy_id: a, decide: 'm:f'", ""),
    ("policy_id: a, decide: 'm:f', actions: [tool_call, delegate], timeout: 2", ""),
    ("policy_id: a, deny: {reason: No.}, actions: [memory_write]", ""),
    ("policy_id: a, deny: {}, actions: [memory_write]", ""),
    ("policy_id: a, deny: {tools: [{variant: crm/x, chain: [memo, crm/audit]}]}", ""),
    # P12: a rule that never fires is a warning of a later stage
    ("policy_id: a, deny: {tools: [crm/x], when: false}", ""),
    ("policy_id: a, deny: {tools: [crm/x], when: true}", ""),
    ("policy_id: a, deny: {tools: [crm/x], when: {}}", ""),
    ("policy_id: a, deny: {tools: [crm/x], when: {type: object, required: [a]}}", ""),
    # exactly one of deny, ask, decide
    ("policy_id: a, deny: {tools: [crm/x]}, §ask: {tools: [crm/x]}", "exactly-one"),
    ("policy_id: a, ask: {tools: [crm/x]}, §decide: 'm:f'", "exactly-one"),
    # something to object to
    ("policy_id: a, §deny: {reason: No.}", "rule-without-subject"),
    ("policy_id: a, §ask: {}", "rule-without-subject"),
    ("policy_id: a, deny: {tools: §[]}", "empty-list"),
    ("policy_id: a, deny: {tools: [crm/x]}, actions: §[]", "empty-list"),
    ("policy_id: a, decide: 'm:f', actions: §[]", "empty-list"),
    ("policy_id: a, deny: {tools: [{variant: crm/x, chain: §[]}]}", "empty-list"),
    ("policy_id: a, deny: {tools: [crm/x]}, §timeout: 3", "idle-key"),
    # P2: an allow is no authority
    ("policy_id: a, §allow: {tools: [crm/x]}", "allow-is-no-authority"),
    ("policy_id: a, deny: {tools: [crm/x]}, §allow: true", "allow-is-no-authority"),
    ("policy_id: a, deny: {tools: [crm/x]}, §override: true", "unknown-key"),
    ("policy_id: a, deny: {tools: [crm/x]}, §priority: 1000", "unknown-key"),
    # conditions are schemas of the arguments
    ("policy_id: a, deny: {tools: [crm/x], when: {type: §array}}", "schema-not-object"),
    ("policy_id: a, deny: {tools: [crm/x], when: {properties: {n: {minimum: §few}}}}", "schema-invalid"),
    ("policy_id: a, deny: {tools: [crm/x], when: {$ref: §'#/$defs/x'}}", "schema-ref-dangling"),
    ("policy_id: a, deny: {tools: [crm/x], when: §[limit]}", "wrong-type"),
]


# What the published JSON Schemas do not say of a condition.
CONDITIONS: list[tuple[str, str]] = [
    # P12: a keyword that is none is passed over, and so would be what the rule should stop
    ("policy_id: a, deny: {tools: [crm/x], when: {not: {§propertis: {q: {const: ok}}}}}", "unknown-key"),
    ("policy_id: a, deny: {tools: [crm/x], when: {properties: {q: {§cnst: ok}}}}", "unknown-key"),
    ("policy_id: a, deny: {tools: [crm/x], when: {allOf: [{§requird: [q]}]}}", "unknown-key"),
    ("policy_id: a, deny: {tools: [crm/x], when: {§dependencies: {q: [n]}}}", "unknown-key"),
    ("policy_id: a, deny: {tools: [crm/x], when: {properties: {propertis: {enum: [{cnst: 1}]}}}}", ""),
    ("policy_id: a, deny: {tools: [crm/x], when: {x-owner: us, definitions: {n: {type: string}}}}", ""),
]


@pytest.mark.parametrize(("fields", "expected"), [*RULES, *CONDITIONS])
@pytest.mark.parametrize("owner", [AGENT, EXTENSION, WORKSPACE])
def test_policies(owner: str, fields: str, expected: str) -> None:
    text, at = marked(owner + "policies:\n- {" + fields + "}\n")
    assert places(text) == ([f"{expected} {at}"] if at else [])


def test_a_policy_that_objects_to_nothing_is_refused() -> None:
    assert places(AGENT + "policies:\n- {policy_id: a}\n") == ["exactly-one 4:3"]


def test_two_ways_are_shown_with_both_places() -> None:
    found = only(AGENT + "policies:\n- policy_id: a\n  deny: {tools: [crm/x]}\n  decide: 'm:f'\n")
    assert found.primary.start.line == 6
    assert [(one.span.start.line, one.label) for one in found.secondary] == [(5, "`deny` is given here")]


@pytest.mark.parametrize(
    ("fields", "actions"),
    [
        ("deny: {tools: [crm/x]}", ("tool_call",)),
        ("ask: {tools: ['*/x']}", ("tool_call",)),
        ("deny: {tools: [crm/x]}, actions: [delegate]", ("delegate",)),
        ("deny: {}, actions: [model_call]", ("model_call",)),
        ("decide: 'm:f'", None),
    ],
)
def test_actions_of_a_rule_on_tools_default_to_tool_calls(
    fields: str, actions: tuple[str, ...] | None
) -> None:
    agent = manifests({"a.yaml": AGENT + f"policies: [{{policy_id: a, {fields}}}]\n"}).agents["helper"]
    assert agent.body.policies[0].actions == actions
