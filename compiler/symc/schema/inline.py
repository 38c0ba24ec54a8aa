"""Inlining local references without losing or adding anything (docs/policies.md §6)."""

from __future__ import annotations

from typing import Any, Final

from symc.canonical import canonical_bytes, pointer
from symc.schema.drafts import ANNOTATIONS, DEFINITIONS, Draft, Role, draft_named, draft_of
from symc.schema.references import Document, Unresolved
from symc.schema.survey import MAX_DEPTH, Tokens, members

MAX_NODES: Final = 20_000
"""Most objects and arrays of an inlined schema: definitions that double each other grow without bound."""

_OF_THE_ROOT: Final = frozenset({"$id", "$schema", "id"})
_NEVER_KEPT: Final = frozenset({"$ref", "$anchor", "$dynamicAnchor"}) | DEFINITIONS

# Keywords that look at each other: two schemas that both have one of a group cannot simply be laid together.
_TOGETHER: Final = (
    frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}),
    frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems"}),
    frozenset({"contains", "minContains", "maxContains", "unevaluatedItems"}),
    frozenset({"if", "then", "else"}),
)


class CannotInlineError(ValueError):
    """The schema has no equal without references; ``path`` is the reference in the way, ``reason`` says why."""

    def __init__(self, path: Tokens, reason: str) -> None:
        super().__init__(f"{pointer(path) or '/'}: {reason}")
        self.path = path
        self.reason = reason


def inline_refs(schema: dict[str, Any]) -> dict[str, Any]:
    """An equal schema in which every local ``$ref`` is replaced by what it leads to, and definitions are gone.

    ``schema`` must have passed ``check``; it is not changed. What stands beside a reference stays: of two
    descriptions, titles or defaults the nearer one, as readers take it. Raises ``CannotInlineError`` for a schema
    that refers to itself, for dynamic references, and when the result would be too deep or too large.
    """
    draft = draft_of(schema)
    if draft is None:
        raise CannotInlineError((), "its dialect is unknown")
    document = Document(schema, draft)
    inlined: dict[str, Any] = _Inlining(document, draft).schema(
        schema, (), document.base_of(schema, ""), 0, ()
    )
    return inlined


class _Inlining:
    def __init__(self, document: Document, draft: Draft) -> None:
        self.document = document
        self.draft = draft
        self.nodes = 0

    def schema(self, node: Any, path: Tokens, base: str, depth: int, open_targets: tuple[int, ...]) -> Any:
        """``node``, a schema inside which ``base`` holds, with everything below it inlined.

        ``open_targets`` are the references' targets that are being expanded around it.
        """
        if not isinstance(node, dict):
            return node
        self._count(path, depth)
        self._refuse_what_has_no_equal(node, path, depth)
        dropped = _NEVER_KEPT if depth == 0 else _NEVER_KEPT | {"$schema", self.draft.id_keyword}
        beside = {
            key: self._value(value, (*path, key), role, base, depth + 1, open_targets)
            for key, value, role in members(node, Role.SCHEMA)
            if key not in dropped
        }
        if "$ref" not in node:
            return beside
        target = self.document.resolve(node["$ref"], base)
        if isinstance(target, Unresolved):
            raise CannotInlineError((*path, "$ref"), target.value)
        if id(target.schema) in open_targets:
            raise CannotInlineError((*path, "$ref"), "the schema refers to itself")
        within = (*open_targets, id(target.schema))
        inner = self.schema(target.schema, target.path, target.base, depth + 1, within)
        return self._together(inner, beside, path)

    def _value(
        self, value: Any, path: Tokens, role: Role, base: str, depth: int, open_targets: tuple[int, ...]
    ) -> Any:
        if role is Role.DATA or not isinstance(value, dict | list | tuple):
            return value
        if role is Role.SCHEMA and isinstance(value, dict):
            return self.schema(value, path, self.document.base_of(value, base), depth, open_targets)
        self._count(path, depth)
        inner = {
            key: self._value(item, (*path, key), child, base, depth + 1, open_targets)
            for key, item, child in members(value, role)
        }
        return inner if isinstance(value, dict) else list(inner.values())

    def _refuse_what_has_no_equal(self, node: dict[str, Any], path: Tokens, depth: int) -> None:
        if "$dynamicRef" in node or "$recursiveRef" in node:
            raise CannotInlineError(path, "what a dynamic reference leads to depends on the way taken")
        if (
            depth
            and self.draft.id_keyword in node
            and draft_named(node.get("$schema", self.draft.uri)) != self.draft
        ):
            raise CannotInlineError((*path, "$schema"), "a part of the schema has a dialect of its own")

    def _together(self, inner: Any, beside: dict[str, Any], path: Tokens) -> Any:
        """One schema for a reference's target and what stood beside the reference."""
        rules = {key for key in beside if key not in ANNOTATIONS and key not in _OF_THE_ROOT}
        if rules and self.draft.ref_stands_alone:
            first = min(rules)
            raise CannotInlineError((*path, first), f"{self.draft.name} ignores `{first}` beside a `$ref`")
        if not beside:
            return inner
        if isinstance(inner, dict) and not _interfere(inner, beside, rules):
            return {**inner, **beside}
        # `allOf` is what a `$ref` beside other keywords means.
        return {**beside, "allOf": [inner, *beside.get("allOf", ())]}

    def _count(self, path: Tokens, depth: int) -> None:
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise CannotInlineError(path, f"the result would be nested deeper than {MAX_DEPTH} levels")
        if self.nodes > MAX_NODES:
            raise CannotInlineError(path, f"the result would have more than {MAX_NODES} parts")


def _interfere(inner: dict[str, Any], beside: dict[str, Any], rules: set[str]) -> bool:
    """Whether laying the two together would mean something else than both of them hold."""
    theirs = {key for key in inner if key not in ANNOTATIONS}
    # Not `==`: Python takes `true` and `1` for one value, JSON Schema does not.
    if any(canonical_bytes(inner[key]) != canonical_bytes(beside[key]) for key in rules & theirs):
        return True
    if rules and theirs and any(key.startswith("unevaluated") for key in rules | theirs):
        return True
    return any(group & rules and group & theirs for group in _TOGETHER)
