"""Calls: arguments that show a move between conditions, found at their boundaries (docs/diff.md §1).

Candidates are made of the constants that both sides' conditions name, and of their neighbours; each is held to the
conditions themselves and to the tool's input schema. Where none shows the move, there is no call to name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final

from symc.canonical import canonical_bytes
from symc.diff.standing import ALWAYS, Atom, Condition

Json = Any

_FEW: Final = 16
_DEEPEST: Final = 4
_MOST: Final = 3_000
_LONGEST: Final = 200
_SHOWN: Final = 40
_UNSAFE: Final = 2**53
_BOUNDS: Final = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_SIZES: Final = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}
_PLAIN: Final[Mapping[str, tuple[Json, ...]]] = {
    "integer": (1, 0),
    "number": (1, 0),
    "string": ("x", ""),
    "boolean": (True, False),
    "null": (None,),
    "array": ([],),
    "object": ({},),
}
_INNER: Final = ("allOf", "anyOf", "oneOf")
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Call:
    """One call that is decided otherwise: its arguments, the objections that stood against it, and what it still meets."""

    arguments: Mapping[str, Json]
    stood: tuple[Atom, ...]
    asks: bool

    @property
    def said(self) -> str:
        """The arguments as the rest of a sentence: `` with amount: 500``; empty for a call without any."""
        shown = ", ".join(f"{name}: {_short(value)}" for name, value in self.arguments.items())
        return f" with {shown}" if shown else ""


def telling_call(lifted: Sequence[Atom], other: Iterable[Atom], accepts: Json) -> Call | None:
    """A call against which some of ``lifted`` stood, and that ``other`` does not stop as hard.

    ``accepts`` is the tool's input schema; None where it is not known. None: no condition is in play, what decides sees
    something else than the arguments, or no candidate shows it.
    """
    standing = tuple(other)
    conditions = [one.condition for one in (*lifted, *standing) if one.condition.when is not None]
    if not conditions or len({one.place for one in conditions}) > 1 or " on " in conditions[0].place:
        return None
    hints = [accepts] if isinstance(accepts, Mapping) and not conditions[0].place else []
    judge = _Judge.of(conditions, hints)
    if judge is None:
        return None
    names = [one.when for one in conditions if isinstance(one.when, Mapping)]
    # The fewest arguments say most; none at all say nothing.
    candidates = sorted(islice(_objects(names, hints, 0), _MOST), key=lambda one: (not one, len(one)))
    for arguments in candidates:
        if not judge.takes(arguments):
            continue
        stood = tuple(one for one in lifted if judge.holds(one, arguments))
        met = [one for one in standing if judge.holds(one, arguments)]
        denied = any(one.denies for one in met)
        denials = tuple(one for one in stood if one.denies)
        if denials and not denied:
            return Call(arguments, denials, bool(met))
        if stood and not met:
            return Call(arguments, stood, asks=False)
    return None


@dataclass(frozen=True, slots=True)
class _Judge:
    """The conditions in play and the tool's schema, compiled."""

    conditions: Mapping[Condition, Any]
    schema: Any = None

    @classmethod
    def of(cls, conditions: Iterable[Condition], hints: Sequence[Mapping[str, Json]]) -> _Judge | None:
        from symc.schema import UnusableSchemaError, Validator  # only where a condition changed

        try:
            compiled = {one: Validator(one.when) for one in conditions}
            # The arguments that no condition is about are left to whoever calls.
            schema = Validator({**hints[0], "required": []}) if hints else None
        except UnusableSchemaError:
            return None
        return cls(compiled, schema)

    def takes(self, arguments: Mapping[str, Json]) -> bool:
        return self.schema is None or bool(self.schema.accepts(arguments))

    def holds(self, atom: Atom, arguments: Mapping[str, Json]) -> bool:
        if atom.condition == ALWAYS:
            return True
        if atom.condition not in self.conditions:
            return False  # code, of which nobody knows
        try:
            return bool(self.conditions[atom.condition].matches(arguments))
        except ValueError:  # P5: what cannot be told denies
            return True


