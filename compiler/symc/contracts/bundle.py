"""The bundle of one extension: validated, ordered and refused as a unit (docs/contracts.md X-04…X-09, X-21)."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

from symc.contracts.contribution import (
    Contribution,
    LifecycleContribution,
    PolicyContribution,
    PromptFragment,
    ToolContribution,
    is_async,
    subject_of,
)
from symc.contracts.errors import ExtensionContractError, PrivilegeWideningError
from symc.contracts.names import EXTENSION_NAME

__all__ = ["ExtensionContribution", "ExtensionProvider", "contribution_of"]

_KINDS: tuple[tuple[str, type[Contribution]], ...] = (  # the order in which members are validated
    ("tools", ToolContribution),
    ("prompts", PromptFragment),
    ("policies", PolicyContribution),
    ("lifecycle", LifecycleContribution),
)


@final
@dataclass(frozen=True, slots=True)
class ExtensionContribution:
    """Everything one extension contributes, as one frozen value (X-04).

    It holds no engine, registry or graph: an extension declares, the composer decides (X-03, X-06).
    """

    extension: str
    tools: tuple[ToolContribution, ...] = ()
    prompts: tuple[PromptFragment, ...] = ()
    policies: tuple[PolicyContribution, ...] = ()
    lifecycle: tuple[LifecycleContribution, ...] = ()

    @classmethod
    def build(
        cls,
        extension: str,
        *,
        tools: Iterable[ToolContribution] = (),
        prompts: Iterable[PromptFragment] = (),
        policies: Iterable[PolicyContribution] = (),
        lifecycle: Iterable[LifecycleContribution] = (),
    ) -> ExtensionContribution:
        """The bundle of these members, each sequence frozen into a tuple; nothing is validated (X-05)."""
        return cls(extension, tuple(tools), tuple(prompts), tuple(policies), tuple(lifecycle))

    def validate(self) -> None:
        """Refuse the whole bundle for the first fault of any member; the composer always calls this.

        `ExtensionContractError` names extension and member; it is a `PrivilegeWideningError` when a member carries
        another extension's name, or reaches for an authored place (X-08, X-15). Order: the bundle's name; then tools,
        prompts, policies, lifecycle; for each member its own fault, its attribution, its uniqueness (X-07, X-21).
        """
        if fault := EXTENSION_NAME.fault(self.extension):
            raise ExtensionContractError(f"the name of an extension {fault}; this is {self.extension!r}")
        for key, kind in _KINDS:
            members = getattr(self, key)
            if not isinstance(members, tuple):
                raise self._fault(f"must be a tuple, not a {type(members).__name__}; use build()", key)
            seen: dict[str, str] = {}
            for index, member in enumerate(members):
                self._validate_member(f"{key}[{index}]", member, kind, seen)

    def _validate_member(
        self, place: str, member: Any, kind: type[Contribution], seen: dict[str, str]
    ) -> None:
        # The exact type: a subclass could carry an engine along, or judge itself.
        if type(member) is not kind:
            raise self._fault(f"must be a {kind.__name__}, not a {type(member).__name__}", place)
        try:
            member.validate()
        except ExtensionContractError as error:
            raise type(error)(error.fault, self.extension, f"{place} {error.member}") from None
        subject = subject_of(member)
        if member.extension != self.extension:  # X-08 [AS-INT-5]
            raise PrivilegeWideningError(
                f'is attributed to extension "{member.extension}"; no one contributes on another\'s behalf',
                self.extension,
                f"{place} {subject}",
            )
        if subject in seen:
            raise self._fault(f"is declared twice: {seen[subject]} and {place}", subject)
        seen[subject] = place

    def _fault(self, fault: str, member: str) -> ExtensionContractError:
        return ExtensionContractError(fault, self.extension, member)


@runtime_checkable
class ExtensionProvider(Protocol):
    """Anything with a `name` and a callable `contribute()`; nothing to inherit (X-09)."""

    @property
    def name(self) -> str:
        """The name of the extension, the same as its bundle's."""
        ...

    def contribute(self) -> ExtensionContribution:
        """The extension's bundle; equal each time."""
        ...


def contribution_of(provider: object) -> ExtensionContribution:
    """The validated bundle of a provider: the one door for a server and for a plugin alike (X-01, X-09).

    `ExtensionContractError` for an object that is no provider, a `contribute` that is async or answers an awaitable
    (a coroutine is closed, so nothing warns later), an answer that is no bundle, and every fault of the bundle;
    `PrivilegeWideningError` when the bundle carries another name. What `contribute` raises is the cause.
    """
    name = getattr(provider, "name", None)
    if fault := EXTENSION_NAME.fault(name):
        raise ExtensionContractError(
            f"a provider's `name` {fault}; the provider is a {type(provider).__name__}"
        )
    assert isinstance(name, str)
    contribute = getattr(provider, "contribute", None)
    if not callable(contribute):
        raise ExtensionContractError("its provider has no callable `contribute`", name)
    if is_async(contribute):
        raise ExtensionContractError("`contribute` must not be async; discover before composing", name)
    try:
        bundle = contribute()
    except ExtensionContractError:
        raise
    except Exception as error:
        raise ExtensionContractError(f"`contribute` raised {type(error).__name__}", name) from error
    if inspect.isawaitable(bundle):
        if inspect.iscoroutine(bundle):
            bundle.close()
        raise ExtensionContractError("`contribute` answered an awaitable; discover before composing", name)
    if type(bundle) is not ExtensionContribution:
        raise ExtensionContractError(
            f"`contribute` must answer an ExtensionContribution, not a {type(bundle).__name__}", name
        )
    bundle.validate()
    if bundle.extension != name:
        raise PrivilegeWideningError(f'its provider answered the bundle of "{bundle.extension}"', name)
    return bundle
