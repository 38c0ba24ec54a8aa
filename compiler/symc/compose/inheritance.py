"""Inheritance: what each document brings to an agent, and how bases and agent add up (docs/manifests.md §4).

A document's share is read once; shares are added left to right — workspace, bases, agent — and every item keeps the
place that wrote it. What a share leaves empty is handed on, not copied: a long line of bases stays cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symc.compose.linked import (
    OwnedPolicy,
    OwnedPrompt,
    OwnerClass,
    Place,
    ToolRow,
    UsedExtension,
    VariantRow,
)
from symc.compose.requirement import Requirement
from symc.diagnostics import LabelledSpan, Report
from symc.diagnostics.codes import references as codes
from symc.diagnostics.codes import shape
from symc.manifest import model
from symc.manifest.checked import Checked
from symc.manifest.model import Delegate, Limits

INSTRUCTIONS = "instructions"
"""The fragment id of an agent's ``instructions``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one document, or several added up, bring to an agent."""

    provider: str = ""
    model: str = ""
    limits: Limits = field(default_factory=Limits)
    uses: Mapping[str, UsedExtension] = field(default_factory=dict)
    tools: tuple[ToolRow, ...] = ()
    exclude: tuple[tuple[str, Place], ...] = ()
    variants: Mapping[str, VariantRow] = field(default_factory=dict)
    grants: tuple[tuple[str, Place], ...] = ()
    prompts: tuple[OwnedPrompt, ...] = ()
    policies: tuple[OwnedPolicy, ...] = ()
    vars: Mapping[str, tuple[Any, Place]] = field(default_factory=dict)
    delegates: tuple[tuple[Delegate, Place], ...] = ()


def workspace_share(document: Checked[model.Workspace], report: Report) -> Share:
    """What the workspace manifest gives to every agent."""
    body = document.body
    return Share(
        provider=body.provider or "",
        limits=body.limits,
        uses=_uses(document, report),
        prompts=owned_prompts(document, "workspace"),
        policies=owned_policies(document, "workspace"),
        vars=_vars(document),
    )


def agent_share(document: Checked[model.Agent], owner_class: OwnerClass, report: Report) -> Share:
    """What an agent document gives to itself (``agent``), or to those that extend it (``base``)."""
    body = document.body
    return Share(
        provider=body.provider or "",
        model=body.model or "",
        limits=body.limits,
        uses=_uses(document, report),
        tools=tuple(_tool_row(document, i, row) for i, row in enumerate(body.tools)),
        exclude=tuple((text, Place(document, ("exclude", i))) for i, text in enumerate(body.exclude)),
        variants={
            key: VariantRow(key, chains, Place(document, ("variants", key)))
            for key, chains in body.variants.items()
        },
        grants=tuple((effect, Place(document, ("grants", i))) for i, effect in enumerate(body.grants)),
        prompts=(*_instructions(document, owner_class, report), *owned_prompts(document, owner_class)),
        policies=owned_policies(document, owner_class),
        vars=_vars(document),
        delegates=tuple((row, Place(document, ("delegates", i))) for i, row in enumerate(body.delegates)),
    )


def owned_prompts(document: Checked[Any], owner_class: OwnerClass) -> tuple[OwnedPrompt, ...]:
    """The fragments that stand under ``prompts`` of a document."""
    return tuple(
        OwnedPrompt(document.name, owner_class, prompt, Place(document, ("prompts", i)))
        for i, prompt in enumerate(document.body.prompts)
    )


def owned_policies(document: Checked[Any], owner_class: OwnerClass) -> tuple[OwnedPolicy, ...]:
    """The policies of a document."""
    return tuple(
        OwnedPolicy(document.name, owner_class, policy, Place(document, ("policies", i)))
        for i, policy in enumerate(document.body.policies)
    )


