"""``symc graph``: an agent's policy graph as a drawing."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.asked import require_agent
from symc.cli.project import compile_project, require_lock, workspace_option
from symc.cli.reporting import Reporter


@click.command("graph")
@click.argument("agent")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("mermaid", "dot", "json")),
    default="mermaid",
    show_default=True,
    help="Mermaid renders in a pull request.",
)
@workspace_option
def command(agent: str, format_: str, folder: Path) -> None:
    """Draw who contributes, derives, grants, guards, requires and delegates in AGENT."""
    from symc.composition.drawing import DRAWINGS

    reporter = Reporter(quiet=True)
    project = compile_project(folder, reporter)
    require_lock(project, reporter, "nothing drawn")
    lock = project.compilation.lock
    assert lock is not None
    require_agent(agent, project.compilation)
    click.echo(DRAWINGS[format_](lock.composition(agent)), nl=False)
