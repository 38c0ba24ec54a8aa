"""Policies that match nothing, never fire or stand in a shadow; and what of a refused workspace is not said (P12)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from symc.compose import compile
from symc.diagnostics import Level
from symc.source import Workspace
from tests.policies.workspaces import Document, agent, ask, compiled, deny, extension, found, workspace

UNKNOWN, LAYER, NOTHING, NEVER, SHADOWED = (
    "policy-tool-unknown",
    "policy-layer-unknown",
    "policy-matches-nothing",
    "policy-never-fires",
    "policy-shadowed",
)
N = {"n": {"type": "integer"}}
OS = extension("os", {"read": N, "write": N})
WEB = extension("web", {"read": N, "fetch-page": N})
WHEN = {"properties": {"n": {"type": "integer", "minimum": 9}}, "required": ["n"]}


def of_desk(*policies: Document, tools: list[Any] | None = None, **more: Any) -> list[str]:
    """What is reported of these policies of an agent that selects the tools of `os`."""
    return found(compiled(OS, WEB, agent("desk", tools or ["os/*"], policies=list(policies), **more)))


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("os/read", []),
        ("web/read", []),  # in the workspace, though not selected here
        ("os/raed", [UNKNOWN]),
        ("desk/read", [UNKNOWN]),
        ("os/Read", [UNKNOWN]),
        ("web/fetch-page", []),
        ("web/fetch_page", [UNKNOWN]),  # a cleaned name is no name
        ("*/read", []),
        ("os/r*", []),
        ("os/x*", [NOTHING]),
        ("*/x*", [NOTHING]),
        ("nobody/*", [NOTHING]),
        ({"variant": "os/read", "chain": ["audit"]}, []),
        ({"variant": "os/read", "chain": ["std/audit"]}, []),
        ({"variant": "os/read", "chain": ["cache"]}, [NOTHING]),
        ({"variant": "os/raed", "chain": ["audit"]}, [UNKNOWN]),
        ({"variant": "os/read", "chain": ["adit"]}, [LAYER]),
        ({"variant": "os/read", "chain": ["audit", "adit"]}, [LAYER]),
    ],
    ids=json.dumps,
)
def test_what_a_selector_must_find(selector: Any, expected: list[str]) -> None:
    assert of_desk(deny("rule", selector), variants={"os/read": ["audit"]}) == expected


PX = [{"use": "os", "prefix": "px"}]
AS_SH = [{"tool": "os/read", "as": "sh"}]


@pytest.mark.parametrize(
    ("selector", "more", "meaning", "hint", "replacement"),
    [
        ("*/px_read", {"extensions": PX}, '"px_read" is os/read', 'write "os/read"', '"os/read"'),
        ("os/px_read", {"extensions": PX}, '"px_read" is os/read', 'write "os/read"', '"os/read"'),
        ("*/px_r*", {"extensions": PX}, '"px_read" is os/read', 'write "os/read"', '"os/read"'),
        (
            "*/px_*",
            {"extensions": PX},
            '"px_read" is os/read; "px_write" is os/write',
            'write "os/read", "os/write"',
            None,
        ),
        ("*/sh", {"tools": AS_SH}, '"sh" is os/read', 'write "os/read"', '"os/read"'),
        (
            {"variant": "os/sh", "chain": ["audit"]},
            {"tools": AS_SH},
            '"sh" is os/read',
            'write "os/read"',
            '"os/read"',
        ),
        (
            "*/read_audit",
            {"variants": {"os/read": ["audit"]}},
            '"read_audit" is os/read + audit',
            'write {variant: "os/read", chain: [audit]}',
            '{variant: "os/read", chain: [audit]}',
        ),
        # A tool stands for what is stacked on it.
        (
            "*/px_read*",
            {"extensions": PX, "variants": {"os/read": ["audit"]}},
            '"px_read" is os/read',
            'write "os/read"',
            '"os/read"',
        ),
        (
            "*/ask_other",
            {"delegates": ["other"]},
            '"ask_other" calls the delegate "other"',
            "write a rule with `actions: [delegate]`, without `tools`",
            None,
        ),
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("way", ["deny", "ask"])
def test_a_rule_that_names_a_tool_as_an_agent_does_is_refused(
    selector: Any, more: dict[str, Any], meaning: str, hint: str, replacement: str | None, way: str
) -> None:
    """P10: it would stop nothing, and nobody would notice until it is needed."""
    desk = agent("desk", **{"tools": ["os/*"], **more})
    rules = workspace(policies=[deny("rule", selector, way=way)])
    (one,) = compiled(OS, WEB, desk, agent("other"), rules).diagnostics
    assert one.code == "SYM414"
    assert one.level is Level.ERROR
    assert one.message.endswith(f"which is no tool's own name: {meaning}")
    assert one.secondary
    assert one.secondary[0].span.file == "desk.yaml"
    assert one.hint is not None
    assert one.hint.text == hint
    assert (one.hint.edit.replacement if one.hint.edit else None) == replacement


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("*/py_read", [NOTHING]),  # a name that nobody gives
        ("web/px_*", [NOTHING]),  # nor to a tool of this extension
        ("web/px_read", [UNKNOWN]),
        ("*/*read", []),  # it matches a raw name, too
    ],
)
def test_what_no_agent_calls_so_is_told_as_before(selector: str, expected: list[str]) -> None:
    assert of_desk(deny("rule", selector), extensions=PX) == expected


@pytest.mark.parametrize(
    ("written", "meant"), [("os/raed", "os/read"), ({"variant": "os/raed", "chain": ["audit"]}, "os/read")]
)
def test_the_nearest_name_is_offered_as_an_edit(written: Any, meant: str) -> None:
    one = compiled(OS, agent("desk", ["os/*"], policies=[deny("rule", written)])).diagnostics[0]
    assert one.hint is not None
    assert one.hint.text == f'did you mean "{meant}"?'
    assert one.hint.edit is not None
    assert one.hint.edit.replacement == f'"{meant}"'


@pytest.mark.parametrize(
    ("written", "replacement"),
    [("os/raed", "os/read"), ("'os/raed'", "'os/read'"), ("*name", None)],
)
def test_an_edit_is_written_as_the_name_was(written: str, replacement: str | None) -> None:
    text = f"kind: workspace\nx-name: &name os/raed\npolicies:\n  - policy_id: rule\n    deny: {{tools: [{written}]}}\n"
    files = {"os.yaml": json.dumps(OS).encode(), "workspace.yaml": text.encode()}
    (one,) = compile(Workspace.of(files)).diagnostics
    assert one.hint is not None
    edit = one.hint.edit
    assert (edit.replacement if edit else None) == replacement


def test_a_rule_of_an_extension_that_nobody_uses_is_judged_too() -> None:
    idle = extension("idle", {}, policies=[deny("rule", "os/raed")])
    assert found(compiled(OS, idle)) == [UNKNOWN]


def test_the_rule_of_a_base_is_judged_once_for_all_its_heirs() -> None:
    base = agent("base", ["os/*"], abstract=True, policies=[deny("rule", "os/x*")])
    heirs = [agent(f"heir-{i}", [], extends=["base"]) for i in range(3)]
    assert found(compiled(OS, base, *heirs)) == [NOTHING]


# What a refused document would have brought is not missed.


def broken(*documents: Document) -> list[str]:
    """What is reported of these documents beside an extension "bad" that is refused for an unknown key."""
    files = {f"{one['name']}.yaml": json.dumps(one).encode() for one in documents}
    files["bad.yaml"] = json.dumps(extension("bad", {"t": {}}, oops=1)).encode()
    return found(compile(Workspace.of(files)))


def test_names_of_a_refused_extension_are_not_reported() -> None:
    chained = {"variant": "os/read", "chain": ["bad/w"]}
    rules = [deny("a", "bad/t"), deny("b", "bad/*"), deny("c", "*/t*"), deny("d", chained)]
    assert broken(OS, agent("desk", ["os/*"], policies=rules)) == ["unknown-key"]
    # A name that no refused document can bring is reported all the same.
    assert broken(OS, agent("desk", ["os/*"], policies=[deny("e", "os/raed")])) == ["unknown-key", UNKNOWN]


# Never fires.


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (["tool_call"], []),
        (["delegate"], [NEVER]),
        (["tool_call", "model_call"], [NEVER]),
        (["memory_read", "delegate"], [NEVER, NEVER]),
    ],
)
def test_a_rule_over_tools_is_about_calling_them(actions: list[str], expected: list[str]) -> None:
    assert of_desk(deny("rule", "os/read", actions=actions)) == expected


def test_a_rule_about_something_else_guards_no_tool() -> None:
    compilation = compiled(
        OS, agent("desk", ["os/*"], policies=[deny("rule", "os/read", actions=["delegate"])])
    )
    assert compilation.lock is not None
    assert compilation.lock.agents["desk"].tools["read"].guarded_by == ()


# Shadows.


@pytest.mark.parametrize(
    ("other", "rule", "expected"),
    [
        (deny("all", "os/*"), deny("rule", "os/read", when=WHEN), [SHADOWED]),
        (deny("all", "os/*"), deny("rule", "os/read"), [SHADOWED]),
        (deny("all", "*/*"), deny("rule", "os/r*"), [SHADOWED]),
        (deny("all", "os/*"), ask("rule", "os/read"), [SHADOWED]),  # nobody is asked about what is denied
        (ask("all", "os/*"), ask("rule", "os/read", when=WHEN), [SHADOWED]),
        (ask("all", "os/*"), deny("rule", "os/read"), []),
        (deny("all", "os/*", when=WHEN), deny("rule", "os/read"), []),
        (deny("all", "os/read"), deny("rule", "os/read", "os/write", when=WHEN), []),
        (deny("all", "os/read", "os/write"), deny("rule", "os/read", "os/write"), [SHADOWED]),
        # Names of today's tools do not cover what a pattern will match tomorrow.
        (deny("all", "os/read", "os/write"), deny("rule", "os/*", when=WHEN), []),
        (deny("all", "os/r*"), deny("rule", "*/r*", when=WHEN), []),
        (deny("all", "os/*"), deny("rule", {"variant": "os/read", "chain": ["audit"]}), [SHADOWED]),
        (
            deny("all", {"variant": "os/read", "chain": ["audit"]}),
            deny("rule", {"variant": "os/read", "chain": ["audit", "cache"]}, when=WHEN),
            [SHADOWED],
        ),
        (deny("all", {"variant": "os/read", "chain": ["audit"]}), deny("rule", "os/read", when=WHEN), []),
        (deny("all", actions=["tool_call"]), deny("rule", "os/read"), [SHADOWED]),
        (deny("all", actions=["model_call"]), deny("rule", "os/read"), []),
        (deny("all", actions=["tool_call", "delegate"]), ask("rule", actions=["delegate"]), [SHADOWED]),
        (deny("all", actions=["delegate"]), ask("rule", actions=["tool_call", "delegate"]), []),
        ({"policy_id": "all", "decide": "m:f"}, deny("rule", "os/read"), []),
        (deny("all", "os/*"), {"policy_id": "rule", "decide": "m:f"}, []),
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("turned", [False, True])
def test_what_stands_in_a_shadow(other: Document, rule: Document, expected: list[str], turned: bool) -> None:
    policies = [rule, other] if turned else [other, rule]
    chained = {"os/read": ["audit", "cache"]}
    assert of_desk(*policies, variants=chained) == expected


def test_of_two_that_say_the_same_the_second_is_reported() -> None:
    compilation = compiled(OS, agent("desk", ["os/*"], policies=[deny("a", "os/read"), deny("b", "os/read")]))
    assert [one.message for one in compilation.diagnostics] == [
        'policy "desk/b" never decides: "desk/a" stops the same without a condition'
    ]


GUARD = extension("guard", {}, policies=[deny("all", "os/*")])


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        # The workspace's rule is everywhere, an agent's only with the agent.
        (
            [
                workspace(policies=[deny("all", "os/*")]),
                extension("own", {}, policies=[deny("r", "os/read")]),
            ],
            [SHADOWED],
        ),
        (
            [
                agent("desk", ["os/*"], policies=[deny("all", "os/*")]),
                extension("own", {}, policies=[deny("r", "os/read")]),
            ],
            [],
        ),
        # An extension's comes with whatever requires or uses it.
        ([GUARD, extension("own", {}, requires=["guard"], policies=[deny("r", "os/read")])], [SHADOWED]),
        ([GUARD, extension("own", {}, policies=[deny("r", "os/read")])], []),
        (
            [GUARD, agent("desk", ["os/*"], extensions=["os", "guard"], policies=[deny("r", "os/read")])],
            [SHADOWED],
        ),
        (
            [
                GUARD,
                workspace(extensions=["guard"]),
                agent("desk", ["os/*"], policies=[deny("r", "os/read")]),
            ],
            [SHADOWED],
        ),
        (
            [
                agent("base", ["os/*"], abstract=True, policies=[deny("all", "os/*")]),
                agent("desk", [], extends=["base"], policies=[deny("r", "os/read")]),
            ],
            [SHADOWED],
        ),
    ],
)
def test_a_shadow_falls_where_both_always_are(documents: list[Document], expected: list[str]) -> None:
    assert found(compiled(OS, *documents)) == expected


def test_what_stops_nothing_is_told_so_once() -> None:
    assert of_desk(deny("all", "os/*"), deny("rule", "os/read", when=False)) == [NEVER]
    assert of_desk(deny("all", "*/*"), deny("rule", "os/x*")) == [NOTHING]