def added(total: Share, part: Share, joiner: Checked[model.Agent], report: Report) -> Share:
    """``total`` with ``part`` on top, field by field; ``joiner`` is the agent whose ``extends`` brings them together."""
    changed: dict[str, Any] = {}
    if part.provider:
        changed["provider"] = part.provider  # scalars: the later wins
    if part.model:
        changed["model"] = part.model
    if part.limits != _NO_LIMITS:
        changed["limits"] = _lower(total.limits, part.limits)
    if part.uses:
        uses = dict(total.uses)
        for use in part.uses.values():
            uses[use.name] = _joined_use(uses.get(use.name), use, joiner, report)
        changed["uses"] = uses
    if part.tools:
        known = {_row_key(row) for row in total.tools}
        changed["tools"] = (*total.tools, *(row for row in part.tools if _row_key(row) not in known))
    if part.exclude:
        changed["exclude"] = _united(total.exclude, part.exclude)
    if part.grants:
        changed["grants"] = _united(total.grants, part.grants)
    if part.variants:
        changed["variants"] = {**total.variants, **part.variants}
    if part.vars:
        changed["vars"] = {**total.vars, **part.vars}
    if part.delegates:
        changed["delegates"] = (*total.delegates, *part.delegates)
    if part.prompts:
        changed["prompts"] = _replaced(total.prompts, part.prompts, joiner, report)
    if part.policies:
        changed["policies"] = _with_policies(total.policies, part.policies, joiner, report)
    return replace(total, **changed) if changed else total


_NO_LIMITS = model.Limits()
_LIMITS = tuple(model.Limits.model_fields)


def _uses(
    document: Checked[model.Agent] | Checked[model.Workspace], report: Report
) -> dict[str, UsedExtension]:
    found: dict[str, UsedExtension] = {}
    for index, row in enumerate(document.body.extensions):
        name = Requirement.parse(row.use).name
        use = UsedExtension(name, row.prefix or "", Place(document, ("extensions", index)))
        found[name] = _joined_use(found.get(name), use, None, report)
    return found


def _tool_row(document: Checked[model.Agent], index: int, row: str | model.ToolRow) -> ToolRow:
    place = Place(document, ("tools", index))
    if isinstance(row, str):
        return ToolRow(row, is_object=False, alias="", description=None, place=place)
    return ToolRow(row.tool, is_object=True, alias=row.as_ or "", description=row.description, place=place)


def _instructions(
    document: Checked[model.Agent], owner_class: OwnerClass, report: Report
) -> tuple[OwnedPrompt, ...]:
    text = document.body.instructions
    if text is None:
        return ()
    for index, other in enumerate(document.body.prompts):
        if other.fragment_id == INSTRUCTIONS:
            report.add(
                shape.DUPLICATE_ID.at(
                    document.span("prompts", index, "fragment_id"),
                    f'the fragment id "{INSTRUCTIONS}" is that of the agent\'s `instructions`',
                    secondary=(LabelledSpan(document.key_span(INSTRUCTIONS), "the instructions"),),
                    hint="give the fragment another id",
                    subject=document.name,
                )
            )
    prompt = model.Prompt(
        fragment_id=INSTRUCTIONS, text=text, layer="l1", tier="operating", scope="deployment", order=0
    )
    return (OwnedPrompt(document.name, owner_class, prompt, Place(document, (INSTRUCTIONS,))),)


def _vars(document: Checked[Any]) -> dict[str, tuple[Any, Place]]:
    return {key: (value, Place(document, ("vars", key))) for key, value in document.body.vars.items()}


def _lower(total: model.Limits, part: model.Limits) -> model.Limits:
    lowest = {}
    for name in _LIMITS:
        given = [value for value in (getattr(total, name), getattr(part, name)) if value is not None]
        lowest[name] = min(given, default=None)
    return model.Limits(**lowest)


