"""Layers bound at run time: what a factory receives, what it may answer, and what reaches the tool (docs/variants.md §5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from symc.runtime import DiagnosedError, LoadedLock
from symc.runtime.layers import OMITTED, Parameters, ParameterSchema, given
from tests.runtime import shop
from tests.runtime.workbench import SHOP, agent, called, extension, locked, ran, tool

TEXT = {"type": "string"}
COUNT = {"type": "integer", "default": 5}
EXP = {"exp": {"type": "number"}}
PARAMS = {
    "type": "object",
    "properties": {"params": {"type": "array", "items": {"$ref": "symc:input"}}},
    "required": ["params"],
}


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    shop.log.clear()
    shop.config_seen.clear()


def layered(folder: Path, *chain: Any, base: Any = None, **layers: Any) -> LoadedLock:
    """An agent whose one tool has this chain; `layers` are the tool extensions, each with more than its factory."""
    rows = [
        {"name": name, "kind": "wrapper", "factory": f"{SHOP}:{name}", **more}
        for name, more in layers.items()
    ]
    base = base or tool("find", key=TEXT, limit=COUNT)
    return locked(
        folder,
        extension("crm", tools=[base], tool_extensions=rows),
        agent("desk", "crm/*", variants={"crm/*": [{"chain": list(chain)}]}),
    )


def refusal(lock: LoadedLock) -> Any:
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk")
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.mark.parametrize("name", ["plain", "noted", "made"])
def test_V_30_a_wrapper_passes_on_exactly_what_it_is_given(name: str, tmp_path: Path) -> None:
    """[V30] An optional argument that was left out stays left out, whatever the wrapper is made with."""
    reserved = {"reserved_params": EXP} if name == "made" else {}
    lock = layered(tmp_path, name, **{name: reserved})
    one, two = called(
        lock, "desk", (f"find_{name}", {"key": "a"}), (f"find_{name}", {"key": "a", "limit": 7})
    )
    assert (one.result, two.result) == ('{"key": "a"}', '{"key": "a", "limit": 7}')


def test_V_30_a_reserved_parameter_stays_with_its_layer(tmp_path: Path) -> None:
    """[V30]"""
    lock = layered(tmp_path, "memo", memo={"reserved_params": EXP})
    calls = called(lock, "desk", *[("find_memo", {"key": "a", **more}) for more in ({"exp": 2}, {})])
    assert [call.result for call in calls] == ['{"key": "a"} for 2', '{"key": "a"} for 0']
    assert shop.log == ['echo {"key": "a"}']


def test_V_30_layers_stand_in_chain_order(tmp_path: Path) -> None:
    """[V30] The first is innermost."""
    second = {"factory": f"{SHOP}:noted"}
    lock = layered(tmp_path, "noted", "again", noted={}, again=second)
    called(lock, "desk", ("find_noted_again", {"key": "a"}))
    assert shop.log == ["find_noted_again ['key']", "find_noted ['key']", 'echo {"key": "a"}']


@pytest.mark.parametrize(
    ("element", "config"),
    [
        ("configured", {}),
        ({"use": "configured", "config": {"ttl": 3, "who": "${env:WHO}"}}, {"ttl": 3, "who": "ada"}),
    ],
)
def test_V_30_a_factory_with_a_config_schema_gets_the_config(
    element: Any, config: Any, tmp_path: Path
) -> None:
    """[V30] Frozen, `{}` for a bare name, a reference to the environment resolved."""
    schema = {"type": "object", "properties": {"ttl": {"type": "number"}, "who": TEXT}}
    lock = layered(tmp_path, element, configured={"config_schema": schema})
    ran(lock, "desk", environ={"WHO": "ada"})
    assert shop.config_seen == [config]
    with pytest.raises(TypeError):
        shop.config_seen[0]["ttl"] = 4


def test_V_30_a_transformer_presents_its_own_schema(tmp_path: Path) -> None:
    """[V30]"""
    lock = layered(tmp_path, "bulk", bulk={"kind": "transformer", "input_schema": PARAMS})
    (call,) = called(lock, "desk", ("find_bulk", {"params": [{"key": "a"}, {"key": "b", "limit": 1}]}))
    assert call.result == '{"key": "a"}\n{"key": "b", "limit": 1}'


def test_V_30_types_are_enforced_by_the_locked_schema(tmp_path: Path) -> None:
    """[V30] Before each call, of the variant and of what stands inside it."""
    lock = layered(tmp_path, "bulk", "noted", bulk={"kind": "transformer", "input_schema": PARAMS}, noted={})
    outer, inner = called(
        lock,
        "desk",
        ("find_bulk_noted", {"params": "a"}),
        ("find_bulk", {"params": [{"key": 1}]}),
    )
    assert outer.reason == inner.reason == "invalid_arguments"
    assert shop.log == []


@pytest.mark.parametrize("wrapper", ["plain", "anything", "memo"])
def test_V_30_names_that_python_lacks_arrive_by_keyword(wrapper: str, tmp_path: Path) -> None:
    """[V30]"""
    reserved = {"reserved_params": EXP} if wrapper == "memo" else {}
    base = tool("find", properties={"repo-path": TEXT, "from": TEXT})
    lock = layered(tmp_path, wrapper, base=base, **{wrapper: reserved})
    (call,) = called(lock, "desk", (f"find_{wrapper}", {"repo-path": "a", "from": "b"}))
    assert call.result is not None
    assert call.result.startswith('{"from": "b", "repo-path": "a"}')


def test_an_unlisted_argument_of_a_variant_is_refused_and_named(tmp_path: Path) -> None:
    """JSON Schema lets it pass; no parameter takes it, and it is not dropped in silence."""
    lock = layered(tmp_path, "plain", plain={})
    base, variant = called(
        lock, "desk", ("find", {"key": "a", "colour": "red"}), ("find_plain", {"key": "a", "colour": "red"})
    )
    assert base.result == '{"colour": "red", "key": "a"}'
    assert variant.error == "not executed: invalid_arguments: unknown: colour; the parameters are key, limit"


REFUSED = [
    ("same", {}, "layer-refused", "answers the callable it was given"),
    ("bare", {}, "layer-refused", "answers a callable of anything (*args: 'Any', **kwargs: 'Any')"),
    ("sync", {}, "layer-refused", "answers a callable that is not async"),
    ("nothing", {}, "layer-refused", "answers a NoneType, not an async callable"),
    ("raises", {}, "layer-refused", "raises KeyError: 'no pool'"),
    ("without_description", {}, "target-signature", "has the parameters (func, name)"),
    ("async_factory", {}, "target-signature", "is async; a factory is not"),
    ("constant", {}, "target-signature", "is a int, not a function"),
    ("missing", {}, "target-missing", 'has no "missing"'),
    ("configured", {}, "target-signature", "must take func, name, description"),
    (
        "plain",
        {"config_schema": {"type": "object"}},
        "target-signature",
        "must take func, name, description, config",
    ),
]


@pytest.mark.parametrize(("name", "more", "code", "said"), REFUSED)
def test_V_31_a_factory_that_makes_no_layer_refuses_to_start(
    name: str, more: Any, code: str, said: str, tmp_path: Path
) -> None:
    """[V31] The layer is named."""
    found = refusal(layered(tmp_path, name, **{name: more}))
    assert found.name == code
    assert said in found.message
    assert f"crm/{name}" in found.message
    assert found.hint is not None


def test_a_factory_that_complains_of_a_secret_does_not_tell_it(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"url": TEXT}}
    element = {"use": "complains", "config": {"url": "${env:BROKER}"}}
    lock = layered(tmp_path, element, complains={"config_schema": schema})
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", environ={"BROKER": "redis://:canary@host"})
    assert "cannot reach ${env:BROKER}" in str(caught.value)
    assert "canary" not in str(caught.value)


ACCOUNTS = [
    ("unmarked", {}, ["key: stands for another schema than the one it received", "limit: stands for another schema than the one it received"]),
    ("one_less", {}, ["key: as locked", "limit: missing"]),
    ("one_more", {}, ["depth: not in the locked schema", "key: as locked", "limit: as locked"]),
    ("catches", {}, ["key: as locked", "limit: as locked", "**rest: takes anything"]),
    ("memo", {}, ["exp: not in the locked schema", "key: as locked", "limit: as locked"]),
    ("plain", {"reserved_params": EXP}, ["exp: missing", "key: as locked", "limit: as locked"]),
    (
        "required_exp",
        {"reserved_params": EXP},
        ["exp: required, and optional in the locked schema", "key: as locked", "limit: as locked"],
    ),
    ("bulk", {"kind": "transformer", "input_schema": {"type": "object", "properties": {"params": {}}}}, ["params: required, and optional in the locked schema"]),
    ("one_less", {"kind": "backend"}, ["key: as locked", "limit: missing"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "more", "account"), ACCOUNTS)
def test_V_30_other_parameters_refuse_to_start_with_an_account(
    name: str, more: Any, account: list[str], tmp_path: Path
) -> None:
    """[V30] Parameter by parameter."""
    found = refusal(layered(tmp_path, name, **{name: more}))
    assert found.name == "layer-signature"
    assert f'layer "crm/{name}" of "find_{name}"' in found.message
    assert list(found.notes) == account


def test_V_30_the_order_of_parameters_is_no_difference(tmp_path: Path) -> None:
    """[V30]"""
    base = tool("find", zebra=TEXT, ant=TEXT, limit=COUNT)
    assert ran(layered(tmp_path, "memo", base=base, memo={"reserved_params": EXP}), "desk").text == "done"


def test_a_layer_on_a_tool_that_does_not_bind_is_no_second_fault(tmp_path: Path) -> None:
    base = tool("find", invoke=f"{SHOP}:gone", key=TEXT)
    assert refusal(layered(tmp_path, "same", base=base, same={})).name == "target-missing"


# what a layer presents


SCHEMAS = [
    ({"properties": {"b": TEXT, "a": TEXT}, "required": ["a"]}, "a, b=OMITTED"),
    ({}, ""),
    ({"properties": {"a": TEXT}, "additionalProperties": True}, "a=OMITTED"),
    ({"properties": {"a": TEXT}, "additionalProperties": False}, "a=OMITTED"),
    ({"properties": {"a": TEXT, "b": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "a=OMITTED, b=OMITTED"),
    ({"properties": {"a": TEXT}, "allOf": [{"properties": {"b": TEXT}}]}, "**"),
    ({"properties": {"a": TEXT}, "if": {"properties": {"a": TEXT}}, "then": {"patternProperties": {"^x": TEXT}}}, "**"),
    ({"properties": {"repo-path": TEXT}}, "**"),
    ({"properties": {"from": TEXT}}, "**"),
    ({"properties": {"a": TEXT}, "required": ["b"]}, "**"),
    ({"additionalProperties": TEXT}, "**"),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": TEXT}}}}, "**"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "shown"), SCHEMAS)
def test_the_parameters_of_a_schema(schema: Any, shown: str) -> None:
    found = Parameters.of({"type": "object", **schema})
    written = [
        name if one.default is one.empty else f"{name}={one.default!r}" for name, one in found.by_name.items()
    ]
    assert ("**" if found.open else ", ".join(written)) == shown


def test_a_marker_is_equal_to_those_of_equal_schemas_alone() -> None:
    assert ParameterSchema({"a": 1, "b": 2}) == ParameterSchema({"b": 2, "a": 1})
    assert ParameterSchema({"const": 1}) != ParameterSchema({"const": True})


def test_what_is_omitted_is_not_given() -> None:
    assert given({"a": OMITTED, "b": None}) == {"b": None}
    assert json.dumps(repr(OMITTED)) == '"OMITTED"'
