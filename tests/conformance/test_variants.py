"""Conformance to docs/variants.md: one test or more for every rule V1–V27, named by its id."""

from __future__ import annotations

import pytest

from symc.compose import compile
from symc.contracts import ExtensionKind
from symc.source import Workspace
from tests.compose.minted import DESK, outcome


def schema(variants: str, name: str, **keys: str) -> dict[str, object]:
    found = outcome(variants, **keys)
    assert found.faults == ()
    return dict(found.tools[name].input_schema)


@pytest.mark.parametrize(
    ("kind", "multiple", "preserves", "declares", "relocates", "output"),
    [
        ("wrapper", True, True, False, False, True),
        ("transformer", True, False, True, False, False),
        ("backend", False, False, False, True, True),
    ],
)
def test_kinds_are_their_properties(
    kind: str, multiple: bool, preserves: bool, declares: bool, relocates: bool, output: bool
) -> None:
    found = ExtensionKind(kind)
    assert found.multiple is multiple
    assert found.preserves_schema is preserves
    assert found.declares_schema is declares
    assert found.relocates_execution is relocates
    assert found.preserves_output_shape is output


def test_V1_a_chain_mints_one_tool_a_prefix_and_the_base_stays() -> None:
    found = outcome("{crm/find: [w, v]}")
    assert sorted(found.tools) == ["find", "find_w", "find_w_v"]
    assert [layer.name for layer in found.tools["find_w_v"].chain] == ["w", "v"]


def test_V2_flat_and_nested_spellings_are_one_chain() -> None:
    flat, nested, full = (
        outcome(f"{{crm/find: {chain}}}") for chain in ("[w, v]", "[[w, v]]", "[{chain: [w, v]}]")
    )
    assert flat.compilation.lock == nested.compilation.lock == full.compilation.lock


def test_V2_an_exact_key_replaces_a_pattern() -> None:
    found = outcome("{'crm/*': [w], crm/find: [v]}", tools="crm/*")
    assert sorted(found.tools) == ["find", "find_v", "list", "list_w"]


def test_V2_chains_share_prefixes_and_repeats_collapse() -> None:
    found = outcome("{crm/find: [[w, v], [w, bulk], [w, v]]}")
    assert sorted(found.tools) == ["find", "find_w", "find_w_bulk", "find_w_v"]


def test_V2_a_mixture_of_names_and_lists_is_refused() -> None:
    assert outcome("{crm/find: [w, [v]]}").faults == ("mixed-chains",)


@pytest.mark.parametrize(
    ("use", "row", "expected"),
    [
        ("crm", "crm/find", "find_w"),
        ("{use: crm, prefix: desk}", "crm/find", "desk_find_w"),
        ("crm", "{tool: crm/find, as: seek}", "seek_w"),
        ("{use: crm, prefix: desk}", "{tool: crm/find, as: seek}", "seek_w"),
    ],
)
def test_V3_names_build_on_the_exposed_name(use: str, row: str, expected: str) -> None:
    found = outcome("{crm/find: [w]}", tools=row, extensions=f"[{use}]")
    assert found.faults == ()
    lock = found.compilation.lock
    assert lock is not None
    tool = lock.agents["x"].tools[expected]
    # Identity and chain are fields of their own; nothing has to split the name.
    assert (tool.extension, tool.raw, [layer.name for layer in tool.chain]) == ("crm", "find", ["w"])


@pytest.mark.parametrize(
    ("variants", "tools", "derivations"),
    [
        ("{crm/find: [{chain: [w], as: list}]}", "crm/*", ("crm/find + w", "crm/list")),
        ("{crm/find: [{chain: [w], as: one}], crm/list: [{chain: [w], as: one}]}", "crm/*", ("crm/find + w", "crm/list + w")),
        ("{crm/find: [[{use: tuned, config: {level: low}}], [{use: tuned, config: {level: high}}]]}", "crm/find", ("crm/find + tuned",)),
        ("{}", "{tool: crm/find, as: list}, crm/list", ("crm/find", "crm/list")),
        ("{crm/find: [{chain: [w], as: find}]}", "crm/find", ("crm/find", "crm/find + w")),
    ],
)  # fmt: skip
def test_V4_two_derivations_of_one_name_are_one_error_with_both(
    variants: str, tools: str, derivations: tuple[str, ...]
) -> None:
    found = outcome(variants, tools=tools)
    assert found.faults == ("tool-name-collision",)
    assert all(derivation in found.message("tool-name-collision") for derivation in derivations)


