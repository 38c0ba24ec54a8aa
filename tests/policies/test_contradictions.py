"""Conditions that cannot hold, alone and against what a tool accepts (docs/policies.md P12–P13)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.compose.contradiction import contradiction
from symc.schema import UnusableSchemaError, Validator
from tests.policies.workspaces import agent, compiled, deny, extension, found

IMPOSSIBLE: list[Any] = [
    False,
    {"not": {}},
    {"not": True},
    {"enum": []},
    {"type": "integer", "minimum": 9, "maximum": 1},
    {"minimum": 9, "maximum": 1},
    {"type": "number", "exclusiveMinimum": 1, "maximum": 1},
    {"type": "number", "minimum": 1, "exclusiveMaximum": 1},
    {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    {"type": "number", "minimum": 1, "maximum": 1, "exclusiveMaximum": 1},
    {"type": "number", "minimum": 1, "exclusiveMinimum": 1, "maximum": 1},
    {"type": "integer", "minimum": 1.2, "maximum": 1.8},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "array", "minItems": 2, "maxItems": 1},
    {"type": "object", "minProperties": 2, "maxProperties": 1},
    {"type": "string", "enum": [1, 2]},
    {"type": "integer", "const": "a"},
    {"type": "integer", "const": True},
    {"enum": [1, 2], "minimum": 3},
    {"const": "ab", "pattern": "^b"},
    {"allOf": [{"type": "string"}, {"type": "integer"}]},
    {"allOf": [{"minimum": 5, "type": "integer"}, {"maximum": 4}]},
    {"anyOf": [False, {"enum": []}]},
    {"oneOf": [{"type": "integer", "minimum": 2, "maximum": 1}]},
    {"type": "object", "required": ["a"], "properties": {"a": False}},
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}},
    },
    {"type": "object", "required": ["a"], "allOf": [{"properties": {"a": False}}]},
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "integer", "minimum": 5}},
        "allOf": [{"properties": {"a": {"maximum": 4}}}],
    },
]

POSSIBLE: list[Any] = [
    True,
    {},
    {"type": "integer", "minimum": 1, "maximum": 1},
    {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    {"type": "integer", "minimum": 1, "maximum": 1.5},
    {"type": "string", "minimum": 9, "maximum": 1},  # about numbers, and this is none
    {"type": "string", "minLength": 2, "maxLength": 2},
    {"enum": [1, "a"], "type": "string"},
    {"enum": [None]},
    {"const": 1.0, "type": "integer"},
    {"anyOf": [False, {"type": "string"}]},
    {"not": {"type": "string"}},
    {"type": "object", "properties": {"a": False}},
    {"type": "object", "required": ["a"], "properties": {"b": False}},
    {"type": ["integer", "null"], "minimum": 1},
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"minimum": 5}},
        "allOf": [{"properties": {"a": {"maximum": 5}}}],
    },
]


@pytest.mark.parametrize("schema", IMPOSSIBLE, ids=json.dumps)
def test_a_contradiction_is_found(schema: Any) -> None:
    assert contradiction(schema) is not None


@pytest.mark.parametrize("schema", POSSIBLE, ids=json.dumps)
def test_what_a_value_satisfies_is_none(schema: Any) -> None:
    assert contradiction(schema) is None


def test_a_contradiction_leads_to_what_rules_a_value_out() -> None:
    inner = {"type": "integer", "minimum": 2, "maximum": 1}
    found = contradiction({"type": "object", "required": ["a"], "properties": {"a": inner}})
    assert found is not None
    assert found.path == ("properties", "a", "minimum")
    assert found.reason == "`a` can have no value: no number satisfies both `minimum: 2` and `maximum: 1`"


_TYPE = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
_SMALL = st.integers(0, 4)
_VALUE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 5), st.sampled_from([0.5, 1.5]), st.text("ab", max_size=3)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
_SCHEMA = st.recursive(
    st.one_of(
        st.booleans(),
        st.fixed_dictionaries(
            {},
            optional={
                "type": _TYPE | st.lists(_TYPE, min_size=1, max_size=2, unique=True),
                "minimum": _SMALL,
                "exclusiveMaximum": _SMALL,
                "maximum": _SMALL,
                "minLength": _SMALL,
                "maxLength": _SMALL,
                "enum": st.lists(_VALUE, min_size=1, max_size=3, unique_by=json.dumps),
            },
        ),
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPE,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "required": st.just(["a"]),
            "properties": st.fixed_dictionaries({"a": inner}),
        },
    ),
    max_leaves=6,
)


def _fixes_types(schema: Any) -> bool:
    """Whether every range stands with a type of its own: others count as empty although other types pass them."""
    if not isinstance(schema, dict):
        return True
    ranged = {"minimum", "maximum", "exclusiveMaximum", "minLength", "maxLength"} & schema.keys()
    inner = [*schema.get("allOf", []), *schema.get("anyOf", []), *schema.get("properties", {}).values()]
    return (not ranged or isinstance(schema.get("type"), str)) and all(map(_fixes_types, inner))


@settings(max_examples=200, deadline=None)
@given(_SCHEMA.filter(_fixes_types), st.lists(_VALUE, min_size=8, max_size=8))
def test_what_is_called_a_contradiction_accepts_no_value(schema: Any, values: list[Any]) -> None:
    if contradiction(schema) is None:
        return
    try:
        validator = Validator(schema)
    except UnusableSchemaError:
        return
    assert not any(
        map(validator.accepts, [*values, {"a": values[0]}, {"a": 1}, "a", 1, 3, None, True, [], {}])
    )


# What is said of a rule. `n` is an integer up to 50, `name` a string, `path` a string.

TOOL = extension(
    "os",
    {
        "list": {
            "n": {"type": "integer", "maximum": 50},
            "name": {"type": "string"},
            "path": {"type": "string"},
            "kind": {"enum": ["a", "b"]},
            "files": {"type": "array"},
        },
        "ping": {},
    },
)


def reported(when: Any, *tools: str) -> list[str]:
    rule = deny("rule", *(tools or ("os/list",)), when=when)
    return found(compiled(TOOL, agent("desk", ["os/*"], policies=[rule])))


NEVER, UNKNOWN, UNTYPED, PATH, AGAINST = (
    "policy-never-fires",
    "condition-property-unknown",
    "condition-property-untyped",
    "condition-path-pattern",
    "condition-against-schema",
)
INTEGER = {"type": "integer", "minimum": 10}


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (True, []),
        ({}, []),
        (False, [NEVER]),
        ({"properties": {"n": INTEGER}, "required": ["n"]}, []),
        ({"properties": {"n": INTEGER}}, []),
        ({"properties": {"n": {"type": "integer", "minimum": 9, "maximum": 1}}, "required": ["n"]}, [NEVER]),
        # Without `required` it fires where `n` is absent: still not what its author means.
        ({"properties": {"n": {"type": "integer", "minimum": 9, "maximum": 1}}}, [NEVER]),
        ({"properties": {"kind": {"enum": []}}, "required": ["kind"]}, [NEVER]),
        ({"not": {}}, [NEVER]),
        # P13: properties
        ({"required": ["m"]}, [UNKNOWN]),
        ({"properties": {"m": {"type": "integer"}}}, [UNKNOWN]),
        ({"anyOf": [{"required": ["m"]}, {"required": ["n"]}]}, [UNKNOWN]),
        ({"not": {"required": ["dry_run"]}}, [UNKNOWN]),
        # P13: types
        ({"properties": {"n": {"minimum": 10}}, "required": ["n"]}, [UNTYPED]),
        ({"properties": {"n": {"type": ["integer", "string"], "minimum": 10}}}, [UNTYPED]),
        ({"properties": {"name": {"minLength": 3}}}, [UNTYPED]),
        ({"properties": {"name": {"pattern": "^x"}}}, [UNTYPED]),
        ({"properties": {"n": {"not": {"minimum": 10}}}}, [UNTYPED]),
        ({"properties": {"n": {"type": "integer", "not": {"minimum": 10}}}}, []),
        ({"properties": {"n": {"allOf": [{"type": "integer"}, {"minimum": 10}]}}}, []),
        ({"properties": {"n": {"const": 10}}}, []),
        ({"properties": {"kind": {"enum": ["a"]}}}, []),
        ({"properties": {"name": {}}}, []),
        ({"properties": {"name": {"minLength": 2, "allOf": [True, {"type": "string"}]}}}, []),
        ({"properties": {"files": {"type": "array", "items": {"minLength": 2}}}}, [UNTYPED]),
        # P13: paths
        ({"properties": {"path": {"type": "string", "pattern": "^src/"}}}, [PATH]),
        ({"properties": {"path": {"type": "string", "not": {"pattern": "^src/"}}}}, [PATH]),
        ({"properties": {"path": {"const": "src/a"}}}, []),
        ({"properties": {"name": {"type": "string", "pattern": "^src/"}}}, []),
        ({"properties": {"path": {"type": "string", "anyOf": [{"pattern": "^a"}, False]}}}, [PATH]),
        ({"properties": {"files": {"type": "array", "items": {"type": "string", "pattern": "^a"}}}}, [PATH]),
        # what holds together
        ({"allOf": [{"properties": {"n": INTEGER}}, True, {"required": ["n"]}]}, []),
        ({"allOf": [{"required": ["m"]}]}, [UNKNOWN]),
        ({"allOf": [{"properties": {"n": {"type": "string"}}}]}, [AGAINST]),
        # against what the tool accepts
        ({"properties": {"n": {"type": "integer", "minimum": 51}}}, [AGAINST]),
        ({"properties": {"n": {"type": "integer", "minimum": 50}}}, []),
        ({"properties": {"n": {"type": "string"}}}, [AGAINST]),
        ({"properties": {"kind": {"const": "c"}}}, [AGAINST]),
        ({"properties": {"kind": {"type": "string", "pattern": "^c"}}}, [AGAINST]),
    ],
    ids=json.dumps,
)
def test_what_is_said_of_a_condition(when: Any, expected: list[str]) -> None:
    assert reported(when) == expected


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (["os/list"], []),
        (["os/ping"], [UNKNOWN]),
        (["os/list", "os/ping"], [UNKNOWN]),  # each tool that is named by itself is held to it
        (["os/*"], []),  # one of those a pattern matches will do
        (["*/p*"], [UNKNOWN]),
    ],
)
def test_a_pattern_is_content_with_one_tool_that_fits(tools: list[str], expected: list[str]) -> None:
    assert reported({"properties": {"n": INTEGER}, "required": ["n"]}, *tools) == expected


@pytest.mark.parametrize("name", ["path", "filePath", "src_dir", "output-file", "CWD", "directories"])
def test_names_of_paths(name: str) -> None:
    tool = extension("os", {"list": {name: {"type": "string"}}})
    when = {"properties": {name: {"type": "string", "pattern": "^src/"}}}
    assert found(compiled(tool, agent("desk", ["os/*"], policies=[deny("rule", "os/list", when=when)]))) == [
        PATH
    ]


@pytest.mark.parametrize("name", ["pathology", "profile", "direction", "name"])
def test_names_that_only_look_like_paths(name: str) -> None:
    tool = extension("os", {"list": {name: {"type": "string"}}})
    when = {"properties": {name: {"type": "string", "pattern": "^src/"}}}
    assert found(compiled(tool, agent("desk", ["os/*"], policies=[deny("rule", "os/list", when=when)]))) == []


SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "patternProperties": {"^n": {}}},
    {"type": "object", "anyOf": [{"properties": {"n": {}}}, {"properties": {"m": {}}}]},
    {"type": "object", "$ref": "#/$defs/args", "$defs": {"args": {"properties": {"n": {}}}}},
    {"type": "object", "if": {"required": ["m"]}, "then": {"properties": {"n": {}}}},
    {
        "type": "object",
        "anyOf": [True, {"$ref": "#/$defs/m"}, {"$ref": "#/$defs/n"}],
        "$defs": {"m": {"properties": {"m": {}}}, "n": {"properties": {"n": {}}}},
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_a_property_is_looked_for_wherever_a_schema_may_have_it(schema: dict[str, Any]) -> None:
    tool = extension("os")
    tool["tools"] = [{"name": "list", "invoke": "m:f", "input_schema": schema}]
    rule = deny("rule", "os/list", when={"required": ["n"]})
    assert found(compiled(tool, agent("desk", ["os/*"], policies=[rule]))) == []


def test_a_rule_over_a_variant_is_held_to_the_variants_schema() -> None:
    when = {"properties": {"exp": {"type": "number", "minimum": 60}}, "required": ["exp"]}
    selector = {"variant": "os/list", "chain": ["cache"]}
    chained = {"os/list": ["cache", "audit"]}
    fits = agent("desk", ["os/list"], variants=chained, policies=[deny("rule", selector, when=when)])
    assert found(compiled(TOOL, fits)) == []
    outer = {"variant": "os/list", "chain": ["audit"]}
    other = agent(
        "desk", ["os/list"], variants={"os/list": ["audit"]}, policies=[deny("rule", outer, when=when)]
    )
    assert found(compiled(TOOL, other)) == [UNKNOWN]


def test_both_sides_of_a_contradiction_are_shown() -> None:
    rule = deny("rule", "os/list", when={"properties": {"n": {"type": "integer", "minimum": 51}}})
    one = compiled(TOOL, agent("desk", ["os/*"], policies=[rule])).diagnostics[0]
    assert (one.primary.file, one.secondary[0].span.file) == ("desk.yaml", "os.yaml")
    assert "no number satisfies both `minimum: 51` and `maximum: 50`" in one.message


def test_a_property_of_several_alternatives_contradicts_nothing_for_certain() -> None:
    tool = extension("os")
    alternatives = [{"properties": {"n": {"type": "integer"}}}, {"properties": {"n": {"type": "string"}}}]
    tool["tools"] = [
        {"name": "list", "invoke": "m:f", "input_schema": {"type": "object", "anyOf": alternatives}}
    ]
    rule = deny("rule", "os/list", when={"properties": {"n": {"type": "string"}}, "required": ["n"]})
    assert found(compiled(tool, agent("desk", ["os/*"], policies=[rule]))) == []


def test_a_reference_out_of_a_property_is_left_alone() -> None:
    tool = extension("os")
    kind = {"$ref": "#/$defs/kind", "enum": ["a"]}
    schema = {"type": "object", "properties": {"kind": kind}, "$defs": {"kind": {"type": "string"}}}
    tool["tools"] = [{"name": "list", "invoke": "m:f", "input_schema": schema}]
    rule = deny("rule", "os/list", when={"properties": {"kind": {"const": "b"}}})
    assert found(compiled(tool, agent("desk", ["os/*"], policies=[rule]))) == []


def test_a_condition_over_every_call_is_held_to_no_tool() -> None:
    rule = deny("rule", when={"properties": {"n": {"minimum": 1}}, "required": ["m"]}, actions=["tool_call"])
    assert found(compiled(TOOL, agent("desk", ["os/*"], policies=[rule]))) == [UNTYPED]
