"""Provenance: for an item of one agent, who brought it, which line selected it, and what guards it (docs/policies.md §3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symc.compose.freeze import Composed
from symc.compose.link import BUILT_IN, Links, OwnedPolicy, Registration
from symc.compose.mint import MintedTool
from symc.compose.requirement import Requirement
from symc.compose.typesetting import PlacedFragment
from symc.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of an account: what is answered, the answer, and the place that says so."""

    question: str
    answer: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """All that is known of one item: its name, what it is, and the facts in reading order."""

    name: str
    kind: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """The items of one agent and where they come from."""

    composed: Composed
    links: Links
    _policies: Mapping[str, OwnedPolicy] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        policies = {owned.id: owned for owned in self.composed.agent.policies}
        object.__setattr__(self, "_policies", policies)

    def accounts(self, item: str) -> tuple[Account, ...]:
        """Every item of the agent that ``item`` names, in the order tool, delegate, fragment, policy, grant, extension.

        A tool goes by its exposed name or as ``extension/tool``, a fragment or policy as ``owner/id`` or by its id alone.
        """
        return tuple(self._accounts(item))

    def names(self) -> tuple[str, ...]:
        """Everything that can be asked for, sorted."""
        composed = self.composed
        found = {tool.name for tool in composed.tools}
        found.update("/".join(tool.base.identity) for tool in composed.tools)
        found.update(edge.tool for edge in composed.guards.delegates.values())
        found.update(fragment.id for fragment in composed.layout.fragments)
        found.update(fragment.source.prompt.fragment_id for fragment in composed.layout.fragments)
        found.update(self._policies)
        found.update(owned.policy.policy_id for owned in composed.agent.policies)
        found.update((*composed.guards.grants, *composed.agent.closure))
        return tuple(sorted(found))

    def _accounts(self, item: str) -> Iterator[Account]:
        composed = self.composed
        tools = [tool for tool in composed.tools if tool.name == item]
        # By its raw identity: the tool itself, which tells what is derived from it.
        tools = tools or [
            tool for tool in composed.tools if "/".join(tool.base.identity) == item and not tool.chain
        ]
        yield from (self._tool(tool) for tool in tools)
        for name, edge in composed.guards.delegates.items():
            if edge.tool == item:
                yield self._delegate(name)
        for number, fragment in enumerate(composed.layout.fragments, 1):
            if item in (fragment.id, fragment.source.prompt.fragment_id):
                yield self._fragment(number, fragment)
        for key, owned in self._policies.items():
            if item in (key, owned.policy.policy_id):
                yield self._policy(owned)
        if item in composed.guards.grants:
            yield self._grant(item)
        if item in composed.agent.closure:
            yield Account(item, "extension", tuple(self._brought(item)))

    def _tool(self, tool: MintedTool) -> Account:
        extension, raw = tool.base.identity
        facts = [
            Fact("is", f"{tool.derivation}{'' if tool.exposed else ', hidden: it cannot be called by name'}"),
            Fact("brought by", f"{extension}, as {raw}", tool.base.span("name")),
            *self._brought(extension),
            Fact("selected by", f'"{tool.base.selected_by}"', tool.base.place.span()),
        ]
        if tool.base.alias:
            facts.append(Fact("named by", f"`as: {tool.base.alias}`", tool.base.place.span("as")))
        elif tool.base.prefix:
            use = self.composed.agent.uses[extension].place
            facts.append(
                Fact("named by", f"the prefix {tool.base.prefix} of {extension}", use.span("prefix"))
            )
        for depth, layer in enumerate(tool.chain):
            below = self._name_of(tool, depth)
            registration = layer.registration
            facts += [
                Fact("derives from", f"{below} through {layer.name}", layer.place.span()),
                Fact(
                    "layer",
                    f"{registration.extension}/{layer.name}, a {layer.kind.value}",
                    _inside(registration),
                ),
            ]
        facts += [
            Fact("gives rise to", other.name, other.place.span())
            for other in self.composed.tools
            if other.base.identity == tool.base.identity
            and len(other.chain) == len(tool.chain) + 1
            and _keys(other)[:-1] == _keys(tool)
        ]
        facts += self._guards(self.composed.guards.guarded_by.get(tool.name, ()), "tool_call")
        return Account(tool.name, "variant" if tool.chain else "tool", tuple(facts))

    def _name_of(self, tool: MintedTool, depth: int) -> str:
        """The name of the tool that stands ``depth`` layers above the base of this one."""
        keys = _keys(tool)[:depth]
        return next(
            other.name
            for other in self.composed.tools
            if other.base.identity == tool.base.identity and _keys(other) == keys
        )

    def _delegate(self, name: str) -> Account:
        edge = self.composed.guards.delegates[name]
        child = self.links.agents[name]
        facts = [Fact("calls", f'agent "{name}"', child.manifest.span("name"))]
        for row, place in self.composed.agent.delegates:
            if row.agent == name:
                exceed = f"may exceed {', '.join(row.may_exceed)}" if row.may_exceed else "may exceed nothing"
                facts.append(Fact("delegated by", f"{place.owner}; {exceed}", place.span()))
        facts += self._guards((), "delegate")
        return Account(edge.tool, "delegate", tuple(facts))

    def _fragment(self, number: int, fragment: PlacedFragment) -> Account:
        owned = fragment.source
        prompt = owned.prompt
        count = len(self.composed.layout.fragments)
        kind = "slot" if fragment.is_slot else "template" if prompt.template else "text"
        facts = [
            Fact("brought by", f"{owned.owner} ({_whose(owned.owner_class)})", owned.place.span()),
            *(self._brought(owned.owner) if owned.owner_class == "extension" else ()),
            Fact("stands", f"{number} of {count} in the prompt"),
            Fact(
                "placed by",
                f"layer {prompt.layer}, tier {prompt.tier}, scope {prompt.scope}, order {prompt.order}",
            ),
            Fact("is", kind),
        ]
        return Account(fragment.id, "fragment", tuple(facts))

    def _policy(self, owned: OwnedPolicy) -> Account:
        policy, guards = owned.policy, self.composed.guards
        effect = "deny" if policy.deny else "ask" if policy.ask else "decide"
        facts = [
            Fact("brought by", f"{owned.owner} ({_whose(owned.owner_class)})", owned.place.span("policy_id")),
            *(self._brought(owned.owner) if owned.owner_class == "extension" else ()),
            Fact("says", _rule(owned), owned.place.span(effect)),
        ]
        tools = [name for name, keys in sorted(guards.guarded_by.items()) if owned.id in keys]
        effects = [name for name, keys in sorted(guards.effects.items()) if owned.id in keys]
        if tools:
            facts.append(Fact("guards", ", ".join(tools)))
        if effects:
            facts.append(Fact("guards", f"every {', '.join(effects)}"))
        if not tools and not effects:
            facts.append(Fact("guards", "nothing of this agent"))
        return Account(owned.id, "policy", tuple(facts))

    def _grant(self, effect: str) -> Account:
        facts = [
            Fact("granted by", place.owner, place.span())
            for granted, place in self.composed.agent.grants
            if granted == effect
        ]
        baseline = {
            "model_call": "every agent may call its model",
            "tool_call": "an agent that selects tools may call them" if self.composed.tools else "",
            "delegate": "an agent that names delegates may call them"
            if self.composed.agent.delegates
            else "",
        }.get(effect, "")
        if baseline:
            facts.append(Fact("granted by", f"the baseline: {baseline}"))
        facts += self._guards((), effect)
        return Account(effect, "grant", tuple(facts))

    def _guards(self, matching: Sequence[str], effect: str) -> list[Fact]:
        over_effect = self.composed.guards.effects.get(effect, ())
        if not matching and not over_effect:
            return [Fact("guarded by", "nothing")]
        return [
            Fact(
                "guarded by",
                f"{key}{f', over every {effect}' if key in over_effect else ''}: {_rule(self._policies[key])}",
                self._policies[key].place.span("policy_id"),
            )
            for key in sorted({*matching, *over_effect})
        ]

    def _brought(self, extension: str) -> Iterator[Fact]:
        """How the agent comes to the extension: it is used, or required by one that is."""
        way = self._way(extension)
        for name, required in zip(way[1:], way, strict=False):
            span = self.links.extensions[name].span("requires", self._requires(name).index(required))
            yield Fact("required by", name, span)
        place = self.composed.agent.uses[way[-1]].place
        yield Fact("used by", place.owner, place.span())

    def _way(self, extension: str) -> list[str]:
        """The extension, what requires it, … up to one that the agent uses; the shortest such way."""
        ways = deque([[extension]])
        seen = {extension}
        while ways[0][-1] not in self.composed.agent.uses:
            way = ways.popleft()
            for name in self.composed.agent.closure:
                if name not in seen and way[-1] in self._requires(name):
                    seen.add(name)
                    ways.append([*way, name])
        return ways[0]

    def _requires(self, name: str) -> list[str]:
        return [Requirement.parse(text).name for text in self.links.extensions[name].body.requires]


def _keys(tool: MintedTool) -> tuple[tuple[str, str, bytes], ...]:
    return tuple(layer.key for layer in tool.chain)


def _inside(registration: Registration) -> Span | None:
    """Where a tool extension is registered; those that ship with symc stand in no file of the workspace."""
    return None if registration.extension == BUILT_IN else registration.place.span()


def _rule(owned: OwnedPolicy) -> str:
    """The policy in a few words."""
    policy = owned.policy
    rule = policy.deny or policy.ask
    if rule is None:
        return f"asks {policy.decide}"
    when = "" if rule.when in (None, True, {}) else " where its `when` holds"
    return f"{'deny' if policy.deny else 'ask'}{when}" + (
        f" — {rule.reason.strip()}" if rule.reason.strip() else ""
    )


def _whose(owner_class: str) -> str:
    return {
        "workspace": "the workspace",
        "base": "a base",
        "agent": "the agent",
        "extension": "an extension",
    }[owner_class]
