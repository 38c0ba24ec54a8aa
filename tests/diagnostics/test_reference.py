"""What ``symc explain`` says and the pages of ``docs/errors/``: both from the table, the pages fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from symc.diagnostics import Code
from symc.diagnostics.codes import TABLE
from symc.diagnostics.reference import explain, link, pages
from tests.diagnostics.samples import COLLISION, PROSE

PAGES = Path(__file__).parents[2] / "docs" / "errors"


def test_explain() -> None:
    assert explain("bug") == explain("sym901")
    assert explain("SYM901") == (
        "SYM901 bug (error)\n\n"
        "symc met a case that it does not handle. It says so, writes nothing and exits with 101.\n\n"
        "Example:\n\n"
        "    symc compile\n\n"
        "What to do:\n\n"
        "    Run the command again with SYMC_TRACEBACK=1 and report what it prints.\n"
    )


def test_nothing_explains_an_unknown_code() -> None:
    assert explain("SYM999") is None


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.code)
def test_every_code_is_explained_with_its_example(row: Code) -> None:
    text = explain(row.code)
    assert text is not None
    for line in row.example.split("\n"):
        assert f"    {line}".rstrip() in [shown.rstrip() for shown in text.split("\n")]


def test_pages() -> None:
    written = pages((COLLISION, PROSE))
    assert list(written) == ["README.md", "composition.md"]
    assert (
        "## 3xx [Composing tools, variants and prompts](composition.md)\n\n"
        "| code | name | level |\n|---|---|---|\n"
        "| [SYM301](composition.md#sym301-tool-name-collision) | tool-name-collision | error |\n"
        "| [SYM330](composition.md#sym330-tool-name-in-prose) | tool-name-in-prose | warning |\n"
    ) in written["README.md"]
    assert written["composition.md"].endswith(
        "## SYM330 tool-name-in-prose\n\n"
        "*Warning.* A prompt names a tool.\n\n"
        "```\ntext\n```\n\n"
        "**What to do:** Correct it.\n"
    )


def test_every_link_leads_to_a_heading() -> None:
    written = pages()
    for row in TABLE:
        page, anchor = link(row).split("#")
        headings = [
            line.removeprefix("## ").lower().replace(" ", "-")
            for line in written[page].split("\n")
            if line.startswith("## ")
        ]
        assert anchor in headings


def test_the_committed_pages_are_fresh() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    assert committed == pages(), "run: symc explain --write"
