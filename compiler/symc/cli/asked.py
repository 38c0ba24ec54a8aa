"""The agent that a command is asked about: its name, and the exit when the workspace has none of that name."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

import click

from symc.cli.frame import ExitCode


def require_agent(name: str, agents: Collection[str]) -> None:
    """End the command with exit code 2 unless ``agents`` hold the name."""
    if name not in agents:
        unknown(f'the workspace has no agent "{name}"', name, agents)


def unknown(sentence: str, name: str, legal: Collection[str]) -> NoReturn:
    """Say that there is nothing of this name, and what was probably meant; exit code 2."""
    from symc.diagnostics.suggest import suggestion

    hint = suggestion(name, legal)
    click.echo(sentence + (f"\n  help: {hint}" if hint else ""), err=True)
    raise click.exceptions.Exit(ExitCode.COULD_NOT)