def _joined_use(
    earlier: UsedExtension | None, later: UsedExtension, joiner: Checked[model.Agent] | None, report: Report
) -> UsedExtension:
    if earlier is None:
        return later
    # A row without a prefix says nothing about it; it may only add a specifier.
    if not later.prefix or later.prefix == earlier.prefix:
        return earlier
    if earlier.prefix:
        report.add(
            codes.PREFIX_CONFLICT.at(
                later.place.span("prefix"),
                f'"{later.name}" is given the prefix "{later.prefix}" here and "{earlier.prefix}" elsewhere',
                secondary=(
                    LabelledSpan(earlier.place.span("prefix"), f'here it is "{earlier.prefix}"'),
                    *_joined_at(joiner, earlier.place, later.place),
                ),
                hint="give it one prefix",
                subject=later.place.owner,
            )
        )
        return earlier
    return later


def _row_key(row: ToolRow) -> tuple[str, bool, str, str | None]:
    return (row.pattern, row.is_object, row.alias, row.description)


def _united(
    total: tuple[tuple[str, Place], ...], part: tuple[tuple[str, Place], ...]
) -> tuple[tuple[str, Place], ...]:
    known = {text for text, _ in total}
    return (*total, *(row for row in part if row[0] not in known))


def _replaced(
    total: tuple[OwnedPrompt, ...],
    part: tuple[OwnedPrompt, ...],
    joiner: Checked[model.Agent],
    report: Report,
) -> tuple[OwnedPrompt, ...]:
    """Fragments of bases give way to those with their id; instructions and the workspace's stay."""
    inherited = {
        owned.prompt.fragment_id: owned
        for owned in total
        if owned.owner_class != "workspace" and owned.place.path[0] != INSTRUCTIONS
    }
    gone: set[int] = set()
    kept: list[OwnedPrompt] = []
    for owned in part:
        earlier = inherited.get(owned.prompt.fragment_id)
        if earlier is None or owned.place.path[0] == INSTRUCTIONS:
            kept.append(owned)
        elif earlier.prompt.tier == "platform":
            report.add(
                codes.PLATFORM_REPLACED.at(
                    owned.place.span("fragment_id"),
                    f'"{owned.owner}" replaces the platform fragment "{owned.prompt.fragment_id}" of "{earlier.owner}"',
                    secondary=(
                        LabelledSpan(
                            earlier.place.span("fragment_id"), "a platform fragment stands in every heir"
                        ),
                        *_joined_at(joiner, earlier.place, owned.place),
                    ),
                    hint="give the fragment another id",
                    subject=owned.owner,
                )
            )
        else:
            gone.add(id(earlier))
            kept.append(owned)
    return (*(owned for owned in total if id(owned) not in gone), *kept)


def _with_policies(
    total: tuple[OwnedPolicy, ...],
    part: tuple[OwnedPolicy, ...],
    joiner: Checked[model.Agent],
    report: Report,
) -> tuple[OwnedPolicy, ...]:
    known = {owned.policy.policy_id: owned for owned in total}
    for owned in part:
        earlier = known.get(owned.policy.policy_id)
        if earlier is not None:
            report.add(
                codes.POLICY_CLASH.at(
                    owned.place.span("policy_id"),
                    f'"{owned.owner}" and "{earlier.owner}" both have a policy "{owned.policy.policy_id}"',
                    secondary=(
                        LabelledSpan(earlier.place.span("policy_id"), f'the policy of "{earlier.owner}"'),
                        *_joined_at(joiner, earlier.place, owned.place),
                    ),
                    notes=("policies add up and never replace each other",),
                    hint="rename one of the two",
                    subject=owned.owner,
                )
            )
    return (*total, *part)


def _joined_at(joiner: Checked[model.Agent] | None, earlier: Place, later: Place) -> tuple[LabelledSpan, ...]:
    """The `extends` that brings two documents together, where it is neither's own."""
    if joiner is None or joiner.name in (earlier.owner, later.owner):
        return ()
    return (LabelledSpan(joiner.span("extends"), f'"{joiner.name}" extends both'),)
