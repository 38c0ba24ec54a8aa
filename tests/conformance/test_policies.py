"""Conformance to docs/policies.md §1–4: one test or more for every rule P1–P23, named by its id.

What only shows when an agent runs (P5's timeouts, P22 and P23 in a run) has its tests with the runtime; here stands what
is decided from the compositions.
"""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import networkx as nx
import pytest

from symc.authority import Authority, decide
from symc.compose import Compilation, compile
from symc.contracts.verdict import PolicyRequest
from symc.contracts.vocabulary import EFFECTS
from symc.source import Workspace
from tests.policies.workspaces import (
    Document,
    agent,
    ask,
    compiled,
    composition,
    decided,
    deny,
    extension,
    found,
    workspace,
)

N = {"n": {"type": "integer"}}
OS = extension("os", {"read": N, "shell": N})
AT_LEAST_9 = {"properties": {"n": {"type": "integer", "minimum": 9}}, "required": ["n"]}


def guarded(*documents: Document, name: str = "desk") -> dict[str, list[str]]:
    """What guards each tool of an agent, of a workspace without a mistake."""
    tools = composition(compiled(*documents), name).agent.tools.values()
    return {tool.name: list(tool.guarded_by) for tool in tools}


# §1 Decisions


def test_P01_allowed_iff_granted_and_nothing_denies_and_every_ask_is_answered() -> None:
    policies = [deny("no", "os/shell"), ask("maybe", "os/*")]
    outcomes = set()
    for order in permutations(policies):
        compilation = compiled(OS, agent("desk", ["os/*"], policies=list(order)))
        outcomes.add(
            (decided(compilation, "desk", "shell").outcome, decided(compilation, "desk", "read").outcome)
        )
    assert outcomes == {("deny", "ask")}
    assert decided(compiled(OS, agent("desk", ["os/*"])), "desk", "read").outcome == "allow"


def test_P01_the_origin_of_a_policy_never_matters() -> None:
    rule = deny("no", "os/shell")
    homes: list[list[Document]] = [
        [workspace(policies=[rule]), OS, agent("desk", ["os/*"])],
        [OS | {"policies": [rule]}, agent("desk", ["os/*"])],
        [OS, agent("desk", ["os/*"], policies=[rule])],
        [OS, agent("base", ["os/*"], abstract=True, policies=[rule]), agent("desk", [], extends=["base"])],
        [OS | {"requires": ["guard"]}, extension("guard", {}, policies=[rule]), agent("desk", ["os/*"])],
        [
            workspace(extensions=["guard"]),
            OS,
            extension("guard", {}, policies=[rule]),
            agent("desk", ["os/*"]),
        ],
    ]
    assert {decided(compiled(*home), "desk", "shell").outcome for home in homes} == {"deny"}


def test_P02_grants_come_from_the_operator() -> None:
    compilation = compiled(
        OS,
        agent("desk", ["os/read"], grants=["memory_read"], delegates=["silent"]),
        agent("silent", [], extensions=["os"]),
    )
    assert composition(compilation, "desk").agent.grants == (
        "delegate",
        "memory_read",
        "model_call",
        "tool_call",
    )
    assert composition(compilation, "silent").agent.grants == ("model_call",)


@pytest.mark.parametrize("key", ["grants", "effects"])
def test_P02_nothing_an_extension_contributes_adds_a_grant(key: str) -> None:
    assert found(compiled(OS | {key: ["memory_write"]}, agent("desk", ["os/*"]))) == ["unknown-key"]


def test_P02_an_allow_is_no_authority() -> None:
    allowing = OS | {"policies": [{"policy_id": "yes", "allow": {"tools": ["os/*"]}}]}
    assert found(compiled(allowing, agent("desk", []))) == ["allow-is-no-authority"]


@pytest.mark.parametrize("where", ["grants", "actions"])
def test_P03_an_unknown_effect_is_an_error_with_did_you_mean(where: str) -> None:
    more: Document = {"grants": ["memory_raed"]}
    if where == "actions":
        more = {"policies": [{"policy_id": "p", "decide": "m:f", "actions": ["memory_raed"]}]}
    (one,) = compiled(OS, agent("desk", ["os/read"], **more)).diagnostics
    assert one.name == "unknown-effect"
    assert one.hint is not None
    assert "memory_read" in one.hint.text


