"""``symc digest``: the composition digests, to be pinned outside the repository (docs/lockfile.md §3)."""

from __future__ import annotations

import json
from pathlib import Path

import click

from symc.cli.asked import unlocked
from symc.cli.locked import lock_option, open_lock
from symc.cli.reporting import Reporter, answering_options


@click.command("digest")
@click.argument("agent", required=False)
@lock_option
@answering_options
def command(agent: str | None, lock: Path, reporter: Reporter) -> None:
    """Print the digest of AGENT, or one line each: the whole lock under the name `*`, then every agent.

    The digests cover all that an agent reaches; the runtime compares them with `expect=`.
    """
    from symc.lock import digest_lines

    found = open_lock(lock, reporter)
    if agent is not None and agent not in found.agents:
        unlocked(f'no agent "{agent}" in {lock}', agent, found)
    lines = [
        (name, digest)
        for digest, _, name in (line.partition("  ") for line in digest_lines(found))
        if agent in (None, name)
    ]
    if reporter.format == "json":
        click.echo(json.dumps({"format": 1, "digests": dict(lines)}, indent=2))
    else:
        click.echo("\n".join(digest if agent else f"{digest}  {name}" for name, digest in lines))
