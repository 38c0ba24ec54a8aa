"""Layout: one total order, rendered and within budget (docs/prompts.md)."""

from __future__ import annotations

import pytest

from symc.compose.layout import render
from tests.compose.written import laid_out, places

CRM = """
    kind: extension
    name: crm
    version: "1"
    prompts:
      - {fragment_id: etiquette, text: Be kind., order: 5}
      - {fragment_id: facts, text: Acme sells tools., tier: profile}
      - {fragment_id: cut, text: Half a, truncated: true, scope: tenant}
"""
WORKSPACE = """
    kind: workspace
    name: desk
    prompts:
      - {fragment_id: kernel, layer: l0, tier: platform, text: Never lie.}
      - {fragment_id: house, tier: operating, text: House rules.}
"""
BASE = """
    kind: agent
    name: base
    abstract: true
    instructions: Base.
    prompts:
      - {fragment_id: safety, tier: platform, order: 9999, text: Safe.}
"""
SUPPORT = """
    kind: agent
    name: support
    extends: [base]
    extensions: [crm]
    instructions: Help.
    prompts:
      - {fragment_id: tenant, tier: operating, scope: tenant, order: 0, text: Tenant.}
      - {fragment_id: notes, text: Notes.}
      - {fragment_id: customer, layer: l2, tier: profile, scope: profile, slot: {max_chars: 9}}
"""


def test_the_order_is_total() -> None:
    found = laid_out(CRM, WORKSPACE, BASE, SUPPORT)
    assert [fragment.id for fragment in found.fragments] == [
        "desk/kernel",  # l0
        "base/safety",  # l1, authored, deployment: platform before operating, whatever the order
        "base/instructions",  # order 0: the base's before the agent's
        "support/instructions",
        "desk/house",
        "support/tenant",  # authored, tenant
        "crm/facts",  # learned, deployment: profile before session
        "crm/etiquette",  # order 5
        "support/notes",  # the agent's own learned text
        "crm/cut",  # learned, tenant
        "support/customer",  # l2
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("layer: l0", "layer: l1"),
        ("tier: operating, scope: tenant", "tier: profile"),
        ("tier: operating", "tier: operating, scope: tenant, order: 0"),
        ("tier: session", "tier: profile, scope: tenant, order: 0"),
        ("tier: platform", "tier: operating, order: 0"),
        ("tier: profile", "tier: session, order: 0"),
        ("order: 99", "order: 100"),
        ("order: 9", "order: 10"),
    ],
)
def test_each_part_of_the_order_comes_before_the_next(first: str, second: str) -> None:
    agent = f"""
        kind: agent
        name: support
        prompts:
          - {{fragment_id: z, text: First., {first}}}
          - {{fragment_id: a, text: Second., {second}}}
    """
    assert [fragment.text for fragment in laid_out(agent).fragments] == ["First.", "Second."]


def test_equal_in_all_else_the_owner_class_decides_then_owner_then_id() -> None:
    def prompts(*ids: str) -> str:
        return "prompts: [" + ", ".join(f"{{fragment_id: {each}, text: T.}}" for each in ids) + "]"

    found = laid_out(
        f"kind: workspace\nname: z-desk\n{prompts('w')}",
        f"kind: agent\nname: y\nabstract: true\n{prompts('b')}",
        f"kind: agent\nname: x\nabstract: true\n{prompts('c')}",
        f"kind: agent\nname: support\nextends: [y, x]\nextensions: [b-ext, a-ext]\n{prompts('a10', 'a2', 'a_2', 'a-2')}",
        f'kind: extension\nname: b-ext\nversion: "1"\n{prompts("a")}',
        f'kind: extension\nname: a-ext\nversion: "1"\n{prompts("z", "b")}',
    )
    assert [fragment.id for fragment in found.fragments] == [
        "z-desk/w",
        "x/c",
        "y/b",
        "support/a-2",
        "support/a10",
        "support/a2",
        "support/a_2",
        "a-ext/b",
        "a-ext/z",
        "b-ext/a",
    ]


def test_rendered_as_the_model_receives_it() -> None:
    assert render(laid_out(CRM, WORKSPACE, BASE, SUPPORT)) == "\n\n".join(
        [
            "Never lie.",
            "Safe.",
            "Base.",
            "Help.",
            "House rules.",
            "Tenant.",
            '<extension-text from="crm/facts">\nAcme sells tools.\n</extension-text>',
            '<extension-text from="crm/etiquette">\nBe kind.\n</extension-text>',
            '<extension-text from="support/notes">\nNotes.\n</extension-text>',
            '<extension-text from="crm/cut">\nHalf a\n[cut before it came here]\n</extension-text>',
        ]
    )


@pytest.mark.parametrize("text", ["", "\n", " a \n\n", "e\u0301 \u00e9", "a\tb", "x\n" * 3, "\ufeffy"])
def test_a_text_is_kept_character_for_character(text: str) -> None:
    agent = "kind: agent\nname: support\nprompts: [{fragment_id: t, tier: operating, file: t.md}]"
    # A byte order mark before a whole file is no part of its text.
    assert render(laid_out(agent, texts={"t": text})) == text.removeprefix("\ufeff")


