"""The rulebook: every policy of a composition as a veto, covering what the lock says it covers (docs/policies.md §2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from symc.composition import Policy
from symc.contracts.verdict import PolicyRequest, PolicyVerdict
from symc.contracts.vocabulary import Effect
from symc.guarding import TOOL_CALL, guards_effect, is_stacked_on, pattern
from symc.runtime.policies import DEFAULT_TIMEOUT, Coverage, Veto, rule
from symc.runtime.toolset import ToolBinding

__all__ = ["Decider", "rulebook", "without_model_calls"]

Decider = Callable[[PolicyRequest], Awaitable[PolicyVerdict]]

_ALWAYS: Final[tuple[Any, ...]] = (None, True, {})
"""What `when` is in a rule that holds whatever the arguments are."""


def rulebook(policies: Mapping[str, Policy], deciders: Mapping[str, Decider]) -> tuple[Veto, ...]:
    """The vetoes of these policies, by `owner/policy_id`; `deciders` hold the code of the `decide` ones."""
    return tuple(_veto(policy_id, policy, deciders) for policy_id, policy in sorted(policies.items()))


def _veto(policy_id: str, policy: Policy, deciders: Mapping[str, Decider]) -> Veto:
    if policy.effect == "decide":
        return Veto(
            policy_id=policy_id,
            covers=_coverage(policy),
            decide=deciders[policy_id],
            timeout=DEFAULT_TIMEOUT if policy.timeout is None else policy.timeout,
        )
    verdict = PolicyVerdict.DENY if policy.effect == "deny" else PolicyVerdict.ASK
    when: Any = None if policy.when in _ALWAYS else policy.when
    return rule(policy_id, verdict(policy.reason), covers=_coverage(policy), when=when)


def _coverage(policy: Policy) -> Coverage:
    """What the policy is asked about.

    A rule without a condition covers all that is derived from what it names (P11). One with a condition covers that
    alone: there its `when` sees the arguments it was written for, and every layer's inner call comes by there (V32).
    """
    if policy.tools is None:
        return lambda effect, _tool: guards_effect(policy, effect)
    # Named tools are called; a rule about other effects alone says nothing of them.
    selectors = policy.tools if not policy.actions or TOOL_CALL in policy.actions else ()
    conditional = policy.when not in _ALWAYS

    def covers(effect: Effect, tool: ToolBinding | None) -> bool:
        if tool is None or effect != TOOL_CALL:
            return False
        identity = (tool.extension, tool.raw)
        for selector in selectors:
            if selector.variant:
                if is_stacked_on(selector, identity, tool.layers) and not (
                    conditional and len(tool.layers) > len(selector.chain)
                ):
                    return True
            elif pattern(selector.pattern).matches(*identity) and not (conditional and tool.layers):
                return True
        return False

    return covers


def without_model_calls(agent: str) -> Veto:
    """The veto of an agent that is granted no call of a model: the lock decides, not the facade's baseline (F-17)."""
    return rule(
        f"{agent}/grants",
        PolicyVerdict.DENY("model_call is not among the grants of the lock"),
        covers=lambda effect, _tool: effect == "model_call",
    )
