"""Absence: why an agent has no item of a name that its surroundings know, and what to ask or write instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symc.compose.freeze import Composed
from symc.compose.link import Links
from symc.contracts.patterns import ToolPattern
from symc.contracts.vocabulary import EFFECTS
from symc.diagnostics import Span
from symc.manifest import model
from symc.manifest.checked import Checked


@dataclass(frozen=True, slots=True)
class Absence:
    """What a name stands for, though it is no item of the agent: a sentence, the next step, the place it speaks of."""

    sentence: str
    hint: str
    span: Span | None = None


def absence(composed: Composed, links: Links, name: str) -> Absence | None:
    """Why the agent has no item of this name: what else it names there, or None for a name that means nothing."""
    agent = composed.agent.name
    if name in composed.guards.delegates:
        tool = composed.guards.delegates[name].tool
        return Absence(
            f'"{name}" is an agent that "{agent}" asks through the tool "{tool}"', f"symc why {agent} {tool}"
        )
    for extension, index in _tools(composed, links, name):
        return _unselected(composed, extension, index)
    if name in composed.agent.registrations:
        return _layer(composed, name)
    if name in EFFECTS:
        return Absence(
            f'"{name}" is an effect, which is not granted to "{agent}"',
            f"to grant it, write `grants: [{name}]`",
            composed.agent.manifest.span(),
        )
    if name in links.extensions:
        return Absence(
            f'"{name}" is an extension that "{agent}" does not use',
            f'to use it, add "{name}" to `extensions`',
            composed.agent.manifest.span(),
        )
    if name in {base.name for base in composed.agent.bases}:
        return Absence(
            f'"{name}" is a base that "{agent}" extends',
            f"what comes from its file is listed by: symc show {agent} --origin",
        )
    if name in links.agents:
        return Absence(f'"{name}" is another agent, which "{agent}" does not ask', f"symc show {name}")
    return None


def absent_names(composed: Composed, links: Links) -> tuple[str, ...]:
    """The names that an absence is known for, sorted: what may have been meant by one that means nothing."""
    found = {*composed.guards.delegates, *composed.agent.registrations, *EFFECTS, *links.agents}
    found.update(
        f"{name}/{tool.name}" for name in composed.agent.closure for tool in links.extensions[name].body.tools
    )
    return tuple(sorted(found))


def _tools(composed: Composed, links: Links, name: str) -> Iterator[tuple[Checked[model.Extension], int]]:
    """The tools of this name, `extension/tool` or raw, those of extensions that the agent uses before others."""
    closure = composed.agent.closure
    for owner in (*closure, *(one for one in links.extensions if one not in closure)):
        extension = links.extensions[owner]
        for index, tool in enumerate(extension.body.tools):
            if name == f"{owner}/{tool.name}" or (name == tool.name and owner in closure):
                yield extension, index


def _unselected(composed: Composed, extension: Checked[model.Extension], index: int) -> Absence:
    agent = composed.agent
    identity = (extension.name, extension.body.tools[index].name)
    joined, span = "/".join(identity), extension.tool_span(index, "name")
    if extension.name not in agent.closure:
        return Absence(
            f'"{joined}" is brought by {extension.name}, which "{agent.name}" does not use',
            f'to have it, add "{extension.name}" to `extensions` and "{joined}" to `tools`',
            span,
        )
    for text, place in agent.exclude:
        if ToolPattern.parse(text).matches(*identity):
            return Absence(
                f'"{joined}" is brought by {extension.name}, and excluded by "{text}"',
                "to have it, narrow `exclude`",
                place.span(),
            )
    for tool in composed.tools:
        if tool.base.identity == identity and not tool.chain:
            return Absence(
                f'"{joined}" is selected, under the name "{tool.name}"',
                f"symc why {agent.name} {tool.name}",
                tool.base.place.span(),
            )
    return Absence(
        f'"{joined}" is brought by {extension.name}, not selected',
        f'to have it, add "{joined}" to `tools` of "{agent.name}"',
        span,
    )


def _layer(composed: Composed, name: str) -> Absence:
    agent, registration = composed.agent.name, composed.agent.registrations[name]
    own = registration.tool_extension
    said = f'"{name}" is a layer, the {own.kind} that {registration.extension} brings'
    minted = [
        tool.name
        for tool in composed.tools
        if any(layer.registration == registration for layer in tool.chain)
    ]
    if not minted:
        return Absence(
            f'{said}; no tool of "{agent}" stands on it', "a variant takes it: see docs/variants.md"
        )
    return Absence(f"{said}; with it: {', '.join(minted)}", f"symc why {agent} {minted[0]}")
