"""Rules: the levels a workspace gives to warnings (docs/manifests.md §5). An error stays an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from symc.diagnostics import Diagnostic, Level, Report
from symc.diagnostics.codes import TABLE, find
from symc.diagnostics.codes import references as codes
from symc.diagnostics.suggest import suggestion
from symc.manifest import model
from symc.manifest.checked import Checked, Manifests

DiffRules: TypeAlias = Callable[[], Mapping[str, Collection[str]]]
"""Codes and names of diff rules, each with the levels that it may have; they are set in the same place and applied by the diff."""

_DIFF: Final = "SYD"


def ruled(
    found: Iterable[Diagnostic],
    manifests: Manifests,
    diff_rules: DiffRules = dict,
) -> tuple[Diagnostic, ...]:
    """The diagnostics at the levels that ``rules`` of the workspace manifest gives them, in report order.

    ``diff_rules`` gives the diff rules that may stand among the others; it is called only for a key that is none of a
    warning. Where the workspace manifest was refused its rules are not known, and warnings wait until they are.
    """
    report = Report()
    levels: dict[str, str] = {}
    workspace = manifests.workspace
    if workspace is None and manifests.workspace_refused:
        found = (diagnostic for diagnostic in found if diagnostic.level is Level.ERROR)
    if workspace is not None and workspace.body.rules:
        levels = _levels(workspace, diff_rules, report)
    for diagnostic in found:
        level = levels.get(diagnostic.code)
        if level is None:
            report.add(diagnostic)
        elif level != "off":
            report.add(replace(diagnostic, level=Level(level)))
    return report.diagnostics


def _levels(workspace: Checked[model.Workspace], diff_rules: DiffRules, report: Report) -> dict[str, str]:
    levels: dict[str, str] = {}
    for key, level in workspace.body.rules.items():
        row = find(key)
        if row is None:
            known = diff_rules()
            if key in known:
                if level not in known[key]:
                    report.add(_not_lowered(workspace, key, level, known[key]))
            elif known or not key.upper().startswith(_DIFF):
                names = [*known, *(name for each in TABLE for name in (each.code, each.name))]
                report.add(
                    codes.RULE_UNKNOWN.at(
                        workspace.key_span("rules", key),
                        f'there is no rule "{key}"',
                        hint=suggestion(key, names) or "`symc explain` lists every code",
                        subject=workspace.name,
                    )
                )
        elif row.level is not Level.ERROR:
            levels[row.code] = level
        elif level != "error":
            report.add(
                codes.RULE_NOT_ADJUSTABLE.at(
                    workspace.span("rules", key),
                    f'"{key}" is an error and cannot be set to "{level}"',
                    hint="remove the line; what is wrong has to be put right",
                    subject=workspace.name,
                )
            )
    return levels


def _not_lowered(
    workspace: Checked[model.Workspace], key: str, level: str, legal: Collection[str]
) -> Diagnostic:
    return codes.RULE_NOT_ADJUSTABLE.at(
        workspace.span("rules", key),
        f'"{key}" cannot be set to "{level}"; it may be {" or ".join(legal)}',
        hint="remove the line; a change of what agents may do is always shown",
        subject=workspace.name,
    )
