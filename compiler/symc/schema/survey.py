"""One iterative walk over a schema document: what stands where, without recursion and within a depth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from symc import hidden
from symc.schema.drafts import Role, role_of

MAX_DEPTH: Final = 100
"""Deepest accepted nesting of a tool schema, in JSON levels: the YAML reader's limit, and well within every validator's."""

Tokens: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the schema's root: a JSON pointer before it is written."""

Place: TypeAlias = "tuple[Place, str | int] | None"
"""The way to a value as a linked list, None at the root; cheap to extend, spelt out by ``tokens``."""


def tokens(place: Place) -> Tokens:
    """The path that a place stands for."""
    found: list[str | int] = []
    while place is not None:
        place, key = place
        found.append(key)
    return tuple(reversed(found))


REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that refer to another schema."""

SCOPES: Final = frozenset({"id", "$id", "$anchor", "$dynamicAnchor", *REFERENCES})
"""Keywords with which a schema names itself or another; most schemas have none."""

_CONTAINERS: Final = (dict, list, tuple)
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_ESCAPED_CONTROL: Final = re.compile(r"\\[ubfr]")
_NOTABLE: Final = SCOPES | {"$schema", "pattern", "patternProperties"}


@dataclass(frozen=True, slots=True)
class Survey:
    """What one walk found.

    ``notable`` are the objects that stand where a schema is due and have a keyword that needs a look of its own
    (references, names, patterns, dialect), outermost first; ``too_deep`` the first place below ``MAX_DEPTH``, where
    the walk ended.
    """

    notable: tuple[tuple[Place, dict[str, Any]], ...] = ()
    too_deep: Place = None


def survey(root: Any) -> Survey:
    """Walk ``root`` once; it is looked at as a JSON Schema, whatever it is.

    Every tool of a workspace passes through here, so only objects and arrays are put aside.
    """
    notable: list[tuple[Place, dict[str, Any]]] = []
    level: list[tuple[Any, Place, Role]] = [(root, None, Role.SCHEMA)]
    for _ in range(MAX_DEPTH + 1):
        below: list[tuple[Any, Place, Role]] = []
        for node, place, role in level:
            if role is Role.SCHEMA and isinstance(node, dict) and not _NOTABLE.isdisjoint(node):
                notable.append((place, node))
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                if isinstance(value, _CONTAINERS):
                    below.append((value, (place, key), role_below(role, node, key, value)))
        if not below:
            return Survey(tuple(notable))
        level = below
    return Survey(tuple(notable), too_deep=level[0][1])


def texts(root: Any) -> Iterator[tuple[Tokens, str]]:
    """Every string in a value of bounded depth, keys included, that is not plain printable ASCII.

    None at all where nothing in the value is hidden, which is told for the whole of it at once.
    """
    whole = _ENCODE(root)
    if not _ESCAPED_CONTROL.search(whole) and not hidden.scan(whole):
        return
    stack: list[tuple[Any, Tokens]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if isinstance(node, str):
            if not (node.isascii() and node.isprintable()):
                yield path, node
        elif isinstance(node, dict):
            stack += [(key, (*path, key)) for key in node]
            stack += [(value, (*path, key)) for key, value in node.items()]
        elif isinstance(node, list | tuple):
            stack += [(value, (*path, index)) for index, value in enumerate(node)]


def members(node: Any, role: Role) -> Iterator[tuple[Any, Any, Role]]:
    """The direct members of an object or array inside a schema: key or index, value, and what the value is."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield key, value, role_below(role, node, key, value)


def role_below(role: Role, node: Any, key: Any, value: Any) -> Role:
    """What ``value`` is, under ``key`` of the object or array ``node`` that is ``role``."""
    if role is Role.SCHEMAS:
        return Role.SCHEMA
    return role_of(key, value) if role is Role.SCHEMA and isinstance(node, dict) else Role.DATA
