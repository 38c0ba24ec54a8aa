"""The four kinds of contribution, and no fifth (docs/contracts.md §1).

Each is a frozen value: its construction freezes, its `validate()` judges. A member's own fault is judged here; whose
name it carries, and what its neighbours are called, is the bundle's business (`symc.contracts.bundle`).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias, final

from symc.contracts.errors import ExtensionContractError, PrivilegeWideningError
from symc.contracts.frozen import FrozenDict, freeze
from symc.contracts.names import EXTENSION_NAME, MEMBER_ID, RAW_TOOL_NAME, NameRule
from symc.contracts.verdict import PolicyRequest, PolicyVerdict
from symc.contracts.vocabulary import (
    ACTIONS,
    DEFAULT_ORDER,
    LAYERS,
    LEARNED_TIERS,
    MAX_ORDER,
    SCOPES,
    TIERS,
    is_authored,
    is_order,
)

__all__ = [
    "Contribution",
    "LifecycleContribution",
    "LifecyclePhase",
    "PolicyContribution",
    "PromptFragment",
    "ToolContribution",
]


class LifecyclePhase(StrEnum):
    """When a hook runs: as the composition opens, or as it unwinds (X-20)."""

    INSTALL = "install"
    TEARDOWN = "teardown"


@final
@dataclass(frozen=True, slots=True)
class ToolContribution:
    """One tool: what the model is told about it, and the async callable that does it (X-12).

    `invoke` takes the mapping of bound arguments and answers a string; with an `output_schema` that string is JSON
    and is validated. It is captured here and never looked up again (X-13). Schemas and annotations are deep-frozen
    JSON objects. `origin` says where the tool came from, for people.
    """

    name: str
    extension: str
    invoke: Callable[[Mapping[str, Any]], Awaitable[str]]
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=FrozenDict)
    origin: str = ""
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _freeze_in_place(self, "input_schema", "output_schema", "annotations")

    def validate(self) -> None:
        """Refuse the tool's own faults with `ExtensionContractError`."""
        _check_name(self, RAW_TOOL_NAME, self.name)
        _check_extension(self, self.extension)
        _check_text(self, description=self.description, origin=self.origin)
        for key in ("input_schema", "output_schema", "annotations"):
            value = getattr(self, key)
            if not (isinstance(value, FrozenDict) or (value is None and key != "input_schema")):
                raise _fault(self, f"`{key}` must be a JSON object: {_why_not_frozen(value)}")
        _check_async(self, "invoke", self.invoke)
        _check_takes(self, "invoke", self.invoke, 1)


@final
@dataclass(frozen=True, slots=True)
class PromptFragment:
    """One piece of text for the prompt, of a learned tier (X-14, X-15); docs/prompts.md §1 explains the words.

    `order` is an integer in 0..9999, lower first. `truncated` states that the text was cut before it came here.
    """

    fragment_id: str
    text: str
    extension: str
    layer: str = "l1"
    tier: str = "session"
    scope: str = "deployment"
    order: int = DEFAULT_ORDER
    truncated: bool = False

    def validate(self) -> None:
        """Refuse the fragment's own faults: `ExtensionContractError`, `PrivilegeWideningError` for another's place."""
        _check_name(self, MEMBER_ID, self.fragment_id)
        _check_extension(self, self.extension)
        _check_text(self, text=self.text)
        _check_word(self, "layer", self.layer, LAYERS)
        _check_word(self, "tier", self.tier, TIERS)
        _check_word(self, "scope", self.scope, SCOPES)
        if not is_order(self.order):
            raise _fault(self, f"`order` must be an integer in 0..{MAX_ORDER}, not {self.order!r}")
        if not isinstance(self.truncated, bool):
            raise _fault(self, f"`truncated` must be true or false, not {self.truncated!r}")
        if is_authored(self.tier):
            raise _widening(
                self,
                f'tier "{self.tier}" is written by the operator only; '
                f"an extension may use {' and '.join(LEARNED_TIERS)}",
            )
        if self.layer == "l0":
            raise _widening(self, 'layer "l0" is the operator\'s; an extension\'s text belongs in "l1"')
        if self.layer == "l2":  # docs/prompts.md §1: l2 holds slots only, and only an agent declares slots
            raise _fault(self, 'layer "l2" holds slots only; text belongs in "l1"')


