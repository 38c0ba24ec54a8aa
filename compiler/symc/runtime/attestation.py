"""What an agent is, told without telling its contents (docs/contracts.md F-23)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symc.canonical import digest
from symc.contracts.frozen import FrozenDict, freeze
from symc.runtime.model import ModelConfig
from symc.runtime.policies import Veto
from symc.runtime.stages import StageRecord
from symc.runtime.toolset import Toolset

__all__ = ["attest"]


def attest(
    *,
    vendor: str,
    model: ModelConfig | None,
    instructions: str | None,
    toolset: Toolset,
    capabilities: Iterable[str],
    records: Iterable[StageRecord],
    vetoes: Iterable[Veto],
    preconditions: int,
    grants: Iterable[str],
    max_model_rounds: int,
    composition: Mapping[str, Any] | None = None,
) -> FrozenDict:
    """The attestation: ids, names, phases, counts, digests, and a digest over all of them. Never a payload.

    `composition` is the account of the composition that the agent was opened from, if any.
    """
    body: dict[str, Any] = {
        "vendor": vendor,
        "model": None if model is None else {"name": model.name, "digest": digest("model", _settings(model))},
        "instructions": None if instructions is None else digest("instructions", instructions),
        "tools": {name: tool.digest for name, tool in toolset.tools.items()},
        "capabilities": list(capabilities),
        "stages": [
            {"stage": str(each.stage), "phase": each.phase, "capability": each.capability} for each in records
        ],
        "policies": sorted(veto.policy_id for veto in vetoes),
        "preconditions": preconditions,
        "grants": sorted(grants),
        "max_model_rounds": max_model_rounds,
    }
    if composition is not None:
        body["composition"] = composition
    attestation: FrozenDict = freeze(body | {"digest": digest("attestation", freeze(body))})
    return attestation


def _settings(model: ModelConfig) -> dict[str, Any]:
    return {
        "name": model.name,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "settings": model.settings,
    }
