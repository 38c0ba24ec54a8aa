"""Variables: who declares them, whose value counts, and which nobody uses (docs/manifests.md §6)."""

from __future__ import annotations

from typing import Any

import pytest

from symc.compose.layout import layout
from symc.compose.typesetting import Typesetter
from symc.compose.unused import unused_variables
from tests.compose.written import laid_out, links, places

CRM = """
    kind: extension
    name: crm
    version: "1"
    vars: {tone: default}
    prompts: [{fragment_id: t, template: true, text: "{{ tone }}"}]
"""


@pytest.mark.parametrize(
    ("workspace", "base", "own", "expected"),
    [
        ("", "", "", "default"),
        ("tone: w", "", "", "w"),
        ("tone: w", "tone: b", "", "b"),
        ("tone: w", "tone: b", "tone: a", "a"),
        ("tone: w, crm.tone: wc", "", "", "wc"),
        ("crm.tone: wc", "", "", "wc"),
        ("", "crm.tone: bc", "", "bc"),
        # The later document counts, also when an earlier one was more particular.
        ("crm.tone: wc", "", "tone: a", "a"),
        ("", "crm.tone: bc", "crm.tone: ac, tone: a", "ac"),
        ("other.tone: x", "", "", "default"),
    ],
)
def test_the_value_an_extension_sees(workspace: str, base: str, own: str, expected: str) -> None:
    found = laid_out(
        CRM,
        f"kind: workspace\nname: desk\nvars: {{{workspace}}}",
        f"kind: agent\nname: base\nabstract: true\nvars: {{{base}}}",
        f"kind: agent\nname: support\nextends: [base]\nextensions: [crm]\nvars: {{{own}}}",
    )
    assert [fragment.text for fragment in found.fragments] == [expected]
    assert dict(found.vars) == ({} if expected == "default" else {"crm.tone": expected})


def test_an_agents_own_templates_see_plain_names_only() -> None:
    agent = """
        kind: agent
        name: support
        vars: {tone: calm, crm.tone: warm}
        prompts: [{fragment_id: t, template: true, text: "{{ tone }}"}]
    """
    found = laid_out(agent)
    assert [fragment.text for fragment in found.fragments] == ["calm"]
    assert dict(found.vars) == {"tone": "calm"}


def test_an_inherited_template_is_rendered_with_the_heirs_values() -> None:
    base = """
        kind: agent
        name: base
        vars: {tone: calm}
        prompts: [{fragment_id: t, template: true, text: "{{ tone }}"}]
    """
    heir = "kind: agent\nname: support\nextends: [base]\nvars: {tone: brisk}"
    assert [fragment.text for fragment in laid_out(base, heir).fragments] == ["brisk"]
    assert [fragment.text for fragment in laid_out(base, heir, agent="base").fragments] == ["calm"]


@pytest.mark.parametrize(
    ("value", "expected"), [("1", "1"), ('"1.0"', "1.0"), ("true", "true"), ('"1"', "1"), ("1.5", "1.5")]
)
def test_equal_values_of_other_spelling_are_other_texts(value: str, expected: str) -> None:
    documents = [
        f"kind: agent\nname: a{i}\nextensions: [crm]\nvars: {{tone: {each}}}"
        for i, each in enumerate(["true", "1", '"True"', value])
    ]
    found = links(CRM, *documents)
    typesetter = Typesetter(found)
    texts = [layout(found.agents[f"a{i}"], typesetter).fragments[0].text for i in range(4)]
    assert texts == ["true", "1", "True", expected]


UNDECLARED = "kind: agent\nname: support\nextensions: [crm]\nvars: {{{}}}"


def test_an_undeclared_variable_is_an_error_at_its_line_in_the_block() -> None:
    crm = """
        kind: extension
        name: crm
        version: "1"
        vars: {tone: x}
        prompts:
          - fragment_id: t
            template: true
            text: |
              Be {{ tone }}.
              Say {{ greeting }}, {% if toone %}or{% endif %} not.
    """
    found = laid_out(crm, UNDECLARED.format("")).diagnostics
    assert places(found) == ["template-undeclared crm:10:14", "template-undeclared crm:10:33"]
    assert [one.hint.text if one.hint else "" for one in found] == [
        'known here: "tone"',
        'did you mean "tone"?',
    ]
    assert laid_out(crm, UNDECLARED.format("greeting: Hi, toone: x")).diagnostics == ()


