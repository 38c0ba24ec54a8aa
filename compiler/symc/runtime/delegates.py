"""Delegates: another agent of the lock, called as a tool `ask_<agent>` (docs/policies.md §4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symc.authority import Authority
from symc.composition import DELEGATE_INPUT, Composition, Delegate
from symc.contracts.vocabulary import Effect
from symc.guarding import TOOL_CALL
from symc.runtime.agent import Agent
from symc.runtime.gates import RunScope, current_scope
from symc.runtime.policies import Veto
from symc.runtime.toolset import ToolBinding

__all__ = ["Edge", "permits"]

Permits = Callable[[Effect, ToolBinding | None], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One agent calling another.

    `vetoes` are the caller's, which hold in the child's run (P22); `compositions` are all agents that are open, by name.
    """

    caller: str
    delegate: Delegate
    child: Agent
    vetoes: tuple[Veto, ...]
    compositions: Mapping[str, Composition]
    _known: dict[tuple[str, ...], Permits] = field(default_factory=dict, repr=False)

    @property
    def tool(self) -> ToolBinding:
        """The delegate as a tool; its description is the child's own, from the lock (P23)."""
        return ToolBinding(
            name=self.delegate.tool,
            invoke=self._ask,
            description=self.delegate.description,
            input_schema=DELEGATE_INPUT,
            effect="delegate",
            owner=f'for the delegate "{self.delegate.agent}"',
        )

    async def _ask(self, arguments: Mapping[str, Any]) -> str:
        outer = current_scope()
        result = await self.child.run_for(
            self._inside(outer),
            arguments["message"],
            state=outer.state,
            session_id=outer.session_id,
        )
        return result.text or f'"{self.delegate.agent}" gave no answer: {result.stop_reason}'

    def _inside(self, outer: RunScope) -> RunScope:
        through = (*outer.through, self.caller)
        # What the child has itself is asked there already: a policy that counts must count a call once.
        own = self.compositions[self.delegate.agent].policies
        inherited = {veto.policy_id: veto for veto in (*outer.inherited, *self.vetoes)}
        if through not in self._known:
            self._known[through] = permits(self.compositions, self.delegate.agent, through)
        return replace(
            outer,
            origin=self.caller,
            through=through,
            inherited=tuple(veto for policy_id, veto in inherited.items() if policy_id not in own),
            permits=self._known[through],
        )


def permits(compositions: Mapping[str, Composition], agent: str, through: tuple[str, ...]) -> Permits:
    """What an agent may do when it is called through others, outermost first: (theirs ∩ its) ∪ (its ∩ may_exceed)."""
    composition = compositions[agent]
    authority = Authority.of(composition, [compositions[name] for name in through])

    def permitted(effect: Effect, tool: ToolBinding | None) -> bool:
        named = tool is not None and effect == TOOL_CALL
        return authority.permits(effect, composition.agent.tools.get(tool.name) if tool and named else None)

    return permitted
