"""The gate before a tool: everything that must hold before it is invoked (docs/contracts.md §3, docs/policies.md P1).

The order is fixed: the tool's effect is granted, the arguments satisfy the locked schema, no precondition refuses, no
policy denies, every ask is answered yes; then the tool is invoked. The kernel has found the name in the exposed set
before. The same gate stands before every inner layer of a variant (V32), in whatever process.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from symc.contracts.errors import ContractViolationError
from symc.contracts.frozen import FrozenDict, freeze, thaw
from symc.contracts.verdict import PolicyRequest, PolicyVerdict
from symc.contracts.vocabulary import Effect
from symc.runtime.events import Interrupt
from symc.runtime.policies import Veto, answer_within, ask_all, over
from symc.runtime.schemas import compiled, faults
from symc.runtime.toolset import ToolBinding

if TYPE_CHECKING:
    from symc.schema import Validator

__all__ = [
    "APPROVAL_TIMEOUT",
    "NO_SCOPE",
    "Approval",
    "Approver",
    "Gate",
    "Precondition",
    "Reason",
    "RefusedError",
    "RunScope",
    "current_scope",
    "entered",
    "gate",
    "require_effect",
    "take_approval",
]

APPROVAL_TIMEOUT: Final = 300.0
"""Seconds an approver has, unless it carries an attribute `timeout` of its own."""

Approver: TypeAlias = Callable[[PolicyRequest, tuple[str, ...]], Awaitable[bool]]
"""Answers the questions of `ask` policies, for one call: the request, and why it is asked (F-47)."""

Precondition: TypeAlias = Callable[[PolicyRequest], Any]
"""Sync or async; None is no objection, a text is the reason of a refusal, and anything else refuses too (F-19)."""


class Reason(StrEnum):
    """Why a tool call has an error instead of a result; the word stands in the error's text."""

    UNKNOWN_TOOL = "unknown_tool"
    NOT_GRANTED = "not_granted"
    INVALID_ARGUMENTS = "invalid_arguments"
    PRECONDITION_FAILED = "precondition_failed"
    POLICY_DENIED = "policy_denied"
    POLICY_ERROR = "policy_error"
    APPROVAL_REQUIRED = "approval_required"
    APPROVAL_REFUSED = "approval_refused"
    TOOL_ERROR = "tool_error"
    SERVER_CHANGED = "server_changed"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    RUN_FAILED = "run_failed"


class RefusedError(ContractViolationError):
    """A gate said no. A layer that lets it pass makes it the error of the whole call.

    `reason` is the stable word, `detail` the sentence; the text has both, for the model to read.
    """

    code = "refused"

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        executed = "" if self.reason is Reason.TOOL_ERROR else "not executed: "
        return f"{executed}{self.reason}: {self.detail}" if self.detail else f"{executed}{self.reason}"


async def _unheard(_interrupt: Interrupt) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScope:
    """What a gate knows of the run it stands in; absent where there is no run, as in a worker process.

    `origin` says who makes this run's calls: the model, or for a delegate the agent through which it was called (P4).
    `inherited` are the vetoes of the agents through which this one was called (P22). `permits` narrows the grants of a
    delegate to what its parent has (P23); None narrows nothing. `notify` shows a question to whoever watches. `through`
    are the agents through which it was called, outermost first. `state` and `session_id` are those of the run.
    """

    origin: str = "model"
    approver: Approver | None = None
    inherited: tuple[Veto, ...] = ()
    permits: Callable[[Effect, ToolBinding | None], bool] | None = None
    notify: Callable[[Interrupt], Awaitable[None]] = _unheard
    through: tuple[str, ...] = ()
    state: Mapping[str, Any] = field(default_factory=FrozenDict)
    session_id: str = ""


