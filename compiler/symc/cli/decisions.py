"""Decisions of calls as `symc policy test` tells them, and a table of expected ones, read strictly (docs/policies.md §3).

The table is YAML, rows by agent: ``support: [{tool: refund, args: {amount: 800}, expect: deny, rule: crm/limit}]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from symc.authority import UNEXPOSED, Authority, Conditions, Decision, request_for
from symc.composition import Composition, Lock
from symc.contracts.verdict import PolicyRequest
from symc.contracts.vocabulary import EFFECTS
from symc.diagnostics import Diagnostic, Report, Span
from symc.diagnostics.codes import policies as codes
from symc.diagnostics.suggest import suggestion
from symc.source import Document, Workspace, parse

INVALID_ARGUMENTS: Final = "invalid_arguments"
"""Stands for a rule: the arguments break the tool's input schema. The runtime's gate says the same word."""

OUTCOMES: Final = ("allow", "ask", "ask-code", "deny")
KEYS: Final = ("tool", "args", "expect", "rule", "through")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row: the call, what is expected of it, and where it stands. An empty ``rule`` expects any.

    Without ``arguments`` it is about the tool and not about one call.
    """

    agent: str
    tool: str
    arguments: dict[str, Any] | None = None
    outcome: str
    rule: str = ""
    through: tuple[str, ...] = ()
    span: Span


@dataclass(frozen=True, slots=True)
class Cases:
    """The rows of a table, in its order, with what was wrong with others, and the text they are from.

    ``unread`` counts the rows that are none; 0 beside ``diagnostics``: the table itself is none.
    """

    cases: tuple[Case, ...]
    diagnostics: tuple[Diagnostic, ...]
    text: str
    unread: int = 0


def read_cases(file: str, content: bytes) -> Cases:
    """The table in ``content``; ``file`` is its name in diagnostics, whatever its ending."""
    # Read as strictly as a manifest: a table that silently means something else proves nothing.
    name = "cases.yaml"
    sources = parse(Workspace.of({name: content}))
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if not sources.documents:
        return Cases((), tuple(_renamed(one, file) for one in sources.diagnostics), text)
    report = Report()
    read = sources.documents[0]
    document = Document(file, read.text, read.data)
    cases = tuple(_cases(document, report))
    return Cases(cases, report.diagnostics, text, unread=len(report.diagnostics))


def decided(authority: Authority, request: PolicyRequest, *, checked: bool) -> Decision:
    """What happens to the request, in the order of the runtime's gate: grant, arguments, policies (P1).

    ``checked``: the arguments are those of a call, and held to the tool's input schema.
    """
    decision = authority.decide(request)
    if not checked or (decision.outcome == "deny" and _is_out_of_reach(decision)):
        return decision
    why = schema_faults(authority, request)
    if not why:
        return decision
    return Decision("deny", (INVALID_ARGUMENTS,), (f"no policy is asked: {why}",))


def schema_faults(authority: Authority, request: PolicyRequest) -> str:
    """What the tool's input schema says against the arguments, in one line; empty when nothing."""
    from symc.composition import DELEGATE_INPUT
    from symc.runtime.schemas import faults
    from symc.schema import Validator

    if request.effect == "delegate":
        schema: Any = DELEGATE_INPUT
    else:
        schema = authority.composition.agent.tools[request.tool].input_schema
    return faults(Validator(schema), request.arguments)


def _is_out_of_reach(decision: Decision) -> bool:
    return decision.rule == UNEXPOSED or decision.rule.startswith("grant:")


