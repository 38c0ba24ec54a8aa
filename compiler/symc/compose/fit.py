"""Fit: an agent's tools → the same tools within the limits of its provider (docs/policies.md §6, V5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from symc import profiles
from symc.compose.link import LinkedAgent, Place
from symc.compose.mint import MintedTool, delegate_tool
from symc.composition import DELEGATE_INPUT
from symc.diagnostics import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class Fitted:
    """The tools with the adaptations their provider needs, each recorded, and what does not fit."""

    tools: tuple[MintedTool, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def fit(
    agent: LinkedAgent,
    tools: tuple[MintedTool, ...],
    agents: Mapping[str, LinkedAgent],
    seen: profiles.Seen,
) -> Fitted:
    """Check what the model of ``agent`` would see, its delegates among ``agents`` included.

    ``seen`` is the compile's memory of schemas already examined.
    """
    found = profiles.check(
        profiles.profile(agent.provider),
        [*_exposed(tools), *_delegates(agent, agents)],
        agent=agent.name,
        at=lambda: agent.manifest.span("tools"),
        most=agent.limits.tools,
        reserved=[tool.name for tool in tools if not tool.exposed],
        seen=seen,
    )
    # A missing base may exclude a tool, call it otherwise, or name another provider.
    return Fitted(_adapted(tools, found.adapted), () if agent.lacks_base else found.diagnostics)


def _adapted(
    tools: tuple[MintedTool, ...], adapted: Mapping[str, profiles.Examined]
) -> tuple[MintedTool, ...]:
    if not adapted:
        return tools
    return tuple(
        replace(tool, input_schema=adapted[tool.name].schema, adaptations=adapted[tool.name].adaptations)
        if tool.exposed and tool.name in adapted
        else tool
        for tool in tools
    )


def _exposed(tools: Sequence[MintedTool]) -> Iterator[profiles.ExposedTool]:
    for tool in tools:
        if tool.exposed:
            yield profiles.ExposedTool(
                name=tool.name,
                extension=tool.base.extension.name,
                raw=tool.base.raw,
                description=tool.description,
                input_schema=cast("dict[str, Any]", tool.input_schema),
                parts=_parts(tool),
                is_variant=bool(tool.chain),
                locate=_Places(tool),
            )


def _parts(tool: MintedTool) -> tuple[tuple[str, str], ...]:
    """The pieces of the name, each with what it is: where a name is too long, which of them to shorten."""
    base = tool.base
    pieces = [("as", base.alias)] if base.alias else [("tool", base.raw)]
    if base.prefix:
        pieces.insert(0, ("prefix", f"{base.prefix}_"))
    pieces.extend(("variant", f"_{layer.name}") for layer in tool.chain)
    if "".join(text for _, text in pieces) != tool.name:
        return (("as", tool.name),)
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a part of a tool was written: at the row that names it, in its extension, or at the layer that mints it."""

    tool: MintedTool

    def __call__(self, path: tuple[str | int, ...]) -> Span:
        base = self.tool.base
        if self.tool.chain:
            return self.tool.place.span()
        if path[0] == "name" and base.exposed != base.raw:
            return base.place.span()  # the agent made the name: the extension's own may be fine
        if path[0] == "description" and base.description is not None:
            return base.place.span("description")
        return base.span(*path)


@dataclass(frozen=True, slots=True)
class _DelegatePlaces:
    """Where a part of a delegate was written: its description in its own manifest, all else at the row that names it."""

    row: Place
    delegate: LinkedAgent

    def __call__(self, path: tuple[str | int, ...]) -> Span:
        return self.delegate.manifest.span("description") if path[0] == "description" else self.row.span()


def _delegates(agent: LinkedAgent, agents: Mapping[str, LinkedAgent]) -> Iterator[profiles.ExposedTool]:
    """P23: what a delegate is called by counts as a tool, and is named and described within the same limits."""
    for name, place in {row.agent: place for row, place in agent.delegates}.items():
        delegate = agents[name]
        yield profiles.ExposedTool(
            name=delegate_tool(name),
            extension="delegates",
            raw=name,
            description=delegate.manifest.body.description,
            input_schema=cast("dict[str, Any]", DELEGATE_INPUT),
            parts=(("delegate", delegate_tool(name)),),
            is_delegate=True,
            locate=_DelegatePlaces(place, delegate),
        )