def test_V4_the_order_of_declaration_does_not_matter() -> None:
    one = outcome("{crm/find: [{chain: [w], as: list}]}", tools="crm/find, crm/list")
    other = outcome("{crm/find: [{chain: [w], as: list}]}", tools="crm/list, crm/find")
    assert one.message("tool-name-collision") == other.message("tool-name-collision")


def test_V4_an_unselected_tool_of_the_same_name_does_not_count() -> None:
    assert outcome("{crm/find: [{chain: [w], as: list}]}", tools="crm/find").faults == ()


@pytest.mark.parametrize(("length", "legal"), [(64, True), (65, False)])
def test_V5_length_is_checked_on_the_whole_name_with_each_parts_share(length: int, legal: bool) -> None:
    alias = "f" * (length - 2)
    found = outcome("{crm/find: [w]}", tools=f"{{tool: crm/find, as: {alias}}}", provider="openai")
    if legal:
        assert found.faults == ()
        return
    message = found.message("tool-name-too-long")
    assert all(part in message for part in (f"{alias}_w", "65", "64", "openai"))


def test_V6_all_exposes_every_prefix_by_default() -> None:
    assert outcome("{crm/find: [w, v]}").hidden == []


def test_V6_leaf_exposes_the_last_beside_the_base() -> None:
    found = outcome("{crm/find: [{chain: [w, v], expose: leaf}]}")
    assert (found.exposed, found.hidden) == (["find", "find_w_v"], ["find_w"])


def test_V6_only_hides_the_base_and_the_prefixes() -> None:
    found = outcome("{crm/find: [{chain: [w, v], expose: only, as: seek}]}")
    assert (found.exposed, found.hidden) == (["seek"], ["find", "find_w"])
    lock = found.compilation.lock
    assert lock is not None
    assert {name: tool.exposed for name, tool in lock.agents["x"].tools.items()} == {
        "find": False,
        "find_w": False,
        "seek": True,
    }


def test_V6_only_must_stand_at_every_chain_of_the_tool() -> None:
    assert outcome("{crm/find: [{chain: [w], expose: only}, {chain: [v]}]}").faults == ("variant-only-mixed",)
    both = outcome("{crm/find: [{chain: [w], expose: only}, {chain: [v], expose: only}]}")
    assert (both.faults, both.exposed) == ((), ["find_v", "find_w"])


def test_V6_a_prefix_that_another_chain_exposes_is_exposed() -> None:
    found = outcome("{crm/find: [{chain: [w, v], expose: leaf}, {chain: [w]}]}")
    assert found.hidden == []


def test_V10_an_unknown_extension_is_named_with_the_nearest() -> None:
    found = outcome("{crm/find: [memmo]}")
    assert found.faults == ("tool-extension-unknown",)
    assert '"memo"' in found.message("tool-extension-unknown")


def test_V10_also_on_a_tool_that_is_not_selected() -> None:
    assert set(outcome("{crm/list: [memmo]}").faults) == {"tool-extension-unknown", "variant-key-unselected"}


def test_V11_one_backend_over_all_chains_of_a_tool() -> None:
    assert outcome("{crm/find: [[far], [own]]}").faults == ("variant-second-backend",)
    assert outcome("{crm/find: [far, own]}").faults == ("variant-second-backend",)
    # Two tools may have one each.
    assert outcome("{crm/find: [far], crm/list: [own]}", tools="crm/*").faults == ()


def test_V11_the_same_strategy_twice_is_one_and_another_config_is_another() -> None:
    def two(first: str, second: str) -> tuple[str, ...]:
        away = "{use: away, config: {queue: %s}}"
        return outcome(f"{{crm/find: [[{away % first}], [w, {away % second}]]}}").faults

    assert two("a", "a") == ()
    assert two("a", "b") == ("variant-second-backend",)