@dataclass(slots=True)
class Approval:
    """A person's yes to one call; an inner layer that passes the same call on may use it, once (F-47)."""

    policies: frozenset[str]
    arguments: Mapping[str, Any]
    used: bool = False

    def serves(self, policies: frozenset[str], arguments: Mapping[str, Any]) -> bool:
        """Whether the yes covers these policies and a call with nothing but what was shown to the person."""
        return (
            not self.used
            and policies <= self.policies
            and all(
                name in self.arguments and _same_json(value, self.arguments[name])
                for name, value in arguments.items()
            )
        )


NO_SCOPE: Final = RunScope()
"""Outside any run: nobody to ask, nothing inherited."""

_scope: ContextVar[RunScope] = ContextVar("symc_run_scope", default=NO_SCOPE)
_approval: ContextVar[Approval | None] = ContextVar("symc_approval", default=None)


def current_scope() -> RunScope:
    """The scope of the run that this code runs in."""
    return _scope.get()


def take_approval() -> Approval | None:
    """The yes under which this code runs, to be used elsewhere; it is used up here."""
    approval = _approval.get()
    if approval is None or approval.used:
        return None
    approval.used = True
    return Approval(approval.policies, approval.arguments)


class entered:  # noqa: N801  # reads as what it does: `with entered(scope):`
    """Make `scope` the current one while the block lasts.

    A delegate's calls are new calls: no yes to the parent's passes on to them. Only where one call goes on in another
    process does its `approval` go along.
    """

    __slots__ = ("_approval", "_scope", "_token")

    def __init__(self, scope: RunScope, approval: Approval | None = None) -> None:
        self._scope = scope
        self._approval = approval

    def __enter__(self) -> None:
        self._token = (_scope.set(self._scope), _approval.set(self._approval))

    def __exit__(self, *_exception: object) -> None:
        scope, approval = self._token
        _approval.reset(approval)
        _scope.reset(scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The gate of one tool; `call` is the gated callable. Made by `gate`."""

    agent: str
    tool: ToolBinding
    grants: frozenset[str]
    vetoes: tuple[Veto, ...]
    preconditions: tuple[Precondition, ...]
    accepts: Validator
    answers: Validator | None = None

    async def call(self, arguments: Mapping[str, Any], *, origin: str = "") -> str:
        """The tool's answer, once everything before it holds; `RefusedError` where something does not.

        `origin` names the layer whose inner call this is; empty for a call of the run itself. What the tool raises
        propagates.
        """
        tool, scope = self.tool, _scope.get()
        # A caller's limits are about what is called; what a layer stands on is how that is done.
        limits = scope.permits if not origin else None
        if tool.effect not in self.grants or (limits is not None and not limits(tool.effect, tool)):
            raise RefusedError(Reason.NOT_GRANTED, f'the effect "{tool.effect}" is not granted')
        try:
            frozen = freeze(arguments)
        except (TypeError, ValueError) as error:
            raise RefusedError(Reason.INVALID_ARGUMENTS, str(error)) from None
        if not isinstance(frozen, FrozenDict):
            raise RefusedError(Reason.INVALID_ARGUMENTS, "the arguments are no JSON object")
        if not self.accepts.accepts(frozen):
            raise RefusedError(Reason.INVALID_ARGUMENTS, faults(self.accepts, frozen))
        request = PolicyRequest(
            agent=self.agent,
            effect=tool.effect,
            tool=tool.name,
            raw=tool.raw,
            extension=tool.extension,
            chain=tool.chain,
            arguments=frozen,
            origin=origin or scope.origin,
        )
        for precondition in self.preconditions:
            await _require(precondition, request)
        vetoes = self.vetoes
        if scope.inherited:
            vetoes += over(scope.inherited, tool.effect, tool)
        approval = await _clear(vetoes, request, scope)
        token = _approval.set(approval)
        try:
            answer = await tool.invoke(thaw(frozen))
        finally:
            _approval.reset(token)
        return self._checked(answer)

    def _checked(self, answer: object) -> str:
        if not isinstance(answer, str):
            raise RefusedError(Reason.TOOL_ERROR, f"the tool answered a {type(answer).__name__}, not text")
        if self.answers is not None:
            try:
                value = json.loads(answer)
            except ValueError:
                raise RefusedError(Reason.TOOL_ERROR, "the tool's answer is not JSON") from None
            if not self.answers.accepts(value):
                raise RefusedError(
                    Reason.TOOL_ERROR, f"the tool's answer breaks its schema: {faults(self.answers, value)}"
                )
        return answer


def gate(
    tool: ToolBinding,
    *,
    agent: str = "",
    grants: Iterable[str],
    vetoes: Iterable[Veto] = (),
    preconditions: Iterable[Precondition] = (),
) -> Gate:
    """The gate of `tool`: its schemas compiled, the vetoes that cover it picked.

    `ConfigurationError` for a schema that is none. A binder calls this for every inner layer, too.
    """
    subject = f'the tool "{tool.name}"'
    return Gate(
        agent=agent,
        tool=tool,
        grants=frozenset(grants),
        vetoes=over(vetoes, tool.effect, tool),
        preconditions=tuple(preconditions),
        accepts=compiled(tool.input_schema, subject),
        answers=None if tool.output_schema is None else compiled(tool.output_schema, subject),
    )


async def require_effect(
    effect: Effect, *, agent: str, grants: frozenset[str], vetoes: Iterable[Veto]
) -> None:
    """Pass when an effect without a tool (a model call) may happen now; `RefusedError` otherwise."""
    scope = _scope.get()
    if effect not in grants or (scope.permits is not None and not scope.permits(effect, None)):
        raise RefusedError(Reason.NOT_GRANTED, f'the effect "{effect}" is not granted')
    asked = over((*vetoes, *scope.inherited), effect, None)
    if asked:
        await _clear(asked, PolicyRequest(agent=agent, effect=effect, origin=scope.origin), scope)


async def _clear(vetoes: Iterable[Veto], request: PolicyRequest, scope: RunScope) -> Approval | None:
    """Pass when no policy denies and every question is answered yes; the answer, for the layers within."""
    answers = await ask_all(vetoes, request)
    verdict, given = answers.verdict, _approval.get()
    if verdict.denies:
        raise RefusedError(Reason.POLICY_ERROR if answers.broken else Reason.POLICY_DENIED, answers.why)
    if not verdict.asks:
        return given
    if given is not None and given.serves(answers.policies, request.arguments):
        given.used = True
    else:
        await _approve(request, verdict.reasons, answers.why, scope)
    return Approval(answers.policies, request.arguments)


async def _approve(request: PolicyRequest, reasons: tuple[str, ...], why: str, scope: RunScope) -> None:
    """Put the question to a person: no approver, an error or silence is no yes (F-47)."""
    await scope.notify(Interrupt(request, reasons))
    approver = scope.approver
    if approver is None:
        raise RefusedError(Reason.APPROVAL_REQUIRED, why)
    seconds = getattr(approver, "timeout", APPROVAL_TIMEOUT)
    answer = await answer_within(seconds, approver, request, reasons)
    if answer is False:
        raise RefusedError(Reason.APPROVAL_REFUSED, why)
    if answer is not True:
        raise RefusedError(Reason.APPROVAL_REQUIRED, why)


async def _require(precondition: Precondition, request: PolicyRequest) -> None:
    try:
        answer = precondition(request)
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as error:
        raise RefusedError(
            Reason.PRECONDITION_FAILED, f"a precondition raised {type(error).__name__}"
        ) from error
    if answer is None or answer is PolicyVerdict.ALLOW:
        return
    if isinstance(answer, PolicyVerdict):
        answer = answer.reason
    raise RefusedError(Reason.PRECONDITION_FAILED, answer if isinstance(answer, str) else "")


def _same_json(one: Any, other: Any) -> bool:
    # As text: 1, 1.0 and true are equal in Python, and not the same thing to say yes to.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
