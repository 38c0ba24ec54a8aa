"""The closed word lists (docs/prompts.md §1, docs/policies.md P3)."""

from __future__ import annotations

import pytest

from symc.contracts import vocabulary
from symc.contracts.vocabulary import is_authored, is_learned, is_order, scopes_of


def test_the_words_and_their_order() -> None:
    assert vocabulary.LAYERS == ("l0", "l1", "l2")
    assert vocabulary.TIERS == ("platform", "operating", "profile", "session")
    assert vocabulary.SCOPES == ("deployment", "tenant", "profile")
    assert vocabulary.EFFECTS == ("model_call", "tool_call", "delegate", "memory_read", "memory_write")
    assert vocabulary.ACTIONS == vocabulary.EFFECTS


@pytest.mark.parametrize(
    ("tier", "learned", "scopes"),
    [
        ("platform", False, ("deployment",)),
        ("operating", False, ("deployment", "tenant")),
        ("profile", True, ("deployment", "tenant", "profile")),
        ("session", True, ("deployment", "tenant", "profile")),
    ],
)
def test_what_a_tier_says(tier: str, learned: bool, scopes: tuple[str, ...]) -> None:
    assert is_learned(tier) is learned
    assert is_authored(tier) is not learned
    assert scopes_of(tier) == scopes


@pytest.mark.parametrize("tier", ["Platform", "", "learned", "tenant"])
def test_a_word_that_is_no_tier_has_no_class(tier: str) -> None:
    for ask in (is_learned, is_authored, scopes_of):
        with pytest.raises(ValueError, match="is no tier"):
            ask(tier)


@pytest.mark.parametrize(
    ("value", "legal"),
    [
        (0, True),
        (9999, True),
        (-1, False),
        (10_000, False),
        (True, False),
        (1.0, False),
        ("1", False),
        (None, False),
    ],
)
def test_orders(value: object, legal: bool) -> None:
    assert is_order(value) is legal
