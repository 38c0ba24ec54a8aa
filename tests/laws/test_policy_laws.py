"""Laws of policies over random workspaces, against an evaluator that is written from the words of docs/policies.md.

The evaluator here knows nothing of the compiler: tools are pairs of names, patterns go through ``fnmatch``, a condition
is a number to reach.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from symc.compose import Compilation
from tests.policies.workspaces import Document, agent, compiled, composition, decided, extension, workspace

EXTENSIONS = ("os", "web")
RAW = ("read", "delete_all", "delete_one")
LAYERS = ("audit", "timeout", "batch")
PATTERNS = (
    "os/read",
    "web/delete_one",
    "os/*",
    "web/delete_*",
    "*/delete_*",
    "*/*",
    "os/d?lete_all",
    "*/[a-r]*",
)


@dataclass(frozen=True)
class Rule:
    """A rule as a person would write it down: who says it, how hard, about what, from which number on."""

    owner: str
    way: str
    selectors: tuple[Any, ...]
    least: int | None

    def written(self, policy_id: str) -> Document:
        rule: Document = {"tools": [_selector(one) for one in self.selectors]}
        if self.least is not None:
            rule["when"] = {
                "properties": {"n": {"type": "integer", "minimum": self.least}},
                "required": ["n"],
            }
        return {"policy_id": policy_id, self.way: rule}


@dataclass(frozen=True)
class Setting:
    """A workspace to make: the rules, and what the agents do to their tools."""

    rules: tuple[Rule, ...]
    prefix: str
    renamed: bool
    chains: tuple[tuple[str, ...], ...]


def _selector(one: Any) -> Any:
    return one if isinstance(one, str) else {"variant": "/".join(one[0]), "chain": list(one[1])}


_IDENTITY = st.tuples(st.sampled_from(EXTENSIONS), st.sampled_from(RAW))
_CHAIN = st.lists(st.sampled_from(LAYERS), min_size=1, max_size=2, unique=True).map(tuple)
_RULE = st.builds(
    Rule,
    owner=st.sampled_from(["workspace", "extension", "parent", "child"]),
    way=st.sampled_from(["deny", "ask"]),
    selectors=st.lists(st.sampled_from(PATTERNS) | st.tuples(_IDENTITY, _CHAIN), min_size=1, max_size=2).map(
        tuple
    ),
    least=st.none() | st.integers(0, 3),
)
_SETTING = st.builds(
    Setting,
    rules=st.lists(_RULE, max_size=4).map(tuple),
    prefix=st.sampled_from(["", "x"]),
    renamed=st.booleans(),
    chains=st.lists(_CHAIN, max_size=2, unique=True).map(tuple),
)


def made(setting: Setting, order: random.Random | None = None) -> Compilation:
    """The workspace: a parent with all tools as they are, and a child that renames, prefixes and wraps them."""
    numbered = [(f"r{number}", rule) for number, rule in enumerate(setting.rules)]
    rows: list[Any] = ["os/*", "web/*"]
    if setting.renamed:
        rows.append({"tool": "os/read", "as": "peek"})
    if order is not None:
        order.shuffle(numbered)
        order.shuffle(rows)

    def owned(owner: str) -> list[Document]:
        return [rule.written(name) for name, rule in numbered if rule.owner == owner]

    tools = {raw: {"n": {"type": "integer"}} for raw in RAW}
    web: Any = {"use": "web", "prefix": setting.prefix} if setting.prefix else {"use": "web", "prefix": "web"}
    child = agent("child", rows, extensions=["os", web], policies=owned("child"))
    if setting.chains:
        child["variants"] = {"*/*": [list(chain) for chain in setting.chains]}
    parent = agent("parent", ["os/*", "web/*"], extensions=["os", {"use": "web", "prefix": "w"}])
    parent |= {"delegates": ["child"], "policies": owned("parent")}
    documents = [
        workspace(extensions=["guard"], policies=owned("workspace")),
        extension("guard", {}, policies=owned("extension")),
        extension("os", tools),
        extension("web", tools),
        parent,
        child,
    ]
    if order is not None:
        order.shuffle(documents)
    return compiled(*documents)


# The words of docs/policies.md, and nothing else.


def names(selector: Any, identity: tuple[str, str], chain: tuple[str, ...]) -> int | None:
    """How deep in the tool's chain stands what the selector names (0: the tool itself); None if nothing of it (P10)."""
    if isinstance(selector, str):
        owner, _, glob = selector.partition("/")
        matches = owner in ("*", identity[0]) and fnmatchcase(identity[1], glob)
        return 0 if matches else None
    variant, layers = selector
    return len(layers) if variant == identity and chain[: len(layers)] == layers else None


