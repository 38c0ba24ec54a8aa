"""Idle policies: those that match nothing, can never fire, or stand in another's shadow (docs/policies.md P12–P13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from symc.compose.condition import Named, conditions
from symc.compose.exposures import Exposure, Exposures
from symc.compose.mint import MintedTool
from symc.compose.vetoes import Veto, Vetoes, literal_tools
from symc.composition import Layer, Selector
from symc.diagnostics import Diagnostic, Edit, Hint, LabelledSpan, Report
from symc.diagnostics.codes import policies as codes
from symc.diagnostics.suggest import did_you_mean
from symc.guarding import TOOL_CALL, Identity, is_stacked_on, pattern

_SHOWN = 6


def idle(
    vetoes: Vetoes, tools: Mapping[str, Sequence[MintedTool]], report: Report, *, complete: bool
) -> None:
    """Report every policy of the workspace that does not do what it seems to.

    ``tools`` are those of the agents that are composed. Where the workspace is not ``complete``, what is missing may be
    what a pattern or a variant names, so nothing is said of those.
    """
    seen = _Seen(vetoes, tools, complete)
    effective = []
    for veto in vetoes:
        found = conditions(veto, seen.named(veto))
        report.extend([*seen.unmatched(veto), *_misplaced_actions(veto), *found])
        # One cause, one diagnostic: what stops nothing anyway stands in nobody's shadow.
        matches = veto.policy.tools is None or veto.reach.tools or veto.reach.variants
        if matches and all(one.code != codes.POLICY_NEVER_FIRES.code for one in found):
            effective.append(veto)
    _shadowed(effective, vetoes, report)


@dataclass(slots=True)
class _Seen:
    """The tools, tool extensions and variants that selectors may name."""

    vetoes: Vetoes
    tools: Mapping[str, Sequence[MintedTool]]
    complete: bool
    _variants: dict[Identity, list[tuple[tuple[Layer, ...], MintedTool]]] | None = field(
        default=None, init=False
    )
    _exposures: Exposures | None = field(default=None, init=False)

    def unmatched(self, veto: Veto) -> Iterator[Diagnostic]:
        """What of the rule's ``tools`` names nothing in the whole workspace (P12)."""
        poisoned = self.vetoes.links.manifests.poisoned
        selectors = veto.policy.tools or ()
        if len(veto.reach.tools) == len(selectors) and all(_is_literal(one) for one in selectors):
            return  # each found its tool, as in nearly every rule there is
        for index, selector in enumerate(selectors):
            wanted = pattern(selector.variant or selector.pattern)
            if wanted.extension in poisoned:
                continue
            if next(self.vetoes.roster.matching(wanted), None) is None:
                if not (wanted.literal or self.complete):
                    continue
                if meant := self._exposed().meant_by(wanted):
                    yield _exposed_name(veto, index, selector, meant)
                elif wanted.literal:
                    yield self._unknown_tool(veto, index, selector)
                else:
                    yield self._nothing(veto, index, selector)
            elif selector.variant:
                yield from self._unmatched_variant(veto, index, selector)

    def _exposed(self) -> Exposures:
        if self._exposures is None:
            self._exposures = Exposures(self.vetoes.links, self.tools)
        return self._exposures

    def _unmatched_variant(self, veto: Veto, index: int, selector: Selector) -> Iterator[Diagnostic]:
        known = self.vetoes.registrations
        unknown = [at for at, name in enumerate(selector.chain) if name not in known]
        for at in unknown:
            name = selector.chain[at]
            if name.partition("/")[0] in self.vetoes.links.manifests.poisoned or (
                "/" not in name and self.vetoes.links.manifests.poisoned
            ):
                continue
            nearest = did_you_mean(name, known)
            yield codes.POLICY_LAYER_UNKNOWN.at(
                veto.span("tools", index, "chain", at),
                f'policy "{veto.id}" names the tool extension "{name}", which no extension of the workspace brings',
                hint=_rename(veto, nearest, "tools", index, "chain", at)
                if nearest
                else "name a tool extension",
                subject=veto.owned.owner,
            )
        if not unknown and self.complete and not self.variants(selector):
            yield self._nothing(veto, index, selector)

    def variants(self, selector: Selector) -> list[MintedTool]:
        """The tools of all agents that a variant's selector matches."""
        if self._variants is None:
            self._variants = {}
            for tool in (tool for one in self.tools.values() for tool in one if tool.chain):
                chain = tuple(
                    Layer(extension=layer.registration.extension, name=layer.name) for layer in tool.chain
                )
                self._variants.setdefault(tool.base.identity, []).append((chain, tool))
        extension, _, raw = selector.variant.partition("/")
        identity = (extension, raw)
        return [
            tool
            for chain, tool in self._variants.get(identity, ())
            if is_stacked_on(selector, identity, chain)
        ]

    def named(self, veto: Veto) -> list[Named]:
        """The tools whose arguments the rule's condition sees: those it names, by themselves or with a pattern (V32)."""
        if veto.policy.when in (None, True, False):
            return []
        found: list[Named] = []
        for selector in veto.policy.tools or ():
            if selector.variant:
                exact = [tool for tool in self.variants(selector) if len(tool.chain) == len(selector.chain)]
                found.extend(_named_variant(tool) for tool in exact)
                continue
            wanted = pattern(selector.pattern)
            found.extend(
                self._named_tool(identity, alone=wanted.literal)
                for identity in sorted(self.vetoes.roster.matching(wanted))
            )
        return found

    def _named_tool(self, identity: Identity, *, alone: bool) -> Named:
        extension, index = self.vetoes.declared(identity)
        return Named(
            "/".join(identity),
            alone,
            extension.body.tools[index].input_schema,
            partial(extension.tool_span, index),
        )

    def _unknown_tool(self, veto: Veto, index: int, selector: Selector) -> Diagnostic:
        text = selector.variant or selector.pattern
        at: tuple[str | int, ...] = ("tools", index, "variant") if selector.variant else ("tools", index)
        extension, _, _ = text.partition("/")
        owner = self.vetoes.links.extensions.get(extension)
        message = (
            f'policy "{veto.id}" names "{text}", but the workspace has no extension "{extension}"'
            if owner is None
            else f'policy "{veto.id}" names "{text}", but "{extension}" has no such tool'
        )
        nearest = did_you_mean(text, ("/".join(identity) for identity in self.vetoes.identities(extension)))
        return codes.POLICY_TOOL_UNKNOWN.at(
            veto.span(*at),
            message,
            secondary=() if owner is None else (LabelledSpan(owner.span("name"), "the extension"),),
            notes=("a rule names tools as extension/tool, by the raw name and never by an exposed one",),
            hint=_rename(veto, nearest, *at) if nearest else "name a tool of the workspace",
            subject=veto.owned.owner,
        )

    def _nothing(self, veto: Veto, index: int, selector: Selector) -> Diagnostic:
        if selector.variant:
            shown = f"{selector.variant} + {' + '.join(selector.chain)}"
            message = f'policy "{veto.id}" stops the variant {shown}, which no agent has'
            hint = "write the chain as an agent does, innermost first, or remove it"
        else:
            message = f'policy "{veto.id}" stops "{selector.pattern}", which matches no tool of the workspace'
            hint = "correct the pattern, or remove it"
        return codes.POLICY_MATCHES_NOTHING.at(
            veto.span("tools", index), message, hint=hint, subject=veto.owned.owner
        )


