"""Delegates never have more than those who call them, unless it is written (docs/policies.md P20–P23)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from symc.compose import compile
from symc.source import Workspace
from tests.policies.workspaces import Document, agent, compiled, composition, extension, found

WIDENING, IDLE = "privilege-widening", "may-exceed-idle"
OS = extension("os", {"read": {}, "shell": {}, "write": {}})
WEB = extension("web", {"fetch": {}})


def messages(*documents: Document) -> list[str]:
    compilation = compiled(OS, WEB, *documents)
    assert set(found(compilation)) <= {WIDENING}
    return [one.message for one in compilation.diagnostics]


def test_the_chain_is_shown_whichever_edge_lets_a_tool_in() -> None:
    assert messages(
        agent("parent", ["os/read"], delegates=["child"]),
        agent("child", ["os/read", "os/shell"], delegates=["grandchild"]),
        agent("grandchild", ["os/write"]),
    ) == [
        '"grandchild" reaches "os/write", which "child" does not have: parent > child > grandchild',
        '"child" reaches "os/shell", which "parent" does not have: parent > child',
    ]


def test_what_a_child_lets_in_its_parent_must_let_in_too() -> None:
    chain = [
        agent("child", ["os/read"], delegates=[{"agent": "grandchild", "may_exceed": ["os/write"]}]),
        agent("grandchild", ["os/write"]),
    ]
    assert messages(agent("parent", ["os/read"], delegates=["child"]), *chain) == [
        '"grandchild" reaches "os/write", which "parent" does not have: parent > child > grandchild'
    ]
    allowing = agent("parent", ["os/read"], delegates=[{"agent": "child", "may_exceed": ["os/w*"]}])
    assert messages(allowing, *chain) == []
    having = agent("parent", ["os/read", "os/write"], delegates=["child"])
    assert messages(having, *chain) == []


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ({"tools": ["os/read"]}, {"tools": ["os/read"]}, None),
        ({"tools": ["os/*"]}, {"tools": ["os/read"]}, None),
        ({"tools": [{"tool": "os/read", "as": "look"}]}, {"tools": ["os/read"]}, None),
        ({"tools": ["os/read"]}, {"tools": ["os/*"]}, '"os/shell" and "os/write"'),
        # A variant is no more than the tool it is derived from; the tool is more than its variant.
        ({"tools": ["os/read"]}, {"tools": ["os/read"], "variants": {"os/read": ["audit"]}}, None),
        ({"tools": ["os/read"], "variants": {"os/read": ["audit"]}}, {"tools": ["os/read"]}, None),
        (
            {"tools": ["os/read"], "variants": {"os/read": [{"chain": ["audit"], "expose": "only"}]}},
            {"tools": ["os/read"]},
            '"os/read"',
        ),
        (
            {"tools": ["os/read"], "variants": {"os/read": [{"chain": ["audit"], "expose": "only"}]}},
            {
                "tools": ["os/read"],
                "variants": {"os/read": [{"chain": ["audit", "cache"], "expose": "only"}]},
            },
            None,
        ),
        (
            {"tools": ["os/read"], "variants": {"os/read": [{"chain": ["audit"], "expose": "only"}]}},
            {
                "tools": ["os/read"],
                "variants": {"os/read": [{"chain": ["cache", "audit"], "expose": "only"}]},
            },
            '"os/read + cache + audit"',
        ),
        (
            {
                "tools": ["os/read"],
                "variants": {
                    "os/read": [{"chain": [{"use": "cache", "config": {"ttl": 1}}], "expose": "only"}]
                },
            },
            {
                "tools": ["os/read"],
                "variants": {
                    "os/read": [{"chain": [{"use": "cache", "config": {"ttl": 2}}], "expose": "only"}]
                },
            },
            '"os/read + cache"',
        ),
        # A base that is hidden in the child cannot be called.
        (
            {"tools": ["os/read"], "variants": {"os/read": [{"chain": ["audit"], "expose": "only"}]}},
            {"tools": ["os/read"], "variants": {"os/read": [{"chain": ["audit"], "expose": "only"}]}},
            None,
        ),
        # Effects.
        ({}, {"grants": ["memory_read"]}, '"memory_read"'),
        ({"grants": ["memory_read"]}, {"grants": ["memory_read"]}, None),
        ({"grants": ["memory_read"]}, {"grants": ["memory_read", "memory_write"]}, '"memory_write"'),
        ({}, {"tools": ["os/read"]}, '"os/read"'),
    ],
    ids=json.dumps,
)
def test_what_a_child_may_have(parent: dict[str, Any], child: dict[str, Any], expected: str | None) -> None:
    said = messages(agent("parent", **parent, delegates=["child"]), agent("child", **child))
    wanted = [f'"child" reaches {expected}, which "parent" does not have: parent > child'] if expected else []
    assert said == wanted


@pytest.mark.parametrize(
    ("may_exceed", "expected"),
    [
        (["os/shell", "memory_read"], []),
        (["os/*", "memory_read"], []),
        (["*/sh*", "memory_read"], []),
        (["os/shell"], [WIDENING]),
        (["memory_read"], [WIDENING]),
        (["tool_call", "memory_read"], [WIDENING]),  # an effect is no tool
        (["os/shell", "memory_read", "web/*"], [IDLE]),
        (["os/shell", "memory_read", "memory_write"], [IDLE]),
        (["os/shell", "memory_read", "os/read"], []),
    ],
)
def test_may_exceed_names_tools_and_effects(may_exceed: list[str], expected: list[str]) -> None:
    parent = agent("parent", ["os/read"], delegates=[{"agent": "child", "may_exceed": may_exceed}])
    child = agent("child", ["os/read", "os/shell"], grants=["memory_read"])
    assert found(compiled(OS, WEB, parent, child)) == expected


def test_a_router_without_tools_names_what_it_lets_others_do() -> None:
    router = agent("router", [], delegates=[{"agent": "child", "may_exceed": ["os/*"]}])
    assert found(compiled(OS, router, agent("child", ["os/read"]))) == []


def test_what_several_documents_let_a_delegate_exceed_adds_up() -> None:
    base = agent(
        "base", ["os/read"], abstract=True, delegates=[{"agent": "child", "may_exceed": ["os/shell"]}]
    )
    parent = agent("parent", [], extends=["base"], delegates=[{"agent": "child", "may_exceed": ["os/write"]}])
    compilation = compiled(OS, base, parent, agent("child", ["os/*"]))
    assert found(compilation) == []
    edge = composition(compilation, "parent").agent.delegates["child"]
    assert (edge.tool, edge.may_exceed) == ("ask_child", ("os/shell", "os/write"))


def test_two_ways_to_the_same_tool_are_two_refusals() -> None:
    assert messages(
        agent("parent", ["os/read"], delegates=["left", "right"]),
        agent("left", ["os/shell"]),
        agent("right", ["os/read"], delegates=[{"agent": "below", "may_exceed": ["os/shell"]}]),
        agent("below", ["os/shell"]),
    ) == [
        '"left" reaches "os/shell", which "parent" does not have: parent > left',
        '"below" reaches "os/shell", which "parent" does not have: parent > right > below',
    ]


def test_many_tools_are_one_refusal() -> None:
    many = extension("many", {f"t{number:02}": {} for number in range(20)})
    (one,) = compiled(many, agent("parent", [], delegates=["child"]), agent("child", ["many/*"])).diagnostics
    assert '"many/t05" and 14 more' in one.message


def test_a_cycle_is_refused_with_its_path() -> None:
    compilation = compiled(OS, agent("a", [], delegates=["b"]), agent("b", ["os/read"], delegates=["a"]))
    assert found(compilation) == ["delegates-cycle"]
    assert "a → b → a" in compilation.diagnostics[0].message


def test_what_an_agent_lacks_for_a_mistake_is_not_held_against_its_delegate() -> None:
    parent = agent("parent", ["os/raed"], delegates=["child"])
    assert found(compiled(OS, parent, agent("child", ["os/read"]))) == ["tool-unknown"]
    files = {
        "os.yaml": json.dumps(extension("os", {"read": {}}, oops=1)),
        "parent.yaml": json.dumps(agent("parent", ["os/read"], delegates=["child"])),
        "child.yaml": json.dumps(agent("child", ["web/fetch"])),
        "web.yaml": json.dumps(WEB),
    }
    encoded = {name: text.encode() for name, text in files.items()}
    assert found(compile(Workspace.of(encoded))) == ["unknown-key"]


@pytest.mark.parametrize(("name", "tool"), [("child", "ask_child"), ("a.b-c", "ask_a_b_c")])
def test_the_name_of_a_delegates_tool(name: str, tool: str) -> None:
    compilation = compiled(agent("parent", [], delegates=[name]), agent(name, [], description="Helps."))
    edge = composition(compilation, "parent").agent.delegates[name]
    assert (edge.tool, edge.description) == (tool, "Helps.")
    assert "delegate" in composition(compilation, "parent").agent.grants
