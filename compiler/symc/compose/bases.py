"""Bases: what is wrong with an abstract agent whatever its heirs add (docs/manifests.md §4).

What somebody extends is resolved with those that extend it. A base that nobody extends is held to what would be wrong in
every heir, even in one that uses every extension of the workspace and selects every tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from symc.compose.attach import attach, resolved
from symc.compose.chains import ResolvedChain
from symc.compose.link import BUILT_IN, LinkedAgent, Links, Place, Registration, ToolRow
from symc.compose.mint import mint_tool
from symc.compose.select import SelectedTool, select
from symc.contracts.patterns import ToolPattern
from symc.diagnostics import Diagnostic, Report
from symc.manifest import model


def unextended(links: Links) -> tuple[Diagnostic, ...]:
    """What is wrong with the abstract agents that nobody extends."""
    extended = {base.name for agent in links.agents.values() for base in agent.bases}
    return tuple(
        diagnostic
        for name, agent in links.agents.items()
        if agent.abstract and name not in extended
        for diagnostic in _faults(agent, links)
    )


def _faults(agent: LinkedAgent, links: Links) -> Iterator[Diagnostic]:
    heir = _most_generous_heir(agent, links)
    yield from select(heir, links).diagnostics
    report = Report()
    everything = ToolRow("*/*", is_object=False, alias="", description=None, place=Place(agent.manifest, ()))
    tools = select(replace(heir, tools=(everything,)), links).tools
    chains = resolved(heir, report)
    if not agent.lacks_base:
        attach(heir, list(tools), chains, links, report)
        for tool, attached in _judged(tools, chains):
            tuple(mint_tool(tool, attached, report))
    yield from report.diagnostics


def _judged(
    tools: tuple[SelectedTool, ...], chains: Mapping[str, tuple[ResolvedChain, ...]]
) -> Iterator[tuple[SelectedTool, tuple[ResolvedChain, ...]]]:
    """The tools that are named with chains: every heir has them so. Of what a pattern matches, an heir has any part."""
    for key, attached in chains.items():
        if ToolPattern.parse(key).literal:
            yield from ((tool, attached) for tool in tools if "/".join(tool.identity) == key)


def _most_generous_heir(agent: LinkedAgent, links: Links) -> LinkedAgent:
    """The base as an heir would have it that uses every extension and adds nothing of its own."""
    every = tuple(links.extensions)
    bearers = _bearers(links)
    alone = {name: found[0] for name, found in bearers.items() if len(found) == 1}
    full = {f"{one.extension}/{name}": one for name, found in bearers.items() for one in found}
    own = {one.tool_extension.name for one in agent.registrations.values()}

    def is_open(chain: model.Chain) -> bool:
        """Whether heirs decide which of several tool extensions of one name an element is."""
        return any(len(bearers.get(each.use, ())) > 1 and each.use not in own for each in chain.chain)

    return replace(
        agent,
        closure=tuple(name for name in every if name != BUILT_IN),
        registrations={**full, **agent.registrations, **{n: one for n, one in alone.items() if n not in own}},
        variants=tuple(
            replace(row, chains=tuple(chain for chain in row.chains if not is_open(chain)))
            for row in agent.variants
        ),
        # What a refused extension would bring an heir is not known.
        poisoned=agent.poisoned | links.manifests.poisoned,
    )


def _bearers(links: Links) -> dict[str, list[Registration]]:
    """Every tool extension of the workspace by its bare name."""
    found: dict[str, list[Registration]] = {}
    for extension in links.extensions.values():
        for index, row in enumerate(extension.body.tool_extensions):
            place = Place(extension, ("tool_extensions", index))
            found.setdefault(row.name, []).append(Registration(extension.name, row, place))
    return found
