"""Laws of minting over random tools, extensions and chains (docs/variants.md)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from symc.compose.surface import Fault, Surface, layer_surface
from symc.manifest import model
from tests.compose.minted import outcome

LAYERS = ["w", "v", "memo", "near", "bulk", "plain", "far"]
_NAME = st.sampled_from(["a", "b", "a_w", "a_w_v", "b_v", "w"])
_CHAIN = st.lists(st.sampled_from(LAYERS), min_size=1, max_size=3)


def _desk(tools: list[str]) -> str:
    rows = "".join(
        f'  - {{name: {tool}, description: d, invoke: "m:f", input_schema: {{type: object, properties: {{k: {{}}}}}}}}\n'
        for tool in tools
    )
    return f"""\
kind: extension
name: crm
version: "1"
tools:
{rows}tool_extensions:
  - {{name: w, kind: wrapper, factory: "m:f"}}
  - {{name: v, kind: wrapper, factory: "m:f"}}
  - {{name: memo, kind: wrapper, factory: "m:f", reserved_params: {{exp: {{type: number}}}}}}
  - {{name: near, kind: wrapper, factory: "m:f", requires_body_locality: true}}
  - {{name: bulk, kind: transformer, factory: "m:f", input_schema: {{type: object, properties: {{p: {{$ref: "symc:input"}}}}}}}}
  - {{name: plain, kind: transformer, factory: "m:f", input_schema: {{type: object, properties: {{t: {{}}}}}}}}
  - {{name: far, kind: backend, factory: "m:f"}}
"""


def _variants(chains: dict[str, list[list[str]]]) -> str:
    return json.dumps({f"crm/{tool}": given for tool, given in chains.items()})


@settings(max_examples=120, deadline=None)
@given(
    st.lists(_NAME, min_size=1, max_size=4, unique=True).flatmap(
        lambda tools: st.tuples(
            st.just(tools),
            st.dictionaries(
                st.sampled_from(tools), st.lists(_CHAIN, min_size=1, max_size=3), min_size=1, max_size=3
            ),
        )
    )
)
def test_names_are_unique_or_refused_and_every_prefix_is_bound_once(
    case: tuple[list[str], dict[str, list[list[str]]]],
) -> None:
    tools, chains = case
    found = outcome(_variants(chains), tools=", ".join(f"crm/{tool}" for tool in tools), desk=_desk(tools))
    # The oracle: names by concatenation, one entry a distinct prefix.
    wanted = [(tool, ()) for tool in tools] + [
        (tool, prefix)
        for tool, given in chains.items()
        for prefix in {tuple(chain[:depth]) for chain in given for depth in range(1, len(chain) + 1)}
    ]
    names = ["_".join((tool, *prefix)) for tool, prefix in wanted]
    if len(set(names)) < len(names):
        assert found.compilation.lock is None
        if set(found.faults) == {"tool-name-collision"}:
            repeated = {name for name in names if names.count(name) > 1}
            assert len(found.faults) == len(repeated)
    elif found.faults == ():
        assert sorted(found.tools) == sorted(names)
        for name, tool in found.tools.items():
            derived = (tool.base.raw, tuple(layer.name for layer in tool.chain))
            assert derived in wanted
            assert name == "_".join((derived[0], *derived[1]))
    else:
        assert not {"tool-name-collision"} & set(found.faults)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_result_does_not_depend_on_the_order_of_declaration(data: st.DataObject) -> None:
    tools = ["a", "b", "c"]
    chains = data.draw(st.dictionaries(st.sampled_from(tools), st.lists(_CHAIN, min_size=1, max_size=3)))
    shuffled = {
        tool: data.draw(st.permutations(chains[tool])) for tool in data.draw(st.permutations(list(chains)))
    }
    one = outcome(_variants(chains), tools="crm/a, crm/b, crm/c", desk=_desk(tools))
    other = outcome(_variants(shuffled), tools="crm/c, crm/a, crm/b", desk=_desk(tools[::-1]))
    assert one.compilation.lock == other.compilation.lock
    assert sorted(one.faults) == sorted(other.faults)


@settings(max_examples=40, deadline=None)
@given(_CHAIN)
def test_flat_and_nested_compile_to_the_same_lock(chain: list[str]) -> None:
    flat = outcome(json.dumps({"crm/a": chain}), tools="crm/a", desk=_desk(["a"]))
    nested = outcome(json.dumps({"crm/a": [chain]}), tools="crm/a", desk=_desk(["a"]))
    assert flat.faults == nested.faults
    assert flat.compilation.lock == nested.compilation.lock


_LEAF = st.sampled_from(["string", "integer", "number", "boolean"]).map(lambda kind: {"type": kind})
_KEYS = st.sampled_from(["key", "limit", "exp", "x y", "from", "ü"])


@st.composite
def base_schemas(draw: Any) -> dict[str, Any]:
    """Object schemas with properties, definitions and required lists, open or closed."""
    properties = draw(st.dictionaries(_KEYS, _LEAF, max_size=4))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    if properties and draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    if draw(st.booleans()):
        schema["$defs"] = {"n": {"type": "integer"}}
    return schema


@settings(max_examples=150, deadline=None)
@given(base_schemas(), st.dictionaries(st.sampled_from(["exp", "trace", "retry"]), _LEAF, max_size=3))
def test_a_wrapper_without_its_reserved_parameters_is_its_base(
    base: dict[str, Any], reserved: dict[str, Any]
) -> None:
    wrapper = model.ToolExtension(name="w", kind="wrapper", factory="m:f", reserved_params=reserved)
    surface = layer_surface(Surface(description="d", input_schema=base), wrapper, None)
    if reserved.keys() & base["properties"].keys():
        assert isinstance(surface, Fault)
        return
    assert isinstance(surface, Surface)
    presented = json.loads(json.dumps(surface.input_schema))
    for name, parameter in reserved.items():
        assert presented["properties"].pop(name) == parameter
        assert name not in presented.get("required", [])
    assert presented == base
