"""Budgets: how much a prompt may hold (docs/prompts.md §5). Over budget is an error; nothing is ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from symc.compose.link import LinkedAgent, OwnedPrompt
from symc.diagnostics import Code, Diagnostic, LabelledSpan, Span
from symc.diagnostics.codes import composition as codes
from symc.manifest.checked import Checked
from symc.rendering import SEPARATOR

_LISTED = 12
_LABELLED = 3


@dataclass(frozen=True, slots=True)
class Sized:
    """A static fragment with its sizes in characters: its text, and its text as it stands in the prompt."""

    source: OwnedPrompt
    text: int
    rendered: int


def over_budget(agent: LinkedAgent, fragments: Sequence[Sized]) -> tuple[Diagnostic, ...]:
    """What exceeds the agent's ``prompt_chars`` and ``extension_prompt_chars``, with a table of the fragments."""
    found: list[Diagnostic] = []
    limit = agent.limits.prompt_chars
    if limit is not None:
        total = sum(each.rendered for each in fragments) + len(SEPARATOR) * max(0, len(fragments) - 1)
        if total > limit:
            found.append(
                _over(
                    codes.PROMPT_TOO_LARGE,
                    _limit_span(agent, "prompt_chars"),
                    f'the prompt of agent "{agent.name}" has {total:,} characters; the limit is {limit:,}',
                    ((each, each.rendered) for each in fragments),
                    total,
                    agent.name,
                )
            )
    limit = agent.limits.extension_prompt_chars
    if limit is not None:
        by_owner: dict[str, list[Sized]] = {}
        for each in fragments:
            if each.source.owner_class == "extension":
                by_owner.setdefault(each.source.owner, []).append(each)
        for owner, own in sorted(by_owner.items()):
            total = sum(each.text for each in own)
            if total > limit:
                found.append(
                    _over(
                        codes.EXTENSION_PROMPT_TOO_LARGE,
                        _limit_span(agent, "extension_prompt_chars"),
                        # Without the agent's name: it is one mistake, however many agents share limit and extension.
                        f'extension "{owner}" brings {total:,} characters of prompt; the limit is {limit:,}',
                        ((each, each.text) for each in own),
                        total,
                        owner,
                    )
                )
    return tuple(found)


def _limit_span(agent: LinkedAgent, key: str) -> Span:
    """Where the limit that counts was written: the lowest does, and the agent's own before an equal one."""
    effective = getattr(agent.limits, key)
    workspace = agent.workspace
    documents = [*reversed(agent.documents), *(() if workspace is None else (workspace,))]
    document: Checked[Any] = next(doc for doc in documents if getattr(doc.body.limits, key) == effective)
    return document.span("limits", key)


def _over(
    code: Code,
    span: Span,
    message: str,
    sizes: Iterable[tuple[Sized, int]],
    total: int,
    subject: str,
) -> Diagnostic:
    largest = sorted(sizes, key=lambda entry: (-entry[1], entry[0].source.id))
    rows = [
        f"{each.source.id}: {size:,} characters, {round(100 * size / total)} %"
        for each, size in largest[:_LISTED]
    ]
    if len(largest) > _LISTED:
        rest = sum(size for _, size in largest[_LISTED:])
        rows.append(f"{len(largest) - _LISTED} more: {rest:,} characters, {round(100 * rest / total)} %")
    return code.at(
        span,
        message,
        secondary=tuple(
            LabelledSpan(each.source.place.span(), f"{each.source.id}, {size:,} characters")
            for each, size in largest[:_LABELLED]
        ),
        notes=tuple(rows),
        hint="shorten a fragment, or raise the limit",
        subject=subject,
    )
