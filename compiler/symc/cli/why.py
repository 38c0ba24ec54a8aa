"""``symc why``: who brought an item of an agent, which line selected it, what it derives from, what guards it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from symc.cli.asked import require_agent
from symc.cli.frame import ExitCode
from symc.cli.project import compile_project, workspace_option
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc.compose.freeze import Composed
    from symc.compose.link import Links
    from symc.compose.provenance import Account, Provenance


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
    require_agent(agent, project.compilation)
    composed, links = project.compilation.agents[agent], project.compilation.links
    provenance = Provenance(composed, links)
    accounts = provenance.accounts(item)
    if not accounts:
        _absent(item, composed, links, provenance, project.prefix)
    for account in accounts:
        click.echo("\n".join(_lines(account, project.prefix)))
    if not project.ok:
        click.echo(f"{project.counts()} — run: symc compile", err=True)


def _absent(item: str, composed: Composed, links: Links, provenance: Provenance, prefix: str) -> NoReturn:
    """Say why the agent has no such item, or what was probably meant; exit code 2."""
    from symc.compose.absence import absence, absent_names
    from symc.diagnostics.suggest import did_you_mean

    agent = composed.agent.name
    sentence = f'agent "{agent}" has no tool, fragment, policy, grant or extension "{item}"'
    nearest = did_you_mean(item, (*provenance.names(), *absent_names(composed, links)))
    hint = (
        f'did you mean "{nearest}"?' if nearest else f"what it has is listed by: symc show {agent} --origin"
    )
    if found := absence(composed, links, item):
        span = found.span.below(prefix) if found.span else None
        sentence = found.sentence + (f"  [{span.file}:{span.start.line}]" if span else "")
        hint = found.hint
    click.echo(f"{sentence}\n  help: {hint}", err=True)
    raise click.exceptions.Exit(ExitCode.COULD_NOT)


def _lines(account: Account, prefix: str) -> Iterator[str]:
    yield f"{account.name}  ({account.kind})"
    width = max(len(fact.question) for fact in account.facts)
    for fact in account.facts:
        span = fact.span.below(prefix) if fact.span else None
        place = f"  [{span.file}:{span.start.line}]" if span else ""
        yield f"  {fact.question:{width}}  {fact.answer}{place}"
