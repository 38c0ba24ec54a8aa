"""What a command is asked: about which agent, and by which of its flags; and the exit when that cannot be answered."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NoReturn

import click

from symc.cli.frame import ExitCode

if TYPE_CHECKING:
    from symc.compose import Compilation
    from symc.composition import Lock


def require_agent(name: str, compilation: Compilation) -> None:
    """End the command with exit code 2 unless an agent of this name is composed."""
    if name in compilation.agents:
        return
    linked = compilation.links.agents
    if name in linked and linked[name].abstract:
        heirs = [one for one in compilation.agents if any(base.name == name for base in linked[one].bases)]
        _abstract(name, heirs)
    unknown(f'the workspace has no agent "{name}"', name, compilation.agents)


def unlocked(sentence: str, name: str, lock: Lock) -> NoReturn:
    """Say that the lock has no such agent; of a base, which agents extend it. Exit code 2."""
    if name in lock.bases:
        _abstract(name, [one for one in lock.agents if name in lock.agents[one].bases])
    unknown(sentence, name, lock.agents)


def _abstract(name: str, heirs: Collection[str]) -> NoReturn:
    listed = ", ".join(f'"{one}"' for one in sorted(heirs))
    hint = f"ask about an agent that extends it: {listed}" if heirs else "no agent extends it yet"
    click.echo(f'"{name}" is abstract: a part of other agents, and none itself\n  help: {hint}', err=True)
    raise click.exceptions.Exit(ExitCode.COULD_NOT)


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
