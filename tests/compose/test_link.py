"""Link: references resolved or refused where they were written (docs/manifests.md §2–5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symc.compose.link import link
from symc.diagnostics import Diagnostic
from tests.compose.written import linked, links, manifests, places

CRM = """
    kind: extension
    name: crm
    version: "1.4.0"
"""
FILES = """
    kind: extension
    name: files
    version: "2.0"
"""
SUPPORT = """
    kind: agent
    name: support
"""


def only(*documents: str) -> Diagnostic:
    found = links(*documents).diagnostics
    assert len(found) == 1, places(found)
    return found[0]


@pytest.mark.parametrize(
    ("extra", "place"),
    [
        ("extensions: [crmm]", "extension-unknown support:3:14"),
        ("extensions: [{use: crmm, prefix: c}]", "extension-unknown support:3:20"),
        ("extensions: [support]", "extension-unknown support:3:14"),
        ("extensions: [desk]", "extension-unknown support:3:14"),
        ("extensions: [std]", "extension-unknown support:3:14"),
        ('extensions: ["crm >=2"]', "requirement-not-met support:3:14"),
        ("extensions: [crm <1.4]", "requirement-not-met support:3:14"),
        ("extends: [nobody]", "agent-unknown support:3:11"),
        ("extends: [crm]", "agent-unknown support:3:11"),
        ("extends: [support]", "extends-cycle support:3:11"),
        ("delegates: [nobody]", "agent-unknown support:3:13"),
        ("delegates: [{agent: nobody}]", "agent-unknown support:3:21"),
        ("delegates: [support]", "delegates-cycle support:3:13"),
    ],
)
def test_a_reference_is_refused_where_it_stands(extra: str, place: str) -> None:
    desk = "kind: workspace\nname: desk"
    assert places(links(CRM, FILES, desk, SUPPORT + f"    {extra}").diagnostics) == [place]


@pytest.mark.parametrize(
    "specifier", ["", " >=1.4", " ==1.4", " ~=1.2", " >=1, <2", " !=1.5", " >1.4.0rc1", " ==1.*"]
)
def test_a_specifier_that_holds_is_silent(specifier: str) -> None:
    assert linked(CRM, SUPPORT + f'    extensions: ["crm{specifier}"]').closure == ("crm",)


def test_a_prerelease_is_the_version_it_is() -> None:
    document = CRM.replace("1.4.0", "2.0rc1")
    assert places(links(document, SUPPORT + "    extensions: [crm >=1.4]").diagnostics) == []
    assert only(document, SUPPORT + "    extensions: [crm >=2]").name == "requirement-not-met"


def test_an_unmet_specifier_shows_both_places() -> None:
    one = only(CRM, SUPPORT + "    extensions: [crm >=2]")
    assert one.message == '"crm >=2" is not met: the workspace has crm 1.4.0'
    assert [(label.span.file, label.span.start.line) for label in one.secondary] == [("crm.yaml", 3)]


def test_a_version_asked_of_a_server_that_states_none() -> None:
    found = manifests(FILES, SUPPORT + "    extensions: [files >=1]")
    # As of a server: its manifest may go without.
    files = found.extensions["files"]
    body = files.body.model_copy(update={"version": None})
    result = link(replace(found, extensions={"files": replace(files, body=body)}))
    assert places(result.diagnostics) == ["version-absent support:3:14"]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    one = only(CRM, FILES, SUPPORT + "    extensions: [crmm >=1.4]")
    assert one.message == 'the workspace has no extension "crmm"'
    assert one.hint is not None
    assert one.hint.text == 'did you mean "crm"?'
    assert one.hint.edit is not None
    assert one.hint.edit.replacement == "crm >=1.4"


def test_the_name_of_another_kind_says_which() -> None:
    one = only(CRM, SUPPORT + "    delegates: [crm]")
    assert one.message == '"crm" is an extension, and an agent is due here'
    assert [label.span.file for label in one.secondary] == ["crm.yaml"]


def test_a_delegate_must_be_composed() -> None:
    base = "kind: agent\nname: base\nabstract: true"
    one = only(base, SUPPORT + "    delegates: [base]")
    assert one.name == "delegate-abstract"
    assert links(base, SUPPORT + "    delegates: [base]").agents["support"].delegates == ()


def test_a_refused_manifest_is_not_reported_again() -> None:
    broken = CRM + "    nonsense: 1"
    found = links(broken, SUPPORT + "    extensions: [crm >=9]\n    delegates: [helper]", accepted=False)
    assert places(found.diagnostics) == ["agent-unknown support:4:13"]
    assert found.agents["support"].poisoned == {"crm", "helper"}


def test_what_a_refused_extension_requires_is_not_missed() -> None:
    broken = "kind: extension\nname: guard\nversion: one"
    crm = CRM + "    requires: [guard]"
    found = links(broken, crm, SUPPORT + "    extensions: [crm]", accepted=False)
    assert found.diagnostics == ()
    assert found.agents["support"].poisoned == {"guard"}


def test_a_refused_workspace_poisons_every_agent() -> None:
    found = links("kind: workspace\nname: desk\nnonsense: 1", SUPPORT, accepted=False)
    assert found.agents["support"].poisoned


@pytest.mark.parametrize(
    ("requires", "path"),
    [
        ({"a": ["b"], "b": ["a"]}, ["a → b → a"]),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}, ["a → b → c → a"]),
        # A knot of two circles is one mistake, worded by a shortest way round.
        ({"a": ["b", "c"], "b": ["c"], "c": ["a"]}, ["a → c → a"]),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c", "a"]}, ["a → b → a", "c → d → c"]),
    ],
)
def test_extensions_that_require_each_other(requires: dict[str, list[str]], path: list[str]) -> None:
    documents = [
        f'kind: extension\nname: {name}\nversion: "1"\nrequires: [{", ".join(requires.get(name, []))}]'
        for name in "abcd"
    ]
    found = links(*documents).diagnostics
    assert [one.message for one in found] == [f"extensions require each other: {each}" for each in path]
    assert all(one.name == "requires-cycle" for one in found)


def test_a_circle_shows_the_place_of_every_step() -> None:
    documents = [
        f'kind: extension\nname: {name}\nversion: "1"\nrequires: [{other}]'
        for name, other in ("ab", "bc", "ca")
    ]
    one = only(*documents)
    assert one.primary.file == "a.yaml"
    assert [(label.span.file, label.label) for label in one.secondary] == [
        ("b.yaml", "b → c"),
        ("c.yaml", "c → a"),
    ]


def test_what_stands_outside_a_circle_is_linked() -> None:
    documents = [
        "kind: agent\nname: a\nextends: [b]",
        "kind: agent\nname: b\nextends: [a]",
        "kind: agent\nname: heir\nextends: [a]\nmodel: m",
    ]
    found = links(*documents)
    assert places(found.diagnostics) == ["extends-cycle a:3:11"]
    assert found.agents["heir"].model == "m"
    assert found.agents["heir"].poisoned == {"a", "b"}


def test_agents_that_delegate_to_each_other() -> None:
    documents = [
        "kind: agent\nname: a\ndelegates: [b, d]",
        "kind: agent\nname: b\ndelegates: [{agent: c}]",
        "kind: agent\nname: c\ndelegates: [a]",
        "kind: agent\nname: d",
    ]
    found = links(*documents)
    assert [one.message for one in found.diagnostics] == ["agents delegate to each other: a → b → c → a"]
    assert [row.agent for row, _ in found.agents["a"].delegates] == ["d"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("kind: agent\nname: a\ndelegates: [a]", 'agent "a" delegates to itself'),
        ("kind: agent\nname: a\nextends: [a]", 'agent "a" extends itself'),
        ('kind: extension\nname: a\nversion: "1"\nrequires: [a]', 'extension "a" requires itself'),
    ],
)
def test_what_leads_back_at_once_is_said_of_the_one(document: str, said: str) -> None:
    assert [one.message for one in links(document).diagnostics] == [said]


def test_an_inherited_delegate_that_leads_back_is_a_circle() -> None:
    base = "kind: agent\nname: base\nabstract: true\ndelegates: [heir]"
    one = only(base, "kind: agent\nname: heir\nextends: [base]")
    assert one.message == 'agent "heir" delegates to itself'
    assert one.hint is not None
    assert one.hint.text == "remove this reference"
    assert one.primary.file == "base.yaml"


def test_the_closure_stands_in_composed_order() -> None:
    """X-20: an extension after all it requires, then by name."""
    documents = [
        'kind: extension\nname: a\nversion: "1"\nrequires: [z]',
        'kind: extension\nname: b\nversion: "1"',
        'kind: extension\nname: c\nversion: "1"\nrequires: [y]',
        'kind: extension\nname: y\nversion: "1"',
        'kind: extension\nname: z\nversion: "1"',
        'kind: extension\nname: unused\nversion: "1"',
    ]
    agent = linked(*documents, SUPPORT + "    extensions: [c, b, a]")
    assert agent.closure == ("b", "y", "c", "z", "a")
    assert set(agent.uses) == {"a", "b", "c"}


def test_the_workspace_gives_to_every_agent() -> None:
    workspace = """
        kind: workspace
        name: desk
        extensions: [{use: crm, prefix: c}]
        provider: openai
        limits: {tools: 5, max_model_rounds: 8}
        vars: {tone: calm}
        prompts: [{fragment_id: rules, tier: platform, text: Obey.}]
        policies: [{policy_id: budget, actions: [model_call], ask: {reason: Costs.}}]
    """
    agent = linked(CRM, workspace, SUPPORT + "    limits: {tools: 9, max_model_rounds: 3}")
    assert agent.uses["crm"].prefix == "c"
    assert agent.provider == "openai"
    assert (agent.limits.tools, agent.limits.max_model_rounds) == (5, 3)
    assert [owned.id for owned in agent.prompts] == ["desk/rules"]
    assert [owned.id for owned in agent.policies] == ["desk/budget"]
    assert agent.vars["tone"][0] == "calm"


TWO = """
    kind: extension
    name: {}
    version: "1"
    tool_extensions:
      - {{name: memo, kind: wrapper, factory: "m:f"}}
      - {{name: {}, kind: wrapper, factory: "m:g"}}
