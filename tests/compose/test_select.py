"""Select: an agent has the tools it selects, and no others (docs/manifests.md §4)."""

from __future__ import annotations

from itertools import permutations

import pytest

from symc.compose.select import select
from tests.compose.written import links, places, selection

CRM = """
    kind: extension
    name: crm
    version: "1"
    requires: [guard]
    tools:
      - {name: lookup, description: Find., invoke: "m:f"}
      - {name: export_all, description: All., invoke: "m:f"}
      - {name: export_one, description: One., invoke: "m:f"}
"""
GUARD = """
    kind: extension
    name: guard
    version: "1"
    tools:
      - {name: check, description: Check., invoke: "m:f"}
"""
OTHER = GUARD.replace("guard", "other")
EMPTY = 'kind: extension\nname: prose\nversion: "1"'
ALL = (CRM, GUARD, OTHER, EMPTY)


def agent(tools: str = "[]", exclude: str = "[]", extensions: str = "[crm, prose]") -> str:
    return f"kind: agent\nname: support\nextensions: {extensions}\ntools: {tools}\nexclude: {exclude}"


def names(tools: str = "[]", exclude: str = "[]", extensions: str = "[crm, prose]") -> list[str]:
    found = selection(*ALL, agent(tools, exclude, extensions))
    assert places(found.diagnostics) == []
    return [tool.exposed for tool in found.tools]


@pytest.mark.parametrize(
    ("tools", "exclude", "expected"),
    [
        # Least authority: no row, no tool.
        ("[]", "[]", []),
        ("[crm/lookup]", "[]", ["lookup"]),
        ("[crm/*]", "[]", ["export_all", "export_one", "lookup"]),
        ('["*/lookup"]', "[]", ["lookup"]),
        ('["*/*"]', "[]", ["check", "export_all", "export_one", "lookup"]),
        ("[crm/export_*]", "[]", ["export_all", "export_one"]),
        ('["crm/export_[!a]*"]', "[]", ["export_one"]),
        ('["crm/??????"]', "[]", ["lookup"]),
        # Tools of what an extension requires come only where they are selected.
        ("[guard/check]", "[]", ["check"]),
        # Rows merge by raw identity.
        ("[crm/*, crm/lookup, crm/l*]", "[]", ["export_all", "export_one", "lookup"]),
        ("[crm/*, {tool: crm/lookup, as: find}]", "[]", ["export_all", "export_one", "find"]),
        # Exclude always wins, and may name what is not selected.
        ("[crm/*]", "[crm/export_all]", ["export_one", "lookup"]),
        ("[crm/*]", "[crm/export_*]", ["lookup"]),
        ("[crm/lookup]", "[crm/export_all]", ["lookup"]),
        ("[crm/*, {tool: crm/lookup, as: find}]", '["*/look*"]', ["export_all", "export_one"]),
        ("[crm/*]", "[crm/*]", []),
    ],
)
def test_selected(tools: str, exclude: str, expected: list[str]) -> None:
    assert names(tools, exclude) == expected


@pytest.mark.parametrize(
    ("row", "exposed", "prefix", "alias"),
    [
        ("crm/lookup", "c_lookup", "c", ""),
        ("crm/l*", "c_lookup", "c", ""),
        ("{tool: crm/lookup, description: Better.}", "c_lookup", "c", ""),
        # `as` is the final base name: no prefix.
        ("{tool: crm/lookup, as: find}", "find", "", "find"),
    ],
)
def test_prefix_and_name(row: str, exposed: str, prefix: str, alias: str) -> None:
    (tool,) = selection(*ALL, agent(f"[{row}]", extensions="[{use: crm, prefix: c}]")).tools
    assert (tool.exposed, tool.prefix, tool.alias, tool.raw) == (exposed, prefix, alias, "lookup")
    assert tool.identity == ("crm", "lookup")


def test_a_prefix_is_for_the_extension_that_has_it() -> None:
    assert names("[guard/check]", extensions="[{use: crm, prefix: c}]") == ["check"]


def test_a_description_of_ones_own() -> None:
    (tool,) = selection(*ALL, agent("[{tool: crm/lookup, description: Better.}]")).tools
    assert tool.description == "Better."
    assert tool.tool.description == "Find."


