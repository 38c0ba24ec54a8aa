"""Origins: for each item of an agent, the place of the document that set it (docs/manifests.md §4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symc.compose.linked import LinkedAgent
from symc.diagnostics import Span
from symc.manifest import model
from symc.manifest.checked import Checked

_SCALARS = ("provider", "model")
_LIMITS = ("max_model_rounds", "prompt_chars", "extension_prompt_chars", "tools")


def origins(agent: LinkedAgent, workspace: Checked[model.Workspace] | None) -> tuple[tuple[str, Span], ...]:
    """Every item of ``agent`` with where it was written, in the order of the manifest's keys."""
    return tuple(_origins(agent, workspace))


def _origins(agent: LinkedAgent, workspace: Checked[model.Workspace] | None) -> Iterator[tuple[str, Span]]:
    documents: list[Checked[Any]] = [
        *([] if workspace is None else [workspace]),
        *agent.bases,
        agent.manifest,
    ]
    for name in _SCALARS:
        # Scalars: the later document wins.
        for document in reversed(documents):
            value = getattr(document.body, name, None)
            if value is not None:
                yield f"{name}: {value}", document.span(name)
                break
    for name in _LIMITS:
        given = [document for document in documents if getattr(document.body.limits, name) is not None]
        if given:
            # Limits: the lowest counts.
            lowest = min(given, key=lambda document: int(getattr(document.body.limits, name)))
            yield f"limits.{name}: {getattr(lowest.body.limits, name)}", lowest.span("limits", name)
    for used in agent.uses.values():
        yield f"extension {used.name}" + (f" as {used.prefix}_" if used.prefix else ""), used.place.span()
    for row in agent.tools:
        yield f"tools: {row.pattern}", row.place.span()
    for pattern, place in agent.exclude:
        yield f"exclude: {pattern}", place.span()
    for variant in agent.variants:
        yield f"variants: {variant.key}", variant.place.manifest.key_span(*variant.place.path)
    for effect, place in agent.grants:
        yield f"grant {effect}", place.span()
    for owned in agent.prompts:
        yield f"fragment {owned.owner}/{owned.prompt.fragment_id}", owned.place.span()
    for policy in agent.policies:
        yield f"policy {policy.id}", policy.place.span()
    for name, (_, place) in agent.vars.items():
        yield f"var {name}", place.span()
    for delegate, place in agent.delegates:
        yield f"delegate {delegate.agent}", place.span()
