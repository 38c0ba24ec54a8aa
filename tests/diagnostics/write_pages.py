"""Write ``docs/errors/`` anew: ``python -m tests.diagnostics.write_pages`` from the repository's root."""

from __future__ import annotations

from pathlib import Path

from symc.diagnostics.reference import pages

PAGES = Path(__file__).parents[2] / "docs" / "errors"


def write() -> None:
    """Write every page of the table and remove pages that have no codes any more."""
    wanted = pages()
    PAGES.mkdir(parents=True, exist_ok=True)
    for stale in set(PAGES.glob("*.md")) - {PAGES / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
