"""Guard: policies and grants → what stops what, and what is uncovered, unreachable or widened (docs/policies.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symc.composition import Delegate


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """The policy side of one agent.

    ``guarded_by`` gives, for each tool name (variants included), the ids ``owner/policy_id`` that match it, sorted;
    ``effects``, for each granted effect, the policies that guard it without naming tools; ``grants`` are the baseline
    plus the agent's own, sorted.
    """

    guarded_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    delegates: Mapping[str, Delegate] = field(default_factory=dict)