@final
@dataclass(frozen=True, slots=True)
class PolicyContribution:
    """One veto in code (X-16): `decide` is asked about every request whose effect is in `actions`, or about all.

    `decide` is async, takes a `PolicyRequest` and answers a `PolicyVerdict`. Anything else it does denies (X-18).
    """

    policy_id: str
    extension: str
    decide: Callable[[PolicyRequest], Awaitable[PolicyVerdict]]
    actions: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.actions, set | list | tuple):
            with suppress(TypeError):  # validate() refuses what could not be frozen
                object.__setattr__(self, "actions", frozenset(self.actions))

    def validate(self) -> None:
        """Refuse the policy's own faults with `ExtensionContractError`."""
        _check_name(self, MEMBER_ID, self.policy_id)
        _check_extension(self, self.extension)
        if not isinstance(self.actions, frozenset):
            raise _fault(self, f"`actions` must be a set of action names, not {self.actions!r}")
        for action in sorted(self.actions, key=str):
            _check_word(self, "action", action, ACTIONS)  # a veto that never fires is a hole
        _check_async(self, "decide", self.decide)
        _check_takes(self, "decide", self.decide, 1)

    def covers(self, action: str) -> bool:
        """Whether the policy is asked about `action`; a named action keeps it off all others."""
        return not self.actions or action in self.actions


@final
@dataclass(frozen=True, slots=True)
class LifecycleContribution:
    """One hook: `run`, sync or async, takes nothing and answers nothing (X-19)."""

    hook_id: str
    extension: str
    phase: LifecyclePhase
    run: Callable[[], Awaitable[None] | None]

    def __post_init__(self) -> None:
        if type(self.phase) is str and self.phase in tuple(LifecyclePhase):
            object.__setattr__(self, "phase", LifecyclePhase(self.phase))

    def validate(self) -> None:
        """Refuse the hook's own faults with `ExtensionContractError`."""
        _check_name(self, MEMBER_ID, self.hook_id)
        _check_extension(self, self.extension)
        if not isinstance(self.phase, LifecyclePhase):
            _check_word(self, "phase", self.phase, tuple(LifecyclePhase))
        if not callable(self.run):
            raise _fault(self, f"`run` must be callable, not a {type(self.run).__name__}")
        _check_takes(self, "run", self.run, 0)


Contribution: TypeAlias = ToolContribution | PromptFragment | PolicyContribution | LifecycleContribution


def _fault(member: Contribution, fault: str) -> ExtensionContractError:
    return ExtensionContractError(fault, extension=_printable(member.extension), member=subject_of(member))


def _widening(member: Contribution, fault: str) -> PrivilegeWideningError:
    return PrivilegeWideningError(fault, extension=_printable(member.extension), member=subject_of(member))


def subject_of(member: Contribution) -> str:
    """The member as messages name it: its kind and its quoted name, `tool "search"`."""
    match member:
        case ToolContribution(name=name):
            return f'tool "{_printable(name)}"'
        case PromptFragment(fragment_id=name):
            return f'fragment "{_printable(name)}"'
        case PolicyContribution(policy_id=name):
            return f'policy "{_printable(name)}"'
        case _:
            return f'hook "{_printable(member.hook_id)}"'


def _printable(name: object) -> str:
    return name if isinstance(name, str) else f"<{type(name).__name__}>"


def _freeze_in_place(member: Contribution, *keys: str) -> None:
    for key in keys:
        # Construction does not judge: validate() refuses what could not be frozen.
        with suppress(TypeError, ValueError):
            object.__setattr__(member, key, freeze(getattr(member, key)))


def _why_not_frozen(value: object) -> str:
    try:
        freeze(value)
    except (TypeError, ValueError) as error:
        return str(error)
    return f"this is a {type(value).__name__}"


def _check_name(member: Contribution, rule: NameRule, name: object) -> None:
    if fault := rule.fault(name):
        raise _fault(member, f"its name {fault}")


def _check_extension(member: Contribution, extension: object) -> None:
    if fault := EXTENSION_NAME.fault(extension):
        raise _fault(member, f"its `extension` {fault}")


def _check_text(member: Contribution, **texts: object) -> None:
    for key, text in texts.items():
        if not isinstance(text, str):
            raise _fault(member, f"`{key}` must be a string, not a {type(text).__name__}")


def _check_word(member: Contribution, key: str, word: object, words: tuple[str, ...]) -> None:
    if isinstance(word, str) and word in words:
        return
    from difflib import get_close_matches  # only a fault needs it

    close = get_close_matches(str(word).lower(), words, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise _fault(member, f"{word!r} is no {key}; {meant}{key}s are {', '.join(words)}")


def _check_async(member: Contribution, key: str, function: object) -> None:
    if not callable(function):
        raise _fault(member, f"`{key}` must be an async callable, not a {type(function).__name__}")
    if not is_async(function):
        raise _fault(member, f"`{key}` must be async; declare it with `async def`")


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling `function` is known to give a coroutine: an `async def`, or an object whose `__call__` is one."""
    if inspect.isclass(function):
        return False  # calling it makes an instance
    # `__call__` is read from the type, as a call does; partials and bound methods are seen through by inspect.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _check_takes(member: Contribution, key: str, function: Callable[..., object], count: int) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some callables of C show no signature
    try:
        signature.bind(*[None] * count)
    except TypeError:
        wanted = "no argument" if count == 0 else "one argument"
        # Names only: a default may be anything, a secret too.
        names = ", ".join(signature.parameters)
        raise _fault(member, f"`{key}` must take {wanted}; its parameters are ({names})") from None
