"""The lock that a command runs agents from: loaded, with its folder importable, and refused where it cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from symc.cli.frame import ExitCode
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc.runtime import DiagnosedError, LoadedLock


class CouldNotError(click.ClickException):
    """The command could not do what it was asked."""

    exit_code = ExitCode.COULD_NOT


def load_lock(path: Path, reporter: Reporter, *, expect: str | None = None) -> LoadedLock:
    """The lock at ``path``; one that cannot be used ends the command with exit code 2.

    The folder of the lock goes first on ``sys.path``: code beside the manifests is found without being installed.
    """
    try:
        from symc.runtime import DiagnosedError, load
    except ModuleNotFoundError as error:
        raise _without(error) from None
    try:
        loaded = load(path, expect=expect)
    except DiagnosedError as error:
        refuse(error, f"cannot use {path}", reporter, ExitCode.COULD_NOT)
    sys.path.insert(0, str(loaded.path.parent))
    return loaded


def refuse(error: DiagnosedError, verdict: str, reporter: Reporter, code: ExitCode) -> NoReturn:
    """Report why an agent cannot start, and end the command."""
    reporter.diagnostics(error.diagnostics, {}, ok=False, reason=verdict)
    reporter.verdict(verdict)
    raise click.exceptions.Exit(code)


def require_known(agent: str, loaded: LoadedLock, path: Path) -> None:
    """End the command with exit code 2 unless the lock holds the agent."""
    if agent not in loaded.agents:
        from symc.cli.asked import unlocked

        unlocked(f'{path} holds no agent "{agent}"', agent, loaded.lock)


def _without(error: ModuleNotFoundError) -> CouldNotError:
    return CouldNotError(
        f'"{error.name}" is not installed; running agents needs an extra: pip install "symc[runtime]"'
    )