"""


def test_tool_extensions_are_known_by_bare_name_where_one_brings_it() -> None:
    agent = linked(
        TWO.format("crm", "own"), TWO.format("files", "other"), SUPPORT + "    extensions: [crm, files]"
    )
    assert set(agent.registrations) == {
        "crm/memo",
        "crm/own",
        "files/memo",
        "files/other",
        "other",
        "own",
    }


def test_tool_extensions_of_what_is_required_are_known_too() -> None:
    crm = CRM + "    requires: [files]"
    agent = linked(crm, TWO.format("files", "other"), SUPPORT + "    extensions: [crm]")
    assert agent.registrations["other"].extension == "files"
    assert linked(crm, TWO.format("files", "other"), SUPPORT).registrations == {}


def test_thousands_of_references_take_no_recursion_and_no_square() -> None:
    count = 2000
    chain = [
        f'kind: extension\nname: e{i}\nversion: "1"\nrequires: [{f"e{i + 1}" if i + 1 < count else ""}]'
        for i in range(count)
    ]
    bases = [
        f"kind: agent\nname: a{i}\nextends: [{f'a{i - 1}' if i else ''}]\nextensions: [e{count - 1 - i % 5}]"
        for i in range(300)
    ]
    found = links(*chain, *bases, "kind: agent\nname: support\nextensions: [e0]")
    assert found.diagnostics == ()
    assert len(found.agents["support"].closure) == count
    assert found.agents["support"].closure[0] == f"e{count - 1}"
    assert len(found.agents["a299"].bases) == 299


def test_a_circle_of_thousands_is_one_mistake_of_one_line() -> None:
    count = 2000
    ring = [
        f'kind: extension\nname: e{i:04}\nversion: "1"\nrequires: [e{(i + 1) % count:04}]'
        for i in range(count)
    ]
    found = links(*ring).diagnostics
    assert len(found) == 1
    assert len(found[0].message) < 200
    assert len(found[0].secondary) < 20


def test_links_do_not_depend_on_the_order_of_documents() -> None:
    documents = [
        CRM,
        FILES,
        SUPPORT + "    extensions: [files, crm]",
        "kind: agent\nname: a\nextends: [support]",
    ]
    assert links(*documents) == links(*reversed(documents))
