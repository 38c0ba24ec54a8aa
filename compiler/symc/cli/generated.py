"""Files that are generated from tables and types: written, or compared with what is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from symc.cli.frame import ExitCode


def write_or_check(folder: Path, pages: Mapping[str, str], *, check: bool, command: str) -> ExitCode:
    """Write ``pages`` (path below ``folder`` → text) where they differ; with ``check`` only say which do.

    Where none of them is, there is nothing to check: that is said, and is no verdict about them.
    ``command`` is what a person runs to make them current.
    """
    if check and not any((folder / path).exists() for path in pages):
        click.echo(
            f"nothing to check: {folder} holds none of the files that `{command}` writes\n"
            f"  help: --check compares them with what they should be; to have them here, run: {command}",
            err=True,
        )
        return ExitCode.COULD_NOT
    stale = [path for path, text in pages.items() if _read(folder / path) != text]
    if check:
        for path in stale:
            click.echo(f"{folder / path} is out of date. Run: {command}", err=True)
        return ExitCode.NOT_SO if stale else ExitCode.OK
    for path in stale:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(pages[path], encoding="utf-8", newline="\n")
        click.echo(f"wrote {target}", err=True)
    return ExitCode.OK


def _read(path: Path) -> str | None:
    # Bytes, not text mode: a CRLF copy is out of date, too.
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else None
