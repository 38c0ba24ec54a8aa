"""``symc policy test``: which rule decides a call and why, without running anything (docs/policies.md §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symc.cli.asked import require_agent, unknown
from symc.cli.frame import ExitCode
from symc.cli.project import compile_project, counted, require_lock, workspace_option
from symc.cli.reporting import Reporter, reporting_options

if TYPE_CHECKING:
    from symc.authority import Decision
    from symc.cli.decisions import Cases
    from symc.composition import Lock
    from symc.contracts.frozen import FrozenDict
    from symc.diagnostics import Diagnostic


@click.group("policy")
def command() -> None:
    """Ask the policies, without running anything."""


@command.command("test")
@click.argument("agent", required=False)
@click.option("--tool", help="The tool, by its exposed name.")
@click.option(
    "--args",
    "arguments",
    metavar="JSON",
    help="The arguments, a JSON object; without them, the tool's schema is not asked.",
)
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
    arguments: str | None,
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
    if cases is not None and (through or arguments is not None):
        raise click.UsageError("--args and --through belong to --tool; in a table they stand in the rows")
    if cases is None and reporter.format not in ("text", "json"):
        raise click.UsageError(f"one decision has no format {reporter.format}; --cases has it")
    project = compile_project(folder, reporter)
    if not project.ok:
        require_lock(project, reporter, "nothing decided")
    lock = project.compilation.lock
    assert lock is not None
    if agent is not None:
        require_agent(agent, project.compilation)
    if cases is not None:
        context.exit(_run_table(lock, cases, agent, reporter))
    assert agent is not None
    assert tool is not None
    for caller in through:
        require_agent(caller, project.compilation)
    _say(_decide(lock, agent, tool, arguments, through), reporter)


def _decide(lock: Lock, agent: str, tool: str, text: str | None, through: tuple[str, ...]) -> Decision:
    from symc.authority import Authority, request_for
    from symc.cli.decisions import decided, schema_faults

    given = {} if text is None else _arguments(text)
    composition = lock.composition(agent)
    names = callable_names(lock, agent)
    if tool not in composition.agent.tools and tool not in names:
        unknown(f'agent "{agent}" has no tool "{tool}"', tool, names)
    try:
        authority = Authority.of(composition, [lock.composition(caller) for caller in through])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--through") from None
    request = request_for(composition, tool, given, origin=through[-1] if through else "model")
    decision = decided(authority, request, checked=text is not None)
    if text is None and decision.outcome != "deny" and (why := schema_faults(authority, request)):
        click.echo(
            f"note: without --args the tool's schema is not asked, which a call must satisfy: {why}", err=True
        )
    return decision


def _arguments(text: str) -> FrozenDict:
    """The arguments of one call; what is none that a model could give ends the command with exit code 2."""
    from symc.contracts.frozen import DEEPEST, FrozenDict, freeze

    try:
        given = freeze(json.loads(text))
        json.dumps(given, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        said = f"no JSON: {error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
        raise click.BadParameter(said, param_hint="--args") from None
    except UnicodeEncodeError:
        raise click.BadParameter("a text holds half of a surrogate pair", param_hint="--args") from None
    except RecursionError:
        said = f"the value is nested deeper than {DEEPEST} levels"
        raise click.BadParameter(said, param_hint="--args") from None
    except ValueError as error:
        raise click.BadParameter(str(error).partition(", or")[0], param_hint="--args") from None
    if not isinstance(given, FrozenDict):
        raise click.BadParameter("arguments are a JSON object", param_hint="--args")
    return given


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
    from symc.diagnostics.codes.policies import POLICY_CASE_FAILED

    found = read_cases(path.as_posix(), path.read_bytes())
    cases = [case for case in found.cases if agent in (None, case.agent)]
    if agent is not None and not cases and not found.diagnostics:
        said = f"no case for {agent} in {path.as_posix()}"
        reporter.diagnostics((), {}, ok=False, reason=said)
        reporter.verdict(said)
        return ExitCode.COULD_NOT
    diagnostics = (*found.diagnostics, *unexpected(lock, cases))
    said = _verdict(found, len(cases), diagnostics)
    reporter.diagnostics(
        diagnostics, {path.as_posix(): found.text}, ok=not diagnostics, reason=said if diagnostics else ""
    )
    reporter.verdict(said)
    if any(one.code != POLICY_CASE_FAILED.code for one in diagnostics):
        return ExitCode.COULD_NOT
    return ExitCode.NOT_SO if diagnostics else ExitCode.OK


def _verdict(found: Cases, read: int, diagnostics: Sequence[Diagnostic]) -> str:
    """How many rows there are, and what became of those that are not as expected."""
    from symc.diagnostics.codes.policies import POLICY_CASE_FAILED

    if found.diagnostics and not found.unread:
        return "the table could not be read"
    failed = sum(one.code == POLICY_CASE_FAILED.code for one in diagnostics)
    undecided = len(diagnostics) - len(found.diagnostics) - failed
    counts = (
        (failed, "not as expected"),
        (found.unread, "could not be read"),
        (undecided, "could not be decided"),
    )
    said = [f"{number} {what}" for number, what in counts if number] or ["all as expected"]
    return ", ".join((counted(read + found.unread, "case"), *said))
