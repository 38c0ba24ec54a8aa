"""Freeze: what of a workspace the lock holds, and where (docs/lockfile.md §2)."""

from __future__ import annotations

import json
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest

from symc.compose.freeze import Composed, freeze_lock
from symc.compose.guard import Guards
from symc.compose.layout import layout
from symc.compose.link import link
from symc.compose.mint import mint
from symc.compose.select import select
from symc.compose.typesetting import Typesetter
from symc.composition import BoundTool, Delegate, Lock
from symc.guarding import effect_guards, tool_guards
from symc.lock import dumps, loads, tree, verify
from symc.manifest.check import check
from symc.source import Workspace, parse

WORKSPACE = """
    kind: workspace
    name: acme
    prompts:
      - {fragment_id: kernel, layer: l0, tier: platform, text: Never lie.}
    policies:
      - {policy_id: budget, ask: {reason: Costs money.}, actions: [model_call]}
    vars: {tone: calm}
"""
BASE = """
    kind: agent
    name: base
    abstract: true
    vars: {place: Berlin}
    prompts:
      - {fragment_id: safety, tier: platform, order: 10, template: true, text: "In {{ place }}."}
      - {fragment_id: unused, tier: operating, text: Replaced below.}
      - {fragment_id: customer, layer: l2, tier: profile, scope: profile, slot: {max_chars: 20}}
    policies:
      - {policy_id: night, deny: {tools: ["*/delete_*"], reason: Not at night.}}
"""
SUPPORT = """
    kind: agent
    name: support
    extends: [base]
    instructions: |
      You answer.
    extensions: [crm, {use: files, prefix: fs}]
    tools: [crm/*, {tool: files/read, as: read_document, description: Read it.}]
    variants: {crm/lookup: [[memo]]}
    vars: {place: Bonn, crm.tone: formal}
    prompts:
      - {fragment_id: unused, tier: operating, text: Mine.}
    delegates: [{agent: helper, may_exceed: [memory_read]}]
"""
HELPER = """
    kind: agent
    name: helper
    description: Helps.
    extends: [support]
    extensions: [other]
"""
CRM = """
    kind: extension
    name: crm
    version: "1.0"
    requires: [guard]
    vars: {tone: friendly}
    tools:
      - {name: lookup, description: Find., invoke: "m:f", input_schema: {type: object, properties: {k: {type: string}}}}
      - {name: never, description: Nobody selects it., invoke: "m:g", input_schema: {type: object}}
    prompts:
      - {fragment_id: etiquette, template: true, text: "Be {{ tone }}."}
    lifecycle:
      - {hook_id: b-open, phase: install, run: "m:b"}
      - {hook_id: a-open, phase: install, run: "m:a"}
      - {hook_id: b-close, phase: teardown, run: "m:b"}
      - {hook_id: a-close, phase: teardown, run: "m:a"}
    tool_extensions:
      - name: memo
        kind: wrapper
        factory: "m:memo"
        config_schema: {type: object, properties: {key: {type: string}, keys: {type: array}, n: {type: number}}}
"""
GUARD = """
    kind: extension
    name: guard
    version: "2.0"
    policies:
      - {policy_id: pii, actions: [tool_call], decide: "m:pii"}
      - {policy_id: no-crm, deny: {tools: [crm/lookup], when: {required: [k]}}}
    lifecycle:
      - {hook_id: open, phase: install, run: "m:open"}
      - {hook_id: close, phase: teardown, run: "m:close"}
"""
FILES = """
    kind: extension
    name: files
    mcp: {command: [npx, "${env:FILES_HOME}"], env: {T: "${env:FILES_TOKEN}"}}
"""
PIN = {
    "tools": [
        {"name": "write", "description": "Write.", "inputSchema": {"type": "object"}},
        {"name": "read", "title": "Read", "description": "Read.", "inputSchema": {"type": "object"}},
    ]
}
OTHER = """
    kind: extension
    name: other
    mcp: {url: "https://other.test/${env:OTHER}"}
"""
UNREACHED = """
    kind: extension
    name: unreached
    version: "1.0"
"""
MANIFESTS = {
    "workspace.yaml": WORKSPACE,
    "agents/base.yaml": BASE,
    "agents/support.yaml": SUPPORT,
    "agents/helper.yaml": HELPER,
    "extensions/crm.yaml": CRM,
    "extensions/guard.yaml": GUARD,
    "extensions/files.yaml": FILES,
    "extensions/files.pin.json": json.dumps(PIN),
    "extensions/other.yaml": OTHER,
    "extensions/other.pin.json": json.dumps(PIN),
    "extensions/unreached.yaml": UNREACHED,
}