def test_an_agent_without_fragments_has_an_empty_prompt() -> None:
    found = laid_out("kind: agent\nname: support")
    assert render(found) == ""
    assert (found.cache_plan.deployment, found.cache_plan.static) == ("", "")


@pytest.mark.parametrize(
    ("prompts", "deployment", "static"),
    [
        (["{fragment_id: a, tier: operating, text: A}"], "support/a", "support/a"),
        (
            [
                "{fragment_id: a, tier: operating, text: A}",
                "{fragment_id: b, tier: operating, scope: tenant, text: B}",
            ],
            "support/a",
            "support/b",
        ),
        (["{fragment_id: b, tier: operating, scope: tenant, text: B}"], "", "support/b"),
        # What the deployment shares behind a tenant's text is not part of the shared prefix.
        (
            [
                "{fragment_id: b, tier: operating, scope: tenant, text: B}",
                "{fragment_id: c, text: C}",
            ],
            "",
            "support/c",
        ),
        (
            [
                "{fragment_id: a, layer: l0, tier: platform, text: A}",
                "{fragment_id: s, layer: l2, tier: session, slot: {max_chars: 1}}",
            ],
            "support/a",
            "support/a",
        ),
        (["{fragment_id: s, layer: l2, tier: session, slot: {max_chars: 1}}"], "", ""),
    ],
)
def test_where_a_cache_may_break(prompts: list[str], deployment: str, static: str) -> None:
    plan = laid_out(f"kind: agent\nname: support\nprompts: [{', '.join(prompts)}]").cache_plan
    assert (plan.deployment, plan.static) == (deployment, static)


SIZED = """
    kind: agent
    name: support
    extensions: [crm]
    limits: {{{limits}}}
    prompts:
      - {{fragment_id: a, tier: operating, text: "{a}"}}
"""
TEXTS = 'kind: extension\nname: crm\nversion: "1"\nprompts: [{{fragment_id: e, text: "{0}"}}, {{fragment_id: f, text: "{1}"}}]'


def test_budgets_are_held_to_the_character() -> None:
    """O-28: without a budget every character is in; with one, nothing is cut."""
    crm = TEXTS.format("b" * 7, "c" * 3)
    whole = len(render(laid_out(crm, SIZED.format(limits="", a="a" * 5))))
    assert whole == 5 + 2 * 2 + 2 * len('<extension-text from="crm/e">\n\n</extension-text>') + 10
    for limits, expected in [
        (f"prompt_chars: {whole}", []),
        (f"prompt_chars: {whole - 1}", ["prompt-too-large support:4:24"]),
        ("extension_prompt_chars: 10", []),
        ("extension_prompt_chars: 9", ["extension-prompt-too-large support:4:34"]),
    ]:
        found = laid_out(crm, SIZED.format(limits=limits, a="a" * 5))
        assert places(found.diagnostics) == expected, limits


def test_characters_are_the_unit() -> None:
    agent = 'kind: agent\nname: support\nlimits: {prompt_chars: 3}\ninstructions: "äß漢"'
    assert laid_out(agent).diagnostics == ()


def test_over_budget_shows_a_table_of_fragments() -> None:
    crm = TEXTS.format("b" * 600, "c" * 300)
    (one,) = laid_out(crm, SIZED.format(limits="extension_prompt_chars: 100", a="")).diagnostics
    assert one.message == 'extension "crm" brings 900 characters of prompt; the limit is 100'
    assert one.notes == ("crm/e: 600 characters, 67 %", "crm/f: 300 characters, 33 %")
    assert [label.label for label in one.secondary] == ["crm/e, 600 characters", "crm/f, 300 characters"]


def test_a_long_table_ends_in_what_is_left() -> None:
    prompts = ", ".join(f"{{fragment_id: f{i:02}, tier: operating, text: abcd}}" for i in range(20))
    agent = f"kind: agent\nname: support\nlimits: {{prompt_chars: 50}}\nprompts: [{prompts}]"
    (one,) = laid_out(agent).diagnostics
    assert len(one.notes) == 13
    assert one.notes[0] == "support/f00: 4 characters, 3 %"
    assert one.notes[-1] == "8 more: 32 characters, 27 %"


def test_the_limit_that_counts_is_the_one_shown() -> None:
    workspace = "kind: workspace\nname: desk\nlimits: {prompt_chars: 2}"
    base = "kind: agent\nname: base\nabstract: true\nlimits: {prompt_chars: 1}\ninstructions: Long."
    agent = "kind: agent\nname: support\nextends: [base]\nlimits: {prompt_chars: 3}"
    assert places(laid_out(workspace, base, agent).diagnostics) == ["prompt-too-large base:4:24"]
    assert places(
        laid_out(workspace, agent.replace("extends: [base]", "instructions: Long.")).diagnostics
    ) == ["prompt-too-large desk:3:24"]


def test_slots_take_no_part_in_a_budget() -> None:
    agent = """
        kind: agent
        name: support
        limits: {prompt_chars: 3}
        instructions: abc
        prompts: [{fragment_id: s, layer: l2, tier: session, slot: {max_chars: 99}}]
    """
    assert laid_out(agent).diagnostics == ()
