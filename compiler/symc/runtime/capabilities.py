"""Capabilities: what an agent is composed of beside its provider, and how they fold into one (docs/contracts.md F-15).

A composition from a lock attaches here, like anyone's capability.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from symc.contracts.contribution import PolicyContribution
from symc.contracts.errors import ConfigurationError
from symc.contracts.vocabulary import EFFECTS
from symc.diagnostics.suggest import suggestion
from symc.runtime.events import AgentEvent
from symc.runtime.gates import Precondition
from symc.runtime.model import SystemPart
from symc.runtime.policies import Veto, of_contribution
from symc.runtime.stages import Stage, StageRecord, StageView
from symc.runtime.toolset import ToolBinding, binding_of

__all__ = [
    "CapabilityConfig",
    "CapabilityContribution",
    "ContributionRequest",
    "EventSink",
    "Folded",
    "GrantEffects",
    "Handler",
    "Stage",
    "StageRecord",
    "StageView",
    "StateCheck",
    "check_capabilities",
    "fold",
    "granted",
    "sink_of",
]

Handler: TypeAlias = Callable[
    [StageView], "Awaitable[Sequence[SystemPart] | None] | Sequence[SystemPart] | None"
]
"""Stands at a stage; refuses by raising. In PROMPT_ASSEMBLY it answers system parts, elsewhere nothing."""

StateCheck: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Looks at the `state` of a run before it starts; refuses by raising `ConfigurationError`."""

EventSink: TypeAlias = Callable[[AgentEvent], object]
"""Sees every event of every run, in order; sync, so that it cannot hold a run up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionRequest:
    """What a capability is told when it contributes: names, never contents.

    `effects` are the authorised ones; a capability cannot add to them (F-17).
    """

    vendor: str
    model: str | None
    tools: tuple[str, ...]
    effects: frozenset[str]


@dataclass(frozen=True, slots=True)
class CapabilityContribution:
    """What one capability adds (F-15).

    `stages` are the stages it takes part in, each with a handler in `handlers`. `tools` are anything `Agent` takes as a
    tool. `preconditions` stand before every tool and can only refuse (F-19). `policies` veto. A composition from a lock
    also gives the name of its `agent`, the `vendor` its manifest names (F-46; empty for any), and its `attestation`,
    the payload-free account that `Agent.composition_manifest` then is. `check_state` refuses the `state` of a run, at
    the call, by raising `ConfigurationError`.
    """

    name: str
    stages: tuple[Stage, ...] = ()
    handlers: Mapping[Stage, Handler] = field(default_factory=dict)
    tools: tuple[object, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    policies: tuple[PolicyContribution | Veto, ...] = ()
    agent: str = ""
    vendor: str = ""
    attestation: Mapping[str, Any] | None = None
    check_state: StateCheck | None = None


@runtime_checkable
class CapabilityConfig(Protocol):
    """Anything that contributes to an agent; an optional attribute `event_sink` observes its runs (F-15, F-18)."""

    def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        """The contribution, equal each time; sync, and without side effects."""
        ...


@dataclass(frozen=True, slots=True, init=False)
class GrantEffects:
    """The adopter's authority: effects granted beside the baseline (F-16, F-17).

    Stands among the capabilities, wherever, and is none: it contributes nothing and is not listed.
    `ConfigurationError` for a word that is no effect.
    """

    effects: frozenset[str]

    def __init__(self, *effects: str | Iterable[str]) -> None:
        words = frozenset(
            word for given in effects for word in ((given,) if isinstance(given, str) else tuple(given))
        )
        for word in sorted(words, key=str):
            if word not in EFFECTS:
                raise ConfigurationError(f'"{word}" is no effect; {suggestion(str(word), EFFECTS)}')
        object.__setattr__(self, "effects", words)


def granted(capabilities: Iterable[object], *, has_tools: bool) -> frozenset[str]:
    """The authorised effects: `model_call`, `tool_call` where the adopter passed tools, and what he granted (F-17)."""
    baseline = {"model_call", "tool_call"} if has_tools else {"model_call"}
    return frozenset(baseline).union(
        *(given.effects for given in capabilities if isinstance(given, GrantEffects))
    )


def check_capabilities(given: object) -> tuple[object, ...]:
    """The capabilities as a tuple, grants among them; `ConfigurationError` names the type of one that is none."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConfigurationError(f"capabilities is a sequence, not a {type(given).__name__}")
    capabilities = tuple(given)
    for capability in capabilities:
        if isinstance(capability, GrantEffects):
            continue
        if isinstance(capability, type) or not callable(getattr(capability, "contribute", None)):
            kind = capability.__name__ if isinstance(capability, type) else type(capability).__name__
            raise ConfigurationError(f"{kind} is no capability: it has no callable `contribute(request)`")
    return capabilities


