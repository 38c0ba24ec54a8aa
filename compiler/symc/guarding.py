"""Guarding: which policies match which tools and effects, from raw identities and chains alone.

The compiler records it, the runtime computes it again and refuses a difference (docs/policies.md §2, P10–P11;
docs/lockfile.md §3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symc.composition import BoundTool, Layer, Policy, Selector
from symc.contracts.patterns import ToolPattern


def selects(selector: Selector, extension: str, raw: str, chain: tuple[Layer, ...] = ()) -> bool:
    """Whether a rule's selector names the tool with this raw identity and chain, or what it was derived from.

    Raises ``ValueError`` for a pattern that is none.
    """
    if selector.variant:
        # P10: the variant and what is stacked on it, not its base.
        return (
            selector.variant == f"{extension}/{raw}"
            and len(selector.chain) <= len(chain)
            and all(map(_is_layer, selector.chain, chain))
        )
    # P11: the chain plays no role, nor do the exposed name, prefix and `as`: what a variant is derived from is its base.
    return ToolPattern.parse(selector.pattern).matches(extension, raw)


def _is_layer(written: str, layer: Layer) -> bool:
    """Whether ``written``, a bare name or ``extension/name``, names the layer; a bare one names all of that name."""
    return written in (layer.name, f"{layer.extension}/{layer.name}")


def guards_tool(policy: Policy, tool: BoundTool) -> bool:
    """Whether the policy names this tool of an agent; False for a policy over effects."""
    return policy.tools is not None and any(
        selects(selector, tool.extension, tool.raw, tool.chain) for selector in policy.tools
    )


def guards_effect(policy: Policy, effect: str) -> bool:
    """Whether the policy guards the effect whatever the tool is; without ``actions`` it guards every one."""
    return policy.tools is None and (not policy.actions or effect in policy.actions)


def tool_guards(policies: Mapping[str, Policy], tools: Iterable[BoundTool]) -> dict[str, tuple[str, ...]]:
    """For each tool's name, the sorted ids of the policies that name it; ``policies`` are by ``owner/policy_id``."""
    naming = [(key, policies[key]) for key in sorted(policies) if policies[key].tools is not None]
    return {tool.name: tuple(key for key, policy in naming if guards_tool(policy, tool)) for tool in tools}


def effect_guards(policies: Mapping[str, Policy], effects: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each effect that some policy guards without naming tools, the sorted ids of those policies."""
    found = {
        effect: tuple(key for key in sorted(policies) if guards_effect(policies[key], effect))
        for effect in sorted(effects)
    }
    return {effect: ids for effect, ids in found.items() if ids}
