"""``symc why``: who brought an item of an agent, which line selected it, what it derives from, what guards it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symc.cli.asked import require_agent, unknown
from symc.cli.project import compile_project, workspace_option
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc.compose.provenance import Account


@click.command("why")
@click.argument("agent")
@click.argument("item")
@workspace_option
def command(agent: str, item: str, folder: Path) -> None:
    """Say where ITEM of AGENT comes from and what guards it.

    ITEM is a tool (exposed name, or extension/tool), a prompt fragment or policy (owner/id, or the id), a granted effect
    or an extension. Works with errors in the workspace, too, as far as the agent is understood.
    """
    from symc.compose.provenance import Provenance

    project = compile_project(folder, Reporter())
    composed = project.compilation.agents
    require_agent(agent, composed)
    provenance = Provenance(composed[agent], project.compilation.links)
    accounts = provenance.accounts(item)
    if not accounts:
        unknown(
            f'agent "{agent}" has no tool, fragment, policy, grant or extension "{item}"',
            item,
            provenance.names(),
        )
    for account in accounts:
        click.echo("\n".join(_lines(account, project.prefix)))
    if not project.ok:
        click.echo(f"{project.counts()} — run: symc compile", err=True)


def _lines(account: Account, prefix: str) -> Iterator[str]:
    yield f"{account.name}  ({account.kind})"
    width = max(len(fact.question) for fact in account.facts)
    for fact in account.facts:
        span = fact.span.below(prefix) if fact.span else None
        place = f"  [{span.file}:{span.start.line}]" if span else ""
        yield f"  {fact.question:{width}}  {fact.answer}{place}"
