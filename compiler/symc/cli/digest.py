"""``symc digest``: the composition digests, to be pinned outside the repository (docs/lockfile.md §3)."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.locked import lock_option, open_lock
from symc.cli.reporting import Reporter, reporting_options


@click.command("digest")
@click.argument("agent", required=False)
@lock_option
@reporting_options
@click.pass_context
def command(context: click.Context, agent: str | None, lock: Path, reporter: Reporter) -> None:
    """Print the digest of AGENT, or one line each: the whole lock under the name `*`, then every agent.

    The digests cover all that an agent reaches; the runtime compares them with `expect=`.
    """
    from symc.lock import digest_lines

    found = open_lock(lock, reporter)
    lines = list(digest_lines(found))
    if agent is None:
        click.echo("\n".join(lines))
        return
    for line in lines:
        digest, _, name = line.partition("  ")
        if name == agent:
            click.echo(digest)
            return
    from symc.diagnostics.suggest import did_you_mean

    nearest = did_you_mean(agent, list(found.agents))
    hint = f'did you mean "{nearest}"?' if nearest else "symc digest lists all agents"
    click.echo(f'no agent "{agent}" in {lock}\n  help: {hint}', err=True)
    context.exit(ExitCode.COULD_NOT)
