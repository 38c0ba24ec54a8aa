"""Conditions: whether one ``when`` holds wherever another does, found out from their words (docs/diff.md §1).

Sound, not complete: what is not found out counts as no. A keyword of the narrow schema is weighed against the same one
of the wide schema; whatever draws on other places of a schema is only ever equal to itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symc.canonical import canonical_bytes

Json = Any

_SAYINGS: Final = frozenset(
    {
        "$anchor", "$comment", "$defs", "contentEncoding", "contentMediaType", "contentSchema", "default", "deprecated",
        "description", "examples", "format", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that refuse no value; `format` is an annotation, see ``symc.schema.Validator``."""

_FAR: Final = frozenset(
    {
        "$dynamicRef",
        "$id",
        "$recursiveRef",
        "$ref",
        "$schema",
        "$vocabulary",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords that mean something else elsewhere: a schema with one of them, however deep, is compared as a whole."""

_BOUNDS: Final = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"})
_LEAST: Final = frozenset({"minItems", "minLength", "minProperties"})
_MOST: Final = frozenset({"maxItems", "maxLength", "maxProperties"})
_NEIGHBOURS: Final[Mapping[str, tuple[str, ...]]] = {
    "contains": ("minContains", "maxContains"),
    "else": ("if", "then"),
    "if": ("then", "else"),
    "items": ("prefixItems",),
    "maxContains": ("contains", "minContains"),
    "minContains": ("contains", "maxContains"),
    "then": ("if", "else"),
}
"""Keywords whose meaning depends on others beside them, which must then be the same on both sides."""


_MOST_PAIRS: Final = 4_000
"""Pairs of schemas that are looked at for one question; beyond that the answer is no."""


def implies(narrow: Json, wide: Json) -> bool:
    """Whether every value that satisfies ``narrow`` satisfies ``wide``: two conditions, None for one that always holds."""
    one, other = _schema(narrow), _schema(wide)
    if _same(one, other):
        return True
    return not (_reaches_far(one) or _reaches_far(other)) and _Weighing().within(one, other)


def _schema(condition: Json) -> Json:
    return True if condition is None else condition


def _reaches_far(schema: Json) -> bool:
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if not _FAR.isdisjoint(value):
                return True
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return False


@dataclass(slots=True)
class _Weighing:
    """One question; ``left`` are the pairs of schemas that may still be looked at, for alternatives multiply."""

    left: int = _MOST_PAIRS

    def within(self, narrow: Json, wide: Json) -> bool:
        """Whether what satisfies ``narrow`` satisfies ``wide``."""
        self.left -= 1
        if narrow is False or wide is True or _same(narrow, wide):
            return True
        narrow = {} if narrow is True else narrow
        if self.left < 0 or not isinstance(narrow, Mapping) or not isinstance(wide, Mapping):
            return False
        parts = tuple(_parts(narrow))
        return all(
            key in _SAYINGS
            or any(self._keeps(key, part, wide) for part in parts)
            or self._divided(key, narrow, wide)
            for key in wide
        )

    def _divided(self, key: str, narrow: Mapping[str, Json], wide: Mapping[str, Json]) -> bool:
        """``allOf`` and ``anyOf`` of the wide schema, held against the whole narrow one."""
        ways = _listed(wide[key])
        if key == "allOf":
            return all(self.within(narrow, one) for one in ways)
        mine = _listed(narrow.get(key)) or [narrow]
        return key == "anyOf" and (
            any(self.within(narrow, way) for way in ways)
            or all(any(self.within(one, way) for way in ways) for one in mine)
        )

    def _keeps(self, key: str, narrow: Mapping[str, Json], wide: Mapping[str, Json]) -> bool:
        """Whether what satisfies ``narrow`` satisfies the keyword of ``wide``."""
        if any(not _same(narrow.get(one), wide.get(one)) for one in _NEIGHBOURS.get(key, ())):
            return False
        value, mine = wide[key], narrow.get(key)
        if key in narrow and key != "additionalProperties" and _same(mine, value):
            return True
        match key:
            case "properties" | "patternProperties":
                return self._each(mine, value)
            case "items" | "propertyNames":
                return key in narrow and self.within(mine, value)
            case "additionalProperties":
                return key in narrow and _same_names(narrow, wide) and self.within(mine, value)
            case "not":
                return key in narrow and self.within(value, mine)
        return _is_met(key, narrow, value)

    def _each(self, narrow: Json, wide: Json) -> bool:
        if not isinstance(wide, Mapping):
            return False
        mine = narrow if isinstance(narrow, Mapping) else {}
        return all(self.within(mine.get(name, True), schema) for name, schema in wide.items())


def _parts(schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The schema and those of its ``allOf``: a value satisfies each."""
    yield schema
    for one in _listed(schema.get("allOf")):
        if isinstance(one, Mapping):
            yield from _parts(one)


def _is_met(key: str, narrow: Mapping[str, Json], value: Json) -> bool:
    """Whether what satisfies ``narrow`` satisfies a keyword that holds no schema."""
    mine = narrow.get(key)
    if key in _BOUNDS:
        return _bounded(key, value, narrow)
    if key == "type":
        return bool(_types(mine)) and _types(mine) <= _types(value)
    if key in ("enum", "const"):
        return _is_one_of(_listed(value) if key == "enum" else [value], narrow)
    if key == "required":
        return set(map(str, _listed(value))) <= set(map(str, _listed(mine)))
    if key == "multipleOf":
        return _is_multiple(mine, value)
    if key == "uniqueItems":
        return value is False
    theirs, ours = _number(value), _number(mine)
    if theirs is None:
        return False
    if key in _LEAST:
        return (ours or 0) >= theirs
    return key in _MOST and ours is not None and ours <= theirs


def _bounded(key: str, value: Json, narrow: Mapping[str, Json]) -> bool:
    """Whether every number that the narrow schema lets through lies within the bound."""
    bound = _number(value)
    if bound is None:
        return False
    lower, sign = ("Minimum", 1) if key.lower().endswith("minimum") else ("Maximum", -1)
    open_, closed = _number(narrow.get(f"exclusive{lower}")), _number(narrow.get(lower.lower()))
    strict = key.startswith("exclusive")
    if open_ is not None and sign * open_ >= sign * bound:
        return True
    if closed is not None and (sign * closed > sign * bound or (not strict and closed == bound)):
        return True
    named = _named(narrow)
    return named is not None and all(
        number is None or sign * number > sign * bound or (not strict and number == bound)
        for number in map(_number, named)
    )


def _named(schema: Mapping[str, Json]) -> list[Json] | None:
    """The values that the schema names one by one; None where it does not."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if isinstance(schema.get("enum"), list | tuple) else None


def _is_one_of(values: list[Json], narrow: Mapping[str, Json]) -> bool:
    named = _named(narrow)
    if named is None:
        return False
    known = {canonical_bytes(value) for value in values}
    return all(canonical_bytes(value) in known for value in named)


def _same_names(narrow: Mapping[str, Json], wide: Mapping[str, Json]) -> bool:
    """Whether both speak of the same properties, so that the additional ones are the same, too."""
    return all(_keys(narrow.get(one)) == _keys(wide.get(one)) for one in ("properties", "patternProperties"))


def _keys(value: Json) -> frozenset[str]:
    return frozenset(value) if isinstance(value, Mapping) else frozenset()


def _is_multiple(mine: Json, value: Json) -> bool:
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in (mine, value))
    return whole and value != 0 and mine % value == 0


def _types(value: Json) -> frozenset[str]:
    names = frozenset([value] if isinstance(value, str) else map(str, _listed(value)))
    return names | {"integer"} if "number" in names else names


def _listed(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: Json) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def _same(one: Json, other: Json) -> bool:
    # Equal in Python are also 1 and true, which JSON tells apart.
    return one is other or (bool(one == other) and canonical_bytes(one) == canonical_bytes(other))
