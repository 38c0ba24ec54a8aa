"""Guard as a stage: what it records is what everybody else computes, and its cost (docs/policies.md §3)."""

from __future__ import annotations

import pytest

from symc.contracts.patterns import ToolPattern
from symc.guarding import effect_guards, tool_guards
from symc.lock import dumps, loads, verify
from tests.policies.workspaces import Document, agent, compiled, composition, deny, extension, workspace

TOOLS: dict[str, Document] = {f"t{number}": {} for number in range(6)}


def team(agents: int, extensions: int = 4) -> list[Document]:
    """A workspace with a guardrail over everything, rules of each extension, and agents that use all of them."""
    names = [f"e{number}" for number in range(extensions)]
    return [
        workspace(policies=[deny("never", "*/t5")]),
        *(
            extension(
                name, TOOLS, policies=[deny("own", f"{name}/t1", f"{name}/t[23]"), deny("one", f"{name}/t0")]
            )
            for name in names
        ),
        *(
            agent(
                f"a{number}",
                [f"{name}/*" for name in names],
                extensions=[{"use": name, "prefix": name} for name in names],
                variants={"*/t1": ["audit", "cache"]},
                policies=[
                    deny("mine", "e0/*", way="ask"),
                    deny("fresh", {"variant": "e1/t1", "chain": ["audit", "cache"]}),
                    {"policy_id": "code", "decide": "m:f"},
                ],
            )
            for number in range(agents)
        ),
    ]


def test_what_is_recorded_is_what_the_runtime_computes() -> None:
    compilation = compiled(*team(2))
    one = composition(compilation, "a0")
    recorded = {name: tool.guarded_by for name, tool in one.agent.tools.items()}
    assert recorded == tool_guards(one.policies, one.agent.tools.values())
    assert recorded["e1_t1_audit_cache"] == ("a0/fresh", "e1/own")
    assert recorded["e1_t1_audit"] == ("e1/own",)
    assert recorded["e0_t5"] == ("a0/mine", "acme/never")
    assert one.agent.effects == effect_guards(one.policies, one.agent.grants)
    assert one.agent.effects["tool_call"] == ("a0/code",)
    assert compilation.lock is not None
    verify(loads(dumps(compilation.lock)))


def test_patterns_are_matched_once_a_workspace_and_not_once_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    matches = ToolPattern.matches

    def counted(self: ToolPattern, owner: str, name: str) -> bool:
        nonlocal calls
        calls += 1
        return matches(self, owner, name)

    monkeypatch.setattr(ToolPattern, "matches", counted)
    costs = []
    for agents in (1, 40):
        calls = 0
        assert compiled(*_plain(team(agents))).ok
        costs.append(calls)
    assert costs[0] == costs[1] > 0


def _plain(documents: list[Document]) -> list[Document]:
    """The same, with agents that select tools by name and have no rules of their own."""
    return [
        one | {"policies": [], "variants": {}, "tools": [f"e0/t{number}" for number in range(6)]}
        if one["kind"] == "agent"
        else one
        for one in documents
    ]