def frozen(manifests: dict[str, str]) -> Lock:
    """The stages in a row; guard's part is done with its leaf, for it has its own tests."""
    files = {path: dedent(text).encode() for path, text in manifests.items()}
    sources = parse(Workspace.of(files))
    checked = check(sources)
    links = link(checked)
    typesetter = Typesetter(links)
    found = [*sources.diagnostics, *checked.diagnostics, *links.diagnostics]
    composed = []
    for agent in (agent for agent in links.agents.values() if not agent.abstract):
        selection = select(agent, links)
        minted = mint(agent, selection.tools, links)
        placed = layout(agent, typesetter)
        found += [*selection.diagnostics, *minted.diagnostics, *placed.diagnostics]
        delegates = {
            row.agent: Delegate(
                agent=row.agent,
                tool=f"ask_{row.agent}",
                description=links.agents[row.agent].manifest.body.description,
                may_exceed=row.may_exceed,
            )
            for row, _ in agent.delegates
        }
        grants = ("delegate", "model_call", "tool_call") if delegates else ("model_call", "tool_call")
        guards = Guards(grants=grants, delegates=delegates)
        composed.append(Composed(agent=agent, tools=minted.tools, layout=placed, guards=guards))
    assert [one for one in found if one.level == "error"] == []
    return _guarded(freeze_lock(links, composed, typesetter))


def _guarded(lock: Lock) -> Lock:
    agents = {}
    for name, agent in lock.agents.items():
        policies = lock.composition(name).policies
        matched = tool_guards(policies, agent.tools.values())
        tools: dict[str, BoundTool] = {
            key: replace(tool, guarded_by=matched[key]) for key, tool in agent.tools.items()
        }
        agents[name] = replace(agent, tools=tools, effects=effect_guards(policies, agent.grants))
    return replace(lock, agents=agents)


@pytest.fixture(scope="module")
def lock() -> Lock:
    return frozen(_acyclic(MANIFESTS))


def _acyclic(manifests: dict[str, str]) -> dict[str, str]:
    # The helper inherits what its parent delegates, itself included: it is given its own base instead.
    return {**manifests, "agents/helper.yaml": HELPER.replace("[support]", "[base]")}


@pytest.fixture(scope="module")
def json_of(lock: Lock) -> Any:
    return tree(lock)


def test_the_lock_comes_back_and_verifies(lock: Lock) -> None:
    again = loads(dumps(lock))
    assert again == lock
    verify(again)


def test_what_nobody_reaches_is_not_in_the_lock(json_of: Any) -> None:
    assert sorted(json_of) == ["agents", "bases", "extensions", "lock_version", "workspace"]
    assert sorted(json_of["agents"]) == ["helper", "support"]
    assert sorted(json_of["bases"]) == ["base"]
    assert sorted(json_of["extensions"]) == ["crm", "files", "guard", "other"]


def test_of_a_server_only_selected_tools_are_in_the_lock(json_of: Any) -> None:
    assert sorted(json_of["extensions"]["files"]["tools"]) == ["read"]
    assert "tools" not in json_of["extensions"]["other"]
    assert sorted(json_of["extensions"]["crm"]["tools"]) == ["lookup", "never"]
    assert json_of["extensions"]["files"]["tools"]["read"]["title"] == "Read"


def test_a_base_s_fragment_that_one_agent_replaces_stays_for_the_others(json_of: Any) -> None:
    assert sorted(json_of["bases"]["base"]["fragments"]) == ["safety", "unused"]
    assert json_of["agents"]["support"]["fragments"]["unused"]["text"] == ["Mine."]
    assert "support/unused" in json_of["agents"]["support"]["prompt"]
    assert "base/unused" in json_of["agents"]["helper"]["prompt"]


def test_a_base_s_fragment_that_every_agent_replaces_is_gone() -> None:
    manifests = {path: text for path, text in MANIFESTS.items() if path != "agents/helper.yaml"}
    manifests["agents/support.yaml"] = SUPPORT.partition("delegates:")[0]
    assert sorted(frozen(manifests).bases["base"].fragments) == ["safety"]


def test_rendered_texts_stand_with_their_owner_and_only_differences_with_the_agent(json_of: Any) -> None:
    assert json_of["extensions"]["crm"]["fragments"]["etiquette"]["rendered"]["text"] == ["Be calm."]
    assert json_of["bases"]["base"]["fragments"]["safety"]["rendered"]["text"] == ["In Berlin."]
    rendered = {key: one["text"] for key, one in json_of["agents"]["support"]["rendered"].items()}
    assert rendered == {"crm/etiquette": ["Be formal."], "base/safety": ["In Bonn."]}
    assert "rendered" not in json_of["agents"]["helper"]
    assert json_of["agents"]["support"]["vars"] == {"crm.tone": "formal", "place": "Bonn"}


