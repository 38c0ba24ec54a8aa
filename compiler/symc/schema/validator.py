"""Arguments against a schema, at run time: compiled once, answered in a microsecond, never quoting the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import jsonschema_rs

from symc.canonical import pointer
from symc.schema.survey import Tokens
from symc.schema.wording import errors_of, gave_up, located, sentence

BACKTRACK_LIMIT: Final = 100_000
"""Steps after which a pattern that needs backtracking gives up: a few milliseconds."""

MAX_VALUE_DEPTH: Final = 200
"""Deepest nesting of a value that is looked at; recursive schemas follow the value, on a stack of fixed size."""

Engine: TypeAlias = jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions

LINEAR: Final = jsonschema_rs.RegexOptions()
"""The engine for regular patterns: time is linear in the text, whatever the pattern."""

BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT)
"""The engine for look-around and back-references: it tries alternatives, up to the limit."""

MOST_PARTS: Final = 200
"""Parts of a value of which every mistake is told, not the first alone: a model's call must not stop the others."""

_REFUSALS: Final = (ValueError, jsonschema_rs.ReferencingError)


class UnusableSchemaError(ValueError):
    """The schema cannot be compiled; a schema that passed ``check`` always can."""


class UndecidedError(ValueError):
    """Whether the value matches could not be told within the bounds; a veto must then take it as a match."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule a value breaks: where in the value, where in the schema, and the sentence without the value."""

    path: Tokens
    rule: Tokens
    sentence: str
    missing: str = ""
    """The property that is required and not there."""
    unexpected: tuple[str, ...] = ()
    """The properties that are there and may not be."""

    def __str__(self) -> str:
        rule = f" (rule {pointer(self.rule)})" if self.rule else ""
        return f"{pointer(self.path) or 'the value'} {self.sentence}{rule}"


class Validator:
    """A schema ready to check values (P34, docs/variants.md V14).

    ``schema`` is a JSON Schema that passed ``check`` (plain or frozen). ``format`` is an annotation, in every draft.
    Raises ``UnusableSchemaError`` for a schema that cannot be compiled; never fetches anything.
    """

    __slots__ = ("_compiled", "_linear")

    def __init__(self, schema: dict[str, Any] | bool) -> None:
        self._linear = True
        try:
            self._compiled = _compile(schema, LINEAR)
        except _REFUSALS:
            self._linear = False
            try:
                self._compiled = _compile(schema, BACKTRACKING)
            except _REFUSALS as error:
                raise UnusableSchemaError(str(error).partition("\n")[0]) from None

    def accepts(self, value: Any) -> bool:
        """Whether the value is valid; False where that cannot be told within the bounds."""
        return not _too_deep(value) and self._compiled.is_valid(value)

    def violation(self, value: Any) -> Violation | None:
        """The first rule the value breaks, or None when it is valid."""
        if self.accepts(value):
            return None
        return next(iter(self.violations(value)))

    def violations(self, value: Any) -> tuple[Violation, ...]:
        """Every rule the value breaks, in the schema's order; of a value of more than `MOST_PARTS` parts, one."""
        if _too_deep(value):
            return (Violation((), (), f"must not be nested deeper than {MAX_VALUE_DEPTH} levels"),)
        return tuple(
            Violation(
                located(error.instance_path, value),
                tuple(error.schema_path),
                sentence(error),
                getattr(error.kind, "property", ""),
                tuple(getattr(error.kind, "unexpected", ())),
            )
            for error in errors_of(self._compiled, value, most=MOST_PARTS)
        )

    def matches(self, value: Any) -> bool:
        """Whether the value matches a rule's ``when``.

        Raises ``UndecidedError`` where a pattern gave up or the value is nested too deeply: neither is a "no".
        """
        if _too_deep(value):
            raise UndecidedError(f"the arguments are nested deeper than {MAX_VALUE_DEPTH} levels")
        if self._compiled.is_valid(value):
            return True
        if not self._linear and any(gave_up(error) for error in self._compiled.iter_errors(value)):
            raise UndecidedError("the arguments are too costly to match against a pattern of the rule")
        return False


def _compile(schema: dict[str, Any] | bool, engine: Engine) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema, validate_formats=False, pattern_options=engine, offline=True)


def _too_deep(value: Any) -> bool:
    """Whether the value is nested deeper than the validator's native stack safely follows."""
    level = [item for item in _members(value) if isinstance(item, dict | list | tuple)]
    depth = 1
    while level:
        depth += 1
        if depth > MAX_VALUE_DEPTH:
            return True
        level = [
            item
            for container in level
            for item in _members(container)
            if isinstance(item, dict | list | tuple)
        ]
    return False


def _members(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