def test_V12_locality_stands_inside_and_the_message_says_the_legal_order() -> None:
    message = outcome("{crm/find: [w, far, near]}").message("variant-locality")
    assert all(part in message for part in ("crm/find", '"near"', '"far"', "[near, w, far]"))


def test_V13_a_repeated_extension_is_allowed_unless_it_reserves() -> None:
    assert sorted(outcome("{crm/find: [w, w]}").tools) == ["find", "find_w", "find_w_w"]
    assert outcome("{crm/find: [memo, memo]}").faults == ("variant-schema",)


@pytest.mark.parametrize(
    ("element", "path"),
    [
        ("{use: tuned, config: {level: loud}}", "/level"),
        ("{use: tuned, config: {level: low, secret: s3cr3t-CANARY}}", "/secret"),
        ("tuned", '"level"'),
    ],
)
def test_V14_config_errors_name_the_path_and_the_rule_never_the_value(element: str, path: str) -> None:
    message = outcome(f"{{crm/find: [{element}]}}").message("variant-config")
    assert path in message
    assert "CANARY" not in message
    assert "loud" not in message


def test_V14_an_extension_without_a_config_schema_takes_none() -> None:
    assert outcome("{crm/find: [{use: w, config: {a: 1}}]}").faults == ("variant-config",)


def test_V14_the_config_stands_in_the_lock_and_not_in_the_input_schema() -> None:
    found = outcome("{crm/find: [{use: tuned, config: {level: low}}]}")
    assert found.tools["find_tuned"].input_schema == found.tools["find"].input_schema
    lock = found.compilation.lock
    assert lock is not None
    assert lock.agents["x"].tools["find_tuned"].chain[0].config == {"level": "low"}


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("crm/nope", "variant-key-unknown"),
        ("nope/find", "variant-key-unknown"),
        ("crm/list", "variant-key-unselected"),
        ("crm/l*", "variant-key-unselected"),
        ("crm/find_w", "variant-key-is-variant"),
    ],
)
def test_V15_a_key_that_attaches_to_nothing_has_its_own_words(key: str, fault: str) -> None:
    assert outcome(f"{{'{key}': [w]}}").faults == (fault,)


@pytest.mark.parametrize("row", ["crm/fnd", "other/find"])
def test_V15_a_row_that_misses_its_tool_is_told_once(row: str) -> None:
    """The key says which tool was meant; that it is not selected follows from the row, and is not told again."""
    found = compile(
        Workspace.of(
            {
                "crm.yaml": b'{kind: extension, name: crm, version: "1", '
                b"tools: [{name: find, description: Find., invoke: 'm:f'}]}",
                "x.yaml": f"{{kind: agent, name: x, extensions: [crm], tools: [{row}], "
                "variants: {crm/find: [cache]}}".encode(),
            }
        )
    )
    assert [one.name for one in found.diagnostics] == ["tool-unknown"]


def test_V15_an_excluded_tool_is_told_with_its_exclusion() -> None:
    found = compile(
        Workspace.of(
            {
                "crm.yaml": b'{kind: extension, name: crm, version: "1", '
                b"tools: [{name: find, description: Find., invoke: 'm:f'}]}",
                "x.yaml": b"{kind: agent, name: x, extensions: [crm], tools: [crm/*], exclude: [crm/find],\n"
                b"variants: {crm/find: [cache]}}",
            }
        )
    )
    (one,) = found.diagnostics
    assert one.name == "variant-key-unselected"
    assert [(each.span.start.line, each.span.start.column, each.label) for each in one.secondary] == [
        (1, 69, "excluded here")
    ]


def test_V20_a_wrapper_adds_its_parameters_never_required() -> None:
    found = schema("{crm/find: [memo]}", "find_memo")
    assert found["properties"] == {"key": {"type": "string"}, "exp": {"type": "number"}}
    assert found["required"] == ["key"]


