"""Inheritance: how bases and agent add up, field by field (docs/manifests.md §4)."""

from __future__ import annotations

import pytest

from tests.compose.written import linked, links, places

CRM = """
    kind: extension
    name: crm
    version: "1.4.0"
"""


def agent(name: str, **keys: str) -> str:
    return "\n".join([f"kind: agent\nname: {name}", *(f"{key}: {value}" for key, value in keys.items())])


@pytest.mark.parametrize("key", ["provider", "model"])
@pytest.mark.parametrize(
    ("a", "b", "own", "expected"),
    [
        ("openai", "", "", "openai"),
        ("openai", "gemini", "", "gemini"),
        ("openai", "gemini", "bedrock", "bedrock"),
        ("", "", "bedrock", "bedrock"),
    ],
)
def test_scalars_the_later_wins(key: str, a: str, b: str, own: str, expected: str) -> None:
    def document(name: str, value: str, **more: str) -> str:
        return agent(name, **({key: value} if value else {}), **more)

    found = linked(document("a", a), document("b", b), document("support", own, extends="[a, b]"))
    assert getattr(found, key) == expected


def test_what_is_not_inherited() -> None:
    base = agent("base", abstract="true", description="A base.")
    found = linked(base, agent("support", extends="[base]"))
    assert (found.abstract, found.manifest.body.description) == (False, "")


def test_a_base_reached_twice_stands_where_it_is_reached_first() -> None:
    found = linked(
        agent("root", model="root"),
        agent("left", extends="[root]", model="left"),
        agent("right", extends="[root]"),
        agent("support", extends="[left, right]"),
    )
    assert [base.name for base in found.bases] == ["root", "left", "right"]
    assert found.model == "left"


def test_unions_keep_the_order_and_say_each_once() -> None:
    base = agent(
        "base", extensions="[crm]", tools="[crm/a, crm/b]", exclude="[crm/x]", grants="[memory_read]"
    )
    found = linked(
        CRM,
        base,
        agent(
            "support",
            extends="[base]",
            tools="[crm/b, {tool: crm/c, as: see}]",
            exclude="[crm/x, crm/y]",
            grants="[memory_read, memory_write]",
        ),
    )
    assert [(row.pattern, row.place.owner) for row in found.tools] == [
        ("crm/a", "base"),
        ("crm/b", "base"),
        ("crm/c", "support"),
    ]
    assert [text for text, _ in found.exclude] == ["crm/x", "crm/y"]
    assert [(text, place.owner) for text, place in found.grants] == [
        ("memory_read", "base"),
        ("memory_write", "support"),
    ]


def test_delegates_are_united_and_keep_their_documents() -> None:
    found = linked(
        agent("helper"),
        agent("base", delegates="[{agent: helper, may_exceed: [memory_read]}]"),
        agent("support", extends="[base]", delegates="[{agent: helper, may_exceed: [memory_write]}]"),
    )
    assert [(row.agent, row.may_exceed, place.owner) for row, place in found.delegates] == [
        ("helper", ("memory_read",), "base"),
        ("helper", ("memory_write",), "support"),
    ]


def test_variants_and_vars_merge_per_key() -> None:
    found = linked(
        agent("base", variants="{crm/a: [x], crm/b: [x]}", vars="{tone: calm, place: Berlin}"),
        agent("support", extends="[base]", variants="{crm/b: [y]}", vars="{tone: brisk}"),
    )
    assert {row.key: [e.use for e in row.chains[0].chain] for row in found.variants} == {
        "crm/a": ["x"],
        "crm/b": ["y"],
    }
    assert {key: (value, place.owner) for key, (value, place) in found.vars.items()} == {
        "tone": ("brisk", "support"),
        "place": ("Berlin", "base"),
    }


@pytest.mark.parametrize(
    ("workspace", "base", "own", "expected"),
    [("9", "7", "8", 7), ("9", "7", "5", 5), ("3", "7", "5", 3), ("", "", "5", 5), ("", "", "", None)],
)
def test_limits_take_the_lower(workspace: str, base: str, own: str, expected: int | None) -> None:
    def limits(value: str) -> str:
        return f"{{prompt_chars: {value}}}" if value else "{}"

    found = linked(
        f"kind: workspace\nname: desk\nlimits: {limits(workspace)}",
        agent("base", limits=limits(base)),
        agent("support", extends="[base]", limits=limits(own)),
    )
    assert found.limits.prompt_chars == expected


def test_prompts_replace_by_id_and_instructions_stay() -> None:
    found = linked(
        agent(
            "base",
            instructions="One.",
            prompts="[{fragment_id: tone, text: A}, {fragment_id: keep, text: K}]",
        ),
        agent("support", extends="[base]", instructions="Two.", prompts="[{fragment_id: tone, text: B}]"),
    )
    assert [(owned.id, owned.owner_class, owned.prompt.text) for owned in found.prompts] == [
        ("base/instructions", "base", "One."),
        ("base/keep", "base", "K"),
        ("support/instructions", "agent", "Two."),
        ("support/tone", "agent", "B"),
    ]
    instructions = found.prompts[0].prompt
    assert (instructions.layer, instructions.tier, instructions.scope, instructions.order) == (
        "l1",
        "operating",
        "deployment",
        0,
    )


