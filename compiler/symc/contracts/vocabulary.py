"""The closed word lists of the contracts: layers, tiers, scopes, effects (docs/prompts.md §1, docs/policies.md P3).

All are case-sensitive, and ordered as the layout orders them. Ask the functions; never compare tier strings.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = [
    "ACTIONS",
    "AUTHORED_TIERS",
    "DEFAULT_ORDER",
    "EFFECTS",
    "LAYERS",
    "LEARNED_TIERS",
    "MAX_ORDER",
    "SCOPES",
    "TIERS",
    "Effect",
    "Layer",
    "Scope",
    "Tier",
    "is_authored",
    "is_learned",
    "is_order",
    "scopes_of",
]

Layer: TypeAlias = Literal["l0", "l1", "l2"]
Tier: TypeAlias = Literal["platform", "operating", "profile", "session"]
Scope: TypeAlias = Literal["deployment", "tenant", "profile"]
Effect: TypeAlias = Literal["model_call", "tool_call", "delegate", "memory_read", "memory_write"]

LAYERS: Final[tuple[Layer, ...]] = ("l0", "l1", "l2")
"""Lifetime of the bytes: kernel, fixed while the lock is, may differ each turn."""

AUTHORED_TIERS: Final[tuple[Tier, ...]] = ("platform", "operating")
"""Classes of authority that only the operator writes, highest first."""

LEARNED_TIERS: Final[tuple[Tier, ...]] = ("profile", "session")
"""Classes of authority that are open to extensions, highest first."""

TIERS: Final[tuple[Tier, ...]] = AUTHORED_TIERS + LEARNED_TIERS

SCOPES: Final[tuple[Scope, ...]] = ("deployment", "tenant", "profile")
"""Who shares the same bytes, widest first."""

EFFECTS: Final[tuple[Effect, ...]] = ("model_call", "tool_call", "delegate", "memory_read", "memory_write")
"""What a request may do, and what an operator grants."""

ACTIONS: Final[tuple[Effect, ...]] = EFFECTS
"""What a policy can be about: exactly the effects."""

DEFAULT_ORDER: Final = 100
MAX_ORDER: Final = 9999

_SCOPES_OF: Final[dict[str, tuple[Scope, ...]]] = {
    "platform": ("deployment",),
    "operating": ("deployment", "tenant"),
    "profile": SCOPES,
    "session": SCOPES,
}


def is_learned(tier: str) -> bool:
    """Whether text of `tier` came from outside the operator; ValueError for a word that is no tier."""
    if tier not in TIERS:
        raise ValueError(f'"{tier}" is no tier; the tiers are {", ".join(TIERS)}')
    return tier in LEARNED_TIERS


def is_authored(tier: str) -> bool:
    """Whether only the operator may write text of `tier`; ValueError for a word that is no tier."""
    return not is_learned(tier)


def scopes_of(tier: str) -> tuple[Scope, ...]:
    """The scopes a fragment of `tier` may have, widest first (docs/prompts.md §1); ValueError for no tier."""
    is_learned(tier)
    return _SCOPES_OF[tier]


def is_order(value: object) -> bool:
    """Whether `value` is an integer in 0..9999; a bool is none (X-14)."""
    return type(value) is int and 0 <= value <= MAX_ORDER
