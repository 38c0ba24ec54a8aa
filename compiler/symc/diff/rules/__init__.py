"""The table of rules: one row for each kind of change, with the function that finds it (docs/rules.md)."""

from __future__ import annotations

from symc.diff.model import Rule
from symc.diff.rules import delegation, grants, interface, means, models, neutral, places, prompts, vetoes

_MODULES = (grants, delegation, vetoes, means, prompts, places, models, interface, neutral)

TABLE: tuple[Rule, ...] = tuple(
    sorted((row for module in _MODULES for row in module.RULES), key=lambda row: row.code)
)
"""Every rule, ordered by number: 1xx authority, 2xx behaviour, 3xx interface, 4xx neutral."""


def find(code_or_name: str) -> Rule | None:
    """The row with this code (``SYD101``, any case) or this name (``grant-widened``), else None."""
    wanted = code_or_name.strip()
    for row in TABLE:
        if row.code == wanted.upper() or row.name == wanted.lower():
            return row
    return None