def test_what_is_inherited_belongs_to_the_document_that_wrote_it() -> None:
    documents = [
        agent("root", prompts="[{fragment_id: r, text: R}]"),
        agent("base", extends="[root]", prompts="[{fragment_id: b, text: B}]"),
        agent("support", extends="[base]"),
    ]
    found = links(*documents)
    assert [(o.id, o.owner_class) for o in found.agents["support"].prompts] == [
        ("root/r", "base"),
        ("base/b", "base"),
    ]
    assert [(o.id, o.owner_class) for o in found.agents["base"].prompts] == [
        ("root/r", "base"),
        ("base/b", "agent"),
    ]


def test_a_fragment_of_the_workspace_is_nobodys_to_replace() -> None:
    found = linked(
        "kind: workspace\nname: desk\nprompts: [{fragment_id: rules, text: W}]",
        agent("support", prompts="[{fragment_id: rules, text: A}]"),
    )
    assert [owned.id for owned in found.prompts] == ["desk/rules", "support/rules"]


PLATFORM = "[{fragment_id: safety, tier: platform, text: Safe.}]"
SAFETY = "[{fragment_id: safety, text: Less safe.}]"
BUDGET = "[{policy_id: budget, actions: [model_call], ask: {reason: Costs.}}]"


@pytest.mark.parametrize(
    ("documents", "expected", "others"),
    [
        pytest.param(
            [agent("base", prompts=PLATFORM), agent("support", extends="[base]", prompts=SAFETY)],
            "platform-replaced support:4:25",
            ["base"],
            id="a platform fragment replaced by the heir",
        ),
        pytest.param(
            [
                agent("a", prompts=PLATFORM),
                agent("b", prompts=SAFETY),
                agent("support", extends="[a, b]"),
            ],
            "platform-replaced b:3:25",
            ["a", "support"],
            id="a platform fragment replaced by another base",
        ),
        pytest.param(
            [agent("base", policies=BUDGET), agent("support", extends="[base]", policies=BUDGET)],
            "policy-clash support:4:24",
            ["base"],
            id="a policy of a base",
        ),
        pytest.param(
            [f"kind: workspace\nname: desk\npolicies: {BUDGET}", agent("support", policies=BUDGET)],
            "policy-clash support:3:24",
            ["desk"],
            id="a policy of the workspace",
        ),
        pytest.param(
            [agent("a", policies=BUDGET), agent("b", policies=BUDGET), agent("support", extends="[a, b]")],
            "policy-clash b:3:24",
            ["a", "support"],
            id="policies of two bases",
        ),
        pytest.param(
            [
                CRM,
                agent("base", extensions="[{use: crm, prefix: c}]"),
                agent("support", extends="[base]", extensions="[{use: crm, prefix: d}]"),
            ],
            "prefix-conflict support:4:33",
            ["base"],
            id="two prefixes",
        ),
        pytest.param(
            [CRM, agent("support", extensions="[{use: crm, prefix: c}, {use: crm, prefix: d}]")],
            "prefix-conflict support:3:56",
            ["support"],
            id="two prefixes in one document",
        ),
        pytest.param(
            [
                CRM,
                agent("base", extensions='["crm >=2"]'),
                agent("support", extends="[base]", extensions="[crm]"),
            ],
            "requirement-not-met base:3:14",
            ["crm"],
            id="all specifiers must hold",
        ),
    ],
)
def test_what_cannot_be_added_up_shows_all_sides(
    documents: list[str], expected: str, others: list[str]
) -> None:
    found = links(*documents).diagnostics
    assert places(found) == [expected]
    assert [label.span.file for label in found[0].secondary] == [f"{name}.yaml" for name in others]


def test_a_mistake_of_a_base_is_said_once_however_many_extend_it() -> None:
    documents = [
        agent("base", extends="[nobody]", extensions="[crmm]"),
        *(agent(f"a{i}", extends="[base]") for i in range(5)),
    ]
    assert places(links(*documents).diagnostics) == ["agent-unknown base:3:11", "extension-unknown base:4:14"]


def test_a_row_without_prefix_leaves_the_prefix_of_the_base() -> None:
    found = linked(
        CRM,
        agent("base", extensions="[{use: crm, prefix: c}]"),
        agent("support", extends="[base]", extensions="[crm >=1]"),
    )
    assert found.uses["crm"].prefix == "c"


def test_an_heir_may_give_the_prefix_that_its_base_left_open() -> None:
    base = agent("base", extensions="[crm]")
    assert (
        linked(CRM, base, agent("support", extends="[base]", extensions="[{use: crm, prefix: c}]"))
        .uses["crm"]
        .prefix
        == "c"
    )


def test_instructions_and_a_fragment_of_that_name_are_two_of_one_id() -> None:
    """X-21."""
    found = links(agent("support", instructions="One.", prompts="[{fragment_id: instructions, text: Two.}]"))
    assert places(found.diagnostics) == ["duplicate-id support:4:25"]
