"""Exposures: the names that agents give their tools, for a rule that names a tool by one of them (docs/policies.md P10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symc.compose.link import Links, Place
from symc.compose.mint import MintedTool, delegate_tool
from symc.contracts.patterns import ToolPattern
from symc.diagnostics import LabelledSpan


@dataclass(frozen=True, slots=True)
class Exposure:
    """A name that an agent gives something which is called otherwise, or which no rule over tools names at all.

    ``extension`` and ``raw`` are the identity of the tool, and ``chain`` what is stacked on it; of a delegate,
    ``extension`` is empty and ``raw`` the agent that is called.
    """

    name: str
    agent: str
    extension: str
    raw: str
    chain: tuple[str, ...]
    place: Place

    @property
    def is_delegate(self) -> bool:
        """Whether it is the name that calls another agent."""
        return not self.extension

    @property
    def meaning(self) -> str:
        """What the name stands for, in words."""
        if self.is_delegate:
            return f'"{self.name}" calls the delegate "{self.raw}"'
        return f'"{self.name}" is {" + ".join([f"{self.extension}/{self.raw}", *self.chain])}'

    @property
    def selector(self) -> str:
        """How a rule names the tool."""
        tool = f'"{self.extension}/{self.raw}"'
        return f"{{variant: {tool}, chain: [{', '.join(self.chain)}]}}" if self.chain else tool

    @property
    def given(self) -> LabelledSpan:
        """Where the name comes from."""
        return LabelledSpan(self.place.span(), f'"{self.agent}" gets the name "{self.name}" here')


class Exposures:
    """The exposed names of all agents that are no raw names, each once for what it stands for."""

    def __init__(self, links: Links, tools: Mapping[str, Sequence[MintedTool]]) -> None:
        found: dict[tuple[str, str, str, tuple[str, ...]], Exposure] = {}
        for agent in sorted(tools):
            for one in (*_of_tools(agent, tools[agent]), *_of_delegates(agent, links)):
                found.setdefault((one.name, one.extension, one.raw, one.chain), one)
        self._all = tuple(found.values())

    def meant_by(self, wanted: ToolPattern) -> tuple[Exposure, ...]:
        """What a pattern would match if rules went by exposed names; a tool stands for what is stacked on it (P11)."""
        found = [
            one for one in self._all if wanted.matches(one.extension or wanted.extension or "", one.name)
        ]
        bases = {(one.extension, one.raw) for one in found if not one.chain}
        return tuple(one for one in found if not one.chain or (one.extension, one.raw) not in bases)


def _of_tools(agent: str, tools: Sequence[MintedTool]) -> Iterator[Exposure]:
    for tool in tools:
        extension, raw = tool.base.identity
        if tool.name != raw:
            chain = tuple(layer.name for layer in tool.chain)
            yield Exposure(tool.name, agent, extension, raw, chain, tool.named or tool.place)


def _of_delegates(agent: str, links: Links) -> Iterator[Exposure]:
    for row, place in links.agents[agent].delegates:
        yield Exposure(delegate_tool(row.agent), agent, "", row.agent, (), place)
