"""A composition as a capability: attaches to an agent through the seam that is open to anyone's (docs/contracts.md F-15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from symc.canonical import digest
from symc.composition import Composition
from symc.contracts.frozen import FrozenDict
from symc.runtime.capabilities import CapabilityContribution, ContributionRequest
from symc.runtime.model import SystemPart
from symc.runtime.policies import Veto
from symc.runtime.slots import Prompt
from symc.runtime.stages import Stage, StageView
from symc.runtime.toolset import ToolBinding

__all__ = ["Composed", "account"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One agent of a lock, bound: its prompt, tools and vetoes, and the account of what it is."""

    composition: Composition
    prompt: Prompt
    tools: tuple[ToolBinding, ...]
    vetoes: tuple[Veto, ...]
    account: Mapping[str, Any]

    def contribute(self, _request: ContributionRequest) -> CapabilityContribution:
        """The contribution; the same for every request."""
        agent = self.composition.agent
        return CapabilityContribution(
            name=agent.name,
            stages=(Stage.PROMPT_ASSEMBLY,) if self.prompt.layout else (),
            handlers={Stage.PROMPT_ASSEMBLY: self._assemble} if self.prompt.layout else {},
            tools=self.tools,
            policies=self.vetoes,
            agent=agent.name,
            vendor="" if agent.provider == "none" else agent.provider,  # F-46
            attestation=self.account,
            check_state=self.prompt.check,
        )

    def _assemble(self, view: StageView) -> tuple[SystemPart, ...]:
        return self.prompt.parts(view.state)


def account(
    composition: Composition, *, grants: Iterable[str] | None = None, composition_digest: str | None = None
) -> FrozenDict:
    """What an agent of a lock is, without its contents: names, ids, counts and digests (F-23).

    An agent opened from the lock gives the same as its `composition_manifest`. `grants` are the authorised effects,
    where an operator allows less than the lock; `composition_digest` the digest, where it is known already.
    """
    agent = composition.agent
    body: dict[str, Any] = {
        "agent": agent.name,
        "lock_version": composition.lock_version,
        "digest": composition.digest if composition_digest is None else composition_digest,
        "provider": agent.provider,
        "model": agent.model,
        "grants": sorted(agent.grants if grants is None else grants),
        "max_model_rounds": agent.limits.max_model_rounds,
        "extensions": list(agent.extensions),
        "prompt": list(agent.prompt),
        "tools": {
            name: {
                "extension": tool.extension,
                "raw": tool.raw,
                "chain": [f"{layer.extension}/{layer.name}" for layer in tool.chain],
                "exposed": tool.exposed,
                "digest": digest(
                    "account",
                    {
                        "description": tool.description,
                        "input_schema": tool.input_schema,
                        "output_schema": tool.output_schema,
                        "config": [layer.config for layer in tool.chain],
                    },
                ),
            }
            for name, tool in agent.tools.items()
        },
        "policies": sorted(composition.policies),
        "lifecycle": {"install": list(agent.install), "teardown": list(agent.teardown)},
        "delegates": {name: edge.tool for name, edge in agent.delegates.items()},
    }
    return FrozenDict(body)
