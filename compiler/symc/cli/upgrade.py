"""``symc compile --upgrade-lock``: move the workspace manifest to the newest lock version, in place."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.frame import ExitCode


def upgrade(folder: Path) -> None:
    """Edit ``lock_version`` in the workspace manifest of ``folder``; every other character of it stays.

    Ends the command with exit code 2 where there is no workspace manifest to edit: without one the newest version is
    written anyway.
    """
    from symc.composition import LOCK_VERSION
    from symc.source import WorkspaceError, parse, read

    try:
        sources = parse(read(folder))
    except WorkspaceError as error:
        click.echo(f"error: {error}", err=True)
        raise click.exceptions.Exit(ExitCode.COULD_NOT) from None
    document = next((d for d in sources.documents if d.data.get("kind") == "workspace"), None)
    if document is None:
        click.echo("there is no workspace manifest: the newest lock version is written anyway", err=True)
        return
    if document.data.get("lock_version") == LOCK_VERSION:
        click.echo(f"{folder / document.path} is at lock_version {LOCK_VERSION} already", err=True)
        return
    path = folder / document.path
    # Bytes: line ends and a byte order mark are the author's.
    content = path.read_bytes().decode("utf-8")
    lines = content.splitlines(keepends=True)
    if "lock_version" in document.data:
        span = document.span("lock_version")
        line = lines[span.start.line - 1]
        lines[span.start.line - 1] = (
            line[: span.start.column - 1] + str(LOCK_VERSION) + line[span.end.column - 1 :]
        )
    else:
        number = document.key_span("kind").start.line
        end = "\r\n" if lines[number - 1].endswith("\r\n") else "\n"
        lines.insert(number, f"lock_version: {LOCK_VERSION}{end}")
    path.write_bytes("".join(lines).encode("utf-8"))
    click.echo(f"{path}: lock_version {LOCK_VERSION}", err=True)