def sink_of(capabilities: Iterable[object]) -> EventSink | None:
    """The one event sink of all capabilities; `ConfigurationError` when there are two (F-18)."""
    owners = [each for each in capabilities if getattr(each, "event_sink", None) is not None]
    if len(owners) > 1:
        names = " and ".join(type(owner).__name__ for owner in owners)
        raise ConfigurationError(f"at most one capability has an event sink; here {names} have one each")
    if not owners:
        return None
    sink: EventSink = owners[0].event_sink  # type: ignore[attr-defined]
    if not callable(sink) or inspect.iscoroutinefunction(sink):
        raise ConfigurationError(f"the event sink of {type(owners[0]).__name__} must be a sync callable")
    return sink


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """All contributions in one; handlers stand in the order of the capabilities."""

    names: tuple[str, ...] = ()
    agent: str = ""
    handlers: Mapping[Stage, tuple[tuple[str, Handler], ...]] = field(default_factory=dict)
    tools: tuple[ToolBinding, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    records: tuple[StageRecord, ...] = ()
    attestation: Mapping[str, Any] | None = None
    state_checks: tuple[StateCheck, ...] = ()


def fold(capabilities: Iterable[object], request: ContributionRequest) -> Folded:
    """Ask every capability once and put their contributions together.

    `ConfigurationError` names the capability whose contribution is refused; what `contribute` raised is its cause.
    """
    contributions = [
        _contribution_of(capability, request)
        for capability in capabilities
        if not isinstance(capability, GrantEffects)  # F-16: authority is removed before anything contributes
    ]
    names = [contribution.name for contribution in contributions]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f'two capabilities are named "{name}"')
    compositions = [each for each in contributions if each.agent or each.attestation is not None]
    if len(compositions) > 1:
        named = " and ".join(f'"{each.name}"' for each in compositions)
        raise ConfigurationError(f"an agent has one composition; here {named} bring one each")
    for each in contributions:
        if each.vendor and each.vendor != request.vendor:  # F-46
            raise ConfigurationError(
                f'"{each.name}" is written for the provider "{each.vendor}"; '
                f"this one is {f'of {request.vendor}' if request.vendor else 'of no named vendor'}"
            )
    return Folded(
        names=tuple(names),
        agent=compositions[0].agent if compositions else "",
        handlers=MappingProxyType(
            {
                stage: tuple(
                    (each.name, each.handlers[stage]) for each in contributions if stage in each.stages
                )
                for stage in Stage
            }
        ),
        tools=tuple(
            binding_of(tool, f'of capability "{each.name}"') for each in contributions for tool in each.tools
        ),
        preconditions=tuple(check for each in contributions for check in each.preconditions),
        vetoes=tuple(_veto(policy) for each in contributions for policy in each.policies),
        records=tuple(
            StageRecord(stage, "fold", each.name) for each in contributions for stage in each.stages
        ),
        attestation=compositions[0].attestation if compositions else None,
        state_checks=tuple(each.check_state for each in contributions if each.check_state is not None),
    )


def _contribution_of(capability: Any, request: ContributionRequest) -> CapabilityContribution:
    kind = type(capability).__name__
    try:
        contribution = capability.contribute(request)
    except ConfigurationError:
        raise
    except Exception as error:
        raise ConfigurationError(f"the capability {kind} failed to contribute: {error}") from error
    if inspect.isawaitable(contribution):
        if inspect.iscoroutine(contribution):
            contribution.close()
        raise ConfigurationError(f"the capability {kind} answered an awaitable; `contribute` is sync")
    if not isinstance(contribution, CapabilityContribution):
        raise ConfigurationError(
            f"the capability {kind} answered a {type(contribution).__name__}, not a CapabilityContribution"
        )
    _check(contribution)
    return contribution


def _check(contribution: CapabilityContribution) -> None:
    name = contribution.name
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"a capability's name is a non-empty string, not {name!r}")
    try:
        stages = [Stage(stage) for stage in contribution.stages]
        handled = {Stage(stage) for stage in contribution.handlers}
    except ValueError as error:
        raise ConfigurationError(f'the capability "{name}": {error}') from None
    if set(stages) != handled or len(stages) != len(handled):
        raise ConfigurationError(
            f'the capability "{name}" must have exactly one handler for each of its stages; '
            f"stages {sorted(stages)}, handlers {sorted(handled)}"
        )
    for stage, handler in contribution.handlers.items():
        if not callable(handler):
            raise ConfigurationError(f'the capability "{name}": its handler for {stage} is not callable')
    for check in contribution.preconditions:
        if not callable(check):
            raise ConfigurationError(f'the capability "{name}": a precondition is not callable')
    if contribution.check_state is not None and not callable(contribution.check_state):
        raise ConfigurationError(f'the capability "{name}": its `check_state` is not callable')
    for policy in contribution.policies:
        if not isinstance(policy, PolicyContribution | Veto):
            raise ConfigurationError(f'the capability "{name}": a {type(policy).__name__} is no policy')


def _veto(policy: PolicyContribution | Veto) -> Veto:
    if isinstance(policy, Veto):
        return policy
    policy.validate()
    return of_contribution(policy)
