"""What a policy is asked, and what it may answer (docs/policies.md §1, docs/contracts.md X-16, X-17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias, final, get_args

from symc.contracts.frozen import FrozenDict, freeze
from symc.contracts.vocabulary import Effect

__all__ = ["ALLOW", "ASK", "DENY", "Decision", "PolicyRequest", "PolicyVerdict", "combine", "settle"]

Decision: TypeAlias = Literal["allow", "ask", "deny"]

_BY_STRENGTH: Final[tuple[Decision, ...]] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRequest:
    """One thing an agent is about to do, frozen (P4).

    `tool` is the exposed name, the one the model called; `extension`, `raw` and `chain` (innermost layer first) are
    the identity behind it, never to be parsed out of a name. All four are empty for an effect without a tool.
    `arguments` is a JSON object, deep-frozen here. `origin` says who asks: `model`, or the layer or parent agent whose
    inner call this is.
    """

    agent: str
    effect: Effect
    tool: str = ""
    raw: str = ""
    extension: str = ""
    chain: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=FrozenDict)
    origin: str = "model"

    def __post_init__(self) -> None:
        object.__setattr__(self, "chain", tuple(self.chain))
        object.__setattr__(self, "arguments", freeze(self.arguments))


@final
@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """A policy's answer: `ALLOW` (no objection), `DENY(reason)` or `ASK(reason)`.

    An ALLOW is no authority: it only means that this policy does not object (X-17). `reasons` is sorted and without
    repetition, so that verdicts combine in any order to equal values. ValueError for a decision that is none of the
    three, TypeError for a reason that is no string.
    """

    decision: Decision
    reasons: tuple[str, ...] = ()

    ALLOW: ClassVar[PolicyVerdict]

    def __post_init__(self) -> None:
        if self.decision not in _BY_STRENGTH:
            raise ValueError(f'"{self.decision}" is no decision; the decisions are {", ".join(_BY_STRENGTH)}')
        if isinstance(self.reasons, str) or not all(isinstance(reason, str) for reason in self.reasons):
            raise TypeError("reasons is a sequence of strings")
        object.__setattr__(self, "reasons", tuple(sorted(set(self.reasons))))

    @classmethod
    def DENY(cls, reason: str) -> PolicyVerdict:  # noqa: N802  # the contract's word
        """The request is refused, for `reason`; no other verdict undoes it."""
        return cls("deny", _reasons(reason))

    @classmethod
    def ASK(cls, reason: str) -> PolicyVerdict:  # noqa: N802  # the contract's word
        """A person must say yes to this request, for `reason`."""
        return cls("ask", _reasons(reason))

    @property
    def denies(self) -> bool:
        """Whether the request is refused whatever anyone else says."""
        return self.decision == "deny"

    @property
    def asks(self) -> bool:
        """Whether the request waits for a person's yes."""
        return self.decision == "ask"

    @property
    def reason(self) -> str:
        """The reasons as one line of prose; empty where none was given."""
        return "; ".join(self.reasons)

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false; ask .denies or .asks")


PolicyVerdict.ALLOW = PolicyVerdict("allow")

ALLOW: Final = PolicyVerdict.ALLOW
DENY = PolicyVerdict.DENY
ASK = PolicyVerdict.ASK


def combine(verdicts: Iterable[PolicyVerdict]) -> PolicyVerdict:
    """The strongest of the verdicts, with the reasons of all that are as strong: deny over ask over no objection.

    Commutative, associative and idempotent, with `ALLOW` for no verdicts at all; adding one never weakens the result
    (X-17). TypeError for anything that is no verdict: `settle` comes first.
    """
    strongest = ALLOW
    for verdict in verdicts:
        if not isinstance(verdict, PolicyVerdict):
            raise TypeError(f"a {type(verdict).__name__} is no PolicyVerdict")
        if verdict.decision == strongest.decision:
            strongest = PolicyVerdict(verdict.decision, strongest.reasons + verdict.reasons)
        elif _BY_STRENGTH.index(verdict.decision) > _BY_STRENGTH.index(strongest.decision):
            strongest = verdict
    return strongest


def settle(answer: object, policy_id: str) -> PolicyVerdict:
    """The verdict a policy's answer stands for: itself, or a denial when it is anything but a verdict (X-18, P5).

    None, True, "allow" and an exception are no verdicts; the denial's reason is `policy_error` with the policy's id.
    """
    # The exact type: a subclass could answer for its own decision.
    return answer if type(answer) is PolicyVerdict else PolicyVerdict.DENY(f"policy_error: {policy_id}")


def _reasons(reason: str) -> tuple[str, ...]:
    if not isinstance(reason, str):
        raise TypeError(f"a reason is a string, not a {type(reason).__name__}")
    return (reason,) if reason else ()