def _objects(
    schemas: Sequence[Json], hints: Sequence[Mapping[str, Json]], depth: int
) -> Iterator[dict[str, Json]]:
    """Objects with the properties that the schemas are about; ``hints`` say more of each."""
    parts = _flat(schemas)
    names = list(
        dict.fromkeys(
            str(name)
            for part in parts
            for name in (*_mapping(part.get("properties")), *_listed(part.get("required")))
        )
    )
    choices = [
        [
            *_samples(
                [_mapping(part.get("properties")).get(name) for part in parts], _below(hints, name), depth
            ),
            _ABSENT,
        ]
        for name in names
    ]
    needed = {str(name) for hint in hints for name in _listed(hint.get("required"))}
    for values in product(*choices):
        found = dict(zip(names, values, strict=True))
        if not any(value is _ABSENT and name in needed for name, value in found.items()):
            yield {name: value for name, value in found.items() if value is not _ABSENT}


def _samples(schemas: Sequence[Json], hints: Sequence[Mapping[str, Json]], depth: int) -> list[Json]:
    """A few values at the boundaries of these schemas, the most telling first: those of the hints come after."""
    parts = _flat(schemas)
    more = _flat(hints)
    found = [*_boundaries(parts, (*parts, *more), depth)]
    if depth < _DEEPEST and any("properties" in part or "required" in part for part in parts):
        found += islice(_objects(schemas, hints, depth + 1), _FEW)
    types = {one for part in (*parts, *more) for one in _types(part.get("type"))}
    if "array" in types or any("items" in part or "contains" in part for part in parts):
        found.append(_items((*parts, *more), 1, depth))
    for kind in sorted(types) or ("integer", "string"):
        found += _PLAIN.get(kind, ())
    found += _boundaries(more, more, depth)
    distinct: dict[bytes, Json] = {}
    for value in found:
        distinct.setdefault(canonical_bytes(value), value)
    return list(distinct.values())[:_FEW]


def _boundaries(
    parts: Sequence[Mapping[str, Json]], around: Sequence[Mapping[str, Json]], depth: int
) -> Iterator[Json]:
    """The constants that the schemas name, and what lies beside them."""
    for part in parts:
        yield from [part["const"]] if "const" in part else []
        yield from _listed(part.get("enum"))
    bounds = [part[key] for part in parts for key in _BOUNDS if _is_number(part.get(key))]
    yield from bounds
    yield from (near for bound in bounds for near in (bound - 1, bound + 1) if abs(near) < _UNSAFE)
    for kind, keys in _SIZES.items():
        sizes = [part[key] for part in parts for key in keys if isinstance(part.get(key), int)]
        for size in (near for one in sizes for near in (one, one - 1, one + 1) if 0 <= near <= _LONGEST):
            yield "x" * size if kind == "string" else _items(around, size, depth)


def _items(parts: Sequence[Mapping[str, Json]], size: int, depth: int) -> list[Json]:
    inner = [part[key] for part in parts for key in ("items", "contains") if key in part]
    first = _samples(inner, (), depth + 1)[:1] if depth < _DEEPEST else ["x"]
    return first * size


def _flat(schemas: Sequence[Json]) -> list[Mapping[str, Json]]:
    """The schemas and those that they are put together of."""
    found: list[Mapping[str, Json]] = []
    waiting = [one for one in schemas if isinstance(one, Mapping)]
    while waiting and len(found) < _FEW:
        one = waiting.pop(0)
        found.append(one)
        inner = [part for key in _INNER for part in _listed(one.get(key))] + [one.get("not")]
        waiting += [part for part in inner if isinstance(part, Mapping)]
    return found


def _below(hints: Sequence[Mapping[str, Json]], name: str) -> list[Mapping[str, Json]]:
    inner = [_mapping(hint.get("properties")).get(name) for hint in hints]
    return [one for one in inner if isinstance(one, Mapping)]


def _types(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else [str(one) for one in _listed(value)]


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
