"""Mint: tools → variants, by the laws of docs/variants.md, from data alone.

A chain is judged in two steps: what is wrong with the chain itself is said once, wherever it is attached; what is
wrong with the chain on one tool (its schemas, its names) is said for that tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from symc.compose.attach import attach, resolved
from symc.compose.chains import MintedLayer, ResolvedChain
from symc.compose.link import LinkedAgent, Links, Place
from symc.compose.select import SelectedTool
from symc.compose.surface import Fault, Surface, layer_surface
from symc.diagnostics import Diagnostic, Hint, LabelledSpan, Report, Span
from symc.diagnostics.codes import composition as codes


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedTool:
    """A tool of the agent: a selected base (empty ``chain``) or a variant of it, with its computed surface.

    ``place`` is the row or the layer that brings it about, ``named`` the ``as`` that gives it its name, if one does.
    """

    name: str
    base: SelectedTool
    chain: tuple[MintedLayer, ...] = ()
    exposed: bool = True
    description: str = ""
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None
    place: Place
    named: Place | None = None
    adaptations: tuple[str, ...] = ()

    @property
    def derivation(self) -> str:
        """How the tool came to be, for people: ``crm/lookup + memo + audit``."""
        return " + ".join(["/".join(self.base.identity), *(layer.name for layer in self.chain)])

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """A total order that no declaration order can change."""
        return (self.name, self.base.identity, tuple(layer.key for layer in self.chain))


@dataclass(frozen=True, slots=True)
class Minted:
    """All tools of one agent, sorted by name, with what was wrong."""

    tools: tuple[MintedTool, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(slots=True)
class _Variant:
    """One prefix of a tool's chains while exposures and names are joined over the chains that share it."""

    layers: tuple[MintedLayer, ...]
    place: Place
    exposed: bool = False
    names: dict[str, Place] = field(default_factory=dict)


def mint(agent: LinkedAgent, selected: Iterable[SelectedTool], links: Links) -> Minted:
    """All tools of ``agent``: the selected ones and every variant its chains mint (V1–V27)."""
    report = Report()
    chosen = sorted(selected, key=lambda tool: (tool.exposed, tool.identity))
    chains = resolved(agent, report)
    if agent.lacks_base:
        # What the missing base excludes, renames or gives other chains is not known; the chains' own laws hold anyhow.
        report, laws = Report(), report
    else:
        laws = report
    attached = attach(agent, chosen, chains, links, report)
    tools = sorted(
        (minted for tool in chosen for minted in mint_tool(tool, attached.get(tool.identity, ()), report)),
        key=lambda minted: minted.sort_key,
    )
    if not agent.is_partial:  # the missing document may give a prefix
        _refuse_collisions(agent, tools, report)
    return Minted(tuple(tools), laws.diagnostics)


def mint_tool(tool: SelectedTool, chains: tuple[ResolvedChain, ...], report: Report) -> Iterator[MintedTool]:
    """A selected tool and every variant that these chains mint of it (V1–V3, V6, V11, V20–V27)."""
    base = Surface(
        description=tool.tool.description if tool.description is None else tool.description,
        input_schema=tool.tool.input_schema,
        output_schema=tool.tool.output_schema,
        annotations=tool.tool.annotations,
    )
    if not chains:  # as of most tools
        yield _minted(tool.exposed, tool, (), True, base, tool.place, _named(tool))
        return
    hides_base = _hides_base(tool, chains, report)
    refused = _one_backend(tool, chains, report)
    yield _minted(tool.exposed, tool, (), not hides_base, base, tool.place, _named(tool))
    surfaces: dict[tuple[Any, ...], Surface | None] = {(): base}
    for key, variant in sorted(_variants(chains).items()):
        if not refused.isdisjoint(key):
            continue  # one cause, one diagnostic
        received = surfaces.get(key[:-1])
        layer = variant.layers[-1]
        surface = _layered(tool, variant, received, report) if received is not None else None
        surfaces[key] = surface
        if surface is None:
            continue  # said once, at the first layer that cannot stand; what is stacked on it drops out
        name = _variant_name(tool, variant, report)
        yield _minted(
            name, tool, variant.layers, variant.exposed, surface, layer.place, variant.names.get(name)
        )