def _exposed_name(veto: Veto, index: int, selector: Selector, meant: tuple[Exposure, ...]) -> Diagnostic:
    """A veto that does nothing because it calls a tool as an agent does: nobody would notice until it is needed."""
    at: tuple[str | int, ...] = ("tools", index, "variant") if selector.variant else ("tools", index)
    text = selector.variant or selector.pattern
    shown = "; ".join(one.meaning for one in meant[:_SHOWN]) + ("; …" if len(meant) > _SHOWN else "")
    selectors = list(dict.fromkeys(one.selector for one in meant if not one.is_delegate))
    if not selectors:
        hint = Hint("write a rule with `actions: [delegate]`, without `tools`")
    elif len(selectors) > 1 or (selector.variant and meant[0].chain):
        hint = Hint(f"write {', '.join(selectors[:_SHOWN])}{', …' if len(selectors) > _SHOWN else ''}")
    else:
        hint = Hint(f"write {selectors[0]}", _replaced(veto, selectors[0], *at))
    return codes.POLICY_EXPOSED_NAME.at(
        veto.span(*at),
        f'policy "{veto.id}" names "{text}", which is no tool\'s own name: {shown}',
        secondary=tuple(dict.fromkeys(one.given for one in meant[:_SHOWN])),
        notes=(
            "a rule names tools as extension/tool, by the raw name, and holds under every other name they are given",
        ),
        hint=hint,
        subject=veto.owned.owner,
    )


def _is_literal(selector: Selector) -> bool:
    return not selector.variant and pattern(selector.pattern).literal


def _named_variant(tool: MintedTool) -> Named:
    # Its schema was computed; it comes from the element that minted it.
    return Named(tool.derivation, True, tool.input_schema, lambda *_path: tool.place.span())


def _misplaced_actions(veto: Veto) -> Iterator[Diagnostic]:
    """A rule over tools is about calling them; any other action of it never comes with a tool."""
    if veto.policy.tools is None:
        return
    for index, action in enumerate(veto.owned.policy.actions or ()):
        if action != TOOL_CALL:
            yield codes.POLICY_NEVER_FIRES.at(
                veto.owned.place.span("actions", index),
                f'policy "{veto.id}" never fires for {action}: it names tools, and they are called with {TOOL_CALL}',
                secondary=(LabelledSpan(veto.span("tools"), "the tools it names"),),
                hint=f"write a policy of its own for {action}, without `tools`",
                subject=veto.owned.owner,
            )


