"""The lock a command reads: its option, and the exit when it cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from symc.cli.frame import ExitCode
from symc.cli.project import LOCK_NAME, Project
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc.composition import Lock
    from symc.lock import LockError

_Command = TypeVar("_Command", bound=Callable[..., Any])


def lock_option(command: _Command) -> _Command:
    """Add ``--lock FILE``."""
    return click.option(
        "--lock", type=click.Path(path_type=Path), default=LOCK_NAME, show_default=True, help="The lockfile."
    )(command)


def open_lock(path: Path, reporter: Reporter) -> Lock:
    """The verified lock at ``path``; one that cannot be used is reported and ends the command with exit code 2."""
    from symc.lock import LockError, file, verify

    try:
        lock = file.load(path)
        verify(lock)
    except LockError as error:
        refuse_lock(error, path, reporter)
    return lock


def refuse_lock(
    error: LockError, path: Path, reporter: Reporter, *, besides: Project | None = None
) -> NoReturn:
    """Report why a lock cannot be used, with what was found in its project, and end the command with exit code 2."""
    reason = f"cannot use {path}"
    found = error.diagnostics if besides is None else (*error.diagnostics, *besides.diagnostics)
    reporter.diagnostics(found, {} if besides is None else besides.sources, ok=False, reason=reason)
    reporter.verdict(reason)
    raise click.exceptions.Exit(ExitCode.COULD_NOT)
