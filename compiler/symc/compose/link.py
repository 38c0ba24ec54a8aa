"""Link: manifests → the graph of references, and each agent as it stands after ``extends`` (docs/manifests.md §3–5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symc.compose.closure import Closures
from symc.compose.inheritance import Share, added, agent_share, owned_prompts, workspace_share
from symc.compose.knots import composed_order, knots, untied
from symc.compose.linked import (
    LinkedAgent,
    Links,
    OwnedPolicy,
    OwnedPrompt,
    OwnerClass,
    Place,
    Registration,
    ToolRow,
    UsedExtension,
    VariantRow,
)
from symc.compose.references import BUILT_IN, References, refuse_knot, resolved
from symc.diagnostics import Report
from symc.diagnostics.codes import references as codes
from symc.manifest import model
from symc.manifest.checked import Manifests

__all__ = [
    "BUILT_IN",
    "LinkedAgent",
    "Links",
    "OwnedPolicy",
    "OwnedPrompt",
    "OwnerClass",
    "Place",
    "Registration",
    "ToolRow",
    "UsedExtension",
    "VariantRow",
    "link",
]

_WORKSPACE = "workspace"  # what a workspace manifest is called, unless it says otherwise


def link(manifests: Manifests) -> Links:
    """Resolve every reference between manifests and add up each agent; what is refused drops out, said once."""
    report = Report()
    references = resolved(manifests, report)
    closures = Closures(manifests.extensions, references)
    heritage = _Heritage(manifests, references, report)
    agents = {name: _linked(name, heritage, closures) for name in sorted(manifests.agents)}
    return Links(
        manifests=manifests,
        agents=_without_circles(agents, report),
        extensions=dict(sorted(manifests.extensions.items())),
        prompts={
            name: owned_prompts(extension, "extension")
            for name, extension in sorted(manifests.extensions.items())
            if extension.body.prompts
        },
        diagnostics=report.diagnostics,
    )


@dataclass(slots=True)
class _Heritage:
    """Who extends whom, and what each agent is made of; bases are added up once, however many extend them."""

    manifests: Manifests
    references: References
    report: Report
    lines: dict[str, tuple[str, ...]] = field(init=False)
    common: Share = field(init=False)
    _as_base: dict[str, Share] = field(default_factory=dict, init=False)
    _for_heirs: dict[str, Share] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        workspace = self.manifests.workspace
        self.common = Share() if workspace is None else workspace_share(workspace, self.report)
        self.lines = {}
        heirs = self.references.extends
        inherited = {base for bases in heirs.values() for base in bases}
        for name in composed_order(heirs):
            # Bases left to right, then the document; one that is reached twice stands where it is reached first.
            line = dict.fromkeys(ancestor for base in heirs[name] for ancestor in self.lines[base])
            self.lines[name] = (*line, name)
            if name in inherited:
                document = self.manifests.agents[name]
                self._as_base[name] = agent_share(document, "base", self.report)
                self._for_heirs[name] = added(self._bases(name), self._as_base[name], document, self.report)

    def share(self, name: str) -> Share:
        """Everything workspace, bases and the agent's own document bring to the agent."""
        document = self.manifests.agents[name]
        return added(self._bases(name), agent_share(document, "agent", self.report), document, self.report)

    def _bases(self, name: str) -> Share:
        bases = self.references.extends[name]
        if not bases:
            return self.common
        # The line of the first base is the beginning of this one, and is added up already.
        total = self._for_heirs[bases[0]]
        joiner = self.manifests.agents[name]
        for base in self.lines[name][len(self.lines[bases[0]]) : -1]:
            total = added(total, self._as_base[base], joiner, self.report)
        return total


def _linked(name: str, heritage: _Heritage, closures: Closures) -> LinkedAgent:
    manifests = heritage.manifests
    share = heritage.share(name)
    uses = {
        use: row for use, row in share.uses.items() if use in heritage.references.requires and use != BUILT_IN
    }
    closure = closures.of(uses)
    line = heritage.lines[name]
    workspace = manifests.workspace
    documents = line if workspace is None else (workspace.name, *line)
    missing = heritage.references.missing
    poisoned = closure.missing.union(*(missing[document] for document in documents if document in missing))
    lacks_workspace = workspace is None and manifests.workspace_refused
    if lacks_workspace:
        poisoned |= {_WORKSPACE}
    return LinkedAgent(
        manifest=manifests.agents[name],
        workspace=workspace,
        bases=tuple(manifests.agents[base] for base in line[:-1]),
        provider=share.provider or "none",
        model=share.model,
        limits=share.limits,
        uses=uses,
        closure=closure.names,
        tools=share.tools,
        exclude=share.exclude,
        variants=tuple(share.variants.values()),
        grants=share.grants,
        prompts=share.prompts,
        policies=(*share.policies, *closure.policies),
        vars=share.vars,
        delegates=tuple((row, place) for row, place in share.delegates if _can_be_called(row, manifests)),
        registrations=closure.registrations,
        poisoned=poisoned,
        lacks_base=not heritage.references.unfounded.isdisjoint(line),
        lacks_workspace=lacks_workspace,
    )


def _can_be_called(row: model.Delegate, manifests: Manifests) -> bool:
    agent = manifests.agents.get(row.agent)
    return agent is not None and not agent.body.abstract


def _without_circles(agents: dict[str, LinkedAgent], report: Report) -> dict[str, LinkedAgent]:
    """P20: delegates that lead back to where they started are refused, with the path."""
    calls = {
        name: () if agent.abstract else tuple(dict.fromkeys(row.agent for row, _ in agent.delegates))
        for name, agent in agents.items()
    }
    tied = knots(calls)
    if not tied:
        return agents
    for knot in tied:
        places = [
            next(place for row, place in agents[name].delegates if row.agent == other)
            for name, other in knot.steps
        ]
        spans = [place.span() for place in places]
        refuse_knot(knot, codes.DELEGATES_CYCLE, "agent", ("delegates to", "delegate to"), spans, report)
    kept = untied(calls, tied)
    return {
        name: agent
        if len(kept[name]) == len(calls[name])
        else replace(
            agent, delegates=tuple(entry for entry in agent.delegates if entry[0].agent in kept[name])
        )
        for name, agent in agents.items()
    }
