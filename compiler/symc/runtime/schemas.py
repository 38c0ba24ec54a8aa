"""JSON Schemas as the runtime enforces them: compiled once, asked for every call, bounded whatever the value is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symc.contracts.errors import ConfigurationError

if TYPE_CHECKING:
    from symc.schema import Validator

__all__ = ["compiled", "faults"]

_SHOWN = 3
"""Faults told to a model at once: enough to correct a call, not enough to bury it."""


def compiled(schema: Mapping[str, Any] | bool, subject: str) -> Validator:
    """The validator of a schema, of the draft it declares (2020-12 if none); nothing is fetched.

    `ConfigurationError` names `subject` when the schema is none.
    """
    from symc.schema import UnusableSchemaError, Validator  # only an agent with tools pays for it

    try:
        return Validator(schema if isinstance(schema, bool | dict) else dict(schema))
    except UnusableSchemaError as error:
        raise ConfigurationError(f"{subject}: its schema is not valid JSON Schema: {error}") from error


def faults(validator: Validator, instance: Any) -> str:
    """What is wrong with the value, in one line for the model; empty when nothing is."""
    found = [str(violation) for violation in validator.violations(instance)]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more