def says(rule: Rule, identity: tuple[str, str], chain: tuple[str, ...], n: int | None) -> str:
    """What a rule says of a call: its own word, "code" where inner calls decide, or nothing (P11, V32)."""
    later = False
    for selector in rule.selectors:
        depth = names(selector, identity, chain)
        if depth is None:
            continue
        if rule.least is None:
            return rule.way
        if "batch" in chain[depth:]:
            later = True
        elif n is not None and n >= rule.least:
            return rule.way
    return "ask-code" if later else ""


def expected(rules: Sequence[Rule], identity: tuple[str, str], chain: tuple[str, ...], n: int | None) -> str:
    """Deny if any rule denies; ask if any asks; code if any is in the way; otherwise no objection (P1)."""
    said = {says(rule, identity, chain, n) for rule in rules}
    return next((word for word in ("deny", "ask", "ask-code") if word in said), "allow")


def calls(
    setting: Setting, compilation: Compilation, name: str
) -> list[tuple[str, tuple[str, str], tuple[str, ...]]]:
    """The exposed tools of an agent: name, identity, chain by bare names."""
    tools = composition(compilation, name).agent.tools.values()
    return [
        (tool.name, (tool.extension, tool.raw), tuple(layer.name for layer in tool.chain)) for tool in tools
    ]


@settings(max_examples=60, deadline=None)
@given(_SETTING, st.none() | st.integers(0, 4))
def test_a_decision_is_what_the_words_say(setting: Setting, n: int | None) -> None:
    compilation = made(setting)
    arguments = {} if n is None else {"n": n}
    own = [rule for rule in setting.rules if rule.owner != "parent"]
    for tool, identity, chain in calls(setting, compilation, "child"):
        alone = decided(compilation, "child", tool, arguments)
        assert alone.outcome == expected(own, identity, chain, n)
        through = decided(compilation, "child", tool, arguments, through=("parent",))
        assert through.outcome == expected(setting.rules, identity, chain, n)
    for tool, identity, chain in calls(setting, compilation, "parent"):
        rules = [rule for rule in setting.rules if rule.owner != "child"]
        assert decided(compilation, "parent", tool, arguments).outcome == expected(rules, identity, chain, n)


@settings(max_examples=40, deadline=None)
@given(_SETTING, st.randoms(use_true_random=False))
def test_order_never_matters(setting: Setting, order: random.Random) -> None:
    one, other = made(setting), made(setting, order)
    for name in ("parent", "child"):
        first, second = composition(one, name), composition(other, name)
        assert first.policies == second.policies
        assert first.agent == second.agent
    assert one.lock == other.lock


STRENGTH = ("allow", "ask-code", "ask", "deny")


@settings(max_examples=40, deadline=None)
@given(_SETTING, _RULE, st.none() | st.integers(0, 4))
def test_another_rule_never_weakens(setting: Setting, rule: Rule, n: int | None) -> None:
    before = made(setting)
    after = made(Setting((*setting.rules, rule), setting.prefix, setting.renamed, setting.chains))
    arguments = {} if n is None else {"n": n}
    for tool, _, _ in calls(setting, before, "child"):
        first = decided(before, "child", tool, arguments, through=("parent",))
        second = decided(after, "child", tool, arguments, through=("parent",))
        assert STRENGTH.index(second.outcome) >= STRENGTH.index(first.outcome)


@settings(max_examples=40, deadline=None)
@given(_SETTING, _IDENTITY, st.sampled_from(["workspace", "extension", "parent", "child"]))
def test_a_deny_on_a_tool_is_a_deny_on_all_that_comes_from_it(
    setting: Setting, identity: tuple[str, str], owner: str
) -> None:
    rule = Rule(owner, "deny", ("/".join(identity),), None)
    compilation = made(Setting((*setting.rules, rule), setting.prefix, setting.renamed, setting.chains))
    mine = [call for call in calls(setting, compilation, "child") if call[1] == identity]
    assert len(mine) >= 1
    for tool, _, _ in mine:
        assert decided(compilation, "child", tool, {}, through=("parent",)).outcome == "deny"
        if owner != "parent":
            assert decided(compilation, "child", tool, {}).outcome == "deny"


@settings(max_examples=40, deadline=None)
@given(_SETTING)
def test_what_guards_a_tool_is_what_names_it(setting: Setting) -> None:
    compilation = made(setting)
    child = composition(compilation, "child").agent
    owners = {"workspace": "acme", "extension": "guard", "child": "child"}
    for tool, identity, chain in calls(setting, compilation, "child"):
        wanted = sorted(
            f"{owners[rule.owner]}/r{number}"
            for number, rule in enumerate(setting.rules)
            if rule.owner in owners and any(names(one, identity, chain) is not None for one in rule.selectors)
        )
        assert list(child.tools[tool].guarded_by) == wanted