def _minted(
    name: str,
    tool: SelectedTool,
    chain: tuple[MintedLayer, ...],
    exposed: bool,
    surface: Surface,
    place: Place,
    named: Place | None,
) -> MintedTool:
    return MintedTool(
        name=name,
        base=tool,
        chain=chain,
        exposed=exposed,
        description=surface.description,
        input_schema=surface.input_schema,
        output_schema=surface.output_schema,
        annotations=surface.annotations,
        place=place,
        named=named,
    )


def _named(tool: SelectedTool) -> Place | None:
    return Place(tool.place.manifest, (*tool.place.path, "as")) if tool.alias else None


def _variants(chains: tuple[ResolvedChain, ...]) -> dict[tuple[Any, ...], _Variant]:
    """Every prefix of every chain, once (V1, V2), with its exposure and names joined (V6)."""
    variants: dict[tuple[Any, ...], _Variant] = {}
    for chain in chains:
        for depth in range(1, len(chain.layers) + 1):
            layers = chain.layers[:depth]
            leaf = depth == len(chain.layers)
            key = tuple(layer.key for layer in layers)
            variant = variants.setdefault(key, _Variant(layers, layers[-1].place))
            variant.exposed |= leaf or chain.expose == "all"
            if leaf and chain.alias:
                variant.names.setdefault(
                    chain.alias, Place(chain.place.manifest, (*chain.place.path[:-1], "as"))
                )
    return variants


def _variant_name(tool: SelectedTool, variant: _Variant, report: Report) -> str:
    """V3: the exposed base name plus one suffix a layer; V6: ``as`` names the leaf."""
    if not variant.names:
        return tool.exposed + "".join("_" + layer.name for layer in variant.layers)
    for (first, place), (second, other) in pairwise(sorted(variant.names.items())):
        report.add(
            codes.VARIANT_NAMED_TWICE.at(
                other.span(),
                f'one variant of {"/".join(tool.identity)} is named both "{first}" and "{second}"',
                secondary=(LabelledSpan(place.span(), f'here it is "{first}"'),),
                hint="give the chain one name",
                subject=other.owner,
            )
        )
    return min(variant.names)


def _hides_base(tool: SelectedTool, chains: tuple[ResolvedChain, ...], report: Report) -> bool:
    """V6: the base is hidden when its chains say ``only``; then all of them must."""
    only = [chain for chain in chains if chain.expose == "only"]
    others = [chain for chain in chains if chain.expose != "only"]
    for chain in others if only else ():
        report.add(
            codes.VARIANT_ONLY_MIXED.at(
                chain.place.span(),
                f"{'/'.join(tool.identity)} has a chain with `expose: only` and one with `expose: {chain.expose}`",
                secondary=(LabelledSpan(only[0].place.span(), "this chain hides the tool and its prefixes"),),
                notes=("a second chain that shows the tool would make the first avoidable",),
                hint="write `expose: only` at every chain of the tool",
                subject=chain.place.owner,
            )
        )
    return bool(only)


def _one_backend(
    tool: SelectedTool, chains: tuple[ResolvedChain, ...], report: Report
) -> frozenset[tuple[str, str, bytes]]:
    """V11: one execution strategy per tool over all its chains; the keys of those that are one too many."""
    strategies: dict[tuple[str, str, bytes], MintedLayer] = {}
    for chain in chains:
        for layer in chain.layers:
            if not layer.kind.multiple:
                strategies.setdefault(layer.key, layer)
    ordered = [strategies[key] for key in sorted(strategies)]
    for first, second in pairwise(ordered):
        same = first.key[:2] == second.key[:2]
        report.add(
            codes.VARIANT_SECOND_BACKEND.at(
                second.place.span(),
                f"{'/'.join(tool.identity)} has two backends: "
                + (f'"{first.name}" with two configs' if same else f'"{first.name}" and "{second.name}"'),
                secondary=(LabelledSpan(first.place.span(), f'"{first.name}" in another chain'),),
                hint="use one backend, with one config, in all chains of a tool",
                subject=second.place.owner,
            )
        )
    return frozenset(layer.key for layer in ordered[1:])


