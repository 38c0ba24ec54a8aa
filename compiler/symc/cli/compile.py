"""``symc compile``: manifests in, ``symc.lock`` out — or, with ``--check``, a word on whether it is current."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.locked import refuse_lock
from symc.cli.project import DEFAULT_FOLDER, Project, compile_project, require_lock
from symc.cli.reporting import Reporter, plain, reporting_options


@click.command("compile")
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT_FOLDER)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="The lockfile; default symc.lock beside FOLDER."
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 when the lock is not what FOLDER compiles to."
)
@click.option("--diff", "show_diff", is_flag=True, help="Show what the change means.")
@click.option("--watch", is_flag=True, help="Compile again on every change, and show what it means.")
@click.option("--upgrade-lock", is_flag=True, help="Move the workspace to the newest lock version.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .symc_cache.")
@reporting_options
@click.pass_context
def command(
    context: click.Context,
    folder: Path,
    output: Path | None,
    check: bool,
    show_diff: bool,
    watch: bool,
    upgrade_lock: bool,
    no_cache: bool,
    reporter: Reporter,
) -> None:
    """Compile FOLDER into its lock. One error anywhere: nothing is written, and all errors are shown."""
    if check and (watch or upgrade_lock):
        raise click.UsageError("--check writes nothing; leave out --watch and --upgrade-lock")
    if (show_diff or watch) and reporter.format != "text":
        raise click.UsageError(
            "--diff and --watch speak to people; leave out --format, or compare with: symc diff --format json"
        )
    if upgrade_lock:
        from symc.cli.upgrade import upgrade

        upgrade(folder)
    if watch:
        from symc.cli.watch import watch as watch_folder

        watch_folder(folder, output, reporter)
        return
    # L22: a check is not to be told by anything that an earlier run left behind.
    project = compile_project(folder, reporter, cached=not (check or no_cache))
    path = output or project.lock_path
    if check:
        context.exit(_check(project, path, reporter, show_diff=show_diff))
    if not project.ok:
        require_lock(project, reporter, "lock not written")
    lock = write(project, path, reporter, show_diff=show_diff)
    if reporter == Reporter(quiet=reporter.quiet) and not (no_cache or output or show_diff or upgrade_lock):
        _remember(project, lock, reporter)


def write(project: Project, path: Path, reporter: Reporter, *, show_diff: bool) -> bytes:
    """Write the lock where its bytes differ, and report; ``show_diff`` adds what the change means. Returns its bytes.

    The project compiled without errors; what else was found is reported here, for a lock that cannot be written is told
    together with it.
    """
    from symc.lock import LockError, encoded, file

    assert project.compilation.lock is not None  # no error was found
    change = _described(project, path) if show_diff else ""
    lock = encoded(project.compilation.lock)
    try:
        changed = file.write(path, lock)
    except LockError as error:
        refuse_lock(error, path, reporter, besides=project)
    reporter.diagnostics(project.diagnostics, project.sources, ok=True)
    click.echo(change, nl=False)
    reporter.verdict(f"{project.counts()} — {path} {'written' if changed else 'is up to date'}")
    return lock


def _described(project: Project, path: Path) -> str:
    from symc.cli.staleness import describe_change

    return describe_change(project, path)


def _remember(project: Project, lock: bytes, reporter: Reporter) -> None:
    """What the same command has to say as long as nothing changes."""
    from symc.cli.replay import remember

    assert project.fingerprint is not None
    verdict = (
        [] if reporter.quiet else [plain(f"{project.counts()} — {project.lock_path} is up to date") + "\n"]
    )
    text = "".join([*reporter.said[: len(reporter.said) - len(verdict)], *verdict])
    remember(str(project.folder), project.fingerprint, lock, text, quiet=reporter.quiet)


def _check(project: Project, path: Path, reporter: Reporter, *, show_diff: bool) -> ExitCode:
    """L20–L22: what the lock should say is computed anew and compared byte by byte."""
    if not project.ok:
        require_lock(project, reporter, "lock not checked")
    from symc.cli.staleness import staleness

    found = staleness(project, path)
    if show_diff:
        click.echo(_described(project, path), nl=False)
    if found is None:
        reporter.diagnostics(project.diagnostics, project.sources, ok=True)
        reporter.verdict(f"{project.counts()} — {path} is up to date")
        return ExitCode.OK
    # The sentence says all; the last line is not to say it again.
    reporter.diagnostics(
        (found.diagnostic, *project.diagnostics), project.sources, ok=False, reason=found.diagnostic.message
    )
    reporter.verdict(f"{project.counts()} — {path} is not up to date")
    return found.exit_code
