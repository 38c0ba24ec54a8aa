"""Authority: what an agent may do, alone or called through others, decided without running anything.

The one decision function of P1–P5: `symc policy test`, the diff and the runtime's tests ask it (docs/policies.md §1, §4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symc.composition import BoundTool, Composition, Delegate, Layer, Policy
from symc.contracts.verdict import PolicyRequest
from symc.contracts.vocabulary import Effect
from symc.guarding import TOOL_CALL, arguments_at, guards_effect, named_depths, pattern, tool_guards

if TYPE_CHECKING:
    from symc.schema import Validator

Outcome: TypeAlias = Literal["allow", "ask", "ask-code", "deny"]
"""`ask-code`: nothing declared objects, and code will be asked when the agent runs."""

_STRENGTH: tuple[Outcome, ...] = ("deny", "ask", "ask-code")

UNEXPOSED = "unexposed"
"""Stands for a rule: no tool of that name can be called."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a request, and why.

    ``rules`` are the policies that make it so, as ``owner/policy_id``, sorted; where no policy does, what else: the grant
    (``grant:tool_call``) that is there or is not, or ``unexposed``. ``reasons`` say it in words, one for each. ``code``
    are the policies that will be asked besides: they can still deny.
    """

    outcome: Outcome
    rules: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    code: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The first of the rules."""
        return self.rules[0]


@dataclass(slots=True)
class Conditions:
    """The compiled ``when`` of policies, each compiled when it is first asked; keep one for many decisions."""

    _compiled: dict[str, tuple[Policy, Validator]] = field(default_factory=dict)

    def hold(self, policy_id: str, policy: Policy, arguments: Mapping[str, Any]) -> bool:
        """Whether the policy's condition holds for the arguments; raises ``ValueError`` where that cannot be told."""
        if policy.when is None or isinstance(policy.when, bool):
            return policy.when is not False
        known = self._compiled.get(policy_id)
        if known is None or known[0] is not policy:
            from symc.schema import Validator

            known = self._compiled[policy_id] = (policy, Validator(policy.when))
        return known[1].matches(arguments)


def decide(
    composition: Composition,
    request: PolicyRequest,
    *,
    through: Sequence[Composition] = (),
    conditions: Conditions | None = None,
) -> Decision:
    """What happens to the request (P1): deny over ask over code that is asked over no objection.

    ``through`` are the agents that call this one, outermost first: their rules apply, too, and their grants are the limit
    (P22, P23). For many requests make one :class:`Authority`.
    """
    return Authority.of(composition, through, conditions).decide(request)