def test_P03_every_effect_can_be_granted_and_guarded() -> None:
    rules = [{"policy_id": effect.replace("_", "-"), "ask": {}, "actions": [effect]} for effect in EFFECTS]
    one = composition(
        compiled(
            OS,
            agent("desk", ["os/read"], grants=list(EFFECTS), delegates=["other"], policies=rules),
            agent("other", []),
        ),
        "desk",
    )
    assert one.agent.effects == {effect: (f"desk/{effect.replace('_', '-')}",) for effect in sorted(EFFECTS)}


def test_P04_a_request_has_the_identity_behind_the_name() -> None:
    from symc.authority import request_for

    row = {"tool": "os/read", "as": "look"}
    one = composition(compiled(OS, agent("desk", [row], variants={"os/read": ["cache", "audit"]})), "desk")
    request = request_for(one, "look_cache_audit", {"n": 1})
    assert request == PolicyRequest(
        agent="desk",
        effect="tool_call",
        tool="look_cache_audit",
        raw="read",
        extension="os",
        chain=("cache", "audit"),
        arguments={"n": 1},
        origin="model",
    )


def test_P05_what_cannot_be_told_denies() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[ask("large", "os/read", when=AT_LEAST_9)]))
    decision = decided(compilation, "desk", "read", {"n": deep})
    assert decision.outcome == "deny"
    assert decision.reasons[0].startswith("policy_error: desk/large")


# §2 Declarative rules

PINNED: Document = {"kind": "extension", "name": "files", "mcp": {"url": "https://files.example.test/mcp"}}


def _with_pin(selector: str) -> dict[str, list[str]]:
    compilation = _pinned(selector)
    assert compilation.lock is not None, compilation.diagnostics
    return {tool.raw: list(tool.guarded_by) for tool in compilation.lock.agents["desk"].tools.values()}


def _pinned(selector: str) -> Compilation:
    pin = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("foo.bar", "foo_bar")]}
    files = {
        "files.yaml": PINNED,
        "files.pin.json": pin,
        "desk.yaml": agent(
            "desk", ["files/*"], extensions=[{"use": "files", "prefix": "x"}], policies=[deny("no", selector)]
        ),
    }
    return compile(Workspace.of({name: json.dumps(one).encode() for name, one in files.items()}))


@pytest.mark.parametrize(
    ("selector", "hit"),
    [
        ("files/foo.bar", {"foo.bar"}),
        ("files/foo_bar", {"foo_bar"}),
        ("files/foo?bar", {"foo.bar", "foo_bar"}),
        ("*/foo*", {"foo.bar", "foo_bar"}),
    ],
)
def test_P10_selectors_are_over_raw_identities(selector: str, hit: set[str]) -> None:
    assert {raw for raw, rules in _with_pin(selector).items() if rules} == hit


def test_P10_a_prefix_is_no_part_of_what_a_rule_names() -> None:
    """A rule that names tools as the agent exposes them would stop nothing."""
    assert [one.name for one in _pinned("files/x_*").diagnostics] == ["policy-exposed-name"]


def test_P10_a_variant_and_what_is_stacked_on_it_and_not_its_base() -> None:
    rule = deny("no", {"variant": "os/read", "chain": ["cache"]})
    chains = {"os/read": [["cache", "audit"], ["audit"]]}
    assert guarded(OS, agent("desk", ["os/read"], variants=chains, policies=[rule])) == {
        "read": [],
        "read_audit": [],
        "read_cache": ["desk/no"],
        "read_cache_audit": ["desk/no"],
    }


def test_P11_a_rule_matches_everything_derived_from_its_tool() -> None:
    desk = agent(
        "desk",
        [{"tool": "os/read", "as": "look"}, "web/read"],
        extensions=["os", {"use": "web", "prefix": "w"}],
        variants={"*/read": ["cache", "batch"]},
        policies=[deny("no", "*/read")],
    )
    guards = guarded(OS, extension("web", {"read": N}), desk)
    assert set(guards) == {
        "look",
        "look_cache",
        "look_cache_batch",
        "w_read",
        "w_read_cache",
        "w_read_cache_batch",
    }
    assert all(rules == ["desk/no"] for rules in guards.values())


def test_P11_through_delegation() -> None:
    parent = agent("parent", ["os/*"], delegates=["child"], policies=[deny("no", "os/read")])
    child = agent("child", [{"tool": "os/read", "as": "look"}], variants={"os/read": ["audit"]})
    compilation = compiled(OS, parent, child)
    for tool in ("look", "look_audit"):
        assert decided(compilation, "child", tool, through=("parent",)).rules == ("parent/no",)


