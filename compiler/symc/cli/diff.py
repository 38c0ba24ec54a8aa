"""``symc diff``: what a change means — may an agent now do more? (docs/diff.md)."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from symc.cli.frame import ExitCode
from symc.cli.project import prefix_of, workspace_option
from symc.cli.reporting import Reporter, wants_color
from symc.cli.sides import ACCEPT_NAME, CouldNotCompareError, Side, Sides

if TYPE_CHECKING:
    from symc.diff import Comparison, DigestChange
    from symc.diff.accepting import Acceptance

FORMATS: Final = ("text", "markdown", "json", "github", "accept")
FAIL_ON: Final = ("widening", "authority", "interface", "behaviour", "any", "none")


@click.command("diff")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--base",
    default="origin/HEAD",
    show_default=True,
    help="Without OLD, compare with the merge-base with this.",
)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default text; with --ci, github.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help="Exit 1 on such a change that is not accepted. Default none; with --ci, widening.",
)
@click.option("--ci", is_flag=True, help="The same as --fail-on widening --format github.")
@click.option("--quiet", "-q", is_flag=True, help="No verdict on stderr.")
@click.option("--verbose", "-v", is_flag=True, help="Also the composition digests that changed.")
@workspace_option
@click.pass_context
def command(
    context: click.Context,
    old: str | None,
    new: str | None,
    base: str,
    format_: str | None,
    fail_on: str | None,
    ci: bool,
    quiet: bool,
    verbose: bool,
    folder: Path,
) -> None:
    """Compare two locks by meaning: OLD with NEW.

    A side is a file, a git commit (main, HEAD~1: its symc.lock is read, nothing is checked out) or - for standard input.
    OLD is by default the merge-base with --base, NEW the working tree, compiled.

    Exit code 1: something at or above --fail-on that is not accepted, or an acceptance that accepts nothing. Exit code 2:
    a side cannot be read.
    """
    if old == "-" and new == "-":
        raise click.UsageError("only one side can be standard input")
    form = format_ or ("github" if ci else "text")
    wanted = fail_on or ("widening" if ci else "none")
    reporter = Reporter(quiet=quiet, verbose=verbose)
    sides = Sides(folder, base, reporter)
    try:
        context.exit(_run(sides.old(old), sides.new(new), form, wanted, folder, reporter))
    except CouldNotCompareError as error:
        _could_not(error, form, reporter)
        context.exit(ExitCode.COULD_NOT)


def _run(old: Side, new: Side, form: str, fail_on: str, folder: Path, reporter: Reporter) -> ExitCode:
    from symc.diff import digest_changes
    from symc.diff.accepting import accepted, active
    from symc.diff.failing import FailOn, fails

    comparison = _compared(old, new, folder)
    file = prefix_of(folder.parent if folder.name else folder) + ACCEPT_NAME
    before, after = _stanzas(old, file), _stanzas(new, file)
    current = active(after, before) if old.knows_acceptances else after
    comparison, idle = accepted(comparison, current)
    if form == "json" or (form == "text" and reporter.verbose):
        _say_with_digests(comparison, form, digest_changes(old.lock, new.lock))
    else:
        _say(comparison, form, fail_on, head=not _has_head(new))
    ok = ExitCode.OK
    if old.knows_acceptances and idle:
        ok = _idle(idle, new, reporter)
    if fails(comparison, FailOn(fail_on)):
        ok = ExitCode.NOT_SO
    reporter.verdict(_last_line(comparison, fail_on))
    return ok


def _compared(old: Side, new: Side, folder: Path) -> Comparison:
    from symc.diff import compare
    from symc.lock import LockError

    try:
        if new.project is None:
            return compare(old.lock, new.lock, prefix=prefix_of(folder))
        from symc.cli.positions import positions
        from symc.cli.staleness import levels

        project = new.project
        return compare(
            old.lock, new.lock, levels=levels(project), locate=positions(project), prefix=project.prefix
        )
    except LockError as error:
        raise CouldNotCompareError(error.diagnostics[0].message, "", tuple(error.diagnostics)) from None


def _stanzas(side: Side, file: str) -> tuple[Acceptance, ...]:
    from symc.cli.acceptances import read_acceptances

    found = read_acceptances(file, side.acceptances)
    if found.diagnostics:
        raise CouldNotCompareError(
            f"{file} of {side.said} is not sound: {found.diagnostics[0].message}",
            "",
            found.diagnostics,
            {file: found.text},
        )
    return found.stanzas


def _has_head(side: Side) -> bool:
    """Whether the acceptances begin with ``accept:`` already; the shell makes an empty file before symc looks."""
    from symc.diff.renderers.accept import HEAD

    return any(line.startswith(HEAD.encode()) for line in (side.acceptances or b"").splitlines())


def _say(comparison: Comparison, form: str, fail_on: str, *, head: bool) -> None:
    from symc.diff.renderers import accept, github, markdown, text

    if form == "text":
        click.echo(text.render(comparison, color=wants_color(sys.stdout)), nl=False)
    elif form == "markdown":
        click.echo(markdown.render(comparison), nl=False)
    elif form == "github":
        click.echo(github.render(comparison), nl=False)
        _summarize(markdown.render(comparison))
    else:
        from symc.diff.failing import FailOn, offending

        wanted = FailOn.WIDENING if fail_on == "none" else FailOn(fail_on)
        click.echo(accept.render(offending(comparison, wanted), head=head), nl=False)


def _say_with_digests(comparison: Comparison, form: str, digests: tuple[DigestChange, ...]) -> None:
    from symc.diff.renderers import json, text

    if form == "json":
        click.echo(json.render(comparison, digests), nl=False)
    else:
        click.echo(text.render(comparison, color=wants_color(sys.stdout), digests=digests), nl=False)


def _could_not(error: CouldNotCompareError, form: str, reporter: Reporter) -> None:
    from symc.diff.renderers import accept, github, json, markdown, text

    renderers = {"text": text, "markdown": markdown, "json": json, "github": github, "accept": accept}
    click.echo(renderers[form].could_not(str(error)), nl=False)
    if form == "github":
        _summarize(markdown.could_not(str(error)))
    if error.diagnostics:
        replace(reporter, format="text").diagnostics(error.diagnostics, error.sources, ok=False)
    line = f"could not compare: {error}"
    if error.hint:
        click.echo(f"{line}\n  help: {error.hint}", err=True)
    else:
        click.echo(line, err=True)


def _summarize(page: str) -> None:
    """Append the page to the summary of the job, where GitHub wants one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as summary:
            summary.write(page + "\n")


def _idle(idle: tuple[Acceptance, ...], new: Side, reporter: Reporter) -> ExitCode:
    from symc.cli.acceptances import unused

    text = (new.acceptances or b"").decode("utf-8-sig", "replace").replace("\r\n", "\n")
    sources = {one.span.file: text for one in idle}
    reporter.diagnostics([unused(one) for one in idle], sources, ok=False)
    return ExitCode.NOT_SO


def _last_line(comparison: Comparison, fail_on: str) -> str:
    from symc.diff.failing import FailOn, offending

    count = len(comparison.changes)
    line = f"{count} {'change' if count == 1 else 'changes'} — {comparison.verdict}"
    refused = len(offending(comparison, FailOn(fail_on)))
    if refused:
        line += f"; {refused} at or above --fail-on {fail_on} not accepted"
    return line
