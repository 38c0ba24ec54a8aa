"""The pipeline: all stages, all mistakes, all or nothing (docs/design of the pipeline in README)."""

from __future__ import annotations

from itertools import permutations

import pytest

from symc.compose import compile as compile_workspace
from symc.lock import dumps
from symc.source import Workspace
from tests.compose.written import places, workspace

CRM = """
    kind: extension
    name: crm
    version: "1"
    tools:
      - {name: lookup, description: Find., invoke: "m:f"}
      - {name: search, description: Search., invoke: "m:f"}
    prompts:
      - {fragment_id: etiquette, text: Be kind.}
"""
SUPPORT = """
    kind: agent
    name: support
    extensions: [crm]
    tools: [crm/*]
    variants: {crm/lookup: [cache, audit]}
    instructions: Help.
"""


def test_a_workspace_becomes_compositions() -> None:
    found = compile_workspace(workspace(CRM, SUPPORT))
    assert places(found.diagnostics) == []
    assert found.ok
    assert list(found.compositions) == ["support"]
    composition = found.compositions["support"]
    assert sorted(composition.agent.tools) == ["lookup", "lookup_cache", "lookup_cache_audit", "search"]
    assert composition.agent.prompt == ("support/instructions", "crm/etiquette")


def test_an_empty_workspace_compiles_to_nothing() -> None:
    found = compile_workspace(Workspace.of({}))
    assert (found.ok, found.compositions, found.diagnostics) == (True, {}, ())


def test_an_abstract_agent_is_not_composed() -> None:
    found = compile_workspace(workspace("kind: agent\nname: base\nabstract: true"))
    assert (found.ok, found.compositions) == (True, {})


def test_one_error_anywhere_and_nothing_is_composed() -> None:
    found = compile_workspace(workspace(CRM, SUPPORT, "kind: agent\nname: other\ntools: [crm/lookup]"))
    assert places(found.diagnostics) == ["tool-of-unused-extension other:3:9"]
    assert (found.ok, found.lock, found.compositions) == (False, None, {})


def test_mistakes_of_all_stages_are_shown_at_once() -> None:
    found = compile_workspace(
        Workspace.of(
            {
                "a-parse.yaml": b"kind: [\n",
                "b-check.yaml": b"kind: agent\nname: b-check\nnonsense: 1\n",
                "c-link.yaml": b"kind: agent\nname: c-link\nextends: [nobody]\n",
                "d-select.yaml": b"kind: agent\nname: d-select\ntools: [crm/x]\n",
                "e-mint.yaml": b"kind: agent\nname: e-mint\nvariants: {crm/lookup: [unheard]}\n",
                "f-layout.yaml": b"kind: agent\nname: f-layout\ninstructions: Long.\nlimits: {prompt_chars: 2}\n",
                "g-guard.yaml": (
                    b"kind: agent\nname: g-guard\npolicies: [{policy_id: p, deny: {tools: [crm/gone], reason: R.}}]\n"
                ),
                "crm.yaml": (
                    b'kind: extension\nname: crm\nversion: "1"\n'
                    b'tools: [{name: lookup, description: D., invoke: "m:f"}]\n'
                ),
            }
        )
    )
    assert {one.primary.file for one in found.diagnostics} == {
        f"{name}.yaml"
        for name in ("a-parse", "b-check", "c-link", "d-select", "e-mint", "f-layout", "g-guard")
    }
    keys = [one.sort_key for one in found.diagnostics]
    assert keys == sorted(keys)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_files_changes_nothing(order: tuple[int, ...]) -> None:
    documents = [CRM, SUPPORT, "kind: agent\nname: other\nextends: [support]"]
    first = compile_workspace(workspace(*documents))
    second = compile_workspace(workspace(*(documents[number] for number in order)))
    assert first.lock is not None
    assert second.lock is not None
    assert dumps(second.lock) == dumps(first.lock)


def test_composing_twice_gives_equal_results() -> None:
    once, twice = (compile_workspace(workspace(CRM, SUPPORT)) for _ in range(2))
    assert once == twice


PROSE = "kind: agent\nname: support\ninstructions: Call `search`."


@pytest.mark.parametrize(
    ("rules", "ok", "said"),
    [
        ("{}", True, ["warn tool-name-in-prose"]),
        ("{tool-name-in-prose: warn}", True, ["warn tool-name-in-prose"]),
        ("{tool-name-in-prose: error}", False, ["error tool-name-in-prose"]),
        ("{SYM360: error}", False, ["error tool-name-in-prose"]),
        ("{tool-name-in-prose: info}", True, ["info tool-name-in-prose"]),
        ("{tool-name-in-prose: off}", True, []),
        ("{SYD999: off}", True, ["warn tool-name-in-prose"]),
        ("{tool-name-in-pros: off}", False, ["error rule-unknown", "warn tool-name-in-prose"]),
        ("{tool-unknown: off}", False, ["error rule-not-adjustable", "warn tool-name-in-prose"]),
        ("{tool-unknown: error}", True, ["warn tool-name-in-prose"]),
    ],
)
def test_rules_set_the_levels_of_warnings(rules: str, ok: bool, said: list[str]) -> None:
    found = compile_workspace(workspace(CRM, PROSE, f"kind: workspace\nname: a-desk\nrules: {rules}"))
    assert [f"{one.level} {one.name}" for one in found.diagnostics] == said
    assert found.ok == ok


