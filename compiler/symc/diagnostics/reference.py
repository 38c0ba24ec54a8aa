"""The reference of codes: the text of ``symc explain`` and the pages of ``docs/errors/``, both made from the table.

Source: docs/diagnostics.md §1.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from symc.diagnostics.codes import TABLE, find
from symc.diagnostics.record import Code

RANGES: Mapping[str, tuple[str, str]] = {
    "0": ("reading", "Reading and YAML"),
    "1": ("shape", "The shape of manifests"),
    "2": ("references", "References between manifests"),
    "3": ("composition", "Composing tools, variants and prompts"),
    "4": ("policies", "Grants, policies, delegation"),
    "5": ("pins", "Pins, tool schemas, provider limits, secrets"),
    "6": ("lock", "The lockfile"),
    "7": ("runtime", "The runtime"),
    "9": ("internal", "symc itself"),
}
"""First digit of a code → the name of its page and the page's title."""

_LEVELS = {"error": "error", "warn": "warning", "info": "info"}
_WIDTH = 88


def explain(code_or_name: str) -> str | None:
    """What a code means, an example and the next step, as text for a terminal; None for an unknown one."""
    row = find(code_or_name)
    if row is None:
        return None
    return (
        "\n\n".join(
            (
                f"{row.code} {row.name} ({_LEVELS[row.level]})",
                textwrap.fill(row.purpose, _WIDTH, break_long_words=False, break_on_hyphens=False),
                "Example:",
                textwrap.indent(row.example, "    "),
                "What to do:",
                textwrap.fill(
                    row.remedy,
                    _WIDTH,
                    initial_indent="    ",
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                ),
            )
        )
        + "\n"
    )


def pages(table: tuple[Code, ...] = TABLE) -> dict[str, str]:
    """The pages of ``docs/errors/`` by file name: an index and one page for each hundred that has codes."""
    return {"README.md": _index(table)} | {
        f"{slug}.md": _page(digit, title, rows)
        for digit, (slug, title) in RANGES.items()
        if (rows := [row for row in table if _digit(row) == digit])
    }


def link(row: Code) -> str:
    """Where a code stands, relative to ``docs/errors/``: ``composition.md#sym301-tool-name-collision``."""
    slug, _ = RANGES[_digit(row)]
    return f"{slug}.md#{row.code.lower()}-{row.name}"


def _digit(row: Code) -> str:
    return row.code.removeprefix("SYM")[0]


_GENERATED = "<!-- Made from the table of codes by `symc explain --write`. -->"


def _index(table: tuple[Code, ...]) -> str:
    lines = [
        "# Errors",
        "",
        _GENERATED,
        "",
        "Every diagnostic has a code and a name; both are accepted wherever a code is asked for, and neither is ever",
        "given to another mistake. `symc explain CODE` prints the same in a terminal.",
    ]
    for digit, (slug, title) in RANGES.items():
        rows = [row for row in table if _digit(row) == digit]
        if rows:
            lines += [
                "",
                f"## {digit}xx [{title}]({slug}.md)",
                "",
                "| code | name | level |",
                "|---|---|---|",
            ]
            lines += [f"| [{row.code}]({link(row)}) | {row.name} | {_LEVELS[row.level]} |" for row in rows]
    return "\n".join(lines) + "\n"


def _page(digit: str, title: str, rows: list[Code]) -> str:
    lines = [f"# {digit}xx {title}", "", _GENERATED]
    for row in rows:
        lines += ["", *_section(row)]
    return "\n".join(lines) + "\n"


def _section(row: Code) -> Iterator[str]:
    yield f"## {row.code} {row.name}"
    yield ""
    yield f"*{_LEVELS[row.level].capitalize()}.* {row.purpose}"
    yield ""
    yield "```"
    yield row.example
    yield "```"
    yield ""
    yield f"**What to do:** {row.remedy}"
