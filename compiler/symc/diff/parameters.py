"""Parameters: what a change of a tool's schema means for those who call it (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symc.canonical import canonical_bytes, pointer

Json = Any

_SAYINGS: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change inside a schema: where, what, and whether a call that was right may now be refused."""

    at: str
    what: str
    breaks: bool


def schema_changes(old: Json, new: Json) -> tuple[SchemaChange, ...]:
    """Every change that matters to a caller, in the order of the schema; texts and examples do not."""
    return tuple(_changes(old, new, ()))


def sayings(schema: Json) -> dict[str, Json]:
    """What a schema says and does not demand — descriptions, defaults, examples — by JSON pointer."""
    return dict(_sayings(schema, ()))


def _sayings(value: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            # Below `properties` every key is a name.
            if key in _SAYINGS and path[-1:] != ("properties",):
                yield pointer((*path, key)), item
            else:
                yield from _sayings(item, (*path, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _sayings(item, (*path, number))


def _changes(old: Json, new: Json, path: tuple[str | int, ...]) -> Iterator[SchemaChange]:
    if _same(old, new):
        return
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield from _whole(old, new, path)
        return
    yield from _properties(old, new, path)
    for key in sorted((old.keys() | new.keys()) - _SAYINGS - {"properties", "required"}):
        if _same(old.get(key), new.get(key)) and (key in old) == (key in new):
            continue
        yield from _keyword(key, old, new, path)


def _whole(old: Json, new: Json, path: tuple[str | int, ...]) -> Iterator[SchemaChange]:
    """A schema that is true or false, or is not there, on one side at least."""
    if _is_open(new):
        yield SchemaChange(pointer(path), "accepts anything", breaks=False)
    elif _is_open(old) and isinstance(new, Mapping):
        yield from _changes({}, new, path)
    elif old is False:
        yield SchemaChange(pointer(path), "accepts something", breaks=False)
    else:
        yield SchemaChange(pointer(path), "accepts nothing", breaks=True)


def _is_open(schema: Json) -> bool:
    return schema is None or schema is True or schema == {}


def _properties(old: Json, new: Json, path: tuple[str | int, ...]) -> Iterator[SchemaChange]:
    before, after = _mapping(old.get("properties")), _mapping(new.get("properties"))
    needed_old, needed_new = _names(old.get("required")), _names(new.get("required"))
    for name in sorted(before.keys() | after.keys() | needed_old | needed_new):
        at = (*path, "properties", name)
        if name in before and name not in after:
            yield SchemaChange(pointer(at), "removed", breaks=True)
        elif name not in before and name in after:
            required = name in needed_new
            yield SchemaChange(pointer(at), "new and required" if required else "new", breaks=required)
            continue
        elif name in before:
            yield from _changes(before[name], after[name], at)
        if (name in needed_old) != (name in needed_new):
            required = name in needed_new
            yield SchemaChange(
                pointer(at), "now required" if required else "no longer required", breaks=required
            )


def _keyword(key: str, old: Json, new: Json, path: tuple[str | int, ...]) -> Iterator[SchemaChange]:
    before, after, at = old.get(key), new.get(key), pointer((*path, key))
    if key == "type":
        yield from _values(at, "type", _types(before), _types(after))
    elif key == "enum" and isinstance(after, list | tuple) and isinstance(before, list | tuple):
        yield from _values(at, "value", _canonical(before), _canonical(after))
    elif key in _LOWER or key in _UPPER:
        yield _bound(at, before, after, lower=key in _LOWER)
    elif key in ("items", "additionalProperties"):
        yield from _changes(old.get(key, True), new.get(key, True), (*path, key))
    elif key in ("$defs", "definitions") and isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() & after.keys()):
            yield from _changes(before[name], after[name], (*path, key, name))
    elif key not in new:
        yield SchemaChange(at, "no longer limited", breaks=False)
    else:
        # What other keywords accept is not compared: whoever calls has to look.
        yield SchemaChange(at, "changed" if key in old else "newly limited", breaks=True)


def _values(
    at: str, noun: str, before: frozenset[str] | None, after: frozenset[str] | None
) -> Iterator[SchemaChange]:
    if after is None or (before is not None and before <= after):
        yield SchemaChange(at, f"more {noun}s", breaks=False)
    elif before is None or not after <= before:
        yield SchemaChange(at, f"other {noun}s", breaks=True)
    else:
        yield SchemaChange(at, f"fewer {noun}s", breaks=True)


def _bound(at: str, before: Json, after: Json, *, lower: bool) -> SchemaChange:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, after))
    wider = after is None or (numbers and (after < before if lower else after > before))
    return SchemaChange(at, "wider" if wider else "narrower", breaks=not wider)


def _types(value: Json) -> frozenset[str] | None:
    if not isinstance(value, str | list | tuple):
        return None
    names = frozenset([value] if isinstance(value, str) else map(str, value))
    return names | {"integer"} if "number" in names else names


def _canonical(values: Json) -> frozenset[str]:
    return frozenset(canonical_bytes(value).decode() for value in values)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Json) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else frozenset()


def _same(one: Json, other: Json) -> bool:
    return one is other or canonical_bytes(one) == canonical_bytes(other)
