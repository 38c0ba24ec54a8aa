"""Prose: a tool is called by the name it has, or the author hears of it (docs/prompts.md §3)."""

from __future__ import annotations

from textwrap import dedent

import pytest

from symc.compose import compile as compile_workspace
from symc.compose.layout import layout
from symc.compose.mint import mint
from symc.compose.prose import Misnomer, Prose, reported
from symc.compose.select import select
from symc.compose.typesetting import Typesetter
from symc.diagnostics import Diagnostic, Position, Span
from symc.source import Workspace
from tests.compose.written import links, places, workspace

CRM = """
    kind: extension
    name: crm
    version: "1"
    tools:
      - {name: lookup_customer, description: Find., invoke: "m:f"}
      - {name: search, description: Search., invoke: "m:f"}
      - {name: export_all, description: All., invoke: "m:f"}
    tool_extensions:
      - {name: memo, kind: wrapper, factory: "m:f"}
"""
WIKI = """
    kind: extension
    name: wiki
    version: "1"
    tools:
      - {name: search, description: Search the wiki., invoke: "m:f"}
"""


def warnings(*documents: str) -> tuple[Diagnostic, ...]:
    found = links(*documents)
    assert places(found.diagnostics) == []
    prose, typesetter = Prose(found), Typesetter(found)
    misnomers: list[Misnomer] = []
    for agent in found.agents.values():
        if not agent.abstract:
            tools = mint(agent, select(agent, found).tools, found).tools
            misnomers.extend(prose.misnomers(agent, layout(agent, typesetter), tools))
    return reported(misnomers)


def agent(text: str, tools: str = "[crm/lookup_customer]", extensions: str = "[crm]", more: str = "") -> str:
    return (
        f"kind: agent\nname: support\nextensions: {extensions}\ntools: {tools}\n{more}\n"
        f"prompts:\n  - fragment_id: t\n    tier: operating\n    text: |\n      {text}\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Mentioned by the name it has.
        ("Call lookup_customer.", []),
        ("Call `lookup_customer`.", []),
        # In the workspace, and not in this agent.
        ("Call export_all.", ["export_all"]),
        ("Call `export_all`!", ["export_all"]),
        ("(export_all)", ["export_all"]),
        ("**export_all**", ["export_all"]),
        ("Call export_all, then export_all.", ["export_all"]),
        ("Call `search`.", ["search"]),
        ("Call `crm/export_all`.", ["crm/export_all"]),
        # A plain word is English, whatever tools are called.
        ("You may search for it.", []),
        # Words that are no tool of the workspace.
        ("Fill in customer_id and `order_id`.", []),
        ("Call lookup_customers.", []),
        # Parts of other things.
        ("See docs/export_all.md, export_all.py and a/export_all.", []),
        ("See my_export_all or export_all_now or __export_all__.", []),
        # In a phrase of code.
        ("`the export_all tool`", ["export_all"]),
        ("`export_all(limit=3)`", ["export_all"]),
    ],
)
def test_words_that_are_tools(text: str, said: list[str]) -> None:
    found = warnings(CRM, WIKI, agent(text))
    assert [one.message for one in found] == [
        f'the text names the tool "{word}", which agent "support" does not have' for word in said
    ]
    assert all(one.level == "warn" for one in found)


@pytest.mark.parametrize(
    ("tools", "extensions", "more", "here"),
    [
        ("[crm/lookup_customer]", "[{use: crm, prefix: c}]", "", "c_lookup_customer"),
        ("[{tool: crm/lookup_customer, as: find}]", "[crm]", "", "find"),
        (
            "[crm/lookup_customer]",
            "[crm]",
            "variants: {crm/lookup_customer: [{chain: [memo], expose: only}]}",
            "lookup_customer_memo",
        ),
    ],
)
def test_the_name_it_has_here_is_shown(tools: str, extensions: str, more: str, here: str) -> None:
    (one,) = warnings(CRM, agent("Call lookup_customer.", tools, extensions, more))
    assert one.message == f'the tool "lookup_customer" is called "{here}" in agent "support"'
    assert one.hint is not None
    assert one.hint.text == f'write "{here}"'


