"""Ways past a rule that were found in other systems: a new name, an allow from elsewhere, an agent that asks another.

The folders in ``tests/cases/policies/`` hold one workspace each and what is expected of it; the combinations are
generated.
"""

from __future__ import annotations

import json
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import pytest

from symc.composition import BoundTool
from tests.policies.workspaces import (
    Document,
    agent,
    compiled,
    composition,
    decided,
    deny,
    extension,
    folder,
    found,
    workspace,
)

CASES = Path(__file__).parents[1] / "cases" / "policies"


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    compilation = folder(case / "manifests")
    reported = compilation.diagnostics
    assert [(one.name, one.primary.file, one.primary.start.line) for one in reported] == [
        (row["name"], row["file"], row["line"]) for row in expected["diagnostics"]
    ]
    for one, row in zip(reported, expected["diagnostics"], strict=True):
        assert row["says"] in one.message
    if "guarded_by" in expected:
        assert compilation.lock is not None
        assert {
            name: {tool.name: list(tool.guarded_by) for tool in one.tools.values()}
            for name, one in compilation.lock.agents.items()
        } == expected["guarded_by"]


# A deny follows its tool (O-21): rename × prefix × chain × who denies × how it is written × delegation.

RENAMES = (None, "helper")
PREFIXES = ("", "x")
CHAINS: tuple[tuple[Any, ...], ...] = (
    (),
    ("cache",),
    ("cache", "audit"),
    ("batch",),
    ("audit", "batch"),
    ("batch", "cache"),
    ("process",),
)
EXPOSED = ("all", "only")
SELECTORS = ("os/shell", "os/*", "*/sh?ll")
WAYS = ((), ("parent",), ("grandparent", "parent"))
FORBIDDEN = {"properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]}


def leaf(rename: str | None, prefix: str, chain: tuple[str, ...], expose: str) -> Document:
    use: Any = {"use": "os", "prefix": prefix} if prefix else "os"
    row: Any = {"tool": "os/shell", "as": rename} if rename else "os/shell"
    variants = {"os/shell": [{"chain": list(chain), "expose": expose}]} if chain else {}
    return agent("leaf", [row], extensions=[use], variants=variants)


def combinations() -> list[tuple[Document, str, str, tuple[str, ...], bool]]:
    """Every agent that gives `os/shell` other names, the rule, who writes it, who calls the agent, and a condition."""
    return [
        (leaf(rename, prefix, chain, expose), selector, owner, way, conditional)
        for rename, prefix, chain, expose, selector, way, conditional in product(
            RENAMES, PREFIXES, CHAINS, EXPOSED, SELECTORS, WAYS, (False, True)
        )
        for owner in (("workspace", "leaf") if not way else (way[0],))
        if chain or expose == "all"
    ]


def escapes(
    document: Document, selector: str, owner: str, way: tuple[str, ...], conditional: bool
) -> list[str]:
    """The tools of the leaf that a forbidden call gets through, called by name or from within."""
    rule = deny("no-shell", selector, when=FORBIDDEN if conditional else None)
    documents = [extension("os", {"shell": {"n": {"type": "integer"}}}), document]
    for caller, callee in pairwise((*way, "leaf")):
        documents.append(agent(caller, ["os/shell"], delegates=[callee]))
    if owner == "workspace":
        documents.append(workspace(policies=[rule]))
    else:
        next(one for one in documents if one["name"] == owner)["policies"] = [rule]
    compilation = compiled(*documents)
    assert compilation.lock is not None, compilation.diagnostics
    tools = composition(compilation, "leaf").agent.tools.values()
    assert {(tool.extension, tool.raw) for tool in tools} == {("os", "shell")}
    return [tool.name for tool in tools if not _is_stopped(compilation, tool, way, conditional)]


def _is_stopped(compilation: Any, tool: BoundTool, way: tuple[str, ...], conditional: bool) -> bool:
    """Whether the forbidden call is denied: where the tool is called, or at the base that its layers call in turn.

    A layer that makes arguments of its own leaves the condition to the base; then the base must be denied to it.
    """
    makes_its_own = any(layer.name == "batch" for layer in tool.chain)
    arguments = {"calls": [{"n": 5}]} if makes_its_own else {"n": 5}
    outer = decided(compilation, "leaf", tool.name, arguments, through=way)
    if outer.outcome == "deny":
        return True
    base = next(one for one in composition(compilation, "leaf").agent.tools.values() if not one.is_variant)
    inner = decided(
        compilation,
        "leaf",
        base.name,
        {"n": 5},
        through=way,
        origin=tool.chain[0].name if tool.chain else "model",
    )
    return conditional and makes_its_own and outer.outcome == "ask-code" and inner.outcome == "deny"


def test_there_are_enough_combinations() -> None:
    assert len(combinations()) >= 200


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("way", WAYS, ids=" > ".join)
def test_no_name_leads_past_a_deny(selector: str, way: tuple[str, ...]) -> None:
    mine = [one for one in combinations() if one[1] == selector and one[3] == way]
    assert mine
    assert [(one, tools) for one in mine if (tools := escapes(*one))] == []


def test_an_agent_without_the_rule_is_not_stopped() -> None:
    # The combinations prove something: without the rule, everything gets through.
    documents = [
        extension("os", {"shell": {"n": {"type": "integer"}}}),
        leaf("helper", "x", ("cache",), "all"),
    ]
    compilation = compiled(*documents)
    assert {decided(compilation, "leaf", name, {"n": 5}).outcome for name in ("helper", "helper_cache")} == {
        "allow"
    }


# Allow never beats deny (O-22).

SHELL = extension("os", {"shell": {}})
ROOT = workspace(policies=[deny("shell", "os/shell")])
DESK = agent("desk", ["os/shell"])


@pytest.mark.parametrize(
    "more", [{}, {"priority": 1000}, {"override": True}, {"priority": 1000, "override": True}], ids=json.dumps
)
def test_an_allow_is_refused_in_whatever_dress(more: dict[str, Any]) -> None:
    allowing = SHELL | {"policies": [{"policy_id": "shell", "allow": {"tools": ["os/shell"]}, **more}]}
    for order in permutations([ROOT, allowing, DESK]):
        compilation = compiled(*order)
        assert compilation.lock is None
        assert "allow-is-no-authority" in found(compilation)
    with_priority = SHELL | {"policies": [deny("other", "os/shell", way="ask", **more)]}
    assert found(compiled(ROOT, with_priority, DESK)) == (["unknown-key"] * len(more) or ["policy-shadowed"])


def test_a_deny_holds_whoever_else_speaks_of_the_tool_in_whatever_order() -> None:
    asking = SHELL | {"policies": [deny("shell", "os/shell", way="ask"), deny("other", "*/*", way="ask")]}
    locks = []
    for order in permutations([ROOT, asking, DESK]):
        compilation = compiled(*order)
        assert decided(compilation, "desk", "shell").rules == ("acme/shell",)
        locks.append(compilation.lock)
    assert all(lock == locks[0] for lock in locks)


# A sub-agent holds no more than its parent, and the parent's rules reach it (O-23).


def test_the_parents_denies_are_the_childs_through_the_parent() -> None:
    parent = agent("parent", ["os/shell"], delegates=["child"], policies=[deny("no-shell", "os/shell")])
    child = agent("child", [{"tool": "os/shell", "as": "run"}])
    compilation = compiled(SHELL, parent, child)
    assert found(compilation) == []
    assert decided(compilation, "child", "run").outcome == "allow"
    assert decided(compilation, "child", "run", through=("parent",)).rules == ("parent/no-shell",)
