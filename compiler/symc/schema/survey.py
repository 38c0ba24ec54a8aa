"""One iterative walk over a schema document: what stands where, without recursion and within a depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

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


@dataclass(slots=True)
class Survey:
    """What one walk found.

    ``schemas`` are all objects that stand where a schema is due, outermost first; ``texts`` every string that is not
    plain printable ASCII, keys included; ``too_deep`` the first place below ``MAX_DEPTH`` (nothing below it is seen).
    """

    schemas: list[tuple[Place, dict[str, Any]]] = field(default_factory=list)
    texts: list[tuple[Place, str]] = field(default_factory=list)
    too_deep: Place = None


def survey(root: Any) -> Survey:
    """Walk ``root`` once; it is looked at as a JSON Schema, whatever it is."""
    found = Survey()
    stack: list[tuple[Any, Place, Role, int]] = [(root, None, Role.SCHEMA, 0)]
    while stack:
        node, place, role, depth = stack.pop()
        if isinstance(node, str):
            if not (node.isascii() and node.isprintable()):
                found.texts.append((place, node))
            continue
        if not isinstance(node, dict | list | tuple):
            continue
        if depth > MAX_DEPTH:
            found.too_deep = place
            return found
        if role is Role.SCHEMA and isinstance(node, dict):
            found.schemas.append((place, node))
        stack.extend(
            (value, (place, key), child, depth + 1)
            for key, value, child in reversed(list(members(node, role)))
        )
        if isinstance(node, dict):
            found.texts += [((place, key), key) for key in node if not (key.isascii() and key.isprintable())]
    return found


def members(node: Any, role: Role) -> Iterator[tuple[Any, Any, Role]]:
    """The direct members of an object or array inside a schema: key or index, value, and what the value is."""
    if isinstance(node, dict):
        if role is Role.SCHEMA:
            for key, value in node.items():
                yield key, value, role_of(key, value)
            return
        items: Any = node.items()
    else:
        items = enumerate(node)
    child = Role.SCHEMA if role is Role.SCHEMAS else Role.DATA
    for key, value in items:
        yield key, value, child
