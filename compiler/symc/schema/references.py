"""Resolving references inside one schema document; nothing is ever fetched (docs/policies.md P35)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from symc.schema.drafts import Draft, Role
from symc.schema.survey import Tokens, members

_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


class Unresolved(Enum):
    """Why a reference leads to no schema."""

    REMOTE = "it leads to another document"
    DANGLING = "nothing stands there"
    NO_SCHEMA = "what stands there is no schema"


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to: the schema, its path in the document, and the base URI that holds there."""

    schema: dict[str, Any] | bool
    path: Tokens
    base: str


@dataclass(slots=True)
class Document:
    """A schema document with its inner resources and anchors indexed.

    ``root`` must be valid under ``draft``; its nesting is taken to be bounded.
    """

    root: dict[str, Any] | bool
    draft: Draft
    _resources: dict[str, Target] = field(init=False, default_factory=dict)
    _anchors: dict[tuple[str, str], Target] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._resources[""] = Target(self.root, (), self.base_of(self.root, ""))
        stack: list[tuple[Any, Tokens, str, Role]] = [(self.root, (), "", Role.SCHEMA)]
        while stack:
            node, path, base, role = stack.pop()
            if role is Role.SCHEMA and isinstance(node, dict):
                base = self._index(node, path, base)
            if isinstance(node, dict | list | tuple):
                stack += [(value, (*path, key), base, child) for key, value, child in members(node, role)]

    def _index(self, node: dict[str, Any], path: Tokens, outer: str) -> str:
        base = self.base_of(node, outer)
        here = Target(node, path, base)
        if base != outer:
            self._resources.setdefault(base, here)
        for keyword in _ANCHORS:
            if isinstance(name := node.get(keyword), str):
                self._anchors.setdefault((base, name), here)
        # Up to draft-07 an anchor is spelt as an id that is only a fragment.
        if isinstance(name := node.get(self.draft.id_keyword), str) and name.startswith("#"):
            self._anchors.setdefault((base, name[1:]), here)
        return base

    def base_of(self, node: object, outer: str) -> str:
        """The base URI inside ``node``, where ``outer`` holds around it."""
        if not isinstance(node, dict) or (self.draft.ref_stands_alone and "$ref" in node):
            return outer
        identifier = node.get(self.draft.id_keyword)
        if not isinstance(identifier, str) or identifier.startswith("#"):
            return outer
        return _join(outer, identifier)[0]

    def base_at(self, path: Tokens) -> str:
        """The base URI inside the value at ``path``."""
        node: Any = self.root
        base = self.base_of(node, "")
        for step in path:
            node = node[step]
            base = self.base_of(node, base)
        return base

    def resolve(self, reference: str, base: str) -> Target | Unresolved:
        """The schema that ``reference`` leads to from a place whose base URI is ``base``."""
        uri, fragment = _join(base, reference)
        resource = self._resources.get(uri)
        if resource is None:
            return Unresolved.REMOTE
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((uri, fragment), Unresolved.DANGLING)
        return self._pointed(resource, fragment)

    def _pointed(self, resource: Target, fragment: str) -> Target | Unresolved:
        node: Any = resource.schema
        path, base = resource.path, resource.base
        for step in fragment[1:].split("/"):
            key = _member_in(node, step)
            if key is None:
                return Unresolved.DANGLING
            node = node[key]
            path = (*path, key)
            base = self.base_of(node, base)
        return Target(node, path, base) if isinstance(node, dict | bool) else Unresolved.NO_SCHEMA


def _member_in(node: Any, step: str) -> Any:
    """The key or index of ``node`` that a pointer's step spells, None where it spells none."""
    if isinstance(node, dict):
        key = step.replace("~1", "/").replace("~0", "~")
        return key if key in node else None
    if isinstance(node, list | tuple) and step.isascii() and step.isdecimal() and len(step) < 10:
        index = int(step)
        return index if str(index) == step and index < len(node) else None
    return None


def _join(base: str, reference: str) -> tuple[str, str]:
    """The absolute URI and the decoded fragment of a reference."""
    try:
        uri, fragment = urldefrag(reference)
        # A fragment alone is joined by hand: `urljoin` knows the grammar of some schemes only, and `urn:` is none.
        return urljoin(base, uri) if uri else base, unquote(fragment)
    except ValueError:
        return reference, ""  # no URI at all; under its own spelling it names no resource of the document