@pytest.mark.parametrize(
    "rows", list(permutations(["crm/*", "crm/lookup", '"*/look*"', "{tool: crm/lookup, as: find}"]))
)
def test_the_most_particular_row_speaks_for_a_tool_whatever_the_order(rows: tuple[str, ...]) -> None:
    found = {tool.raw: tool for tool in selection(*ALL, agent(f"[{', '.join(rows)}]")).tools}
    assert found["lookup"].alias == "find"
    assert found["export_all"].selected_by == "crm/*"
    without = [row for row in rows if not row.startswith("{")]
    found = {tool.raw: tool for tool in selection(*ALL, agent(f"[{', '.join(without)}]")).tools}
    assert found["lookup"].selected_by == "crm/lookup"


@pytest.mark.parametrize(
    ("tools", "exclude", "expected"),
    [
        ("[crm/lokup]", "[]", ["tool-unknown support:4:9"]),
        ("[{tool: crm/lokup, as: x}]", "[]", ["tool-unknown support:4:16"]),
        ("[crn/lookup]", "[]", ["tool-unknown support:4:9"]),
        ("[crn/*]", "[]", ["tool-unknown support:4:9"]),
        ("[other/check]", "[]", ["tool-of-unused-extension support:4:9"]),
        ("[other/*]", "[]", ["tool-of-unused-extension support:4:9"]),
        ("[std/*]", "[]", ["tool-unknown support:4:9"]),
        ("[crm/x*]", "[]", ["row-selects-nothing support:4:9"]),
        ("[prose/*]", "[]", ["row-selects-nothing support:4:9"]),
        ('["*/lookup", "*/x*"]', "[]", ["row-selects-nothing support:4:21"]),
        (
            "[{tool: crm/lookup, as: a}, {tool: crm/lookup, description: B.}]",
            "[]",
            ["tool-row-twice support:4:36"],
        ),
        ("[crm/lookup]", "[crm/lookup]", ["selected-and-excluded support:5:11"]),
        ("[{tool: crm/lookup, as: a}]", "[crm/lookup]", ["selected-and-excluded support:5:11"]),
        ("[crm/*]", "[crm/lokup]", ["tool-unknown support:5:11"]),
        ("[crm/*]", "[other/check]", ["tool-of-unused-extension support:5:11"]),
        ("[crm/*]", "[crm/x*]", ["exclude-matches-nothing support:5:11"]),
        ("[crm/*]", '["*/x"]', ["exclude-matches-nothing support:5:11"]),
        ("[crm/*]", "[other/*]", ["exclude-matches-nothing support:5:11"]),
        # By a name that it gets here, which would keep nothing away.
        ("[{tool: crm/lookup, as: find}]", '["*/find"]', ["tool-unknown support:5:11"]),
        ("[{tool: crm/lookup, as: find}]", "[crm/f*]", ["tool-unknown support:5:11"]),
        ("[{tool: crm/lookup, as: find}]", "[prose/f*]", ["exclude-matches-nothing support:5:11"]),
        # All at once.
        (
            "[crm/a, crm/b*]",
            "[crm/c]",
            ["tool-unknown support:4:9", "row-selects-nothing support:4:16", "tool-unknown support:5:11"],
        ),
    ],
)
def test_refused(tools: str, exclude: str, expected: list[str]) -> None:
    assert places(selection(*ALL, agent(tools, exclude)).diagnostics) == expected


@pytest.mark.parametrize(
    ("exclude", "hint"),
    [('["*/px_lookup"]', 'did you mean "crm/lookup"?'), ("[crm/px_l*]", 'did you mean "crm/lookup"?')],
)
def test_an_exclude_by_an_exposed_name_is_told_the_raw_one(exclude: str, hint: str) -> None:
    (one,) = selection(*ALL, agent("[crm/lookup]", exclude, "[{use: crm, prefix: px}]")).diagnostics
    assert one.message.endswith('excludes nothing: "px_lookup" is what this agent calls crm/lookup')
    assert one.hint is not None
    assert one.hint.text == hint