def test_another_tool_of_that_name_is_a_tool_of_that_name() -> None:
    assert warnings(CRM, WIKI, agent("Call `search`.", "[wiki/search]", "[wiki]")) == ()


def test_descriptions_are_read_too() -> None:
    mcp = WIKI.replace("Search the wiki.", "Use export_all for all.")
    found = warnings(CRM, mcp, agent("Help.", "[wiki/search]", "[wiki]"))
    assert [(one.primary.file, one.primary.start.line, one.subject) for one in found] == [
        ("wiki.yaml", 5, "wiki")
    ]
    row = "[{tool: wiki/search, description: Not export_all.}]"
    found = warnings(CRM, mcp, agent("Help.", row, "[wiki]"))
    assert [(one.primary.file, one.primary.start.line) for one in found] == [("support.yaml", 4)]
    # A variant that repeats its tool's description repeats no warning.
    more = "variants: {crm/search: [memo]}"
    crm = CRM.replace("description: Search.", "description: Not export_all.")
    assert len(warnings(crm, agent("Help.", "[crm/search]", more=more))) == 1


def test_a_description_of_a_variant_s_own_is_shown_at_its_layer() -> None:
    crm = CRM.replace('factory: "m:f"}', 'factory: "m:f", description: "{description} Not export_all."}')
    (one,) = warnings(crm, agent("Help.", more="variants: {crm/lookup_customer: [memo]}"))
    assert (one.primary.file, one.primary.start.line) == ("support.yaml", 5)


def test_a_description_of_a_server_s_is_shown_in_its_pin() -> None:
    pin = (
        b'{"tools": [{"name": "read", "description": "Not export_all.", "inputSchema": {"type": "object"}}]}'
    )
    server = "kind: extension\nname: files\nmcp: {command: [files]}\n"
    support = agent("Help.", "[files/read]", "[files]").encode()
    files = {
        "files.yaml": server.encode(),
        "files.pin.json": pin,
        "crm.yaml": dedent(CRM).encode(),
        "s.yaml": support,
    }
    (one,) = compile_workspace(Workspace.of(files)).diagnostics
    assert (one.name, one.primary.file, one.primary.start.line) == ("tool-name-in-prose", "files.pin.json", 1)


def test_a_word_at_the_start_of_a_file_has_a_place_and_an_edit() -> None:
    document = "kind: agent\nname: support\nextensions: [{use: crm, prefix: c}]\ntools: [crm/search, crm/export_all]\nprompts: [{fragment_id: t, file: t.md}]"
    found = compile_workspace(workspace(CRM, document, texts={"t": "export_all, `search`"})).diagnostics
    assert [one.primary for one in found] == [
        Span("t.md", Position(1, 1), Position(1, 11)),
        Span("t.md", Position(1, 14), Position(1, 20)),
    ]
    assert [one.hint.edit.replacement for one in found if one.hint and one.hint.edit] == [
        "c_export_all",
        "c_search",
    ]


def test_tags_of_templates_are_no_prose() -> None:
    text = "{{ export_all }} {% if search %}`search`{% endif %}"
    document = agent(text, more="vars: {export_all: x, search: y}").replace(
        "tier:", "template: true\n    tier:"
    )
    assert [one.message for one in warnings(CRM, document)] == [
        'the text names the tool "search", which agent "support" does not have'
    ]


def test_one_warning_names_all_the_agents() -> None:
    wiki = WIKI + "    prompts: [{fragment_id: t, text: Call export_all.}]"
    agents = [f"kind: agent\nname: a{i}\nextensions: [wiki]" for i in range(5)]
    (one,) = warnings(CRM, wiki, *agents)
    assert one.message == (
        'the text names the tool "export_all", which agents "a0", "a1", "a2" and 2 more do not have'
    )


def test_the_tools_of_std_are_nobodys_words() -> None:
    assert warnings(CRM, agent("Use `cache`.")) == ()
