"""``symc compile --watch``: compile again on every change below the folder, and show what it means."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.project import compile_project
from symc.cli.reporting import Reporter


def watch(folder: Path, output: Path | None, reporter: Reporter) -> None:
    """Compile now and after every change, until interrupted; mistakes are shown and waited out."""
    try:
        from watchfiles import watch as changes_below
    except ModuleNotFoundError:
        click.echo("--watch needs watchfiles\n  help: pip install 'symc[watch]'", err=True)
        raise click.exceptions.Exit(ExitCode.COULD_NOT) from None
    _compile_once(folder, output, reporter)
    # A change that comes while a compile runs is seen by the next round: watchfiles gathers them.
    for _ in changes_below(folder, watch_filter=_is_source, raise_interrupt=True, yield_on_timeout=False):
        click.echo("", err=True)
        _compile_once(folder, output, reporter)


def _is_source(_change: object, path: str) -> bool:
    from symc.source import ENDINGS

    return path.endswith(ENDINGS)


def _compile_once(folder: Path, output: Path | None, reporter: Reporter) -> None:
    from symc.cli.compile import write

    project = compile_project(folder, reporter)
    if project.ok:
        write(project, output or project.lock_path, reporter, show_diff=True)
    else:
        reporter.diagnostics(project.diagnostics, project.sources, ok=False)
        reporter.verdict(f"{project.counts()} — lock not written")
