"""Vetoes, ready to be asked, and the one place where their answers are combined (docs/policies.md §1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from symc.contracts.contribution import PolicyContribution
from symc.contracts.verdict import PolicyRequest, PolicyVerdict, combine, settle
from symc.contracts.vocabulary import Effect
from symc.runtime.schemas import compiled
from symc.runtime.toolset import ToolBinding

__all__ = [
    "DEFAULT_TIMEOUT",
    "Answers",
    "Coverage",
    "Judge",
    "Veto",
    "answer_within",
    "ask_all",
    "everything",
    "of_contribution",
    "over",
    "rule",
]

DEFAULT_TIMEOUT = 5.0
"""Seconds a `decide` policy has (P5)."""

Coverage: TypeAlias = Callable[[Effect, ToolBinding | None], bool]
"""Whether a veto is about an effect and, where there is one, a tool; asked when gates are built, not at each call."""


class Judge(Protocol):
    """A declarative rule: sync, and without side effects."""

    def __call__(self, request: PolicyRequest, /) -> PolicyVerdict:
        """The rule's answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Veto:
    """One policy of an agent: `judge` for a declarative rule, `decide` for one in code; exactly one is set.

    `policy_id` is `owner/id`. `timeout` in seconds, for `decide`. A rule that sees other arguments in a variant than in
    the tool it names has `judge_at`, which gives the judge for one tool.
    """

    policy_id: str
    covers: Coverage
    judge: Judge | None = None
    decide: Callable[[PolicyRequest], Awaitable[PolicyVerdict]] | None = None
    timeout: float = DEFAULT_TIMEOUT
    judge_at: Callable[[ToolBinding], Judge] | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What all policies said of one request: the combined verdict, and each that was as strong, by id.

    `broken` holds when every denial stands for a policy that failed, none for one that decided.
    """

    verdict: PolicyVerdict
    by_policy: tuple[tuple[str, PolicyVerdict], ...] = ()
    broken: bool = False

    @property
    def why(self) -> str:
        """The ids and reasons behind the verdict, as one line."""
        return "; ".join(
            f"{policy_id}: {answer.reason}" if answer.reason else policy_id
            for policy_id, answer in self.by_policy
        )

    @property
    def policies(self) -> frozenset[str]:
        """The ids behind the verdict."""
        return frozenset(policy_id for policy_id, _ in self.by_policy)


def over(vetoes: Iterable[Veto], effect: Effect, tool: ToolBinding | None) -> tuple[Veto, ...]:
    """Those of the vetoes that are about the effect and the tool, ready for its requests."""
    return tuple(
        veto if tool is None or veto.judge_at is None else replace(veto, judge=veto.judge_at(tool))
        for veto in vetoes
        if veto.covers(effect, tool)
    )


_NO_OBJECTION = Answers(PolicyVerdict.ALLOW)


def everything(_effect: Effect, _tool: ToolBinding | None) -> bool:
    """The coverage of a policy about all that an agent does."""
    return True


def rule(
    policy_id: str,
    verdict: PolicyVerdict,
    *,
    covers: Coverage,
    when: Mapping[str, Any] | bool | None = None,
) -> Veto:
    """A declarative rule: `verdict` where the arguments satisfy the JSON Schema `when`, or always (docs/policies.md §2).

    `ConfigurationError` when `when` is no schema.
    """
    if when is None or when is True:
        return Veto(policy_id=policy_id, covers=covers, judge=lambda _request: verdict)
    matches = compiled(
        when, f"the policy {policy_id}"
    ).matches  # raises where it cannot tell, and so denies (P5)

    def judge(request: PolicyRequest) -> PolicyVerdict:
        return verdict if matches(request.arguments) else PolicyVerdict.ALLOW

    return Veto(policy_id=policy_id, covers=covers, judge=judge)


def of_contribution(policy: PolicyContribution, *, timeout: float = DEFAULT_TIMEOUT) -> Veto:
    """The veto of a contributed policy: asked about its actions, on every tool (X-16)."""
    return Veto(
        policy_id=f"{policy.extension}/{policy.policy_id}",
        covers=lambda effect, _tool: policy.covers(effect),
        decide=policy.decide,
        timeout=timeout,
    )


async def ask_all(vetoes: Iterable[Veto], request: PolicyRequest) -> Answers:
    """Every veto's answer to one request, combined: rules in place, code concurrently; deny over ask over no objection.

    All are asked, whatever one says: a policy may count what it sees, and the order never matters (P1).
    """
    answers: list[tuple[str, PolicyVerdict, bool]] = []
    slow: list[Veto] = []
    for veto in vetoes:
        if veto.judge is None:
            slow.append(veto)
            continue
        try:
            answer: object = veto.judge(request)
        except Exception:  # P5: a rule that fails denies
            answer = None
        if answer is PolicyVerdict.ALLOW:  # what most say most of the time
            continue
        answers.append((veto.policy_id, settle(answer, veto.policy_id), type(answer) is not PolicyVerdict))
    if len(slow) == 1:
        answers.append(await _decide(slow[0], request))
    elif slow:
        answers += await asyncio.gather(*[_decide(veto, request) for veto in slow])
    objections = [answer for answer in answers if answer[1].decision != "allow"]
    if not objections:
        return _NO_OBJECTION
    verdict = combine(answer for _, answer, _ in objections)
    strongest = [answer for answer in objections if answer[1].decision == verdict.decision]
    return Answers(
        verdict,
        tuple((policy_id, answer) for policy_id, answer, _ in sorted(strongest, key=lambda found: found[0])),
        broken=all(failed for _, _, failed in strongest),
    )


async def _decide(veto: Veto, request: PolicyRequest) -> tuple[str, PolicyVerdict, bool]:
    """One policy in code: what it raises, when it is late or answers anything but a verdict, it denies (X-18)."""
    assert veto.decide is not None
    answer = await answer_within(veto.timeout, veto.decide, request)
    return veto.policy_id, settle(answer, veto.policy_id), type(answer) is not PolicyVerdict


async def answer_within(seconds: float, question: Callable[..., Awaitable[object]], *told: object) -> object:
    """What `question` answers in time; None where it raises or is late. Cancellation of the run propagates."""
    try:
        async with asyncio.timeout(seconds) as deadline:
            answer = await question(*told)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return None  # its own doing: nobody cancelled this run
    except Exception:
        return None
    return None if deadline.expired() else answer  # code that swallowed the cancellation is late all the same