def test_tools_hold_only_what_differs(json_of: Any) -> None:
    tools = json_of["agents"]["support"]["tools"]
    assert tools["lookup"] == {
        "extension": "crm",
        "raw": "lookup",
        "selected_by": "crm/*",
        "guarded_by": ["guard/no-crm"],
    }
    assert tools["lookup_memo"].pop("digest")
    assert tools["lookup_memo"] == {
        "chain": [{"extension": "crm", "name": "memo", "config": {}}],
        "extension": "crm",
        "raw": "lookup",
        "selected_by": "crm/*",
        "guarded_by": ["guard/no-crm"],
    }
    assert tools["read_document"]["overrides"] == ["description"]
    assert tools["read_document"]["description"] == ["Read it."]
    assert "input_schema" not in tools["read_document"]


def test_a_rule_that_names_tools_guards_calls(json_of: Any) -> None:
    night = json_of["bases"]["base"]["policies"]["night"]
    assert night["actions"] == ["tool_call"]
    assert night["tools"] == ["*/delete_*"]


def test_a_rule_that_names_a_variant() -> None:
    manifests = _acyclic(MANIFESTS)
    rule = "{policy_id: v, ask: {tools: [{variant: crm/lookup, chain: [memo]}]}}"
    manifests["extensions/guard.yaml"] = GUARD.replace("lifecycle:", f"  - {rule}\n    lifecycle:")
    lock = frozen(manifests)
    tools = lock.agents["support"].tools
    assert tools["lookup"].guarded_by == ("guard/no-crm",)
    assert tools["lookup_memo"].guarded_by == ("guard/no-crm", "guard/v")
    assert loads(dumps(lock)) == lock


def test_a_workspace_without_a_manifest_of_its_own() -> None:
    manifests = {path: text for path, text in _acyclic(MANIFESTS).items() if path != "workspace.yaml"}
    assert frozen(manifests).workspace is None
    assert frozen({"workspace.yaml": WORKSPACE, "extensions/guard.yaml": GUARD}) == Lock()


def test_the_environment_is_that_of_the_tools_the_agent_has(json_of: Any) -> None:
    assert json_of["agents"]["support"]["env"] == ["FILES_HOME", "FILES_TOKEN"]
    assert "env" not in json_of["agents"]["helper"]


def test_a_config_s_reference_to_the_environment_is_listed() -> None:
    manifests = _acyclic(MANIFESTS)
    config = 'config: {key: "${env:KEY}", keys: ["${env:MORE}"], n: 1}'
    manifests["agents/support.yaml"] = SUPPORT.replace("[[memo]]", "[{use: memo, " + config + "}]")
    assert frozen(manifests).agents["support"].env == ("FILES_HOME", "FILES_TOKEN", "KEY", "MORE")


def test_hooks_stand_in_the_order_they_run(json_of: Any) -> None:
    """X-20: required extensions first, within one by declaration; unwound in exactly the reverse order."""
    assert json_of["agents"]["support"]["lifecycle"] == {
        "install": ["guard/open", "crm/b-open", "crm/a-open"],
        "teardown": ["crm/a-close", "crm/b-close", "guard/close"],
    }


def test_defaults_of_limits_are_in_the_lock(json_of: Any) -> None:
    """F-10."""
    assert json_of["agents"]["support"]["limits"] == {"max_model_rounds": 10}


def test_an_extension_s_text_is_one_place_however_many_agents_use_it() -> None:
    manifests = _acyclic(MANIFESTS)
    before = dumps(frozen(manifests)).split("\n")
    manifests["extensions/guard.yaml"] = GUARD + "    prompts: [{fragment_id: f, text: One text.}]\n"
    manifests["agents/helper.yaml"] = manifests["agents/helper.yaml"].replace("[other]", "[other, guard]")
    middle = dumps(frozen(manifests)).split("\n")
    manifests["extensions/guard.yaml"] = manifests["extensions/guard.yaml"].replace(
        "One text", "Another text"
    )
    after = dumps(frozen(manifests)).split("\n")
    assert before != middle
    changed = [index for index, (one, other) in enumerate(zip(middle, after, strict=True)) if one != other]
    assert len(changed) == 2
    assert changed[1] - changed[0] < 8  # the fragment's text and its digest


def test_the_inputs_are_as_they_were() -> None:
    manifests = _acyclic(MANIFESTS)
    first = frozen(manifests)
    assert frozen(manifests) == first