def _layered(tool: SelectedTool, variant: _Variant, received: Surface, report: Report) -> Surface | None:
    layer = variant.layers[-1]
    surface = layer_surface(received, layer.registration.tool_extension, layer.config)
    if not isinstance(surface, Fault):
        return surface
    below = "".join(f" + {inner.name}" for inner in variant.layers[:-1])
    report.add(
        codes.VARIANT_SCHEMA.at(
            layer.place.span(),
            f'layer "{layer.name}" cannot extend {"/".join(tool.identity)}{below}: {surface.message}',
            secondary=(
                LabelledSpan(
                    layer.registration.place.span(*surface.at), f'"{layer.name}" is registered here'
                ),
            ),
            hint=surface.remedy,
            subject=layer.place.owner,
        )
    )
    return None


def _refuse_collisions(agent: LinkedAgent, tools: list[MintedTool], report: Report) -> None:
    """V4: every name has one derivation; otherwise all of them are shown, whichever was declared first."""
    by_name: dict[str, list[MintedTool]] = {}
    for tool in tools:
        by_name.setdefault(tool.name, []).append(tool)
    for delegate, place in agent.delegates:
        name = delegate_tool(delegate.agent)
        for other in by_name.get(name, ()):
            report.add(
                codes.TOOL_NAME_COLLISION.at(
                    other.place.span() if other.named is None else other.named.span(),
                    f'a tool and a delegate of agent "{agent.name}" are exposed as "{name}"',
                    secondary=(LabelledSpan(place.span(), f'delegate "{delegate.agent}" is called by it'),),
                    hint=_other_alias(other, "the tool")
                    if other.named
                    else "rename the tool: {tool: …, as: …}",
                    subject=agent.name,
                )
            )
    for name, derivations in by_name.items():
        if len(derivations) > 1:
            report.add(_collision(agent, name, derivations))


def _collision(agent: LinkedAgent, name: str, derivations: list[MintedTool]) -> Diagnostic:
    ordered = sorted(derivations, key=lambda tool: (tool.place.span().file, tool.sort_key))
    first = ordered[0]
    variants = any(tool.chain for tool in ordered)
    labels = [LabelledSpan(_span(tool), tool.derivation) for tool in ordered]
    rows = [
        LabelledSpan(tool.base.place.span(), f'selected as "{tool.base.selected_by}"')
        for tool in ordered
        if not tool.chain and tool.named is None
    ]
    aliased = [tool for tool in ordered if tool.named is not None]
    return codes.TOOL_NAME_COLLISION.at(
        _span(first),
        f'{_count(len(ordered))} tools of agent "{agent.name}" are exposed as "{name}": '
        + " and ".join(tool.derivation for tool in ordered),
        secondary=tuple(dict.fromkeys([*labels, *rows])),
        hint=Hint(
            _other_alias(aliased[-1], "one of them")
            if aliased
            else "name the variant with `as`, or rename the tool: {tool: …, as: …}"
            if variants
            else _prefix_hint(ordered)
        ),
        subject=agent.name,
    )


def _prefix_hint(tools: list[MintedTool]) -> str:
    extension, raw = tools[-1].base.identity
    if all(tool.base.extension.name == extension for tool in tools):
        return f"rename one: {{tool: {extension}/{raw}, as: …}}"
    prefix = _joined(extension)
    return f"give one extension a prefix: {{use: {extension}, prefix: {prefix}}}"


def _other_alias(tool: MintedTool, which: str) -> str:
    """What to do about a name that ``as`` gives: no prefix reaches it."""
    better = "_".join((_joined(tool.base.extension.name), tool.name))
    return f"give {which} another `as`, such as: {better}"


def _joined(name: str) -> str:
    return name.replace("-", "_").replace(".", "_")


def _span(tool: MintedTool) -> Span:
    """Where the name comes from: its `as`, else the chain's element of a variant, the declaration of a tool."""
    if tool.named is not None:
        return tool.named.span()
    return tool.place.span() if tool.chain else tool.base.span("name")


def _count(number: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(number, str(number))


def delegate_tool(agent: str) -> str:
    """P23: the name of the tool that calls a delegate."""
    return "ask_" + agent.replace(".", "_").replace("-", "_")