def test_P11_every_inner_call_passes_the_rules_of_the_inner_tool() -> None:
    only = {"os/read": [{"chain": ["batch"], "expose": "only"}]}
    rule = deny("large", "os/read", when=AT_LEAST_9)
    compilation = compiled(OS, agent("desk", ["os/read"], variants=only, policies=[rule]))
    assert decided(compilation, "desk", "read", {"n": 9}, origin="batch").rules == ("desk/large",)
    assert decided(compilation, "desk", "read", {"n": 8}, origin="batch").outcome == "allow"


def test_P12_a_literal_must_exist_in_the_workspace() -> None:
    elsewhere = extension("web", {"fetch": N})
    assert found(compiled(OS, elsewhere, agent("desk", ["os/*"], policies=[deny("no", "web/fetch")]))) == []
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[deny("no", "os/raed")]))
    assert found(compilation) == ["policy-tool-unknown"]
    assert compilation.lock is None


def test_P12_a_pattern_that_matches_nothing_is_a_warning() -> None:
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[deny("no", "*/delete_*")]))
    assert found(compilation) == ["policy-matches-nothing"]
    assert compilation.lock is not None


@pytest.mark.parametrize(
    "when",
    [
        False,
        {"properties": {"n": {"type": "integer", "minimum": 9, "maximum": 1}}, "required": ["n"]},
        {"properties": {"n": {"enum": []}}, "required": ["n"]},
    ],
    ids=json.dumps,
)
def test_P12_a_rule_that_can_never_change_a_decision_is_a_warning(when: Any) -> None:
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[deny("no", "os/read", when=when)]))
    assert found(compilation) == ["policy-never-fires"]
    assert compilation.lock is not None
    assert all(decided(compilation, "desk", "read", {"n": n}).outcome == "allow" for n in (0, 1, 5, 9))


def test_P12_a_rule_in_the_shadow_of_another_is_a_warning() -> None:
    rules = [deny("all", "os/*"), deny("large", "os/read", when=AT_LEAST_9)]
    compilation = compiled(OS, agent("desk", ["os/*"], policies=rules))
    assert found(compilation) == ["policy-shadowed"]
    assert '"desk/large"' in compilation.diagnostics[0].message


def test_P12_two_rules_with_one_id_are_an_error() -> None:
    twice = [deny("no", "os/read"), deny("no", "os/shell")]
    assert found(compiled(OS, agent("desk", ["os/*"], policies=twice))) == ["duplicate-id"]
    both = [
        workspace(policies=[deny("no", "os/read")]),
        agent("desk", ["os/*"], policies=[deny("no", "os/shell")]),
    ]
    assert found(compiled(OS, *both)) == ["policy-clash"]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ({"m": {"type": "integer", "minimum": 9}}, "condition-property-unknown"),
        ({"n": {"minimum": 9}}, "condition-property-untyped"),
        ({"path": {"type": "string", "pattern": "^src/"}}, "condition-path-pattern"),
        ({"n": {"type": "string"}}, "condition-against-schema"),
    ],
)
def test_P13_a_condition_is_checked_against_the_tool(condition: Document, code: str) -> None:
    files = extension("files", {"read": {**N, "path": {"type": "string"}}})
    when = {"properties": condition, "required": list(condition)}
    compilation = compiled(files, agent("desk", ["files/*"], policies=[deny("no", "files/read", when=when)]))
    assert found(compilation) == [code]
    assert compilation.lock is not None


def test_P13_why_a_type_is_asked_for() -> None:
    # Numeric keywords pass strings: without a type the rule would stop more than it says.
    when = {"properties": {"n": {"minimum": 9}}, "required": ["n"]}
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[deny("no", "os/read", when=when)]))
    assert decided(compilation, "desk", "read", {"n": "a"}).outcome == "deny"


# §3 The policy graph


def test_P_graph_is_directed_and_has_every_kind_of_node_and_edge() -> None:
    desk = agent(
        "desk",
        ["os/*"],
        variants={"os/read": ["audit"]},
        delegates=["other"],
        policies=[deny("no", "os/read")],
    )
    other = agent("other", ["os/shell"])
    graph = composition(
        compiled(OS | {"requires": ["guard"]}, extension("guard", {}), desk, other), "desk"
    ).policy_graph()
    assert isinstance(graph, nx.DiGraph)
    assert {data["kind"] for _, data in graph.nodes(data=True)} == {
        "agent",
        "extension",
        "tool",
        "variant",
        "effect",
        "policy",
    }
    assert {data["kind"] for *_, data in graph.edges(data=True)} == {
        "contributes",
        "derives",
        "grants",
        "guards",
        "requires",
        "delegates",
    }
    assert nx.is_directed_acyclic_graph(graph)