def test_a_pattern_that_excludes_nothing_is_a_warning() -> None:
    (one,) = selection(*ALL, agent("[crm/*]", "[crm/x*]")).diagnostics
    assert one.level == "warn"


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ("crm/lokup", 'did you mean "crm/lookup"?'),
        ("crmm/lookup", 'did you mean "crm/lookup"?'),
        ("crmm/export_*", 'did you mean "crm/export_*"?'),
        ("other/check", "add other to `extensions`"),
    ],
)
def test_the_hint_is_the_next_step(row: str, hint: str) -> None:
    (one,) = selection(*ALL, agent(f"[{row}]")).diagnostics
    assert one.hint is not None
    assert one.hint.text == hint


def test_an_edit_is_the_row_as_it_should_be() -> None:
    (one,) = selection(*ALL, agent("[crm/lokup]")).diagnostics
    assert one.hint is not None
    assert one.hint.edit is not None
    assert one.hint.edit.replacement == "crm/lookup"
    # In quotes it would have to be quoted itself.
    (one,) = selection(*ALL, agent('["crm/lokup"]')).diagnostics
    assert one.hint is not None
    assert one.hint.edit is None


def test_both_sides_of_two_rows_are_shown() -> None:
    rows = "[{tool: crm/lookup, as: a}, {tool: crm/lookup, as: b}]"
    (one,) = selection(*ALL, agent(rows)).diagnostics
    assert [label.span.start.column for label in one.secondary] == [9]


def test_two_object_rows_of_base_and_heir_are_an_error() -> None:
    base = agent("[{tool: crm/lookup, as: a}]").replace("name: support", "name: base")
    heir = "kind: agent\nname: support\nextends: [base]\ntools: [{tool: crm/lookup, as: b}]"
    assert places(selection(*ALL, base, heir).diagnostics) == ["tool-row-twice support:4:9"]


def test_a_mistake_in_an_inherited_row_is_worded_alike_for_all_heirs() -> None:
    base = "kind: agent\nname: base\nabstract: true\ntools: [other/check, crm/lokup]"
    heirs = [f"kind: agent\nname: a{i}\nextends: [base]\nextensions: [crm]" for i in range(3)]
    found = links(*ALL, base, *heirs)
    said = {one for i in range(3) for one in select(found.agents[f"a{i}"], found).diagnostics}
    assert sorted(places(said)) == ["tool-of-unused-extension base:4:9", "tool-unknown base:4:22"]


@pytest.mark.parametrize("row", ["crm/lookup", "crm/*", '"*/look*"', "guard/check"])
def test_what_a_refused_extension_would_have_brought_is_not_missed(row: str) -> None:
    broken = CRM + "    nonsense: 1"
    found = links(broken, GUARD, agent(f"[{row}]", f"[{row}]", "[crm]"), accepted=False)
    assert found.diagnostics == ()
    assert select(found.agents["support"], found).diagnostics == ()


def test_names_of_several_owners_are_not_merged_here() -> None:
    """O-01, O-02: that two tools would have one name is for mint to say, with both derivations."""
    found = selection(*ALL, agent("[guard/check, other/check]", extensions="[guard, other]"))
    assert [(tool.exposed, tool.identity) for tool in found.tools] == [
        ("check", ("guard", "check")),
        ("check", ("other", "check")),
    ]


def test_the_owner_of_a_name_is_never_read_out_of_it() -> None:
    """O-07: prefix `a`, tool `b__c` and prefix `a__b`, tool `c` stay two identities."""
    a = 'kind: extension\nname: a\nversion: "1"\ntools: [{name: b__c, description: D., invoke: "m:f"}]'
    ab = 'kind: extension\nname: ab\nversion: "1"\ntools: [{name: _c, description: D., invoke: "m:f"}]'
    support = agent('["*/*"]', extensions="[{use: a, prefix: x}, {use: ab, prefix: x_b}]")
    found = selection(a, ab, support)
    assert {tool.identity for tool in found.tools} == {("a", "b__c"), ("ab", "_c")}
    assert [tool.exposed for tool in found.tools] == ["x_b__c", "x_b__c"]
