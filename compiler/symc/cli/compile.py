"""``symc compile``: manifests in, ``symc.lock`` out — or, with ``--check``, a word on whether it is current."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.locked import refuse_lock
from symc.cli.project import DEFAULT_FOLDER, Project, compile_project, require_lock
from symc.cli.reporting import Reporter, reporting_options


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
    reporter: Reporter,
) -> None:
    """Compile FOLDER into its lock. One error anywhere: nothing is written, and all errors are shown."""
    if check and (watch or upgrade_lock):
        raise click.UsageError("--check writes nothing; leave out --watch and --upgrade-lock")
    if upgrade_lock:
        from symc.cli.upgrade import upgrade

        upgrade(folder)
    if watch:
        from symc.cli.watch import watch as watch_folder

        watch_folder(folder, output, reporter)
        return
    project = compile_project(folder, reporter)
    path = output or project.lock_path
    if check:
        context.exit(_check(project, path, reporter))
    require_lock(project, reporter, "lock not written")
    write(project, path, reporter, show_diff=show_diff)


def write(project: Project, path: Path, reporter: Reporter, *, show_diff: bool) -> None:
    """Write the lock where its bytes differ, and say so; ``show_diff`` adds what the change means."""
    from symc.lock import LockError, encoded, file

    assert project.compilation.lock is not None  # no error was found
    if show_diff:
        from symc.cli.staleness import describe_change

        click.echo(describe_change(project, path), nl=False)
    try:
        changed = file.write(path, encoded(project.compilation.lock))
    except LockError as error:
        refuse_lock(error, path, reporter)
    reporter.verdict(f"{project.counts()} — {path} {'written' if changed else 'is up to date'}")


def _check(project: Project, path: Path, reporter: Reporter) -> ExitCode:
    """L20–L22: what the lock should say is computed anew and compared byte by byte."""
    require_lock(project, reporter, "lock not checked")
    from symc.cli.staleness import staleness

    found = staleness(project, path)
    if found is None:
        reporter.verdict(f"{project.counts()} — {path} is up to date")
        return ExitCode.OK
    reporter.diagnostics([found.diagnostic], {}, ok=False, reason=found.diagnostic.message)
    reporter.verdict(found.diagnostic.message)
    return found.exit_code
