"""Layout: fragments → one total order (docs/prompts.md §2), rendered and within budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from symc.compose.budget import Sized, over_budget
from symc.compose.link import LinkedAgent
from symc.compose.typesetting import PlacedFragment, Typesetter
from symc.composition import CachePlan
from symc.diagnostics import Diagnostic
from symc.rendering import joined, piece

__all__ = ["Layout", "PlacedFragment", "layout", "render"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The ordered prompt of one agent, slots included.

    ``vars`` are the values that workspace, bases or agent give to the variables its templates use, by name or
    ``extension.name``; the defaults stand with their extensions.
    """

    fragments: tuple[PlacedFragment, ...] = ()
    cache_plan: CachePlan = field(default_factory=CachePlan)
    vars: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def layout(agent: LinkedAgent, typesetter: Typesetter) -> Layout:
    """The prompt of ``agent``: every fragment set, in the one order there is, within its budgets."""
    found = typesetter.fragments(agent)
    fragments = tuple(sorted(found.fragments, key=lambda fragment: fragment.rank))
    # What a missing document declares, replaces or limits is not known.
    faults = () if agent.is_partial else found.diagnostics
    static = [fragment for fragment in fragments if not fragment.is_slot]
    if not agent.lacks_base and _has_budget(agent):
        sizes = [Sized(each.source, len(each.text), len(_piece(each))) for each in static]
        faults += over_budget(agent, sizes)
    return Layout(
        fragments=fragments,
        cache_plan=_cache_plan(static),
        vars=dict(sorted(found.vars.items())),
        diagnostics=faults,
    )


def _has_budget(agent: LinkedAgent) -> bool:
    return agent.limits.prompt_chars is not None or agent.limits.extension_prompt_chars is not None


def _cache_plan(static: list[PlacedFragment]) -> CachePlan:
    """Where a prompt cache may break: after what the whole deployment shares, and after the last fixed text (§6)."""
    shared = list(takewhile(lambda fragment: fragment.source.prompt.scope == "deployment", static))
    return CachePlan(
        deployment=shared[-1].id if shared else "",
        static=static[-1].id if static else "",
    )


def render(found: Layout) -> str:
    """The static prompt, exactly as the model receives it; slots add to it at run time."""
    return joined(_piece(fragment) for fragment in found.fragments if not fragment.is_slot)


def _piece(fragment: PlacedFragment) -> str:
    prompt = fragment.source.prompt
    return piece(fragment.id, fragment.text, tier=prompt.tier, truncated=prompt.truncated)