def _shadowed(effective: Sequence[Veto], vetoes: Vetoes, report: Report) -> None:
    """Report each rule that another one, always there with it, makes pointless."""
    shades = _Shades(vetoes)
    for veto in effective:
        if veto.unconditional:
            shades.add(veto)
    for veto in effective:
        shade = shades.over(veto)
        if shade is not None:
            report.add(
                codes.POLICY_SHADOWED.at(
                    veto.owned.place.span("policy_id"),
                    f'policy "{veto.id}" never decides: "{shade.id}" stops the same without a condition',
                    secondary=(
                        LabelledSpan(shade.owned.place.span("policy_id"), f"always a {shade.policy.effect}"),
                    ),
                    hint=f'remove it, or narrow "{shade.id}"',
                    subject=veto.owned.owner,
                )
            )


class _Shades:
    """The unconditional rules, by what they stop: those that may make another one pointless."""

    def __init__(self, vetoes: Vetoes) -> None:
        self._vetoes = vetoes
        self._by_tool: dict[Identity, list[Veto]] = {}
        self._over_effects: list[Veto] = []
        self._named: dict[str, tuple[frozenset[Identity], frozenset[Identity]]] = {}

    def add(self, veto: Veto) -> None:
        """Take an unconditional rule."""
        if veto.policy.tools is None:
            self._over_effects.append(veto)
        for identity in veto.reach.tools:
            self._by_tool.setdefault(identity, []).append(veto)
        for selector in veto.reach.variants:
            extension, _, raw = selector.variant.partition("/")
            self._by_tool.setdefault((extension, raw), []).append(veto)

    def over(self, veto: Veto) -> Veto | None:
        """A rule in whose shadow this one stands; of two that shadow each other the later one does."""
        if veto.policy.effect == "decide":
            return None
        for other in self._candidates(veto):
            if not self._covers(other, veto):
                continue
            if other.owned.owner not in self._vetoes.come_along(veto.owned.owner):
                continue
            mutual = (
                veto.unconditional
                and veto.owned.owner in self._vetoes.come_along(other.owned.owner)
                and self._covers(veto, other)
            )
            if not mutual or _written(other) < _written(veto):
                return other
        return None

    def _candidates(self, veto: Veto) -> list[Veto]:
        named = list(veto.reach.tools)
        if not named and veto.reach.variants:
            extension, _, raw = veto.reach.variants[0].variant.partition("/")
            named = [(extension, raw)]
        nearest = min((self._by_tool.get(identity, []) for identity in named), key=len, default=[])
        others = [other for other in (*self._over_effects, *nearest) if other is not veto]
        return sorted(others, key=_written)

    def _covers(self, other: Veto, veto: Veto) -> bool:
        """Whether ``other`` stops, without a condition, at least what ``veto`` may stop, at least as hard."""
        if other.policy.effect not in (veto.policy.effect, "deny"):
            return False
        if other.policy.tools is None:
            return not other.policy.actions or (
                bool(veto.policy.actions) and set(veto.policy.actions) <= set(other.policy.actions)
            )
        if veto.policy.tools is None:
            return False
        # What a pattern will match tomorrow is covered by a pattern, not by names of today's tools.
        by_name, by_pattern = self._names(veto)
        _, other_by_pattern = self._names(other)
        return (
            by_name <= other.reach.tools
            and by_pattern <= other_by_pattern
            and all(self._covers_variant(other, selector) for selector in veto.reach.variants)
        )

    def _names(self, veto: Veto) -> tuple[frozenset[Identity], frozenset[Identity]]:
        found = self._named.get(veto.id)
        if found is None:
            found = self._named[veto.id] = literal_tools(veto, self._vetoes.roster)
        return found

    @staticmethod
    def _covers_variant(other: Veto, selector: Selector) -> bool:
        extension, _, raw = selector.variant.partition("/")
        return (extension, raw) in other.reach.tools or any(
            one.variant == selector.variant and selector.chain[: len(one.chain)] == one.chain
            for one in other.reach.variants
        )


def _written(veto: Veto) -> tuple[str, int]:
    index = veto.owned.place.path[-1]
    return veto.owned.place.manifest.path, index if isinstance(index, int) else 0


def _rename(veto: Veto, text: str, *at: str | int) -> Hint:
    return Hint(f'did you mean "{text}"?', _replaced(veto, text, *at))


def _replaced(veto: Veto, text: str, *at: str | int) -> Edit | None:
    """An edit that writes ``text`` as the selector was written; what brings quotes or brackets along stays as it is."""
    place = veto.owned.place
    path = (*place.path, veto.policy.effect, *at)
    document = place.manifest.document
    raw = document.raw(*path)
    quote = raw[0] if raw[:1] in ("'", '"') and raw[-1:] == raw[:1] else ""
    if not quote and not document.is_plain(*path):
        return None
    written = text if text[0] in '"{' else f"{quote}{text}{quote}"
    return Edit(place.manifest.span(*path), written)
