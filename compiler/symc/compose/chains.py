"""Chains: the layers a manifest writes → registrations with checked configs, and the laws of one chain (V10–V14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symc.canonical import canonical_bytes
from symc.compose.configs import config_faults
from symc.compose.link import LinkedAgent, Place, Registration, VariantRow
from symc.contracts.kinds import ExtensionKind
from symc.diagnostics import Diagnostic, Hint, LabelledSpan, Report
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import model


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedLayer:
    """One layer of a minted chain with the config it got (None: the extension takes none) and where it was written."""

    registration: Registration
    config: dict[str, Any] | None
    place: Place

    @property
    def name(self) -> str:
        """The tool extension's bare name: the suffix it mints."""
        return self.registration.tool_extension.name

    @property
    def kind(self) -> ExtensionKind:
        """Its kind; ask the kind's properties, never which member it is."""
        return ExtensionKind(self.registration.tool_extension.kind)

    @property
    def key(self) -> tuple[str, str, bytes]:
        """Equal for two layers that are the same strategy: extension, name and config."""
        return (self.registration.extension, self.name, canonical_bytes(self.config or {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedChain:
    """A legal chain: its layers innermost first, what it exposes and what its leaf is called (V6)."""

    layers: tuple[MintedLayer, ...]
    expose: str
    alias: str
    place: Place


def resolve_chain(
    chain: model.Chain, row: VariantRow, agent: LinkedAgent, report: Report
) -> ResolvedChain | None:
    """The chain with every layer resolved, or None when it breaks a law of its own (each reported)."""
    place = Place(row.place.manifest, chain.at)
    layers: list[MintedLayer | None] = []
    for index, element in enumerate(chain.chain):
        layers.append(_resolve_layer(element, Place(place.manifest, (*chain.at, index)), agent, report))
    resolved = tuple(layer for layer in layers if layer is not None)
    if len(resolved) != len(layers):
        return None
    faults = [*_second_backend(resolved, row), *_locality(resolved, row)]
    report.extend(faults)
    if faults:
        return None
    return ResolvedChain(layers=resolved, expose=chain.expose, alias=chain.as_ or "", place=place)


def _resolve_layer(
    element: model.ChainElement, place: Place, agent: LinkedAgent, report: Report
) -> MintedLayer | None:
    registration = agent.registrations.get(element.use)
    if registration is None:
        fault = _unknown(element, place, agent)
        if fault is not None:
            report.add(fault)
        return None
    # V14: the config is checked before anything else of the layer.
    faults = tuple(config_faults(element, registration, place))
    report.extend(faults)
    if faults:
        return None
    config = None if registration.tool_extension.config_schema is None else element.config or {}
    return MintedLayer(registration=registration, config=config, place=place)


def _unknown(element: model.ChainElement, place: Place, agent: LinkedAgent) -> Diagnostic | None:
    """V10: a name that no extension of the agent brings, or that two bring."""
    bearers = sorted(
        {r.extension for r in agent.registrations.values() if r.tool_extension.name == element.use}
    )
    if len(bearers) > 1:
        return codes.TOOL_EXTENSION_AMBIGUOUS.at(
            place.span(),
            f'the tool extension "{element.use}" is brought by {" and ".join(bearers)}',
            hint=f"write {bearers[0]}/{element.use} or {bearers[1]}/{element.use}",
            subject=place.owner,
        )
    if agent.poisoned:
        return None  # a refused document may be the one that brings it
    nearest = did_you_mean(element.use, agent.registrations)
    return codes.TOOL_EXTENSION_UNKNOWN.at(
        place.span(),
        f'no extension that the agent uses brings a tool extension "{element.use}"',
        hint=Hint(
            f'did you mean "{nearest}"?' if nearest else "add the extension that brings it to `extensions`"
        ),
        subject=place.owner,
    )


def _second_backend(layers: tuple[MintedLayer, ...], row: VariantRow) -> list[Diagnostic]:
    """V11, within one chain."""
    single = [layer for layer in layers if not layer.kind.multiple]
    return [
        codes.VARIANT_SECOND_BACKEND.at(
            layer.place.span(),
            f'the chain of "{row.key}" has two backends: "{single[0].name}" and "{layer.name}"',
            secondary=(LabelledSpan(single[0].place.span(), "the first"),),
            hint="leave one of them out: a tool's body runs in one place",
            subject=layer.place.owner,
        )
        for layer in single[1:]
    ]


def _locality(layers: tuple[MintedLayer, ...], row: VariantRow) -> list[Diagnostic]:
    """V12: what requires the body's locality stands inside (before) any layer that relocates it."""
    faults = []
    relocating: MintedLayer | None = None
    for layer in layers:
        if layer.registration.tool_extension.requires_body_locality and relocating is not None:
            legal = sorted(
                layers,
                key=lambda each: (
                    each.kind.relocates_execution,
                    not each.registration.tool_extension.requires_body_locality,
                ),
            )
            faults.append(
                codes.VARIANT_LOCALITY.at(
                    layer.place.span(),
                    f'in the chain of "{row.key}", "{layer.name}" must run where the body runs, '
                    f'but stands outside "{relocating.name}", which moves the body to a worker',
                    secondary=(LabelledSpan(relocating.place.span(), "moves the body"),),
                    hint=f"write [{', '.join(each.name for each in legal)}]",
                    subject=layer.place.owner,
                )
            )
        if layer.kind.relocates_execution:
            relocating = layer
    return faults