@pytest.mark.parametrize(
    "keyword",
    [
        "allOf: [{}]",
        "anyOf: [{}]",
        "oneOf: [{}]",
        "not: {required: [z]}",
        "if: {}",
        "unevaluatedProperties: false",
        "propertyNames: {maxLength: 3}",
        "maxProperties: 1",
    ],
)
def test_V20_on_a_closed_root_reserving_is_refused_with_the_pointer(keyword: str) -> None:
    desk = DESK.replace("{limit: {type: integer}}}", "{limit: {type: integer}}, " + keyword + "}")
    assert desk != DESK
    found = outcome("{crm/list: [memo]}", tools="crm/list", desk=desk)
    assert found.faults == ("variant-schema",)
    assert "/" + keyword.partition(":")[0] in found.message("variant-schema")
    # A wrapper that reserves nothing has nothing to add.
    assert outcome("{crm/list: [w]}", tools="crm/list", desk=desk).faults == ()


def test_V20_a_reserved_name_that_is_a_property_is_refused_at_that_layer() -> None:
    desk = DESK.replace("{limit: {type: integer}}", "{exp: {type: integer}}")
    message = outcome("{crm/list: [w, memo]}", tools="crm/list", desk=desk).message("variant-schema")
    assert '"exp"' in message
    assert "crm/list + w" in message


@pytest.mark.parametrize(
    ("parameter", "legal"),
    [
        ("{type: number}", True),
        ("{type: array, items: {type: string}}", True),
        ("{type: object, additionalProperties: {type: integer}}", True),
        ("{enum: [a, b]}", True),
        ('{$ref: "#/properties/key"}', False),
        ('{type: array, items: {$ref: "#"}}', False),
    ],
)
def test_V21_a_reserved_parameter_is_inline(parameter: str, legal: bool) -> None:
    desk = DESK.replace("{exp: {type: number}}", "{exp: " + parameter + "}")
    assert (outcome("{crm/find: [memo]}", desk=desk).faults == ()) is legal


def test_V22_reserved_parameters_stay_visible_until_they_are_dropped() -> None:
    assert "exp" in schema("{crm/find: [memo, w]}", "find_memo_w")["properties"]  # type: ignore[operator]
    assert "exp" not in schema("{crm/find: [memo, plain]}", "find_memo_plain")["properties"]  # type: ignore[operator]
    assert "exp" in schema("{crm/find: [memo, plain, memo]}", "find_memo_plain_memo")["properties"]  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["transformer", "backend"])
def test_V22_reserved_params_on_another_kind_are_refused(kind: str) -> None:
    desk = DESK.replace("name: memo, kind: wrapper", f"name: memo, kind: {kind}")
    assert "find_memo" not in outcome("{crm/find: [memo]}", desk=desk).tools


