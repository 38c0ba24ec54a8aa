"""Layout: fragments → one total order (docs/prompts.md §2), rendered and within budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symc.compose.link import OwnedPrompt
from symc.composition import CachePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFragment:
    """One fragment in its place, with its text as this agent sees it (a slot has none)."""

    source: OwnedPrompt
    text: str

    @property
    def id(self) -> str:
        """``owner/fragment_id``."""
        return f"{self.source.owner}/{self.source.prompt.fragment_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The ordered prompt of one agent; ``vars`` are the effective values of the variables its templates use."""

    fragments: tuple[PlacedFragment, ...] = ()
    cache_plan: CachePlan = CachePlan()
    vars: Mapping[str, object] = field(default_factory=dict)
