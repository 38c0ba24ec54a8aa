"""Changes to an input schema that a provider needs and that lose nothing: each result accepts the same arguments.

Nothing is guessed and nothing cut (docs/policies.md §6). A schema is never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from symc.schema.drafts import Role
from symc.schema.survey import Tokens, members

Schema = dict[str, Any]

# What each keyword says is about values of one type only, so it may move into the alternative for that type.
_ABOUT: Final[dict[str, tuple[str, ...]]] = {
    "array": (
        "additionalItems",
        "contains",
        "items",
        "maxContains",
        "maxItems",
        "minContains",
        "minItems",
        "prefixItems",
        "uniqueItems",
    ),
    "object": (
        "additionalProperties",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "maxProperties",
        "minProperties",
        "patternProperties",
        "properties",
        "propertyNames",
        "required",
    ),
    "string": ("contentEncoding", "contentMediaType", "contentSchema", "maxLength", "minLength", "pattern"),
    "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
}


def can_split(node: Schema) -> bool:
    """Whether ``split_types`` has an equal for this schema's list of types.

    Not beside an ``anyOf`` of its own, nor where a keyword looks at what its neighbours left over.
    """
    return "anyOf" not in node and "unevaluatedItems" not in node and "unevaluatedProperties" not in node


def split_types(schema: Schema) -> Schema:
    """The schema with every list of types as an ``anyOf`` of single types.

    ``{"type": ["array", "null"], "items": X}`` becomes ``{"anyOf": [{"type": "array", "items": X}, {"type": "null"}]}``:
    keywords about one type go with it, all others stay where they are.
    """
    return _rewritten(schema, _split)


def add_type(schema: Schema) -> Schema:
    """The schema of an arguments object with ``type: object``; arguments are never anything else."""
    return schema if "type" in schema else {"type": "object", **schema}


def add_properties(schema: Schema) -> Schema:
    """The schema with an empty ``properties`` in every object schema that has none."""
    return _rewritten(schema, _named)


def positions(schema: Schema) -> Iterator[tuple[Tokens, Any]]:
    """Every schema in ``schema``, itself first, with its path; booleans included."""
    stack: list[tuple[Tokens, Any, Role]] = [((), schema, Role.SCHEMA)]
    while stack:
        path, node, role = stack.pop()
        if role is Role.SCHEMA and isinstance(node, dict | bool):
            yield path, node
        if isinstance(node, dict | list | tuple):
            below = [((*path, key), value, child) for key, value, child in members(node, role)]
            stack += [row for row in reversed(below) if row[2] is not Role.DATA]


def types_of(node: Any) -> tuple[str, ...]:
    """The types a schema names, none where it names none."""
    named = node.get("type", ()) if isinstance(node, dict) else ()
    return (named,) if isinstance(named, str) else tuple(named)


def _rewritten(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A copy with ``change`` applied to every schema object, innermost first."""
    rewritten: Schema = _below(schema, Role.SCHEMA, change)
    return rewritten


def _below(node: Any, role: Role, change: Callable[[Schema], Schema]) -> Any:
    if role is Role.DATA or not isinstance(node, dict | list | tuple):
        return node
    inner = {key: _below(value, child, change) for key, value, child in members(node, role)}
    if not isinstance(node, dict):
        return list(inner.values())
    return change(inner) if role is Role.SCHEMA else inner


def _split(node: Schema) -> Schema:
    types = types_of(node)
    if isinstance(node.get("type", ""), str) or not can_split(node):
        return node
    if len(types) == 1:
        return {**node, "type": types[0]}
    alternatives = [
        {"type": name, **{key: node[key] for key in _ABOUT.get(name, ()) if key in node}} for name in types
    ]
    moved = {key for alternative in alternatives for key in alternative}
    return {**{key: value for key, value in node.items() if key not in moved}, "anyOf": alternatives}


def _named(node: Schema) -> Schema:
    return {**node, "properties": {}} if "object" in types_of(node) and "properties" not in node else node