def test_V23_the_baseline_stands_inside_without_its_dialect() -> None:
    desk = DESK.replace(
        "{type: object, properties: {limit: {type: integer}}}",
        '{$schema: "http://json-schema.org/draft-07/schema#", type: object, definitions: {n: {type: integer}},'
        ' properties: {limit: {$ref: "#/definitions/n"}, self: {$ref: "#"}}}',
    )
    found = schema("{crm/list: [bulk]}", "list_bulk", tools="crm/list", desk=desk)
    inner = found["properties"]["params"]["items"]  # type: ignore[index]
    assert "$schema" not in inner
    assert inner["properties"] == {
        "limit": {"$ref": "#/properties/params/items/definitions/n"},
        "self": {"$ref": "#/properties/params/items"},
    }
    assert found["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_V23_a_baseline_with_an_identifier_is_refused() -> None:
    desk = DESK.replace(
        "{type: object, properties: {limit", '{$id: "urn:a", type: object, properties: {limit'
    )
    found = outcome("{crm/list: [bulk]}", tools="crm/list", desk=desk)
    assert found.faults == ("variant-schema",)
    assert "$id" in found.message("variant-schema")


def test_V23_inherit_properties_adds_properties_and_required() -> None:
    found = schema("{crm/find: [also]}", "find_also")
    assert found["properties"] == {"key": {"type": "string"}, "note": {"type": "string"}}
    assert found["required"] == ["key", "note"]


def test_V23_a_property_named_like_the_reference_is_no_reference() -> None:
    desk = DESK.replace("{text: {type: string}}", "{$ref: {type: string}}")
    assert schema("{crm/find: [plain]}", "find_plain", desk=desk)["properties"] == {
        "$ref": {"type": "string"}
    }


@pytest.mark.parametrize(
    ("given", "legal"),
    [
        ("{type: object, properties: {a: {}}}", True),
        ("{type: object}", True),
        ("{type: object, additionalProperties: false}", True),
        ("{type: object, additionalProperties: true}", False),
        ("{type: object, additionalProperties: {type: string}}", False),
        ("{type: object, patternProperties: {a: {}}}", False),
        ("{type: string}", False),
        ("{properties: {a: {}}}", False),
    ],
)
def test_V23_a_transformer_presents_a_concrete_object(given: str, legal: bool) -> None:
    desk = DESK.replace("{type: object, properties: {text: {type: string}}}", given)
    found = outcome("{crm/find: [plain]}", desk=desk)
    assert (found.faults == ()) is legal
    assert ("find_plain" in found.tools) is legal


def test_V23_a_transformer_must_give_a_schema() -> None:
    desk = DESK.replace(", input_schema: {type: object, properties: {text: {type: string}}}", "")
    assert "find_plain" not in outcome("{crm/find: [plain]}", desk=desk).tools


def test_V24_a_backend_keeps_the_baseline_or_gives_its_own() -> None:
    assert schema("{crm/find: [far]}", "find_far") == schema("{crm/find: [far]}", "find")
    assert schema("{crm/find: [own]}", "find_own")["properties"] == {"job": {"type": "string"}}


@pytest.mark.parametrize(
    ("chain", "name", "expected"),
    [
        ("[w]", "find_w", {"type": "object", "properties": {"id": {"type": "string"}}}),
        ("[far]", "find_far", {"type": "object", "properties": {"id": {"type": "string"}}}),
        ("[bulk]", "find_bulk", None),
        ("[bulk, w]", "find_bulk_w", None),
        ("[also]", "find_also", {"type": "object", "properties": {"ok": {"type": "boolean"}}}),
        ("[also, w]", "find_also_w", {"type": "object", "properties": {"ok": {"type": "boolean"}}}),
        ("[also, bulk]", "find_also_bulk", None),
    ],
)
def test_V25_the_output_schema_follows_the_shape(chain: str, name: str, expected: object) -> None:
    found = outcome(f"{{crm/find: {chain}}}")
    assert found.faults == ()
    assert found.tools[name].output_schema == expected


@pytest.mark.parametrize(
    ("chain", "name", "expected"),
    [
        ("[w]", "find_w", "Find one."),
        ("[told]", "find_told", "Told: Find one."),
        ("[told, told]", "find_told_told", "Told: Told: Find one."),
    ],
)
def test_V26_descriptions_stand_in_for_the_received_one(chain: str, name: str, expected: str) -> None:
    assert outcome(f"{{crm/find: {chain}}}").tools[name].description == expected


def test_V26_the_agents_own_description_is_what_a_layer_receives() -> None:
    found = outcome("{crm/find: [told]}", tools="{tool: crm/find, description: Mine.}")
    assert found.tools["find_told"].description == "Told: Mine."


@pytest.mark.parametrize(
    ("chain", "name", "expected"),
    [
        ("[w]", "find_w", {"readOnlyHint": True}),
        ("[far]", "find_far", {"readOnlyHint": True}),
        ("[hinted]", "find_hinted", {"readOnlyHint": True, "idempotentHint": True}),
        ("[bulk]", "find_bulk", None),
        ("[also]", "find_also", {"readOnlyHint": False}),
    ],
)
def test_V27_hints_are_inherited_by_wrappers_and_backends_alone(
    chain: str, name: str, expected: object
) -> None:
    assert outcome(f"{{crm/find: {chain}}}").tools[name].annotations == expected
