"""The policy graph drawn, and the coverage table (docs/policies.md §3)."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from symc.composition import Composition
from symc.composition.drawing import DRAWINGS, as_json, dot, mermaid
from symc.composition.graph import Edge, Node, elements
from symc.coverage import coverage
from tests.policies.workspaces import agent, compiled, composition, deny, extension, workspace

ONLY = {"os/shell": [{"chain": ["audit"], "expose": "only", "as": "run"}], "os/read": ["cache"]}
CODE = {"policy_id": "code", "actions": ["memory_read"], "decide": "m:f"}
OTHER = agent("other", ["os/read"])


def desk() -> Composition:
    return composition(
        compiled(
            workspace(extensions=["guard"], policies=[deny("no-shell", "os/shell")]),
            extension("guard", {}, policies=[deny("no-write", "os/write")]),
            extension("os", {"read": {}, "shell": {}, "write": {}}),
            agent("desk", ["os/read", "os/shell"], variants=ONLY, delegates=["other"], policies=[CODE]),
            OTHER,
        ),
        "desk",
    )


def test_the_nodes_and_edges() -> None:
    nodes, edges = elements(desk())
    assert list(nodes) == sorted(set(nodes))
    assert list(edges) == sorted(set(edges))
    assert Node("tool:desk/shell", "tool", "shell", hidden=True) in nodes
    assert Node("tool:desk/run", "variant", "run") in nodes
    assert Node("policy:acme/no-shell", "policy", "deny acme/no-shell") in nodes
    assert {
        Edge("workspace:acme", "policy:acme/no-shell", "contributes"),
        Edge("policy:acme/no-shell", "tool:desk/shell", "guards"),
        Edge("policy:acme/no-shell", "tool:desk/run", "guards"),
        Edge("tool:desk/shell", "tool:desk/run", "derives", "audit"),
        Edge("extension:os", "tool:desk/shell", "contributes"),
        Edge("agent:desk", "extension:guard", "requires"),
        Edge("agent:desk", "effect:desk/delegate", "grants"),
        Edge("agent:desk", "agent:other", "delegates", "ask_other"),
        Edge("extension:os", "tool:other/read", "contributes"),
    } <= set(edges)
    known = {node.id for node in nodes}
    assert all({edge.source, edge.target} <= known for edge in edges)


def test_an_agent_that_two_others_call_stands_once() -> None:
    shared = composition(
        compiled(
            agent("top", [], delegates=["left", "right"]),
            agent("left", [], delegates=["below"]),
            agent("right", [], delegates=["below"]),
            agent("below", []),
        ),
        "top",
    )
    nodes, edges = elements(shared)
    assert [node.label for node in nodes if node.kind == "agent"] == ["below", "left", "right", "top"]
    assert len([edge for edge in edges if edge.kind == "delegates"]) == 4


def test_a_variant_whose_base_is_missing_is_drawn_all_the_same() -> None:
    # A lock that somebody edited is refused elsewhere; drawing it is no reason to fail.
    one = desk()
    tools = {name: tool for name, tool in one.agent.tools.items() if name != "shell"}
    nodes, edges = elements(replace(one, agent=replace(one.agent, tools=tools)))
    assert Node("tool:desk/run", "variant", "run") in nodes
    assert not [edge for edge in edges if edge.target == "tool:desk/run" and edge.kind == "derives"]


def test_every_node_and_edge_is_drawn_once() -> None:
    nodes, edges = elements(desk())
    lines = mermaid(desk()).splitlines()
    assert lines[0] == "flowchart LR"
    assert len([line for line in lines if ":::" in line]) == len(nodes)
    assert len([line for line in lines if "->" in line]) == len(edges)
    drawn = dot(desk())
    assert drawn.startswith('digraph "desk" {')
    assert drawn.count(" -> ") == len(edges)
    document = json.loads(as_json(desk()))
    assert [row["id"] for row in document["nodes"]] == [node.id for node in nodes]
    assert len(document["edges"]) == len(edges)


def test_mermaid_marks_what_is_hidden_and_what_guards() -> None:
    drawn = mermaid(desk())
    assert '["shell"]:::hidden' in drawn
    assert '[["run"]]:::variant' in drawn
    assert ' -.->|"guards"| ' in drawn
    assert ' -->|"delegates ask_other"| ' in drawn


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=list(DRAWINGS))
def test_a_drawing_is_the_same_every_time(draw: object) -> None:
    assert callable(draw)
    assert draw(desk()) == draw(desk())


def test_text_cannot_break_out_of_a_drawing() -> None:
    from symc.composition.drawing import _mermaid_text, _quoted

    assert _mermaid_text('a"b#c<d>e&f') == "a#quot;b#35;c#lt;d#gt;e#amp;f"
    assert _quoted('a"b\\c') == '"a\\"b\\\\c"'


def test_the_graph_is_the_only_thing_that_loads_networkx() -> None:
    code = (
        "import sys, symc.authority, symc.coverage, symc.composition.graph, symc.composition.drawing\n"
        "assert 'networkx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Coverage


def test_coverage() -> None:
    found = coverage(desk())
    assert [(one.name, one.policies) for one in found.effects] == [
        ("delegate", ()),
        ("model_call", ()),
        ("tool_call", ()),
    ]
    assert [(one.name, one.policies, one.hidden) for one in found.tools] == [
        ("read", (), False),
        ("read_cache", (), False),
        ("run", ("acme/no-shell",), False),
        ("shell", ("acme/no-shell",), True),
    ]
    assert found.uncovered == ("delegate", "model_call", "tool_call")
    assert found.unreachable == (
        ("desk/code", "not granted: memory_read"),
        ("guard/no-write", "it names no tool of this agent"),
    )


def test_calling_tools_is_covered_when_every_tool_that_can_be_called_is() -> None:
    shell = extension("os", {"read": {}, "shell": {}})
    whole = agent("desk", ["os/*"], policies=[deny("a", "os/read"), deny("b", "os/shell")])
    assert coverage(composition(compiled(shell, whole), "desk")).uncovered == ("model_call",)
    part = agent("desk", ["os/*"], policies=[deny("a", "os/read")])
    assert coverage(composition(compiled(shell, part), "desk")).uncovered == ("model_call", "tool_call")
    over = agent("desk", ["os/*"], policies=[{"policy_id": "all", "decide": "m:f"}])
    assert coverage(composition(compiled(shell, over), "desk")).uncovered == ()


def test_the_table() -> None:
    assert coverage(desk()).lines() == (
        "effect      guarded by",
        "delegate    nothing — uncovered",
        "model_call  nothing — uncovered",
        "tool_call   nothing — uncovered",
        "",
        "tool            guarded by",
        "read            nothing",
        "read_cache      nothing",
        "run             acme/no-shell",
        "shell (hidden)  acme/no-shell",
        "",
        "policy          reaches nothing here",
        "desk/code       not granted: memory_read",
        "guard/no-write  it names no tool of this agent",
    )


def test_the_table_of_an_agent_without_tools() -> None:
    one = composition(compiled(agent("bare", [])), "bare")
    assert coverage(one).lines() == ("effect      guarded by", "model_call  nothing — uncovered")
