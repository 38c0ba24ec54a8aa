"""``symc show``: an agent as it was composed — its prompt, its tools, where each item was written, what guards it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symc.cli.asked import at_most_one, require_agent
from symc.cli.project import compile_project, require_lock, workspace_option
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc.cli.project import Project
    from symc.composition import Composition

VIEWS = ("plain", "origin", "sizes", "tools", "coverage")


@click.command("show")
@click.argument("agent")
@workspace_option
@click.option("--plain", is_flag=True, help="Exactly the bytes that the model receives.")
@click.option("--origin", is_flag=True, help="Which document set each item.")
@click.option("--sizes", is_flag=True, help="Fragments by size, with an estimate in tokens.")
@click.option("--tools", is_flag=True, help="The tool surface as a table.")
@click.option("--coverage", is_flag=True, help="What is guarded by which policy, and what by none.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "md"]),
    default="text",
    show_default=True,
    help="Format of the prompt; --tools knows json, too.",
)
def command(agent: str, folder: Path, format_: str, **views: bool) -> None:
    """Show AGENT as the workspace composes it now: its prompt in order, with the origin of every fragment."""
    view = at_most_one({name: views[name] for name in VIEWS}, "show one view at a time")
    if view is not None and format_ != "text" and (view, format_) != ("tools", "json"):
        raise click.UsageError(f"--{view} has no format {format_}")
    reporter = Reporter(format="json" if format_ == "json" else "text", quiet=True)
    project = compile_project(folder, reporter)
    if not project.ok:
        require_lock(project, reporter, "nothing to show")
    require_agent(agent, project.compilation)
    click.echo(_page(project, project.compilation.compositions[agent], view, format_), nl=False)


def _page(project: Project, composition: Composition, view: str | None, format_: str) -> str:
    from symc import sheets

    if view == "tools":
        return _tools_json(composition) if format_ == "json" else tool_table(composition)
    if view == "origin":
        return _origin_table(project, composition.name)
    if view == "coverage":
        from symc.coverage import coverage

        return "".join(line + "\n" for line in coverage(composition).lines())
    found = sheets.entries(composition)
    if view == "plain":
        return sheets.plain(found)
    if view == "sizes":
        return sheets.sizes(found)
    if format_ == "json":
        return sheets.as_json(composition.name, found)
    return sheets.as_markdown(composition.name, found) if format_ == "md" else sheets.as_text(found)


def _origin_table(project: Project, agent: str) -> str:
    from symc.compose.origins import origins

    compilation = project.compilation
    found = origins(compilation.links.agents[agent], compilation.manifests.workspace)
    width = max((len(item) for item, _ in found), default=0)
    return "".join(
        f"{item:<{width}}  {span.below(project.prefix).file}:{span.start.line}:{span.start.column}\n"
        for item, span in found
    )


def tool_table(composition: Composition) -> str:
    """Exposed name, origin, chain, schema digest and guards of every tool; hidden ones are marked."""
    rows = [("tool", "origin", "chain", "schema", "guarded by")]
    rows += [
        (
            row["tool"] if row["exposed"] else f"({row['tool']})",
            row["origin"],
            " + ".join(row["chain"]) or "-",
            row["schema"].removeprefix("sha256:")[:12] or "-",
            ", ".join(row["guarded_by"]) or "-",
        )
        for row in _tool_rows(composition)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if any(not row["exposed"] for row in _tool_rows(composition)):
        lines.append("(…) is hidden: it stands below a variant and cannot be called by name")
    if composition.agent.delegates:
        lines.append("ask_… asks another agent: its parameter `message` is all that the agent is told")
    return "\n".join(lines) + "\n"


def _tools_json(composition: Composition) -> str:
    tools = _tool_rows(composition)
    return (
        json.dumps({"format": 1, "agent": composition.name, "tools": tools}, indent=2, ensure_ascii=False)
        + "\n"
    )


def _tool_rows(composition: Composition) -> list[dict[str, Any]]:
    from symc.canonical import digest

    tools = [
        {
            "tool": name,
            "exposed": tool.exposed,
            "origin": f"{tool.extension}/{tool.raw}",
            "chain": [layer.name for layer in tool.chain],
            "schema": digest("schema", tool.input_schema),
            "guarded_by": list(tool.guarded_by),
        }
        for name, tool in composition.agent.tools.items()
    ]
    delegates = [
        {
            "tool": edge.tool,
            "exposed": True,
            "origin": edge.agent,
            "chain": [],
            "schema": "",
            "guarded_by": [],
        }
        for edge in composition.agent.delegates.values()
    ]
    return sorted([*tools, *delegates], key=lambda row: str(row["tool"]))
