"""The reference of rules: the text of ``symc explain`` and docs/rules.md, both made from the table."""

from __future__ import annotations

import textwrap
from typing import Final

from symc.diff.model import Axis, Rule
from symc.diff.rules import TABLE, find

__all__ = ["TABLE", "explain", "find", "levels", "pages"]

_WIDTH: Final = 88
_TITLES: Final = {
    Axis.AUTHORITY: "1xx Authority: what an agent may do",
    Axis.BEHAVIOUR: "2xx Behaviour: what the model reads",
    Axis.INTERFACE: "3xx Interface: what callers depend on",
    Axis.NEUTRAL: "4xx Neutral",
}


def explain(word: str) -> str | None:
    """What a rule finds, an example and its level, as text for a terminal; None for an unknown one."""
    rule = find(word)
    if rule is None:
        return None
    return (
        "\n\n".join(
            (
                f"{rule.code} {rule.name} ({rule.axis}, {rule.level})",
                textwrap.fill(rule.purpose, _WIDTH, break_long_words=False, break_on_hyphens=False),
                "Example:",
                textwrap.indent(rule.example, "    "),
                _adjustable(rule),
            )
        )
        + "\n"
    )


def levels() -> dict[str, tuple[str, ...]]:
    """By code and by name, the levels that a workspace may give to each rule."""
    legal = {
        rule: tuple(level for level in ("error", "warn", "info", "off") if rule.accepts(level))
        for rule in TABLE
    }
    return {word: found for rule, found in legal.items() for word in (rule.code, rule.name)}


def pages() -> dict[str, str]:
    """The generated page, by its path below ``docs/``."""
    return {"rules.md": _page()}


def _adjustable(rule: Rule) -> str:
    if rule.axis is Axis.AUTHORITY:
        raised = "" if rule.level == "error" else "; a workspace may raise it"
        return f"Level {rule.level}; it cannot be lowered{raised}."
    if rule.floor is not None:
        return (
            f"Level {rule.level}; `rules` of the workspace may raise it, and not lower it below {rule.floor}."
        )
    return f"Level {rule.level}; `rules` of the workspace may set error, warn, info or off."


def _page() -> str:
    lines = [
        "# Rules of the diff",
        "",
        "<!-- Made from the table of rules by `symc explain --write`. -->",
        "",
        "Every change that `symc diff` shows has a rule with a code and a name; both are accepted wherever a rule is asked",
        "for. What the verdict is made of stands in [diff.md](diff.md).",
    ]
    for axis in Axis:
        rules = [rule for rule in TABLE if rule.axis is axis]
        lines += ["", f"## {_TITLES[axis]}", "", "| code | name | level |", "|---|---|---|"]
        lines += [
            f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.level} |"
            for rule in rules
        ]
        for rule in rules:
            lines += [
                "",
                f"### {rule.code} {rule.name}",
                "",
                rule.purpose,
                "",
                "```",
                rule.example,
                "```",
                "",
            ]
            lines += [_adjustable(rule)]
    return "\n".join(lines) + "\n"