def test_P_graph_shows_what_guards_a_variant() -> None:
    desk = agent("desk", ["os/*"], variants={"os/read": ["audit"]}, policies=[deny("no", "os/read")])
    graph = composition(compiled(OS, desk), "desk").policy_graph()
    assert set(graph.predecessors("tool:desk/read_audit")) == {"tool:desk/read", "policy:desk/no"}


# §4 Delegation


def test_P20_cycles_are_refused_with_the_path() -> None:
    compilation = compiled(
        agent("a", [], delegates=["b"]), agent("b", [], delegates=["c"]), agent("c", [], delegates=["a"])
    )
    assert found(compilation) == ["delegates-cycle"]
    assert "a → b → c → a" in compilation.diagnostics[0].message


def test_P20_a_delegate_is_an_agent_of_the_workspace() -> None:
    (one,) = compiled(agent("desk", [], delegates=["reseacher"]), agent("researcher", [])).diagnostics
    assert one.name == "agent-unknown"
    assert one.hint is not None
    assert "researcher" in one.hint.text


def test_P21_a_child_that_reaches_more_is_refused_with_the_chain() -> None:
    compilation = compiled(
        OS,
        agent("parent", ["os/read"], delegates=["child"]),
        agent("child", ["os/read"], delegates=[{"agent": "grandchild", "may_exceed": ["os/shell"]}]),
        agent("grandchild", ["os/shell"]),
    )
    assert found(compilation) == ["privilege-widening"]
    assert "parent > child > grandchild" in compilation.diagnostics[0].message


@pytest.mark.parametrize("item", ["os/shell", "os/*", "*/sh*"])
def test_P21_unless_may_exceed_names_it(item: str) -> None:
    parent = agent("parent", ["os/read"], delegates=[{"agent": "child", "may_exceed": [item]}])
    assert found(compiled(OS, parent, agent("child", ["os/*"]))) == []


def test_P22_deny_ask_and_decide_of_the_parent_apply_through_it() -> None:
    policies = [deny("no", "os/shell"), ask("maybe", "os/read"), {"policy_id": "code", "decide": "m:f"}]
    parent = agent("parent", ["os/*", "web/*"], delegates=["child"], policies=policies)
    compilation = compiled(OS, extension("web", {"get": {}}), parent, agent("child", ["os/*", "web/*"]))
    outcomes = {
        tool: decided(compilation, "child", tool, through=("parent",)).outcome
        for tool in ("shell", "read", "get")
    }
    assert outcomes == {"shell": "deny", "read": "ask", "get": "ask-code"}
    # The lock holds the edges; what a child may do when it is called through another is computed.
    child = composition(compilation, "child").agent
    assert all(tool.guarded_by == () for tool in child.tools.values())


def test_P23_a_delegate_is_a_tool_that_may_not_clash() -> None:
    compilation = compiled(
        extension("os", {"ask_child": {}}), agent("parent", ["os/*"], delegates=["child"]), agent("child", [])
    )
    assert found(compilation) == ["tool-name-collision"]


def test_P23_a_delegate_is_called_with_the_effect_delegate() -> None:
    rule = {"policy_id": "no", "deny": {}, "actions": ["delegate"]}
    compilation = compiled(agent("parent", [], delegates=["a.b-c"], policies=[rule]), agent("a.b-c", []))
    assert decided(compilation, "parent", "ask_a_b_c").rules == ("parent/no",)


def test_P23_a_child_runs_with_what_both_have_and_what_it_may_exceed() -> None:
    parent = agent(
        "parent",
        ["os/read"],
        grants=["memory_read"],
        delegates=[{"agent": "child", "may_exceed": ["os/shell"]}],
    )
    child = agent("child", ["os/*"], grants=["memory_read"])
    compilation = compiled(OS, parent, child)
    authority = Authority.of(composition(compilation, "child"), [composition(compilation, "parent")])
    tools = authority.composition.agent.tools
    assert authority.permits("tool_call", tools["read"])
    assert authority.permits("tool_call", tools["shell"])
    assert authority.permits("memory_read")
    assert (
        decide(authority.composition, PolicyRequest(agent="child", effect="memory_write")).outcome == "deny"
    )
