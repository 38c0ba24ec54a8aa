"""The failures symc documents, by one root (docs/contracts.md F-41).

`SymfonicError` is what an adopter catches; nothing raises it itself. Its children tell *whose* fault it is:

- `ConfigurationError`: what was given is wrong; found before the first provider call.
- `ExtensionContractError`: the same, of an extension's contribution; `PrivilegeWideningError` when the fault is
  that it asks for what is not its own.
- `ContractViolationError`: a rule of the running agent was broken, or enforced.
- `StructuredOutputError`: the model did not answer in the shape asked for.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "ConfigurationError",
    "ContractViolationError",
    "ExtensionContractError",
    "PrivilegeWideningError",
    "StructuredOutputError",
    "SymfonicError",
]


class SymfonicError(Exception):
    """The root of every documented failure; never raised itself (F-41).

    `code` is a stable word for logs and for clients; messages are prose and may change.
    """

    code: ClassVar[str] = "symfonic_error"


class ConfigurationError(SymfonicError):
    """Something given to symc is wrong; raised before the first provider call (F-46)."""

    code: ClassVar[str] = "configuration"


class ContractViolationError(SymfonicError):
    """A rule of the running agent was broken or enforced.

    A handler's own subclass reaches the caller unwrapped only with `preserve_contract_identity = True` (F-43).
    """

    code: ClassVar[str] = "contract_violation"
    preserve_contract_identity: ClassVar[bool] = False


class StructuredOutputError(SymfonicError):
    """The model did not satisfy the output type that was asked for (F-44).

    `partial` is the result so far (an `AgentResult`) where there is one, else None.
    """

    code: ClassVar[str] = "unprocessable"

    def __init__(self, message: str, partial: Any = None) -> None:
        super().__init__(message, partial)
        self.message = message
        self.partial = partial

    def __str__(self) -> str:
        return self.message


class ExtensionContractError(ConfigurationError):
    """An extension's contribution is refused as a whole (X-04).

    `extension` is the name of the bundle, `member` the place and name of the one at fault (`tools[2] "search"`, or
    "" where the bundle itself is), `fault` the sentence; the message has all three.
    """

    code: ClassVar[str] = "extension_contract"

    def __init__(self, fault: str, extension: str = "", member: str = "") -> None:
        super().__init__(fault, extension, member)
        self.fault = fault
        self.extension = extension
        self.member = member

    def __str__(self) -> str:
        owner = f'extension "{self.extension}"' if self.extension else ""
        subject = ", ".join(part for part in (owner, self.member) if part)
        return f"{subject}: {self.fault}" if subject else self.fault


class PrivilegeWideningError(ExtensionContractError):
    """A contribution reaches for what is not its own: another's name, an authored tier, the kernel layer (X-08, X-15)."""

    code: ClassVar[str] = "privilege_widening"
