"""Guarding: which policies match which tools and effects, from raw identities and chains alone.

The compiler records it, the runtime computes it again and refuses a difference (docs/policies.md §2, P10–P11;
docs/lockfile.md §3). Who guards what is found from the policies' side: a selector is looked up among tools by identity,
so the cost follows what is matched, not policies times tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from symc.composition import BoundTool, Extension, Layer, Policy, Selector, ToolExtension
from symc.contracts.kinds import ExtensionKind
from symc.contracts.patterns import ToolPattern

Identity: TypeAlias = tuple[str, str]
"""Extension and raw name of a tool: what selectors match, whatever the tool is called in an agent (P10)."""

TOOL_CALL: Final = "tool_call"
"""The effect of calling a tool: what a rule over tools is about."""


@lru_cache(maxsize=1 << 16)
def pattern(text: str) -> ToolPattern:
    """The pattern of a text, which is written once and asked for many times; ``ValueError`` when it is none."""
    return ToolPattern.parse(text)


@dataclass(frozen=True, slots=True)
class Roster:
    """Tools by extension and raw name, so that a selector looks only at those it may name."""

    by_extension: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, identities: Iterable[Identity]) -> Roster:
        """The roster of these tools; one that is given twice stands once."""
        found: dict[str, set[str]] = {}
        for extension, raw in identities:
            found.setdefault(extension, set()).add(raw)
        return cls({extension: frozenset(names) for extension, names in found.items()})

    def matching(self, wanted: ToolPattern) -> Iterator[Identity]:
        """The tools that the pattern matches."""
        owners = self.by_extension if wanted.extension is None else (wanted.extension,)
        for owner in owners:
            names = self.by_extension.get(owner, frozenset())
            if wanted.literal:
                if wanted.name in names:
                    yield owner, wanted.name
            else:
                yield from ((owner, name) for name in names if wanted.matches(owner, name))


@dataclass(frozen=True, slots=True)
class Reach:
    """What a policy matches among the tools of a roster.

    ``tools`` are named as such, and so is everything derived from them (P11); ``variants`` are the selectors that name
    one variant each, and what is stacked on it.
    """

    tools: frozenset[Identity] = frozenset()
    variants: tuple[Selector, ...] = ()


_NOTHING: Final = Reach()


def reach(policy: Policy, roster: Roster) -> Reach:
    """What the policy matches; nothing for one over effects, and for one that is not about calls of tools.

    Raises ``ValueError`` for a pattern that is none.
    """
    if policy.tools is None or (policy.actions and TOOL_CALL not in policy.actions):
        return _NOTHING
    return Reach(
        frozenset(
            identity
            for selector in policy.tools
            if not selector.variant
            for identity in roster.matching(pattern(selector.pattern))
        ),
        tuple(selector for selector in policy.tools if selector.variant),
    )


def is_stacked_on(selector: Selector, identity: Identity, chain: tuple[Layer, ...]) -> bool:
    """Whether the tool is the variant that the selector names, or stands on it; its base does not (P10)."""
    return (
        selector.variant == "/".join(identity)
        and len(selector.chain) <= len(chain)
        and all(map(_is_layer, selector.chain, chain))
    )


def _is_layer(written: str, layer: Layer) -> bool:
    """Whether ``written``, a bare name or ``extension/name``, names the layer; a bare one names all of that name."""
    return written in (layer.name, f"{layer.extension}/{layer.name}")


def guards_effect(policy: Policy, effect: str) -> bool:
    """Whether the policy guards the effect whatever the tool is; without ``actions`` it guards every one."""
    return policy.tools is None and (not policy.actions or effect in policy.actions)


def tool_guards(policies: Mapping[str, Policy], tools: Iterable[BoundTool]) -> dict[str, tuple[str, ...]]:
    """For each tool's name, the sorted ids of the policies that match it; ``policies`` are by ``owner/policy_id``.

    Raises ``ValueError`` for a pattern that is none.
    """
    bound = tuple(tools)
    roster = Roster.of((tool.extension, tool.raw) for tool in bound)
    reaches = {key: reach(policy, roster) for key, policy in policies.items() if policy.tools is not None}
    return guards(reaches, {tool.name: ((tool.extension, tool.raw), tool.chain) for tool in bound})


def guards(
    reaches: Mapping[str, Reach], tools: Mapping[str, tuple[Identity, tuple[Layer, ...]]]
) -> dict[str, tuple[str, ...]]:
    """For each tool's name, the sorted ids of the policies whose reach covers its identity and chain."""
    by_identity: dict[Identity, list[str]] = {identity: [] for identity, _ in tools.values()}
    stacked: dict[Identity, list[tuple[str, Selector]]] = {}
    for key in sorted(reaches):
        one = reaches[key]
        # A policy may match half the workspace, an agent may have a hundred tools: the smaller side is walked.
        if len(one.tools) < len(by_identity):
            hit = [identity for identity in one.tools if identity in by_identity]
        else:
            hit = [identity for identity in by_identity if identity in one.tools]
        for identity in hit:
            by_identity[identity].append(key)
        for selector in one.variants:
            extension, _, raw = selector.variant.partition("/")
            stacked.setdefault((extension, raw), []).append((key, selector))
    whole = {identity: tuple(keys) for identity, keys in by_identity.items()}
    found: dict[str, tuple[str, ...]] = {}
    for name, (identity, chain) in tools.items():
        found[name] = whole[identity]
        if chain and identity in stacked:
            more = {key for key, selector in stacked[identity] if is_stacked_on(selector, identity, chain)}
            found[name] = tuple(sorted(more.union(whole[identity])))
    return found


