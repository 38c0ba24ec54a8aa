"""``symc.schema.inline_refs``: the same meaning without references, or a refusal (docs/policies.md §6)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.diagnostics import Span
from symc.schema import CannotInlineError, Validator, check, inline_refs

D7 = "http://json-schema.org/draft-07/schema#"

CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "definition, the default beside it stays": (
        {
            "type": "object",
            "$defs": {"K": {"type": "string", "enum": ["x", "y"]}},
            "properties": {"k": {"$ref": "#/$defs/K", "default": "x"}},
        },
        {"type": "object", "properties": {"k": {"type": "string", "enum": ["x", "y"], "default": "x"}}},
    ),
    "the nearer description wins": (
        {
            "$defs": {"K": {"description": "far", "type": "string"}},
            "$ref": "#/$defs/K",
            "description": "near",
        },
        {"type": "string", "description": "near"},
    ),
    "a property, which stays": (
        {"properties": {"h": {"type": "object"}, "x": {"$ref": "#/properties/h"}}},
        {"properties": {"h": {"type": "object"}, "x": {"type": "object"}}},
    ),
    "through two steps": (
        {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "string"}}, "items": {"$ref": "#/$defs/A"}},
        {"items": {"type": "string"}},
    ),
    "in a list of schemas": (
        {"$defs": {"A": {"type": "string"}}, "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ),
    "a boolean": ({"$defs": {"A": False}, "not": {"$ref": "#/$defs/A"}}, {"not": False}),
    "rules of other kinds are laid together": (
        {"$defs": {"A": {"properties": {"a": True}}}, "$ref": "#/$defs/A", "required": ["a"]},
        {"properties": {"a": True}, "required": ["a"]},
    ),
    "rules that look at each other are kept apart": (
        {
            "$defs": {"A": {"properties": {"a": True}, "additionalProperties": False}},
            "$ref": "#/$defs/A",
            "properties": {"b": True},
        },
        {
            "properties": {"b": True},
            "allOf": [{"properties": {"a": True}, "additionalProperties": False}],
        },
    ),
    "the same rule twice": (
        {"$defs": {"A": {"minLength": 1}}, "$ref": "#/$defs/A", "minLength": 2},
        {"minLength": 2, "allOf": [{"minLength": 1}]},
    ),
    "1 and true are two values": (
        {"$defs": {"A": {"const": 1}}, "$ref": "#/$defs/A", "const": True},
        {"const": True, "allOf": [{"const": 1}]},
    ),
    "draft-07: the root is a reference": (
        {"$schema": D7, "$ref": "#/definitions/A", "definitions": {"A": {"type": "object"}}},
        {"$schema": D7, "type": "object"},
    ),
    "anchors and inner ids go": (
        {
            "$id": "https://example.test/r",
            "$defs": {"A": {"$anchor": "a", "type": "string"}, "B": {"$id": "b", "$ref": "r#a"}},
            "properties": {"x": {"$ref": "#a"}, "y": {"$ref": "b"}},
        },
        {
            "$id": "https://example.test/r",
            "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
        },
    ),
    "references in data are data": (
        {"$defs": {"A": {"default": {"$ref": "#/no"}}}, "$ref": "#/$defs/A"},
        {"default": {"$ref": "#/no"}},
    ),
    "nothing to do": (
        {"type": "object", "properties": {"definitions": {"type": "string"}}},
        {"type": "object", "properties": {"definitions": {"type": "string"}}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_inlined(name: str) -> None:
    schema, expected = CASES[name]
    before = copy.deepcopy(schema)
    assert check(schema, lambda _: Span("x"), "x") == ()
    assert inline_refs(schema) == expected
    assert schema == before
    Validator(expected)


def _doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{level}": {"properties": {key: {"$ref": f"#/$defs/d{level + 1}"} for key in "ab"}}
        for level in range(levels)
    }
    return {"$defs": {**definitions, f"d{levels}": {"type": "string"}}, "$ref": "#/$defs/d0"}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "itself": ({"properties": {"c": {"$ref": "#"}}}, "/properties/c/$ref: the schema refers to itself"),
    "in a circle": (
        {
            "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}},
            "$ref": "#/$defs/a",
        },
        "/$defs/b/items/$ref: the schema refers to itself",
    ),
    "only at itself": (
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        "/$defs/a/$ref: the schema refers to itself",
    ),
    "dynamic": (
        {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
        "/items: what a dynamic reference leads to depends on the way taken",
    ),
    "draft-07 ignores what stands beside": (
        {"$schema": D7, "definitions": {"A": {}}, "items": {"$ref": "#/definitions/A", "type": "string"}},
        "/items/type: draft-07 ignores `type` beside a `$ref`",
    ),
    "growing without bound": (_doubling(30), "more than 20000 parts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    schema, message = REFUSED[name]
    with pytest.raises(CannotInlineError) as caught:
        inline_refs(schema)
    assert message in str(caught.value)


_RULES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", ["string", "object"]]),
        "minLength": st.integers(0, 2),
        "required": st.lists(st.sampled_from("ab"), unique=True),
        "additionalProperties": st.booleans(),
        "unevaluatedProperties": st.booleans(),
        "properties": st.dictionaries(st.sampled_from("ab"), st.sampled_from([True, {"type": "string"}])),
        "not": st.sampled_from([{"required": ["b"]}, {"minLength": 2}]),
        "if": st.just({"required": ["a"]}),
        "then": st.sampled_from([{"required": ["b"]}, True]),
        "default": st.sampled_from(["x", 1]),
    },
)
_VALUES = st.one_of(
    st.text("ab", max_size=3),
    st.dictionaries(
        st.sampled_from("abc"), st.one_of(st.integers(0, 1), st.text("ab", max_size=1)), max_size=3
    ),
)


@settings(max_examples=200, deadline=None)
@given(_RULES, _RULES, st.lists(_VALUES, min_size=5, max_size=5))
def test_an_inlined_schema_accepts_the_same_values(target: Any, beside: Any, values: list[Any]) -> None:
    schema = {"$defs": {"T": target}, **beside, "$ref": "#/$defs/T"}
    inlined = inline_refs(schema)
    assert "$ref" not in repr(inlined)
    for value in values:
        assert Validator(inlined).accepts(value) == Validator(schema).accepts(value)
