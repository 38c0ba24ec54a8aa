"""One sentence for each way in which a value breaks a schema; shared by schema checks and argument checks.

The validator's own sentences quote the value, which arguments and configurations must not (docs/variants.md V14), so
the sentences are made here from its structured errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from symc.canonical import pointer

Violation: TypeAlias = Any
"""A ``jsonschema_rs.ValidationError``; the type is not named so that wording loads nothing."""

_SHOWN = 10
_GAVE_UP = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})


def sentence(violation: Violation) -> str:
    """What the value at the violation's place must be, as the rest of a sentence: ``must be a string``.

    Names the rule and, of the value, at most the names of properties; never the value itself.
    """
    kind = violation.kind
    match type(kind).__name__:
        case "Type":
            return f"must be {_types(kind.types)}"
        case "Required":
            return f"lacks the property {_quoted([kind.property])}"
        case "AdditionalProperties" | "UnevaluatedProperties":
            return f"must not have the {_noun('property', kind.unexpected)} {_quoted(kind.unexpected)}"
        case "PropertyNames":
            return f"has a property whose name {sentence(kind.error)}"
        case "Enum":
            return f"must be one of {_json(kind.options)}"
        case "Constant":
            return f"must be {_json([kind.expected_value])}"
        case "Minimum":
            return f"must be at least {kind.limit}"
        case "Maximum":
            return f"must be at most {kind.limit}"
        case "ExclusiveMinimum":
            return f"must be more than {kind.limit}"
        case "ExclusiveMaximum":
            return f"must be less than {kind.limit}"
        case "MultipleOf":
            return f"must be a multiple of {kind.multiple_of}"
        case "MinLength":
            return f"must have at least {_count(kind.limit, 'character')}"
        case "MaxLength":
            return f"must have at most {_count(kind.limit, 'character')}"
        case "MinItems":
            return f"must have at least {_count(kind.limit, 'item')}"
        case "MaxItems" | "AdditionalItems":
            return f"must have at most {_count(kind.limit, 'item')}"
        case "MinProperties":
            return f"must have at least {_count(kind.limit, 'property')}"
        case "MaxProperties":
            return f"must have at most {_count(kind.limit, 'property')}"
        case "UnevaluatedItems":
            return "must not have items beyond those that are described"
        case "UniqueItems":
            return "must not hold the same item twice"
        case "Contains":
            return "must hold the right number of items of the kind that `contains` describes"
        case "Pattern":
            return f"must match the pattern {_quoted([kind.pattern])}"
        case "Format":
            return f"must have the format {_quoted([kind.format])}"
        case "Not":
            return "must not match the schema under `not`"
        case "FalseSchema":
            return "must not be given"
        case "AnyOf" | "OneOfNotValid":
            return _alternatives(violation)
        case "OneOfMultipleValid":
            return "matches more than one of the alternatives of `oneOf`"
        case name if name in _GAVE_UP:
            return "is too costly to match against its pattern"
        case _:
            return f"breaks the rule {_quoted([kind.name])}"


def closest(violation: Violation) -> Violation:
    """The violation to show: for alternatives that all fail, the one inside the alternative that came nearest.

    Nearest is the failure deepest in the value; among equals, one that is not about the type.
    """
    while type(violation.kind).__name__ in {"AnyOf", "OneOfNotValid"}:
        branches = [branch[0] for branch in violation.kind.context if branch]
        if not branches:
            break
        violation = max(branches, key=_nearness)
    return violation


def errors_of(validator: Any, value: Any, *, most: int) -> list[Violation]:
    """Every violation of ``value`` in a compiled schema; of a value of more than ``most`` parts, the first alone.

    The validator collects them all before it gives one, each with copies of what is around it: for a megabyte of
    mistakes that takes minutes and all memory.
    """
    if _has_at_most(most, value):
        return list(validator.iter_errors(value))
    try:
        validator.validate(value)
    except ValueError as error:
        return [error]
    return []


def _has_at_most(most: int, value: Any) -> bool:
    containers = [value] if isinstance(value, dict | list | tuple) else []
    count = 0
    for container in containers:  # grows while it is walked
        count += len(container)
        if count > most:
            return False
        items = container.values() if isinstance(container, dict) else container
        containers += [item for item in items if isinstance(item, dict | list | tuple)]
    return True


def located(path: Iterable[str | int], value: Any) -> tuple[str | int, ...]:
    """The path of a violation in ``value``, as the value knows it, as far as it leads.

    The validator takes every key of digits for an index, and passes over keys that are empty.
    """
    found: list[str | int] = []
    for step in path:
        key = step
        if isinstance(value, dict):
            if isinstance(step, int):
                key = next((key for key in value if key.isdecimal() and int(key) == step), str(step))
            while key not in value and isinstance(value.get(""), dict):
                found.append("")
                value = value[""]
            if key not in value:
                break
        found.append(key)
        value = value[key]
    return tuple(found)


def gave_up(violation: Violation) -> bool:
    """Whether a pattern, here or inside an alternative, ran into its limit before it could tell."""
    kind = violation.kind
    if type(kind).__name__ in _GAVE_UP:
        return True
    return any(gave_up(inner) for branch in getattr(kind, "context", ()) for inner in branch)


def _nearness(violation: Violation) -> tuple[int, bool]:
    return len(violation.instance_path), type(violation.kind).__name__ != "Type"


def _alternatives(violation: Violation) -> str:
    count = len(violation.kind.context)
    nearest = closest(violation)
    if nearest is violation:
        return f"matches none of {count} alternatives"
    below = pointer(tuple(nearest.instance_path[len(violation.instance_path) :]))
    return f"matches none of {count} alternatives; the nearest one: {below + ' ' if below else ''}{sentence(nearest)}"


_ARTICLES = {"array": "an array", "integer": "an integer", "null": "null", "object": "an object"}


def _types(names: Iterable[str]) -> str:
    return " or ".join(_ARTICLES.get(name, f"a {name}") for name in names)


def _quoted(names: list[str]) -> str:
    shown = ", ".join(json.dumps(name, ensure_ascii=False) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _json(values: list[Any]) -> str:
    shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _noun(noun: str, several: list[str]) -> str:
    return noun if len(several) == 1 else "properties"


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun.removesuffix('y') + 'ies' if noun.endswith('y') else noun + 's'}"
