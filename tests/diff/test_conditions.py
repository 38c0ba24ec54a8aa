"""Whether one condition holds wherever another does: a table of what is found out, and the law that it is so."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.diff.conditions import implies
from symc.schema import Validator


def on(name: str, **schema: Any) -> dict[str, Any]:
    return {"properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (on("n", type="integer", minimum=1000), on("n", type="integer", minimum=10)),
        (on("n", minimum=11), on("n", exclusiveMinimum=10)),
        (on("n", exclusiveMinimum=10), on("n", minimum=10)),
        (on("n", maximum=9), on("n", exclusiveMaximum=10)),
        (on("n", maximum=9.5), on("n", maximum=10)),
        (on("n", const=12), on("n", minimum=10)),
        (on("n", type="integer"), on("n", type="number")),
        (on("n", type="integer"), on("n", type=["string", "number"])),
        (on("s", enum=["a"]), on("s", enum=["a", "b"])),
        (on("s", const="a"), on("s", enum=["b", "a"])),
        (on("s", type="string", minLength=9), on("s", type="string", minLength=5)),
        (on("s", type="string", maxLength=5), on("s", maxLength=9)),
        (on("s", type="string", pattern="^a"), on("s", type="string")),
        ({"required": ["a", "b"]}, {"required": ["b"]}),
        ({"properties": {"a": {"minimum": 1}, "b": {"minimum": 1}}}, {"properties": {"b": {"minimum": 1}}}),
        (on("a", type="array", items={"minimum": 2}), on("a", type="array", items={"minimum": 1})),
        (on("a", type="object", **on("b", minimum=2)), on("a", type="object", **on("b", minimum=1))),
        ({"allOf": [on("a", minimum=2), on("b", minimum=2)]}, on("b", minimum=1)),
        (on("a", minimum=2), {"allOf": [{"required": ["a"]}, on("a", minimum=1)]}),
        (on("a", minimum=2), {"anyOf": [on("b"), on("a", minimum=1)]}),
        ({"anyOf": [on("a", minimum=2), on("b")]}, {"anyOf": [on("b"), on("a", minimum=1)]}),
        ({"not": on("a", minimum=1)}, {"not": on("a", minimum=2)}),
        (on("n", multipleOf=10), on("n", multipleOf=5)),
        (on("n", minimum=1), on("n", minimum=1, description="Many.", title="N")),
        ({"additionalProperties": {"minimum": 2}}, {"additionalProperties": {"minimum": 1}}),
        (False, on("n")),
        (on("n"), None),
        ({}, True),
    ],
)
def test_one_way_only(narrow: Any, wide: Any) -> None:
    assert implies(narrow, wide)
    # The way back is so only where nothing but words differs.
    words = "description" in str(wide) or (narrow == {} and wide is True)
    assert implies(wide, narrow) is words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (on("n", minimum=10), on("m", minimum=10)),
        (on("n", minimum=10), on("n", maximum=10)),
        (on("n", minimum=10), {"properties": {"n": {"minimum": 5}}, "required": ["m"]}),
        (on("s", pattern="^a"), on("s", pattern="^ab")),
        (on("n", const=1), on("n", const=True)),
        # The schema that is referred to is another one.
        (
            {"$defs": {"n": {"minimum": 9}}, "properties": {"n": {"$ref": "#/$defs/n"}}},
            {"$defs": {"n": {"minimum": 1}}, "properties": {"n": {"$ref": "#/$defs/n"}}},
        ),
        # What is additional depends on what is named beside it.
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"properties": {"b": {}}, "additionalProperties": False},
        ),
        ({"oneOf": [on("a"), on("b")]}, {"oneOf": [on("a"), on("c")]}),
        ({"if": on("a"), "then": on("b")}, {"if": on("c"), "then": on("b")}),
        ({"prefixItems": [{}], "items": False}, {"prefixItems": [{}, {}], "items": False}),
    ],
)
def test_neither_way(one: Any, other: Any) -> None:
    assert not implies(one, other)
    assert not implies(other, one)


numbers = st.integers(-2, 3) | st.sampled_from([0.5, 1.5])
scalars = st.none() | st.booleans() | numbers | st.sampled_from(["", "a", "ab"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    ),
    max_leaves=6,
)
few = st.integers(0, 3)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": named,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=1),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "prefixItems": several,
            "contains": inner,
            "minContains": few,
            "maxContains": few,
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": named,
        },
    ).map(lambda schema: dict(list(schema.items())[:3]))


flat = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["integer", "number", "string", "object", "array", ["null", "integer"], "boolean"]
        ),
        "minimum": numbers,
        "exclusiveMinimum": numbers,
        "maximum": numbers,
        "exclusiveMaximum": numbers,
        "multipleOf": st.integers(1, 4),
        "minLength": few,
        "maxLength": few,
        "minItems": few,
        "maxItems": few,
        "minProperties": few,
        "maxProperties": few,
        "uniqueItems": st.booleans(),
        "enum": st.lists(scalars, min_size=1, max_size=3, unique_by=repr),
        "const": scalars,
        "pattern": st.sampled_from(["^a", "b"]),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "format": st.sampled_from(["date", "email"]),
        "description": st.just("said"),
        "contentEncoding": st.just("base64"),
    },
).map(lambda schema: dict(list(schema.items())[:3]))
schemas = st.recursive(st.booleans() | flat, deeper, max_leaves=4)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two schemas, the second of which is often the first with one place changed."""
    one = draw(schemas)
    return one, draw(schemas) if draw(st.booleans()) else _changed(draw, one)


def _changed(draw: st.DrawFn, schema: Any) -> Any:
    if not isinstance(schema, dict) or not schema:
        return draw(schemas)
    key = draw(st.sampled_from(sorted(schema)))
    value = schema[key]
    if key in NAMED:
        return {**schema, key: {name: _changed(draw, one) for name, one in value.items()}}
    if isinstance(value, dict):
        return {**schema, key: _changed(draw, value)}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {**schema, key: [_changed(draw, value[0]), *value[1:]]}
    if isinstance(value, int) and not isinstance(value, bool):
        return {**schema, key: max(1, value + draw(st.sampled_from([-1, 1])))}
    return {name: one for name, one in schema.items() if name != key}


NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})


@given(pairs(), st.lists(values, min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_what_is_found_out_is_so(pair: tuple[Any, Any], tried: list[Any]) -> None:
    """Sound: no value satisfies the narrow one and not the wide one."""
    for narrow, wide in (pair, pair[::-1]):
        if not implies(narrow, wide):
            continue
        one, other = Validator(narrow), Validator(wide)
        for value in tried:
            assert not one.accepts(value) or other.accepts(value), (narrow, wide, value)


@given(schemas)
@settings(max_examples=100, deadline=None)
def test_a_condition_implies_itself_and_what_always_holds(schema: Any) -> None:
    assert implies(schema, schema)
    assert implies(schema, True)
    assert implies(False, schema)


def test_alternatives_that_multiply_end_in_no() -> None:
    def stacked(number: int) -> Any:
        found: Any = {"minimum": number}
        for deep in range(40):
            found = {"anyOf": [{"anyOf": [found]}, {"minLength": deep}]}
        return found

    started = time.monotonic()
    implies(stacked(1), stacked(2))
    assert time.monotonic() - started < 10