def test_an_undeclared_variable_of_a_file_is_an_error_in_the_file() -> None:
    agent = "kind: agent\nname: support\nprompts: [{fragment_id: t, template: true, file: t.md}]"
    found = laid_out(agent, texts={"t": "One\n{{ a }}\n"}).diagnostics
    assert places(found) == ["template-undeclared t:2:4"]


def test_a_mistake_in_an_extension_is_said_once_for_all_agents() -> None:
    crm = CRM.replace("vars: {tone: default}", "")
    found = links(crm, *(f"kind: agent\nname: a{i}\nextensions: [crm]" for i in range(3)))
    typesetter = Typesetter(found)
    said = {one for agent in found.agents.values() for one in layout(agent, typesetter).diagnostics}
    assert places(said) == ["template-undeclared crm:5:54"]


def unused(*documents: str, accepted: bool = True) -> list[str]:
    found = links(*documents, accepted=accepted)
    return sorted(places(unused_variables(found, Typesetter(found))))


USER = "kind: agent\nname: support\nextensions: [crm]\nvars: {{{}}}"


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ([CRM], []),
        ([CRM.replace("tone: default", "tone: default, tune: x")], ["variable-unused crm:4:23"]),
        ([CRM, USER.format("tone: a, crm.tone: b")], []),
        # An extension without templates reads nothing.
        (
            [
                CRM,
                'kind: extension\nname: bare\nversion: "1"',
                USER.format("tone: a").replace("[crm]", "[bare, crm]"),
            ],
            [],
        ),
        ([CRM, USER.format("tune: a")], ["variable-unused support:4:8"]),
        ([CRM, USER.format("crn.tone: a")], ["variable-unused support:4:8"]),
        ([CRM, USER.format("tone: a").replace("[crm]", "[]")], ["variable-unused support:4:8"]),
        (
            [CRM, USER.format(""), "kind: workspace\nname: desk\nvars: {tone: a, x: b}"],
            ["variable-unused desk:3:17"],
        ),
        # A base's variable is used when any heir's template reads it.
        (
            [
                CRM,
                USER.format("").replace("vars", "extends: [base]\nvars"),
                "kind: agent\nname: base\nvars: {tone: a}",
            ],
            [],
        ),
        ([CRM, "kind: agent\nname: base\nvars: {tone: a}"], ["variable-unused base:3:8"]),
    ],
)
def test_a_variable_that_nothing_uses_is_a_warning(documents: list[str], expected: list[str]) -> None:
    assert unused(*documents) == expected


def test_what_a_refused_extension_would_have_used_is_not_known() -> None:
    assert unused(CRM + "    nonsense: 1", USER.format("tone: a"), accepted=False) == []


@pytest.mark.parametrize(
    ("workspace", "own", "expected"),
    [
        ("", "", "default"),
        ("tone: w", "", "w"),
        ("crm.tone: wc", "tone: a", "wc"),
        ("", "tone: a", "default"),
    ],
)
def test_the_default_text_knows_owner_and_workspace(workspace: str, own: str, expected: Any) -> None:
    found = links(CRM, f"kind: workspace\nname: desk\nvars: {{{workspace}}}", USER.format(own))
    assert Typesetter(found).default_text(found.prompts["crm"][0]) == expected


def test_there_is_no_default_text_of_plain_text_and_of_what_only_agents_declare() -> None:
    plain = CRM.replace("template: true", "template: false").replace("vars: {tone: default}", "")
    found = links(plain)
    assert Typesetter(found).default_text(found.prompts["crm"][0]) is None
    found = links(CRM.replace("vars: {tone: default}", ""), USER.format("tone: a"))
    assert Typesetter(found).default_text(found.prompts["crm"][0]) is None


def test_the_default_text_of_a_base_knows_its_own_variables() -> None:
    base = """
        kind: agent
        name: base
        vars: {tone: calm}
        prompts: [{fragment_id: t, template: true, text: "{{ tone }} {{ place }}"}]
    """
    found = links("kind: workspace\nname: desk\nvars: {place: here, tone: loud}", base)
    assert Typesetter(found).default_text(found.agents["base"].prompts[0]) == "calm here"
