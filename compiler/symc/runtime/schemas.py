"""JSON Schemas as the runtime enforces them: compiled once, asked for every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from symc.contracts.errors import ConfigurationError

__all__ = ["Validator", "compiled", "faults"]

_SHOWN = 3
"""Faults told to a model at once: enough to correct a call, not enough to bury it."""


class Validator(Protocol):
    """A compiled schema."""

    def is_valid(self, instance: Any, /) -> bool:
        """Whether the value obeys the schema."""
        ...

    def iter_errors(self, instance: Any, /) -> Any:
        """What does not."""
        ...


def compiled(schema: Mapping[str, Any] | bool, subject: str) -> Validator:
    """The validator of a schema, of the draft it declares (2020-12 if none); nothing is fetched.

    `ConfigurationError` names `subject` when the schema is none.
    """
    import jsonschema_rs  # a compiled library: only an agent with tools pays for it

    try:
        validator: Validator = jsonschema_rs.validator_for(
            schema if isinstance(schema, bool | dict) else dict(schema), retriever=_refuse
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        message = getattr(error, "message", None) or str(error)
        raise ConfigurationError(f"{subject}: its schema is not valid JSON Schema: {message}") from error
    return validator


def faults(validator: Validator, instance: Any) -> str:
    """What is wrong with the value, in one line for the model; empty when nothing is."""
    if validator.is_valid(instance):
        return ""
    found = [_worded(error) for error in validator.iter_errors(instance)]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def _worded(error: Any) -> str:
    path = "".join(f"/{step}" for step in error.instance_path)
    return f"{path}: {error.message}" if path else str(error.message)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a remote reference is not followed: {uri}")
