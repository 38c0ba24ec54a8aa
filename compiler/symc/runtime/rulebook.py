"""The rulebook: every policy of a composition as a veto over what it names (docs/policies.md §2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from symc.composition import Layer, Policy, ToolExtension
from symc.contracts.kinds import ExtensionKind
from symc.contracts.verdict import PolicyRequest, PolicyVerdict
from symc.contracts.vocabulary import Effect
from symc.guarding import TOOL_CALL, guards_effect, is_stacked_on, pattern
from symc.runtime.policies import DEFAULT_TIMEOUT, Coverage, Judge, Veto, rule
from symc.runtime.schemas import compiled
from symc.runtime.toolset import ToolBinding

__all__ = ["Decider", "Registered", "rulebook", "without_model_calls"]

Decider = Callable[[PolicyRequest], Awaitable[PolicyVerdict]]

Registered = Callable[[Layer], ToolExtension]
"""Finds the tool extension that makes a layer."""

_ALWAYS: Final[tuple[Any, ...]] = (None, True, {})
"""What `when` is in a rule that holds whatever the arguments are."""


def rulebook(
    policies: Mapping[str, Policy], deciders: Mapping[str, Decider], registered: Registered
) -> tuple[Veto, ...]:
    """The vetoes of these policies, by `owner/policy_id`; `deciders` hold the code of the `decide` ones."""
    return tuple(
        _veto(policy_id, policy, deciders, registered) for policy_id, policy in sorted(policies.items())
    )


def _veto(policy_id: str, policy: Policy, deciders: Mapping[str, Decider], registered: Registered) -> Veto:
    covers = _coverage(policy)
    if policy.effect == "decide":
        timeout = DEFAULT_TIMEOUT if policy.timeout is None else policy.timeout
        return Veto(policy_id=policy_id, covers=covers, decide=deciders[policy_id], timeout=timeout)
    verdict = (PolicyVerdict.DENY if policy.effect == "deny" else PolicyVerdict.ASK)(policy.reason)
    if policy.when in _ALWAYS:
        return rule(policy_id, verdict, covers=covers)
    assert policy.when is not None
    matches = compiled(policy.when, f"the policy {policy_id}").matches

    def judge(request: PolicyRequest) -> PolicyVerdict:
        return verdict if matches(request.arguments) else PolicyVerdict.ALLOW

    def judge_at(tool: ToolBinding) -> Judge:
        kept_back = tuple(_kept_back(policy, tool, registered))
        if kept_back == (frozenset(),):
            return judge

        def judge_within(request: PolicyRequest) -> PolicyVerdict:
            given = request.arguments
            seen = ({name: given[name] for name in given if name not in names} for names in kept_back)
            return verdict if any(map(matches, seen)) else PolicyVerdict.ALLOW

        return judge_within

    return Veto(policy_id=policy_id, covers=covers, judge=judge, judge_at=judge_at)


def _coverage(policy: Policy) -> Coverage:
    """P11: what the policy names, and everything derived from it."""
    if policy.tools is None:
        return lambda effect, _tool: guards_effect(policy, effect)
    # Named tools are called; a rule about other effects alone says nothing of them.
    about_calls = not policy.actions or TOOL_CALL in policy.actions

    def covers(effect: Effect, tool: ToolBinding | None) -> bool:
        return about_calls and effect == TOOL_CALL and tool is not None and bool(_named(policy, tool))

    return covers


def _named(policy: Policy, tool: ToolBinding) -> tuple[int, ...]:
    """How many layers stand in each tool that the policy names and this one is derived from: none in a base.

    A policy that names no tools is over every call, so over that of each layer.
    """
    if policy.tools is None:
        return tuple(range(len(tool.layers) + 1))
    identity = (tool.extension, tool.raw)
    depths = {
        len(selector.chain)
        for selector in policy.tools
        if (
            is_stacked_on(selector, identity, tool.layers)
            if selector.variant
            else pattern(selector.pattern).matches(*identity)
        )
    }
    return tuple(sorted(depths))


def _kept_back(policy: Policy, tool: ToolBinding, registered: Registered) -> Iterator[frozenset[str]]:
    """For each tool that the policy names, the arguments that the layers between keep to themselves.

    A condition sees the arguments of the tool it names (V32). Where a layer between makes them anew nothing is known of
    them yet: there the rule is asked when that layer calls, and not before.
    """
    for depth in _named(policy, tool):
        between = [registered(layer) for layer in tool.layers[depth:]]
        if all(map(_passes_on, between)):
            yield frozenset(name for one in between for name in one.reserved_params)


def _passes_on(layer: ToolExtension) -> bool:
    """Whether a layer hands on the arguments it is given, but for those it reserves."""
    kind = ExtensionKind(layer.kind)
    received = layer.input_schema == {"$ref": "symc:input"}
    return received or kind.preserves_schema or (not kind.declares_schema and layer.input_schema is None)


def without_model_calls(agent: str) -> Veto:
    """The veto of an agent that is granted no call of a model: the lock decides, not the facade's baseline (F-17)."""
    return rule(
        f"{agent}/grants",
        PolicyVerdict.DENY("model_call is not among the grants of the lock"),
        covers=lambda effect, _tool: effect == "model_call",
    )
