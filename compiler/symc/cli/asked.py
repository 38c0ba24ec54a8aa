"""What a command is asked: about which agent, and by which of its flags; and the exit when that cannot be answered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NoReturn

import click

from symc.cli.frame import ExitCode


def require_agent(name: str, agents: Collection[str]) -> None:
    """End the command with exit code 2 unless ``agents`` hold the name."""
    if name not in agents:
        unknown(f'the workspace has no agent "{name}"', name, agents)


def at_most_one(flags: Mapping[str, bool], rule: str) -> str | None:
    """The flag that is set, if one is; two are a wrong command line, which names both and says the ``rule``."""
    given = [name for name, is_set in flags.items() if is_set]
    if len(given) > 1:
        named = " and ".join(f"--{name}" for name in given)
        raise click.UsageError(f"{named} exclude each other: {rule}")
    return given[0] if given else None


def unknown(sentence: str, name: str, legal: Collection[str]) -> NoReturn:
    """Say that there is nothing of this name, and what was probably meant; exit code 2."""
    from symc.diagnostics.suggest import suggestion

    hint = suggestion(name, legal)
    click.echo(sentence + (f"\n  help: {hint}" if hint else ""), err=True)
    raise click.exceptions.Exit(ExitCode.COULD_NOT)
