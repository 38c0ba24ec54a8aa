"""Delegation: what a delegate reaches that the agent which calls it does not have (docs/policies.md §4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from symc.compose.knots import composed_order
from symc.compose.link import LinkedAgent, Links, Place
from symc.compose.mint import MintedTool
from symc.diagnostics import Diagnostic, LabelledSpan, Report, Span
from symc.diagnostics.codes import policies as codes
from symc.guarding import Identity, pattern

_IMPLIED = frozenset({"delegate", "model_call", "tool_call"})
"""Effects that follow from what an agent is: it has tools, it has delegates. Its tools are judged one by one."""

_SHOWN = 6

LayerKey: TypeAlias = tuple[str, str, bytes]


@dataclass(frozen=True, slots=True)
class Power:
    """Something an agent may do: call a tool (``identity`` and ``chain``), or cause an effect (``effect``)."""

    effect: str = ""
    identity: Identity = ("", "")
    chain: tuple[LayerKey, ...] = ()

    def __str__(self) -> str:
        return self.effect or " + ".join(["/".join(self.identity), *(layer[1] for layer in self.chain)])

    @property
    def named(self) -> str:
        """How ``may_exceed`` names it: by effect, or by the raw identity of the tool."""
        return self.effect or "/".join(self.identity)

    def is_allowed_by(self, item: str) -> bool:
        """Whether an item of ``may_exceed`` names it; a tool stands for all that is derived from it (P11)."""
        return (
            not self.effect and pattern(item).matches(*self.identity) if "/" in item else item == self.effect
        )

    def is_among(self, powers: Collection[Power]) -> bool:
        """Whether an agent with these powers has it: the tool itself, or one that it is stacked on."""
        return self in powers or self.is_stacked(powers)

    def is_stacked(self, powers: Collection[Power]) -> bool:
        """Whether it is a variant of a tool among these powers."""
        return any(Power("", self.identity, self.chain[:depth]) in powers for depth in range(len(self.chain)))


@dataclass(frozen=True, slots=True)
class _Source:
    """How an agent comes to a power: the agents from it to the one that has it, and where that one got it."""

    path: tuple[str, ...]
    span: Span | None = None


@dataclass(slots=True)
class _Delegation:
    """The agents that are composed, what each has, and who calls whom."""

    links: Links
    own: Mapping[str, Mapping[Power, _Source]]
    callers: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.own:
            for child in self.edges(name):
                self.callers.setdefault(child, []).append(name)

    def edges(self, name: str) -> dict[str, list[tuple[Place, tuple[str, ...]]]]:
        """The delegates of an agent, each with the rows that name it and what they let it exceed."""
        found: dict[str, list[tuple[Place, tuple[str, ...]]]] = {}
        for row, place in self.links.agents[name].delegates:
            found.setdefault(row.agent, []).append((place, row.may_exceed))
        return found

    def above(self, name: str, power: Power) -> tuple[str, ...]:
        """A way down to the agent along which nobody has the power: the chain in which it appears from nowhere."""
        way = [name]
        while True:
            lacking = [
                caller for caller in self.callers.get(way[0], ()) if not power.is_among(self.own[caller])
            ]
            if not lacking:
                return tuple(way)
            way.insert(0, min(lacking))


def widening(
    links: Links,
    tools: Mapping[str, Sequence[MintedTool]],
    grants: Mapping[str, tuple[str, ...]],
    unsound: frozenset[str],
    report: Report,
) -> None:
    """P21: report every delegate that reaches more than its caller, whichever agents it goes through to it.

    ``tools`` and ``grants`` are those of each agent that is composed. What ``unsound`` agents lack proves nothing.
    """
    if not any(links.agents[name].delegates for name in tools):
        return
    own = {name: dict(_own(links.agents[name], tools[name], grants[name])) for name in tools}
    graph = _Delegation(links, own)
    calls = {name: tuple(graph.edges(name)) for name in own}
    # Children first: what a child reaches through its own delegates it brings along.
    reached: dict[str, dict[Power, _Source]] = {}
    unknown: set[str] = set()  # those that may reach more than is known
    for name in composed_order(calls):
        found = dict(own[name])
        silent = name in unsound or bool(links.agents[name].poisoned)
        for child, rows in sorted(graph.edges(name).items()):
            excess: dict[tuple[str, ...], list[Power]] = {}
            for power, source in reached[child].items():
                if power.is_among(own[name]):
                    continue
                # What a missing base excludes or hides is not known, either.
                doubtful = silent or links.agents[source.path[-1]].lacks_base
                if doubtful or any(power.is_allowed_by(item) for _, items in rows for item in items):
                    # Reported once, where it enters: further up it only counts where it was let through.
                    found.setdefault(power, _Source((name, *source.path), source.span))
                else:
                    excess.setdefault(source.path, []).append(power)
            for path, powers in sorted(excess.items()):
                idle = () if child in unknown else tuple(_idle_items(rows, child, reached[child]))
                report.add(_refusal(graph, name, rows[0][0], path, powers, reached[child], idle))
            # What is reached against the rules may be what an item, misspelt, was to allow.
            if not excess and not silent and child not in unknown:
                report.extend(list(_idle(rows, child, reached[child])))
        if silent or not unknown.isdisjoint(calls[name]):
            unknown.add(name)
        reached[name] = found


def _own(
    agent: LinkedAgent, tools: Sequence[MintedTool], grants: Iterable[str]
) -> Iterator[tuple[Power, _Source]]:
    """What the agent has itself: the tools that can be called by name, and the effects that its documents grant."""
    places = dict(agent.grants)
    for effect in grants:
        if effect not in _IMPLIED:
            place = places.get(effect)
            yield Power(effect), _Source((agent.name,), place.span() if place else None)
    for tool in tools:
        # V6: a hidden base cannot be called, so nobody has it.
        if tool.exposed:
            power = Power("", tool.base.identity, tuple(layer.key for layer in tool.chain))
            yield power, _Source((agent.name,), tool.place.span())


def _refusal(
    graph: _Delegation,
    caller: str,
    place: Place,
    path: tuple[str, ...],
    powers: list[Power],
    sources: Mapping[Power, _Source],
    idle: tuple[LabelledSpan, ...],
) -> Diagnostic:
    """One refusal for all that a delegate reaches in one way; ``path`` leads from it to the agent that has it."""
    # A tool stands for what is stacked on it.
    ordered = sorted((one for one in powers if not one.is_stacked(powers)), key=str)
    names = [f'"{power}"' for power in ordered[:_SHOWN]]
    if len(ordered) > _SHOWN:
        names.append(f"{len(ordered) - _SHOWN} more")
    chain = " > ".join((*graph.above(caller, ordered[0]), *path))
    named = sorted({power.named for power in ordered})
    spans = [
        LabelledSpan(span, f'"{path[-1]}" gets "{power}" here')
        for power in ordered[:_SHOWN]
        if (span := sources[power].span) is not None
    ]
    exceed = ", ".join(f'"{name}"' if "/" in name else name for name in named[:_SHOWN])
    return codes.PRIVILEGE_WIDENING.at(
        place.span(),
        f'"{path[-1]}" reaches {_listed(names)}, which "{caller}" does not have: {chain}',
        secondary=(*dict.fromkeys(spans), *idle),
        hint=f'take it from "{path[-1]}", or allow it here: {{agent: {path[0]}, may_exceed: [{exceed}]}}',
        subject=caller,
    )


def _idle(
    rows: list[tuple[Place, tuple[str, ...]]],
    child: str,
    reached: Mapping[Power, _Source],
) -> Iterator[Diagnostic]:
    for place, index, item in _unreached(rows, reached):
        yield codes.MAY_EXCEED_IDLE.at(
            place.span("may_exceed", index),
            f'"{child}" reaches nothing that "{item}" names',
            hint="correct it, or remove it",
            subject=place.owner,
        )


def _idle_items(
    rows: list[tuple[Place, tuple[str, ...]]], child: str, reached: Mapping[Power, _Source]
) -> Iterator[LabelledSpan]:
    """The items that may have been meant to allow what is refused."""
    for place, index, _ in _unreached(rows, reached):
        yield LabelledSpan(place.span("may_exceed", index), f'"{child}" reaches nothing of this name')


def _unreached(
    rows: list[tuple[Place, tuple[str, ...]]], reached: Mapping[Power, _Source]
) -> Iterator[tuple[Place, int, str]]:
    for place, items in rows:
        for index, item in enumerate(items):
            if item not in _IMPLIED and not any(power.is_allowed_by(item) for power in reached):
                yield place, index, item


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
