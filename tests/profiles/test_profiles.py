"""Provider profiles (docs/policies.md §6): the data, and what each rule says of an agent's tools."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symc.canonical import pointer
from symc.diagnostics import Diagnostic, Level, Span
from symc.manifest.model import Provider
from symc.profiles import (
    PROFILES,
    RULES,
    Examined,
    ExposedTool,
    Profile,
    check,
    examine,
    profile,
)
from symc.profiles.profile import parse
from symc.schema import Tokens, Validator
from symc.schema import check as check_schema

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


def _tool(
    name: str,
    schema: dict[str, Any] | None = None,
    *,
    extension: str = "crm",
    raw: str | None = None,
    description: str = "Does it.",
    parts: tuple[tuple[str, str], ...] = (),
    is_variant: bool = False,
) -> ExposedTool:
    raw = name if raw is None else raw

    def locate(path: Tokens) -> Span:
        return Span(f"{extension}:{pointer(path)}")

    return ExposedTool(
        name=name,
        extension=extension,
        raw=raw,
        description=description,
        input_schema=OBJECT if schema is None else schema,
        parts=parts or (("tool", name),),
        is_variant=is_variant,
        locate=locate,
    )


def _check(provider: str, *tools: ExposedTool, most: int | None = None) -> tuple[Diagnostic, ...]:
    return check(
        profile(provider), tools, agent="support", at=lambda: Span("support.yaml"), most=most
    ).diagnostics


def _names(provider: str, *tools: ExposedTool) -> list[str]:
    return [diagnostic.name for diagnostic in _check(provider, *tools)]


# The data


def test_there_is_a_profile_for_every_provider_of_the_manifests() -> None:
    assert set(PROFILES) == set(Provider.__args__)  # type: ignore[attr-defined]
    assert all(profile(name).name == name for name in PROFILES)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_rule_has_a_date_and_a_source(name: str) -> None:
    for rule in PROFILES[name].rules.values():
        assert rule.as_of[:4] in {"2025", "2026"}
        assert len(rule.source) > 10


def test_every_rule_is_used_by_a_profile() -> None:
    assert {rule for row in PROFILES.values() for rule in row.rules} == set(RULES)


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="tool-names"):
        parse({"name": "x", "title": "X", "rules": {"tool-names": {"as_of": "2026", "source": "-"}}})


# Names


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        ("openai", "a" * 64, []),
        ("openai", "a" * 65, ["tool-name-too-long"]),
        ("bedrock", "a" * 64, []),
        ("bedrock", "a" * 65, ["tool-name-too-long"]),
        ("gemini", "a" * 64, []),
        ("gemini", "a" * 65, ["tool-name-too-long"]),
        ("anthropic", "a" * 128, []),
        ("anthropic", "a" * 129, ["tool-name-too-long"]),
        ("none", "a" * 128, []),
        ("none", "a" * 129, ["tool-name-too-long"]),
        ("openai", "calendar.read", ["tool-name-characters"]),
        ("openai", "calendar/write", ["tool-name-characters"]),
        ("anthropic", "calendar.read", ["tool-name-characters"]),
        ("bedrock", "calendar.read", ["tool-name-characters"]),
        ("gemini", "calendar.read", []),
        ("gemini", "calendar/write", ["tool-name-characters"]),
        ("gemini", "9lives", ["tool-name-characters"]),
        ("gemini", "_private", []),
        ("none", "calendar.read", []),
        ("none", "calendar/write", []),
        ("none", "検索", ["tool-name-characters"]),
        ("openai", "検索", ["tool-name-characters"]),
        ("openai", "read\n", ["tool-name-characters"]),
    ],
)
def test_names(provider: str, name: str, expected: list[str]) -> None:
    assert _names(provider, _tool(name)) == expected


def test_a_long_name_shows_the_share_of_each_part() -> None:
    parts = (
        ("prefix", "mcp__workspace-observability__"),
        ("tool", "query_worker_observability"),
        ("variant", "_cached"),
        ("variant", "_traced"),
    )
    tools = [
        _tool(
            "".join(text for _, text in parts[:upto]),
            raw=parts[1][1],
            parts=parts[:upto],
            is_variant=upto > 2,
        )
        for upto in (2, 3, 4)
    ]
    (found,) = _check("openai", *tools)
    assert found.name == "tool-name-too-long"
    assert found.subject == "crm/query_worker_observability"
    assert tools[2].name in found.message
    assert "has 70 characters; openai allows 64" in found.message
    assert found.notes[0] == (
        'prefix "mcp__workspace-observability__" 30 + tool "query_worker_observability" 26'
        ' + variant "_cached" 7 + variant "_traced" 7 = 70'
    )


def test_characters_are_counted_and_not_bytes() -> None:
    (only_characters,) = _check("openai", _tool("ü" * 64))
    assert only_characters.name == "tool-name-characters"


def test_refused_characters_are_named_with_a_rename_that_is_legal() -> None:
    (found,) = _check("openai", _tool("calendar.read", extension="cal"))
    assert 'it has "."' in found.message
    assert found.primary.file == "cal:/name"
    assert found.hint is not None
    assert "{tool: cal/calendar.read, as: calendar_read}" in found.hint.text


def _proposed(found: Iterable[Diagnostic]) -> list[str]:
    hints = [one.hint.text for one in found if one.hint is not None]
    return [proposal[1] for hint in hints if (proposal := re.search(r"as: ([^}]*)}", hint))]


@pytest.mark.parametrize(
    ("names", "proposed"),
    [
        (["read.file"], ["read_file"]),
        (["read_file", "read.file"], ["read_file_2"]),
        (["read.file", "read_file"], ["read_file_2"]),
        (["READ_FILE", "read.file"], ["read_file_2"]),  # names that differ only in case are refused (X-21)
        (["read/file", "read.file"], ["read_file", "read_file_2"]),
        (["read_file", "read_file_2", "read.file", "read/file"], ["read_file_3", "read_file_4"]),
        # None that is too long is proposed.
        (["l" * 62 + "_a", "l" * 62 + ".a"], ["l" * 62 + "_2"]),
    ],
)
def test_a_proposed_name_is_free(names: list[str], proposed: list[str]) -> None:
    found = _check("openai", *map(_tool, names))
    assert sorted(_proposed(found)) == proposed
    taken = [name.lower() for name in names]
    assert not {name.lower() for name in proposed} & set(taken)
    assert _check("openai", *map(_tool, proposed)) == ()


def test_a_name_that_no_model_sees_is_not_proposed() -> None:
    tools = [_tool("read.file")]
    found = check(
        profile("openai"), tools, agent="support", at=lambda: Span("support"), reserved=["read_file"]
    )
    assert _proposed(found.diagnostics) == ["read_file_2"]


def test_a_name_without_a_legal_character_gets_no_fallback() -> None:
    (found,) = _check("openai", _tool("検索"))
    assert found.hint is not None
    assert "as: " not in found.hint.text


# Number


def _servers(*counts: int) -> list[ExposedTool]:
    return [_tool(f"s{s}_t{n}", extension=f"s{s}") for s, count in enumerate(counts) for n in range(count)]


def test_too_many_tools_are_counted_over_all_extensions() -> None:
    (found,) = _check("openai", *_servers(25, 25, 25, 25, 25, 6))
    assert found.name == "too-many-tools"
    assert found.message == 'agent "support" has 131 tools; openai allows 128'
    assert found.notes == ("s0: 25", "s1: 25", "s2: 25", "s3: 25", "s4: 25", "s5: 6")
    assert found.primary.file == "support.yaml"
    assert _check("openai", *_servers(25, 25, 25, 25, 25)) == ()
    assert _check("openai", *_servers(128)) == ()
    assert _check("anthropic", *_servers(300)) == ()


def test_variants_count() -> None:
    variants = [_tool(f"s0_t{n}_audit", extension="s0", is_variant=True) for n in range(25)]
    (found,) = _check("openai", *_servers(25, 25, 25, 25, 25), *variants)
    assert "150 tools" in found.message
    assert found.notes[0] == "s0: 50, 25 of them variants"


@pytest.mark.parametrize(
    ("provider", "count", "most", "message"),
    [
        ("none", 4, 3, 'agent "support" has 4 tools; its `limits` allow 3'),
        ("none", 3, 3, None),
        ("openai", 130, 3, 'agent "support" has 130 tools; its `limits` allow 3'),
        ("openai", 130, 500, 'agent "support" has 130 tools; openai allows 128'),
    ],
)
def test_the_manifest_may_only_tighten(provider: str, count: int, most: int, message: str | None) -> None:
    found = _check(provider, *_servers(count), most=most)
    assert [diagnostic.message for diagnostic in found] == ([message] if message else [])


# Descriptions


@pytest.mark.parametrize(
    ("provider", "length", "expected"),
    [
        ("openai", 1024, []),
        ("openai", 1025, ["tool-description-too-long"]),
        ("openai", 2006, ["tool-description-too-long"]),
        ("anthropic", 2006, []),
        ("none", 100_000, []),
    ],
)
def test_descriptions(provider: str, length: int, expected: list[str]) -> None:
    found = _check(provider, _tool("resolve", description="x" * length))
    assert [diagnostic.name for diagnostic in found] == expected
    if found:
        assert f"{length} characters; openai allows 1024" in found[0].message
        assert found[0].primary.file == "crm:/description"


# Schemas

PICK = {**OBJECT, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
CONDITIONAL = {**OBJECT, "if": {"required": ["a"]}, "then": {"required": ["b"]}, "not": {"required": ["c"]}}
INNER_ANY_OF = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
ARRAYS = {
    "type": "object",
    "properties": {"ids": {"type": "array"}, "opt": {"anyOf": [{"type": "array"}, {"type": "null"}]}},
}
UNIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": ["string", "null"], "description": "A."},
        "b": {"type": ["array", "null"], "items": {"type": "string"}},
        "c": {"type": ["string", "number", "boolean"], "maxLength": 3, "minimum": 0},
    },
}
KEYS = {"type": "object", "properties": {"filter[id]": {"type": "string"}, "k" * 65: {}, "a.b-c_d": {}}}
DEEP: dict[str, Any] = {"type": "string"}
for _level in range(10):
    DEEP = {"type": "object", "properties": {"properties": DEEP}}

SCHEMAS: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("anthropic", PICK, [("schema-root-combinator", "/input_schema/anyOf")]),
    ("openai", PICK, [("schema-root-combinator", "/input_schema/anyOf")]),
    ("none", PICK, []),
    ("anthropic", CONDITIONAL, []),
    ("anthropic", INNER_ANY_OF, []),
    (
        "openai",
        ARRAYS,
        [
            ("schema-array-items", "/input_schema/properties/ids"),
            ("schema-array-items", "/input_schema/properties/opt/anyOf/0"),
        ],
    ),
    (
        "gemini",
        ARRAYS,
        [
            ("schema-array-items", "/input_schema/properties/ids"),
            ("schema-array-items", "/input_schema/properties/opt/anyOf/0"),
        ],
    ),
    ("anthropic", ARRAYS, []),
    ("none", ARRAYS, []),
    ("gemini", UNIONS, []),
    (
        "gemini",
        {"type": "object", "properties": {"d": True}, "additionalProperties": False},
        [("schema-union-type", "/input_schema/properties/d")],
    ),
    (
        "gemini",
        {"type": "object", "properties": {"e": {"type": ["string", "null"], "anyOf": [{"minLength": 1}]}}},
        [("schema-union-type", "/input_schema/properties/e")],
    ),
    ("openai", UNIONS, []),
    (
        "anthropic",
        KEYS,
        [
            ("schema-property-key", "/input_schema/properties/filter[id]"),
            ("schema-property-key", "/input_schema/properties/" + "k" * 65),
        ],
    ),
    ("anthropic", {"type": "object", "properties": {"a": KEYS}}, []),
    ("openai", KEYS, []),
    (
        "gemini",
        {"type": "object", "properties": {"child": {"$ref": "#"}}},
        [("schema-ref-unsupported", "/input_schema/properties/child/$ref")],
    ),
    ("openai", {"type": "object", "properties": {"child": {"$ref": "#"}}}, []),
    ("openai", DEEP, [("schema-too-nested", "/input_schema")]),
    ("openai", DEEP["properties"]["properties"], []),
]


@pytest.mark.parametrize(("provider", "schema", "expected"), SCHEMAS)
def test_schemas(provider: str, schema: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = _check(provider, _tool("pick", schema))
    assert [(d.name, d.primary.file.removeprefix("crm:")) for d in found] == sorted(
        expected, key=lambda row: row[1]
    )
    for diagnostic in found:
        assert 'tool "pick" (crm/pick)' in diagnostic.message
        assert provider in diagnostic.message
        assert diagnostic.notes[-1].startswith("rule ")
        assert diagnostic.hint is not None


def test_what_only_some_models_refuse_is_a_warning() -> None:
    assert [d.level for d in _check("openai", _tool("pick", PICK))] == [Level.WARN]
    assert [d.level for d in _check("anthropic", _tool("pick", PICK))] == [Level.ERROR]


# Adaptations

ADAPTED: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ("openai", {"type": "object"}, {"type": "object", "properties": {}}, ("add-properties",)),
    ("openai", {}, {"type": "object", "properties": {}}, ("add-type", "add-properties")),
    ("anthropic", {}, {"type": "object"}, ("add-type",)),
    ("anthropic", {"type": "object"}, {"type": "object"}, ()),
    ("none", {}, {}, ()),
    (
        "openai",
        {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}},
        {
            "type": "object",
            "properties": {
                "m": {"type": "object", "additionalProperties": {"type": "string"}, "properties": {}}
            },
        },
        ("add-properties",),
    ),
    (
        "gemini",
        {
            "type": "object",
            "$defs": {"K": {"type": "string", "enum": ["x", "y"]}},
            "properties": {"k": {"$ref": "#/$defs/K", "default": "x"}},
        },
        {"type": "object", "properties": {"k": {"type": "string", "enum": ["x", "y"], "default": "x"}}},
        ("inline-refs",),
    ),
    (
        "gemini",
        UNIONS,
        {
            "type": "object",
            "properties": {
                "a": {"description": "A.", "anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "c": {
                    "anyOf": [
                        {"type": "string", "maxLength": 3},
                        {"type": "number", "minimum": 0},
                        {"type": "boolean"},
                    ]
                },
            },
        },
        ("split-types",),
    ),
    (
        "gemini",
        {"properties": {"a": {"type": ["string"]}}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        ("split-types", "add-type"),
    ),
    # A warning does not stand in the way of an adaptation.
    ("openai", {"anyOf": [{"required": ["a"]}]}, {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {}}, ("add-type", "add-properties")),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "schema", "expected", "names"), ADAPTED)
def test_adaptations(
    provider: str, schema: dict[str, Any], expected: dict[str, Any], names: tuple[str, ...]
) -> None:
    before = copy.deepcopy(schema)
    tool = _tool("pick", schema)
    found = check(profile(provider), [tool], agent="support", at=lambda: Span("support.yaml"))
    assert schema == before
    assert found.adapted == (
        {"pick": Examined(expected, names, found.adapted["pick"].faults)} if names else {}
    )


def test_a_schema_shared_by_agents_is_examined_once() -> None:
    seen: dict[tuple[str, int], Examined] = {}
    tool = _tool("pick", {})
    first = check(profile("openai"), [tool], agent="a", at=lambda: Span("a"), seen=seen)
    second = check(profile("openai"), [tool], agent="b", at=lambda: Span("b"), seen=seen)
    assert first.adapted["pick"] is second.adapted["pick"]
    assert check(profile("anthropic"), [tool], agent="c", at=lambda: Span("c"), seen=seen).adapted[
        "pick"
    ].schema == {"type": "object"}


_SCALARS = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
_NODES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(_SCALARS, st.lists(_SCALARS, min_size=1, max_size=3, unique=True)),
            "minLength": st.integers(0, 2),
            "maximum": st.integers(0, 2),
            "required": st.lists(st.sampled_from("ab"), unique=True),
            "additionalProperties": st.booleans(),
            "enum": st.lists(st.sampled_from([None, "a", 1, True, [], {}]), min_size=1, max_size=3),
        },
    ),
    lambda inner: st.one_of(
        st.builds(lambda node, below: {**node, "items": below}, inner, inner),
        st.builds(lambda node, below: {**node, "properties": {"a": below}}, inner, inner),
        st.builds(lambda node, below: {**node, "anyOf": [below, {"type": "string"}]}, inner, inner),
        st.builds(lambda node, below: {**node, "$defs": {"D": below}, "properties": {"b": {"$ref": "#/properties/a"}, "a": below}}, inner, inner),
    ),
    max_leaves=5,
)  # fmt: skip
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.text("ab", max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("provider", [PROFILES[name] for name in sorted(PROFILES)], ids=sorted(PROFILES))
@settings(max_examples=100, deadline=None)
@given(_NODES, st.lists(st.dictionaries(st.sampled_from("abc"), _JSON, max_size=2), min_size=4, max_size=4))
def test_an_adapted_schema_accepts_the_same_arguments(
    provider: Profile, schema: dict[str, Any], arguments: list[dict[str, Any]]
) -> None:
    assume(not check_schema(schema, lambda _: Span("x"), "x"))
    examined = examine(provider, schema)
    before, after = Validator(schema), Validator(examined.schema)
    for value in arguments:
        assert before.accepts(value) == after.accepts(value)
    # What was adapted fits: a second look finds nothing to change.
    assert json.dumps(examine(provider, examined.schema).schema) == json.dumps(examined.schema)
