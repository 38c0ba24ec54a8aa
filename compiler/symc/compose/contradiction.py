"""Contradictions: schemas that no value satisfies, as far as a look at their keywords can tell.

Sound and incomplete: what is called a contradiction is one; many that need a proof are not found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from symc.schema.survey import Tokens
from symc.schema.validator import UnusableSchemaError, Validator

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""The types of JSON; `integer` stands beside the number that is none."""

NUMERIC: Final = frozenset({"integer", "number"})

_LOWER: Final = {"minimum": False, "exclusiveMinimum": True}
_UPPER: Final = {"maximum": False, "exclusiveMaximum": True}
"""Bounds, and whether they are strict."""

_SIZES: Final = (
    ("minLength", "maxLength", "string", "character"),
    ("minItems", "maxItems", "array", "item"),
    ("minProperties", "maxProperties", "object", "property"),
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why no value satisfies a schema: ``path`` leads to what rules it out, ``reason`` ends a sentence."""

    path: Tokens
    reason: str


_Part = tuple[Tokens, Mapping[str, Any]]


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that the schema's own keywords leave, those of its ``allOf`` included."""
    types = TYPES
    for _, part in _parts(schema, ()):
        if isinstance(part, Mapping):
            types &= _declared(part)
    return types


def contradiction(schema: Any, types: frozenset[str] = TYPES) -> Contradiction | None:
    """Why no value of ``types`` satisfies the schema; None where one does, or where that cannot be told.

    A range of numbers that is empty counts although values of other types pass it: nobody writes one for those.
    """
    parts = list(_parts(schema, ()))
    for path, part in parts:
        if part is False:
            return Contradiction(path, "`false` accepts nothing" if path else "it is `false`")
        if isinstance(part, Mapping) and part.get("not") in (True, {}):
            return Contradiction((*path, "not"), "`not` of everything accepts nothing")
    mappings: list[_Part] = [(path, part) for path, part in parts if isinstance(part, Mapping)]
    for path, part in mappings:
        narrowed = types & _declared(part)
        if not narrowed:
            return Contradiction(
                (*path, "type"), f"its type is {_words(_declared(part))}, and {_words(types)} is due"
            )
        types = narrowed
    return (
        _no_value(schema, mappings)
        or _empty_range(mappings, types)
        or _empty_size(mappings, types)
        or _impossible_member(mappings, types)
        or _no_alternative(mappings, types)
    )


def _parts(schema: Any, path: Tokens) -> Iterator[tuple[Tokens, Any]]:
    """The schema and, flattened, all that must hold with it."""
    yield path, schema
    if isinstance(schema, Mapping):
        for index, one in enumerate(schema.get("allOf", ())):
            yield from _parts(one, (*path, "allOf", index))


def _declared(part: Mapping[str, Any]) -> frozenset[str]:
    types = TYPES
    written = part.get("type")
    if written is not None:
        names = {written} if isinstance(written, str) else set(written)
        types = frozenset(names | ({"integer"} if "number" in names else set()))
    for values in ([part["const"]] if "const" in part else None, part.get("enum")):
        if values is not None:
            types &= frozenset(kind for value in values for kind in _kinds(value))
    # An empty enum has a reason of its own.
    return types if part.get("enum") != () and part.get("enum") != [] else TYPES


def _kinds(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int | float):
        return ("integer", "number") if float(value).is_integer() else ("number",)
    if value is None:
        return ("null",)
    if isinstance(value, str):
        return ("string",)
    return ("object",) if isinstance(value, Mapping) else ("array",)


def _words(types: frozenset[str]) -> str:
    shown = sorted(types - {"integer"} if "number" in types else types)
    return " or ".join(shown)


def _no_value(schema: Any, parts: Sequence[_Part]) -> Contradiction | None:
    """Listed values are tried: if none satisfies the whole, nothing does."""
    for path, part in parts:
        keyword = "const" if "const" in part else "enum"
        if keyword not in part:
            continue
        values = [part["const"]] if keyword == "const" else list(part["enum"])
        if not values:
            return Contradiction((*path, keyword), "its `enum` is empty")
        try:
            validator = Validator(schema)
        except UnusableSchemaError:  # a reference to a definition outside: not told here
            return None
        if not any(validator.accepts(value) for value in values):
            reason = f"no value of its `{keyword}` satisfies the rest"
            return Contradiction((*path, keyword), reason)
    return None


def _empty_range(parts: Sequence[_Part], types: frozenset[str]) -> Contradiction | None:
    if not types & NUMERIC:
        return None
    bounds = [
        (float(value), path, keyword)
        for path, part in parts
        for keyword in (*_LOWER, *_UPPER)
        if _is_number(value := part.get(keyword))
    ]
    # Among equal bounds the strict one counts.
    lowest = max(
        (one for one in bounds if one[2] in _LOWER), key=lambda one: (one[0], _LOWER[one[2]]), default=None
    )
    highest = min(
        (one for one in bounds if one[2] in _UPPER), key=lambda one: (one[0], -_UPPER[one[2]]), default=None
    )
    if lowest is None or highest is None:
        return None
    least, most = lowest[0], highest[0]
    strict_low, strict_high = _LOWER[lowest[2]], _UPPER[highest[2]]
    empty = least > most or (least == most and (strict_low or strict_high))
    if not empty and types & NUMERIC == {"integer"}:
        first = math.floor(least) + 1 if strict_low else math.ceil(least)
        last = math.ceil(most) - 1 if strict_high else math.floor(most)
        empty = first > last
    if not empty:
        return None
    return Contradiction(
        (*lowest[1], lowest[2]),
        f"no number satisfies both `{lowest[2]}: {least:g}` and `{highest[2]}: {most:g}`",
    )


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _empty_size(parts: Sequence[_Part], types: frozenset[str]) -> Contradiction | None:
    for least, most, kind, noun in _SIZES:
        if kind not in types:
            continue
        lows = [(value, path) for path, part in parts if _is_number(value := part.get(least))]
        highs = [value for _, part in parts if _is_number(value := part.get(most))]
        if not lows or not highs:
            continue
        low, path = max(lows, key=lambda found: found[0])
        if low > min(highs):
            return Contradiction(
                (*path, least), f"nothing has at least {low} and at most {min(highs)} {noun}s"
            )
    return None


def _impossible_member(parts: Sequence[_Part], types: frozenset[str]) -> Contradiction | None:
    """A property that must be there and can have no value, or that may not be there."""
    if types != {"object"}:
        return None
    required = {name for _, part in parts for name in part.get("required", ())}
    declared: dict[str, list[tuple[Tokens, Any]]] = {}
    for path, part in parts:
        for name, one in (part.get("properties") or {}).items():
            declared.setdefault(name, []).append(((*path, "properties", name), one))
    for name in sorted(required & declared.keys()):
        for path, one in declared[name]:
            inner = contradiction(one)
            if inner is not None:
                return Contradiction((*path, *inner.path), f"`{name}` can have no value: {inner.reason}")
        if len(declared[name]) > 1:
            inner = contradiction({"allOf": [one for _, one in declared[name]]})
            if inner is not None:
                return Contradiction(declared[name][0][0], f"`{name}` can have no value: {inner.reason}")
    return None


def _no_alternative(parts: Sequence[_Part], types: frozenset[str]) -> Contradiction | None:
    for path, part in parts:
        for keyword in ("anyOf", "oneOf"):
            alternatives = part.get(keyword)
            if alternatives and all(contradiction(one, types) is not None for one in alternatives):
                return Contradiction((*path, keyword), f"none of its `{keyword}` can hold")
    return None
