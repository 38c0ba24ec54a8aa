"""Laws of schema checks: any JSON is answered, what is accepted compiles, and what refers is resolved as by others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7, DRAFT202012

from symc.diagnostics import Span
from symc.profiles import PROFILES, examine
from symc.schema import CannotInlineError, Validator, check, inline_refs
from symc.schema.drafts import DRAFT_07, DRAFT_2020_12
from symc.schema.references import Document, Unresolved

KEYWORDS = [
    "$ref",
    "$id",
    "id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$schema",
    "$defs",
    "definitions",
    "type",
    "properties",
    "items",
    "prefixItems",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "required",
    "enum",
    "const",
    "default",
    "pattern",
    "patternProperties",
    "additionalProperties",
    "minimum",
    "maxLength",
    "dependencies",
    "dependentSchemas",
    "title",
    "x-own",
]
STRINGS = st.sampled_from(
    [
        "#", "#/", "#/$defs/a", "#/properties/a", "#a", "a", "b.json", "https://example.test/r", "urn:x:y", "#/%zz", "http://[",
        "object", "string", "array", "[", "^a+$", "(?=a)", "\u200b", "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", "#/allOf/0", "#/allOf/00",
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.floats(allow_nan=False, allow_infinity=False), STRINGS
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
@example({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})
@example({"$id": "urn:x:y", "$ref": "#/$defs/a", "$defs": {"a": True}})
@example({"$id": "not a uri %%"})
@example({"patternProperties": {"[": True}, "pattern": "("})
def test_any_json_is_answered_and_what_is_accepted_compiles(schema: Any) -> None:
    before = json.dumps(schema)
    found = check(schema, lambda _: Span("x"), "x", arguments=True)
    assert json.dumps(schema) == before
    if found:
        assert all(diagnostic.message.isprintable() for diagnostic in found)
        return
    Validator(schema)
    for profile in PROFILES.values():
        examined = examine(profile, schema)
        Validator(examined.schema)
    try:
        inlined = inline_refs(schema)
    except CannotInlineError:
        return
    Validator(inlined)
    assert check(inlined, lambda _: Span("x"), "x") == ()


DOCUMENT: dict[str, Any] = {
    "$id": "https://example.test/root.json",
    "$anchor": "top",
    "$defs": {
        "a": {
            "$id": "inner/a.json",
            "$anchor": "here",
            "$defs": {"b": {"$anchor": "there", "type": "string"}},
        },
        "c": {"$anchor": "c"},
        "d/e": {"prefixItems": [True]},
    },
    "properties": {"headers": {"type": "object"}},
    "allOf": [{"title": "zero"}],
}
DOCUMENT_07: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "https://example.test/root.json",
    "definitions": {
        "a": {"$id": "inner/a.json", "definitions": {"b": {"$id": "#there", "type": "string"}}},
        "c": {"$id": "#c"},
    },
}
REFERENCES = [
    "#", "#top", "#c", "#here", "#there", "#/", "#/$defs/a", "#/$defs/a/$defs/b", "#/$defs/d~1e", "#/$defs/d%7E1e/prefixItems/0",
    "#/definitions/a", "#/definitions/c", "#/properties/headers", "#/allOf/0", "#/allOf/1", "#/nope", "#nope",
    "root.json", "root.json#c", "inner/a.json", "inner/a.json#here", "inner/a.json#there", "inner/a.json#/$defs/b",
    "inner/a.json#/definitions/b", "https://example.test/inner/a.json", "other.json", "https://example.test/other.json#x",
]  # fmt: skip


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(
    ("document", "draft", "specification"),
    [(DOCUMENT, DRAFT_2020_12, DRAFT202012), (DOCUMENT_07, DRAFT_07, DRAFT7)],
    ids=["2020-12", "draft-07"],
)
def test_references_are_resolved_as_by_the_reference_library(
    reference: str, document: dict[str, Any], draft: Any, specification: Any
) -> None:
    resource = specification.create_resource(document)
    registry: Registry[Any] = Registry().with_resource("https://example.test/root.json", resource).crawl()
    try:
        expected: object = registry.resolver("https://example.test/root.json").lookup(reference).contents
    except Unresolvable:
        expected = Unresolved
    except TypeError:  # a pointer through something that is no container
        expected = Unresolved
    ours = Document(document, draft)
    found = ours.resolve(reference, ours.base_at(()))
    assert expected is (Unresolved if isinstance(found, Unresolved) else found.schema)