def effect_guards(policies: Mapping[str, Policy], effects: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each effect that some policy guards without naming tools, the sorted ids of those policies."""
    found = {
        effect: tuple(key for key in sorted(policies) if guards_effect(policies[key], effect))
        for effect in sorted(effects)
    }
    return {effect: ids for effect, ids in found.items() if ids}


def named_depths(policy: Policy, tool: BoundTool) -> tuple[int, ...]:
    """How many layers stand below each tool that the policy names in this one's derivation, outermost first.

    0 is the base, the length of the chain the tool itself. A policy over effects is over every call, so over each inner
    one, too.
    """
    if policy.tools is None:
        return tuple(range(len(tool.chain), -1, -1))
    identity = (tool.extension, tool.raw)
    depths = set()
    for selector in policy.tools:
        if selector.variant:
            if is_stacked_on(selector, identity, tool.chain):
                depths.add(len(selector.chain))
        elif pattern(selector.pattern).matches(*identity):
            depths.add(0)
    return tuple(sorted(depths, reverse=True))


def arguments_at(
    depth: int, tool: BoundTool, extensions: Mapping[str, Extension], arguments: Mapping[str, Any]
) -> Mapping[str, Any] | Layer:
    """The arguments with which a call of the tool reaches the one below its last layers but ``depth``.

    A rule's condition sees the arguments of the tool it names (docs/variants.md V32): a wrapper keeps its own parameters
    to itself. What a transformer makes of a call is not known before it runs: then the answer is that layer.
    """
    seen = dict(arguments)
    for layer in reversed(tool.chain[depth:]):
        registered = extensions[layer.extension].tool_extensions[layer.name]
        if not _passes_on(registered):
            return layer
        for name in registered.reserved_params:
            seen.pop(name, None)
    return seen


_RECEIVED: Final[Mapping[str, str]] = {"$ref": "symc:input"}
"""The input schema of a layer that presents exactly what it received."""


def _passes_on(registered: ToolExtension) -> bool:
    """Whether a layer hands on the arguments it is given, without its own parameters."""
    kind = ExtensionKind(registered.kind)
    return (
        kind.preserves_schema
        or registered.input_schema == _RECEIVED
        or (not kind.declares_schema and registered.input_schema is None)
    )
