"""Fit: what a provider would refuse of an agent's tools, at the place that has to change (docs/policies.md §6)."""

from __future__ import annotations

import pytest

from symc.compose import Compilation
from symc.compose import compile as compile_workspace
from tests.compose.written import places, workspace

CRM = """
    kind: extension
    name: crm
    version: "1"
    tools:
      - name: lookup
        description: Find.
        invoke: "m:f"
        input_schema: {type: object, properties: {ids: {type: array}}}
      - {name: search, description: Search., invoke: "m:f", input_schema: {type: object}}
"""
LONG = "l" * 64


def compiled(*rows: str, provider: str = "openai", crm: str = CRM) -> Compilation:
    agent = [
        "kind: agent",
        "name: support",
        f"provider: {provider}",
        "extensions: [crm]",
        *(rows or ["tools: [crm/*]"]),
    ]
    return compile_workspace(workspace(crm, "\n".join(agent)))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["tools: [crm/search]", "limits: {tools: 0}"], ["too-many-tools support:5:8"]),
        (["tools: [crm/search]", "limits: {tools: 1}"], []),
        # Every exposed tool counts, a hidden one does not.
        (
            ["tools: [crm/search]", "variants: {crm/search: [audit]}", "limits: {tools: 1}"],
            ["too-many-tools support:5:8"],
        ),
        (
            [
                "tools: [crm/search]",
                "variants: {crm/search: [{chain: [audit], expose: only}]}",
                "limits: {tools: 1}",
            ],
            [],
        ),
        # A name of 64 characters is at the limit; a variant of it is over it.
        ([f"tools: [{{tool: crm/search, as: {LONG}}}]"], []),
        (
            [f"tools: [{{tool: crm/search, as: {LONG}}}]", "variants: {crm/search: [audit]}"],
            ["tool-name-too-long support:6:25"],
        ),
        # In the extension, where the agent changes nothing.
        (["tools: [crm/lookup]"], ["schema-array-items crm:8:52"]),
    ],
)
def test_what_does_not_fit(rows: list[str], expected: list[str]) -> None:
    assert places(compiled(*rows).diagnostics) == expected


def test_a_name_that_a_prefix_made_too_long_is_shown_at_the_row() -> None:
    """O-03."""
    crm = CRM.replace("name: search", f"name: {LONG}")
    agent = f"kind: agent\nname: support\nprovider: openai\nextensions: [{{use: crm, prefix: c}}]\ntools: [crm/{LONG}]"
    found = compile_workspace(workspace(crm, agent)).diagnostics
    assert places(found) == ["tool-name-too-long support:5:9"]


def test_a_name_given_with_as_is_its_own_share() -> None:
    rows = ["tools: [crm/search]", f"variants: {{crm/search: [{{chain: [audit], as: {LONG}}}]}}"]
    assert compiled(*rows).ok
    (one,) = compiled(
        f"tools: [{{tool: crm/search, as: {LONG}}}]", "variants: {crm/search: [audit]}"
    ).diagnostics
    assert one.notes[:1] == (f'as "{LONG}" 64 + variant "_audit" 6 = 70',)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["tools: [crm/search]"], "crm:9:33"),
        (['tools: [{tool: crm/search, description: "%s"}]' % ("d" * 1100)], "support:5:41"),
    ],
)
def test_a_description_that_is_too_long_is_shown_where_it_stands(rows: list[str], expected: str) -> None:
    crm = CRM.replace("description: Search.", f"description: {'d' * 1100}")
    assert places(compiled(*rows, crm=crm).diagnostics) == [f"tool-description-too-long {expected}"]


DELEGATE = "kind: agent\nname: billing\ndescription: {}\n"
CALLER = "kind: agent\nname: {}\nprovider: {}\ndelegates: [billing]\n"


@pytest.mark.parametrize(
    ("provider", "length", "expected"),
    [
        ("openai", 1024, []),
        ("openai", 1025, ["tool-description-too-long billing:3:14"]),
        ("anthropic", 1025, []),
    ],
)
def test_a_delegate_is_described_within_the_limits_of_its_caller(
    provider: str, length: int, expected: list[str]
) -> None:
    """P23: its description is what the caller's model reads of it."""
    documents = [DELEGATE.format("d" * length), CALLER.format("support", provider)]
    found = compile_workspace(workspace(*documents, CALLER.format("sales", provider))).diagnostics
    assert places(found) == expected
    for one in found:
        assert one.hint is not None
        assert one.hint.text.startswith('shorten the description of the agent "billing"')


def test_the_delegates_own_provider_limits_nothing() -> None:
    delegate = DELEGATE.format("d" * 1025) + "provider: openai\n"
    assert compile_workspace(workspace(delegate, CALLER.format("support", "anthropic"))).diagnostics == ()


def test_a_delegate_that_is_not_there_is_not_measured() -> None:
    found = compile_workspace(workspace(CALLER.format("support", "openai"))).diagnostics
    assert places(found) == ["agent-unknown support:4:13"]


def test_a_delegate_whose_name_is_too_long_is_given_a_shorter_one() -> None:
    name = "b" * 62
    documents = [f"kind: agent\nname: {name}\n", CALLER.format("support", "openai").replace("billing", name)]
    (one,) = compile_workspace(workspace(*documents)).diagnostics
    assert places([one]) == ["tool-name-too-long support:4:13"]
    assert one.hint is not None
    assert one.hint.text == f'give the agent "{name}" a shorter name'


def test_an_adaptation_is_recorded() -> None:
    found = compiled("tools: [crm/search]")
    (tool,) = found.agents["support"].tools
    assert tool.adaptations == ("add-properties",)
    assert tool.input_schema == {"type": "object", "properties": {}}
    (plain,) = compiled("tools: [crm/search]", provider="none").agents["support"].tools
    assert plain.adaptations == ()
