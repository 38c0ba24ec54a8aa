"""``symc verify``: would these agents start here? Everything but hooks and models (docs/lockfile.md §5)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.loaded import load_lock, refuse, require_known
from symc.cli.locked import lock_option
from symc.cli.project import counted
from symc.cli.reporting import Reporter, reporting_options


@click.command("verify")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@lock_option
@click.option(
    "--expect",
    metavar="DIGEST",
    help="Digest of the one AGENT, or else of the whole lock, from `symc digest`.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Working folder of servers; default: the folder of the lock.",
)
@reporting_options
def command(
    agents: tuple[str, ...], lock: Path, expect: str | None, root: Path | None, reporter: Reporter
) -> None:
    """Check that AGENTS (default: all) would start here: every digest verified, every target imported and held to the
    lock, every layer made, every server started and its tools compared. Then everything is closed again.

    No hook runs and no model is called. The folder of the lock is put on the import path. Exit code 1 when an agent would
    not start.
    """
    from symc.runtime import DiagnosedError

    alone = len(agents) == 1
    loaded = load_lock(lock, reporter, expect=None if alone else expect)
    for agent in agents:
        require_known(agent, loaded, lock)
    named = agents or loaded.agents
    try:
        asyncio.run(loaded.verify(named, root=root, expect=expect if alone else None))
    except DiagnosedError as error:
        faults = counted(len(error.diagnostics), "difference")
        # A difference names the agents it concerns; of several agents, the others may be fine.
        verdict = f"{named[0]} would not start" if len(named) == 1 else "not every agent would start"
        refuse(error, f"{faults} — {verdict}", reporter, ExitCode.NOT_SO)
    reporter.diagnostics((), {}, ok=True)
    tools = sum(len(loaded.lock.agents[name].tools) for name in named)
    reporter.verdict(
        f"{counted(len(named), 'agent')}, {counted(tools, 'tool')}: as in the lock, ready to start"
    )
