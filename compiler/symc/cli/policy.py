"""``symc policy test``: which rule decides a call and why, without running anything (docs/policies.md §3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symc.cli.asked import require_agent, unknown
from symc.cli.frame import ExitCode
from symc.cli.project import compile_project, require_lock, workspace_option
from symc.cli.reporting import Reporter, reporting_options

if TYPE_CHECKING:
    from symc.authority import Decision
    from symc.composition import Lock


@click.group("policy")
def command() -> None:
    """Ask the policies, without running anything."""


@command.command("test")
@click.argument("agent", required=False)
@click.option("--tool", help="The tool, by its exposed name.")
@click.option("--args", "arguments", default="{}", metavar="JSON", help="The arguments, as a JSON object.")
@click.option(
    "--through",
    multiple=True,
    metavar="AGENT",
    help="An agent that calls AGENT; several from the outermost inwards.",
)
@click.option(
    "--cases",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A table of expected decisions: YAML, rows by agent.",
)
@workspace_option
@reporting_options
@click.pass_context
def test(
    context: click.Context,
    agent: str | None,
    tool: str | None,
    arguments: str,
    through: tuple[str, ...],
    cases: Path | None,
    folder: Path,
    reporter: Reporter,
) -> None:
    """Say what happens when AGENT calls a tool: deny, ask, allow, or ask-code where a policy in code will be asked.

    The first line is the decision and the rule that makes it. With --cases a table of calls is held to the decisions it
    expects; exit code 1 when one is not as expected.
    """
    if (cases is None) == (tool is None):
        raise click.UsageError("give either --tool or --cases")
    if tool is not None and agent is None:
        raise click.UsageError("name the agent that calls the tool")
    if cases is not None and (through or arguments != "{}"):
        raise click.UsageError("--args and --through belong to --tool; in a table they stand in the rows")
    project = compile_project(folder, reporter)
    if not project.ok:
        require_lock(project, reporter, "nothing decided")
    lock = project.compilation.lock
    assert lock is not None
    if agent is not None:
        require_agent(agent, lock.agents)
    if cases is not None:
        context.exit(_run_table(lock, cases, agent, reporter))
    assert agent is not None
    assert tool is not None
    _say(_decide(lock, agent, tool, arguments, through), reporter)


def _decide(lock: Lock, agent: str, tool: str, arguments: str, through: tuple[str, ...]) -> Decision:
    from symc.authority import decide, request_for
    from symc.schema import Validator

    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint="--args") from None
    if not isinstance(given, dict):
        raise click.BadParameter("arguments are a JSON object", param_hint="--args")
    composition = lock.composition(agent)
    names = callable_names(lock, agent)
    if tool not in composition.agent.tools and tool not in names:
        unknown(f'agent "{agent}" has no tool "{tool}"', tool, names)
    for caller in through:
        require_agent(caller, lock.agents)
    try:
        decision = decide(
            composition,
            request_for(composition, tool, given, origin=through[-1] if through else "model"),
            through=[lock.composition(caller) for caller in through],
        )
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--through") from None
    bound = composition.agent.tools.get(tool)
    violation = Validator(bound.input_schema).violation(given) if bound is not None else None
    if violation is not None:
        click.echo(
            f"note: the call is refused before any policy is asked: the arguments: {violation}", err=True
        )
    return decision


def callable_names(lock: Lock, agent: str) -> list[str]:
    """The names that the agent's model may call: its exposed tools and those that call its delegates."""
    entry = lock.agents[agent]
    exposed = [name for name, tool in entry.tools.items() if tool.exposed]
    return sorted([*exposed, *(edge.tool for edge in entry.delegates.values())])


def _say(decision: Decision, reporter: Reporter) -> None:
    if reporter.format == "json":
        answer: dict[str, Any] = {
            "format": 1,
            "decision": decision.outcome,
            "rules": decision.rules,
            "reasons": decision.reasons,
            "code": decision.code,
        }
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    click.echo(f"{decision.outcome}  {decision.rule}")
    for reason in decision.reasons:
        click.echo(f"  {reason}")
    if decision.outcome == "ask" and decision.code:
        click.echo(f"  code is asked as well: {', '.join(decision.code)}")


def _run_table(lock: Lock, path: Path, agent: str | None, reporter: Reporter) -> ExitCode:
    from symc.cli.decisions import read_cases, unexpected
    from symc.diagnostics.codes.policies import POLICY_CASE_INVALID

    found = read_cases(path.as_posix(), path.read_bytes())
    cases = [case for case in found.cases if agent in (None, case.agent)]
    diagnostics = (*found.diagnostics, *unexpected(lock, cases))
    failed = len({(one.primary, one.code) for one in diagnostics})
    line = f"{len(cases)} cases, " + (f"{failed} not as expected" if failed else "all as expected")
    reporter.diagnostics(
        diagnostics, {path.as_posix(): found.text}, ok=not diagnostics, reason=line if diagnostics else ""
    )
    reporter.verdict(line)
    if any(one.code == POLICY_CASE_INVALID.code or one.code[3] != "4" for one in diagnostics):
        return ExitCode.COULD_NOT
    return ExitCode.NOT_SO if diagnostics else ExitCode.OK