def request_for(
    composition: Composition, tool: str, arguments: Mapping[str, Any] | None = None, origin: str = "model"
) -> PolicyRequest:
    """The request that calling ``tool`` by its exposed name is; of an unknown name, one that is denied (P4)."""
    delegated = any(one.tool == tool for one in composition.agent.delegates.values())
    bound = composition.agent.tools.get(tool)
    return PolicyRequest(
        agent=composition.name,
        effect="delegate" if delegated else "tool_call",
        tool=tool,
        raw=bound.raw if bound else "",
        extension=bound.extension if bound else "",
        chain=tuple(layer.name for layer in bound.chain) if bound else (),
        arguments=arguments or {},
        origin=origin,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """What one agent may do, alone or through the agents that call it.

    ``policies`` are its own and its callers', by ``owner/policy_id``; ``guarded_by`` gives those over each of its tools,
    computed from the policies and not taken from the lock.
    """

    composition: Composition
    through: tuple[Composition, ...]
    policies: Mapping[str, Policy]
    guarded_by: Mapping[str, tuple[str, ...]]
    conditions: Conditions

    @classmethod
    def of(
        cls,
        composition: Composition,
        through: Sequence[Composition] = (),
        conditions: Conditions | None = None,
    ) -> Authority:
        """The authority of an agent that is called through others, outermost first; none for an agent on its own.

        Raises ``ValueError`` where one of them does not delegate to the next.
        """
        for caller, callee in pairwise((*through, composition)):
            if callee.name not in caller.agent.delegates:
                raise ValueError(f'agent "{caller.name}" does not delegate to "{callee.name}"')
        policies: dict[str, Policy] = {}
        for one in (*through, composition):
            policies.update(one.policies)  # P22
        return cls(
            composition=composition,
            through=tuple(through),
            policies=dict(sorted(policies.items())),
            guarded_by=tool_guards(policies, composition.agent.tools.values()),
            conditions=Conditions() if conditions is None else conditions,
        )

    def permits(self, effect: Effect, tool: BoundTool | None = None) -> bool:
        """Whether the effect, and the tool, is granted: to the agent, and by all that call it (P2, P23).

        Through a caller it is (the caller's ∩ the agent's) ∪ (the agent's ∩ ``may_exceed``).
        """
        if tool is not None and not tool.exposed:
            # Nobody calls it but the layers on it: it may be what they may.
            return any(self.permits(effect, outer) for outer in self._stacked_on(tool) if outer.exposed)
        chain = (*self.through, self.composition)
        granted = _has(chain[0], effect, tool)
        for caller, callee in pairwise(chain):
            edge = caller.agent.delegates[callee.name]
            granted = _has(callee, effect, tool) and (granted or _may_exceed(edge, effect, tool))
        return granted

    def decide(self, request: PolicyRequest) -> Decision:
        """What happens to the request."""
        effect = request.effect
        tool = self.composition.agent.tools.get(request.tool) if effect == TOOL_CALL else None
        refused = self._unreachable(request, tool)
        if refused is not None:
            return refused
        if not self.permits(effect, tool):
            return Decision(
                "deny", (f"grant:{effect}",), (f"the effect {effect} is not granted here: {_named(request)}",)
            )
        found: dict[Outcome, dict[str, str]] = {}
        for policy_id, policy in self._applying(effect, tool):
            outcome, reason = self._answer(policy_id, policy, tool, request.arguments)
            if outcome != "allow":
                found.setdefault(outcome, {})[policy_id] = reason
        for outcome in _STRENGTH:
            if answers := found.get(outcome):
                code = () if outcome == "deny" else tuple(found.get("ask-code", ()))
                return Decision(outcome, tuple(answers), tuple(answers.values()), code)
        return Decision("allow", (f"grant:{effect}",), (f"{effect} is granted and nothing objects",))

    def _unreachable(self, request: PolicyRequest, tool: BoundTool | None) -> Decision | None:
        """The refusal of a name that nobody can call: unknown, or hidden behind the variants of `expose: only` (V6)."""
        if request.effect == "delegate":
            if any(one.tool == request.tool for one in self.composition.agent.delegates.values()):
                return None
        elif request.effect != TOOL_CALL or (
            tool is not None and (tool.exposed or self._is_inner(tool, request))
        ):
            return None
        why = "is hidden behind its variants" if tool is not None else "is no tool of the agent"
        return Decision("deny", (UNEXPOSED,), (f'"{request.tool}" {why}, so it cannot be called by name',))

    def _is_inner(self, tool: BoundTool, request: PolicyRequest) -> bool:
        """Whether the request is the inner call of a layer that stands right on the tool (V32)."""
        depth = len(tool.chain)
        return any(outer.chain[depth].name == request.origin for outer in self._stacked_on(tool))

    def _stacked_on(self, tool: BoundTool) -> Iterator[BoundTool]:
        depth = len(tool.chain)
        for outer in self.composition.agent.tools.values():
            same = (outer.extension, outer.raw) == (tool.extension, tool.raw)
            if same and len(outer.chain) > depth and outer.chain[:depth] == tool.chain:
                yield outer

    def _applying(self, effect: Effect, tool: BoundTool | None) -> Iterator[tuple[str, Policy]]:
        """The policies over the request, sorted by id: those that match the tool, and those over the effect (P11)."""
        matching = frozenset(self.guarded_by.get(tool.name, ())) if tool is not None else frozenset()
        for policy_id, policy in self.policies.items():
            if policy_id in matching or guards_effect(policy, effect):
                yield policy_id, policy

    def _answer(
        self, policy_id: str, policy: Policy, tool: BoundTool | None, arguments: Mapping[str, Any]
    ) -> tuple[Outcome, str]:
        said = f"{policy_id}: {policy.reason}" if policy.reason else policy_id
        if policy.effect == "decide":
            return "ask-code", f"{policy_id} asks {policy.decide}"
        outcome: Outcome = policy.effect
        if policy.when in (None, True, {}):
            return outcome, said
        unseen = ""
        for depth in (0,) if tool is None else named_depths(policy, tool):
            seen = (
                arguments
                if tool is None
                else arguments_at(depth, tool, self.composition.extensions, arguments)
            )
            if isinstance(seen, Layer):
                unseen = seen.name
                continue
            try:
                if self.conditions.hold(policy_id, policy, seen):
                    return outcome, said
            except ValueError as error:  # P5: what cannot be told denies
                return "deny", f"policy_error: {policy_id}: {error}"
        if unseen:
            return "ask-code", f"{policy_id} is asked at each inner call, whose arguments {unseen} makes"
        return "allow", ""


def _has(composition: Composition, effect: Effect, tool: BoundTool | None) -> bool:
    """Whether the agent itself has the effect, and the tool or one that it is stacked on (P21)."""
    if effect not in composition.agent.grants:
        return False
    return tool is None or any(
        own.exposed
        and (own.extension, own.raw) == (tool.extension, tool.raw)
        and own.chain == tool.chain[: len(own.chain)]
        for own in composition.agent.tools.values()
    )


def _may_exceed(edge: Delegate, effect: Effect, tool: BoundTool | None) -> bool:
    if tool is None:
        return effect in edge.may_exceed
    return any(pattern(item).matches(tool.extension, tool.raw) for item in edge.may_exceed if "/" in item)


def _named(request: PolicyRequest) -> str:
    return request.tool or request.effect
