"""Guard: policies and grants → what stops what, and what is idle, impossible or widened (docs/policies.md §1–4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from symc.compose.delegation import widening
from symc.compose.idle import idle
from symc.compose.link import LinkedAgent, Links
from symc.compose.mint import MintedTool, delegate_tool
from symc.compose.vetoes import Vetoes
from symc.composition import Delegate, Layer
from symc.diagnostics import Diagnostic, Report
from symc.guarding import effect_guards, guards


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """The policy side of one agent.

    ``guarded_by`` gives, for each tool name (variants included), the ids ``owner/policy_id`` that match it, sorted;
    ``effects``, for each granted effect, the policies that guard it without naming tools; ``grants`` are the baseline
    plus the agent's own, sorted.
    """

    guarded_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    delegates: Mapping[str, Delegate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The policy side of every agent that is composed, by name, with what was wrong in the workspace."""

    agents: Mapping[str, Guards] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


def guard(
    links: Links, tools: Mapping[str, Sequence[MintedTool]], unsound: Collection[str] = frozenset()
) -> Guarded:
    """Find what stops what in every agent, and every policy and delegate that is not what it seems.

    ``tools`` are the tools of each agent that is composed, variants and hidden ones included; agents of ``unsound`` had
    an error in an earlier stage, so what they lack is not held against others.
    """
    report = Report()
    vetoes = Vetoes.of(links)
    agents = {name: _guards(links.agents[name], tools[name], vetoes, links) for name in sorted(tools)}
    idle(vetoes, tools, report, complete=not (links.manifests.poisoned or unsound))
    widening(links, tools, {name: one.grants for name, one in agents.items()}, frozenset(unsound), report)
    return Guarded(agents, report.diagnostics)


def _guards(agent: LinkedAgent, tools: Sequence[MintedTool], vetoes: Vetoes, links: Links) -> Guards:
    applying = vetoes.of_agent(agent)
    grants = _grants(agent, tools)
    return Guards(
        # P10, P11: by raw identity and chain, so a rule follows its tool into every variant, rename and prefix.
        guarded_by=guards(
            {key: veto.reach for key, veto in applying.items() if veto.policy.tools is not None},
            {tool.name: (tool.base.identity, _chain(tool) if tool.chain else ()) for tool in tools},
        ),
        effects=effect_guards(
            {key: veto.policy for key, veto in applying.items() if veto.policy.tools is None}, grants
        ),
        grants=grants,
        delegates=_delegates(agent, links),
    )


def _grants(agent: LinkedAgent, tools: Sequence[MintedTool]) -> tuple[str, ...]:
    """P2: the baseline and what the agent's own documents add; nothing of an extension's."""
    granted = {"model_call", *(effect for effect, _ in agent.grants)}
    if tools:
        granted.add("tool_call")
    if agent.delegates:
        granted.add("delegate")
    return tuple(sorted(granted))


def _delegates(agent: LinkedAgent, links: Links) -> dict[str, Delegate]:
    """P23: each delegate as the tool that calls it; what several documents let it exceed is added up."""
    may_exceed: dict[str, set[str]] = {}
    for row, _ in agent.delegates:
        may_exceed.setdefault(row.agent, set()).update(row.may_exceed)
    return {
        name: Delegate(
            agent=name,
            tool=delegate_tool(name),
            description=links.agents[name].manifest.body.description,
            may_exceed=tuple(sorted(may_exceed[name])),
        )
        for name in sorted(may_exceed)
    }


def _chain(tool: MintedTool) -> tuple[Layer, ...]:
    return tuple(
        Layer(extension=layer.registration.extension, name=layer.name, config=None) for layer in tool.chain
    )