def test_an_error_cannot_be_lowered() -> None:
    documents = [
        CRM,
        SUPPORT + "    exclude: [crm/x]",
        "kind: workspace\nname: desk\nrules: {tool-unknown: off}",
    ]
    found = compile_workspace(workspace(*documents))
    assert sorted(one.name for one in found.diagnostics) == ["rule-not-adjustable", "tool-unknown"]


def test_names_of_diff_rules_may_stand_among_the_rules() -> None:
    files = workspace("kind: workspace\nname: desk\nrules: {tool-added: error}")
    assert places(compile_workspace(files).diagnostics) == ["rule-unknown desk:3:9"]
    rules = {"tool-added": ("error", "off"), "deny-removed": ("error",)}
    assert compile_workspace(files, diff_rules=lambda: rules).diagnostics == ()


def test_a_diff_rule_is_given_only_levels_that_it_accepts() -> None:
    rules = {"tool-added": ("error", "off"), "deny-removed": ("error",)}
    files = workspace("kind: workspace\nname: desk\nrules: {deny-removed: off}")
    assert places(compile_workspace(files, diff_rules=lambda: rules).diagnostics) == [
        "rule-not-adjustable desk:3:23"
    ]
    files = workspace("kind: workspace\nname: desk\nrules: {SYD999: off}")
    assert places(compile_workspace(files, diff_rules=lambda: rules).diagnostics) == ["rule-unknown desk:3:9"]


@pytest.mark.parametrize(
    ("version", "ok", "hint"),
    [
        ("1", True, ""),
        ("99", False, "install a newer symc"),
        ("0", False, "run `symc compile --upgrade-lock`"),
    ],
)
def test_a_lock_version_that_cannot_be_written_is_refused(version: str, ok: bool, hint: str) -> None:
    """L30."""
    found = compile_workspace(
        workspace(CRM, SUPPORT, f"kind: workspace\nname: desk\nlock_version: {version}")
    )
    assert found.ok == ok
    assert places(found.diagnostics) == ([] if ok else ["lock-version-not-written desk:3:15"])
    assert [one.hint.text for one in found.diagnostics if one.hint] == ([] if ok else [hint])


def test_texts_of_the_files_that_diagnostics_point_into() -> None:
    files = Workspace.of(
        {
            "a.yaml": b"\xef\xbb\xbfkind: agent\r\nname: a\r\ntools: [crm/x]\r\n",
            "b.yaml": b"kind: agent\nname: b\n",
        }
    )
    assert compile_workspace(files).texts == {"a.yaml": "kind: agent\nname: a\ntools: [crm/x]\n"}


def test_two_servers_with_one_tool_name() -> None:
    """O-01, O-02: never the first, never the last: both are shown, whichever was declared first."""
    wiki = CRM.replace("name: crm", "name: wiki")
    for extensions in ("[crm, wiki]", "[wiki, crm]"):
        agent = f'kind: agent\nname: support\nextensions: {extensions}\ntools: ["*/search"]'
        (one,) = compile_workspace(workspace(CRM, wiki, agent)).diagnostics
        assert one.name == "tool-name-collision"
        assert all(word in one.message for word in ("search", "crm", "wiki"))
    prefixed = agent.replace("[wiki, crm]", "[{use: wiki, prefix: w}, crm]")
    lock = compile_workspace(workspace(CRM, wiki, prefixed)).lock
    assert lock is not None
    assert {name: (tool.extension, tool.raw) for name, tool in lock.agents["support"].tools.items()} == {
        "search": ("crm", "search"),
        "w_search": ("wiki", "search"),
    }


def test_a_tool_name_too_long_for_the_provider() -> None:
    """O-03, V5."""
    agent = SUPPORT.replace(
        "extensions: [crm]", f"extensions: [{{use: crm, prefix: {'p' * 31}}}]\n    provider: openai"
    )
    crm = CRM.replace("name: lookup", f"name: {'l' * 28}").replace("{name: search", "{name: other")
    found = compile_workspace(workspace(crm, agent.replace("crm/lookup:", f"crm/{'l' * 28}:")))
    assert [one.name for one in found.diagnostics] == ["tool-name-too-long"] * 2


def test_a_delegates_tool_is_held_to_the_provider_too() -> None:
    """P23, V5."""
    child = f"kind: agent\nname: {'a' * 61}"
    parent = f"kind: agent\nname: support\nprovider: openai\ndelegates: [{'a' * 61}]"
    assert [one.name for one in compile_workspace(workspace(child, parent)).diagnostics] == [
        "tool-name-too-long"
    ]
    assert compile_workspace(workspace(child.replace("aa", "a", 1), parent.replace("aa", "a", 1))).ok


@pytest.mark.parametrize(
    "crm", [b"kind: extension\nversion: '1'\n", b"kind: extension\nnmae: crm\n", b"name: [crm\n"]
)
def test_a_manifest_without_a_name_is_taken_to_be_named_as_its_file(crm: bytes) -> None:
    agent = b"kind: agent\nname: support\nextensions: [crm]\ntools: [crm/lookup]\nvariants: {crm/lookup: [memo]}\n"
    found = compile_workspace(Workspace.of({"ext/crm.yaml": crm, "support.yaml": agent}))
    assert {one.primary.file for one in found.diagnostics} == {"ext/crm.yaml"}
