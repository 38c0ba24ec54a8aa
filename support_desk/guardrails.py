"""Policies of the example that need code."""

from __future__ import annotations

import re

from symc.contracts import PolicyRequest, PolicyVerdict

_CARD = re.compile(r"\b(?:\d[ -]?){13,19}\b")


async def no_card_numbers(request: PolicyRequest) -> PolicyVerdict:
    """Deny a call whose arguments hold what looks like a card number."""
    for name, value in request.arguments.items():
        if isinstance(value, str) and _CARD.search(value):
            return PolicyVerdict.DENY(f"the argument {name} looks like a card number")
    return PolicyVerdict.ALLOW