def unexpected(lock: Lock, cases: Iterable[Case]) -> Iterator[Diagnostic]:
    """Each row that is decided otherwise than it expects, and each that names what the lock does not hold."""
    conditions = Conditions()
    known: dict[tuple[str, ...], Authority] = {}
    rules: dict[tuple[str, ...], frozenset[str]] = {}
    for case in cases:
        missing = next((name for name in (case.agent, *case.through) if name not in lock.agents), None)
        if missing is not None:
            yield _invalid(case.span, f'there is no agent "{missing}"', suggestion(missing, lock.agents))
            continue
        agent = lock.agents[case.agent]
        names = [*agent.tools, *(edge.tool for edge in agent.delegates.values())]
        if case.tool not in names:
            yield _invalid(
                case.span, f'agent "{case.agent}" has no tool "{case.tool}"', suggestion(case.tool, names)
            )
            continue
        way = (*case.through, case.agent)
        if way not in known:
            try:
                chain = [lock.composition(name) for name in way]
                rules[way] = _rules(chain)
                known[way] = Authority.of(chain[-1], chain[:-1], conditions)
            except ValueError as error:
                yield _invalid(case.span, str(error), "")
                continue
        if case.rule and case.rule not in rules[way]:
            yield _invalid(
                case.span,
                f'there is no rule "{case.rule}" that could decide a call of agent "{case.agent}"',
                suggestion(case.rule, rules[way]),
            )
            continue
        origin = case.through[-1] if case.through else "model"
        request = request_for(known[way].composition, case.tool, case.arguments, origin)
        decision = decided(known[way], request, checked=case.arguments is not None)
        if not _as_expected(case, decision):
            yield _failed(case, decision)


def _rules(chain: Iterable[Composition]) -> frozenset[str]:
    """Every rule that a decision about these agents may name: their policies, and what stands for one."""
    policies = {key for composition in chain for key in composition.policies}
    return frozenset({*policies, *(f"grant:{effect}" for effect in EFFECTS), UNEXPOSED, INVALID_ARGUMENTS})


def _as_expected(case: Case, decision: Decision) -> bool:
    return decision.outcome == case.outcome and (not case.rule or case.rule in decision.rules)


def _failed(case: Case, decision: Decision) -> Diagnostic:
    wanted = case.outcome + (f" by {case.rule}" if case.rule else "")
    through = f" through {' > '.join(case.through)}" if case.through else ""
    return codes.POLICY_CASE_FAILED.at(
        case.span,
        f'"{case.tool}" of agent "{case.agent}"{through}: {wanted} is expected, '
        f"and it is {decision.outcome} by {', '.join(decision.rules)}",
        notes=decision.reasons,
        hint="correct the policy, or the row if the change is meant",
        subject=case.agent,
    )


def _invalid(span: Span, message: str, hint: str) -> Diagnostic:
    return codes.POLICY_CASE_INVALID.at(span, message, hint=hint or None)


def _cases(document: Document, report: Report) -> Iterator[Case]:
    for agent, rows in document.data.items():
        if not isinstance(rows, list):
            report.add(
                _invalid(document.span(agent), f'the cases of "{agent}" are no list', "write one row a call")
            )
            continue
        for index, row in enumerate(rows):
            span = document.span(agent, index)
            fault = _fault(row)
            if fault is not None:
                report.add(_invalid(span, *fault))
            else:
                yield Case(
                    agent=agent,
                    tool=row["tool"],
                    arguments=row.get("args"),
                    outcome=row["expect"],
                    rule=row.get("rule", ""),
                    through=tuple(row.get("through", ())),
                    span=span,
                )


def _fault(row: Any) -> tuple[str, str] | None:
    """Why this is no row, and what to write; None for a row."""
    if not isinstance(row, dict):
        return "a case is a mapping", "write {tool: …, args: {…}, expect: deny}"
    for key in row:
        if key not in KEYS:
            return f'a case has no key "{key}"', suggestion(key, KEYS)
    for key in ("tool", "expect"):
        if key not in row:
            return f"a case needs `{key}`", f"the keys are {', '.join(KEYS)}"
    if row["expect"] not in OUTCOMES:
        expected = row["expect"] if isinstance(row["expect"], str) else json.dumps(row["expect"])
        return f'no call is decided as "{expected}"', suggestion(expected, OUTCOMES)
    if not isinstance(row["tool"], str) or not isinstance(row.get("rule", ""), str):
        return "`tool` and `rule` are texts", "quote them"
    if not isinstance(row.get("args", {}), dict):
        return "`args` is a mapping", "write {name: value, …}"
    if not _is_names(row.get("through", [])):
        return "`through` is a list of agents, the outermost first", "write [support]"
    return None


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _renamed(diagnostic: Diagnostic, file: str) -> Diagnostic:
    span = replace(diagnostic.primary, file=file)
    return replace(diagnostic, primary=span, secondary=(), hint=None)
