"""The published JSON Schemas: current, complete, and of one mind with the check stage about shapes (docs/manifests.md §7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from symc.manifest.keys import written_keys
from symc.manifest.schemas import schemas
from symc.manifest.shape import MODELS
from symc.source import Workspace, parse
from tests.manifest.test_extensions import SERVERS, TOOL_EXTENSIONS, server
from tests.manifest.test_policies import RULES
from tests.manifest.test_shape import FAULTS, SOUND
from tests.manifest.written import AGENT, EXTENSION, WORKSPACE, marked

PUBLISHED = Path(__file__).parents[2] / "schemas"
SCHEMAS = schemas()

# What JSON cannot see: `3.0` is a whole number to JSON Schema, and some words need the table of another stage.
UNSEEN = {AGENT + "limits: {tools: 3.0}\n"}


def data(text: str) -> dict[str, Any]:
    return parse(Workspace.of({"a.yaml": text.encode()})).documents[0].data


def is_valid(text: str) -> bool:
    document = data(text)
    return jsonschema_rs.validator_for(SCHEMAS[document["kind"]]).is_valid(document)


@pytest.mark.parametrize("kind", MODELS)
def test_the_published_file_is_current(kind: str) -> None:
    written = (PUBLISHED / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert written == json.dumps(SCHEMAS[kind], indent=2, ensure_ascii=False) + "\n", "run: symc schema"


@pytest.mark.parametrize("kind", MODELS)
def test_a_schema_is_valid_and_all_its_objects_take_own_keys(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    for part in [SCHEMAS[kind], *SCHEMAS[kind]["$defs"].values()]:
        assert part["additionalProperties"] is False
        assert "^x-" in part["patternProperties"]


@pytest.mark.parametrize("kind", MODELS)
def test_every_key_has_a_description(kind: str) -> None:
    assert list(SCHEMAS[kind]["properties"]) == list(written_keys(MODELS[kind]))
    for part in [SCHEMAS[kind], *SCHEMAS[kind]["$defs"].values()]:
        for key, value in part["properties"].items():
            assert value["description"].endswith("."), key


@pytest.mark.parametrize("kind", MODELS)
def test_no_internal_is_published(kind: str) -> None:
    text = json.dumps(SCHEMAS[kind])
    for word in ("docs/", "as_", '"at"', "None", "null", "pydantic"):
        assert word not in text


@pytest.mark.parametrize("text", SOUND)
def test_what_the_check_accepts_is_valid(text: str) -> None:
    assert is_valid(text)


@pytest.mark.parametrize(
    "text", [text for text, found in FAULTS if not found[0].startswith("kind") and text not in UNSEEN]
)
def test_what_the_check_refuses_is_not_valid(text: str) -> None:
    assert not is_valid(text)


SHAPES = {"exactly-one", "empty-list", "allow-is-no-authority", "unknown-key", "wrong-type"}


@pytest.mark.parametrize(("fields", "expected"), [(f, e) for f, e in RULES if not e or e in SHAPES])
@pytest.mark.parametrize("owner", [AGENT, EXTENSION, WORKSPACE])
def test_policies_agree(owner: str, fields: str, expected: str) -> None:
    text, _ = marked(owner + "policies:\n- {" + fields + "}\n")
    assert is_valid(text) is not bool(expected)


@pytest.mark.parametrize(("fields", "expected"), [(f, e) for f, e in TOOL_EXTENSIONS if not e])
def test_tool_extensions_agree(fields: str, expected: str) -> None:
    assert is_valid(EXTENSION + "tool_extensions:\n- {name: a, factory: 'm:f', " + fields + "}\n")


@pytest.mark.parametrize(("fields", "expected"), [(f, e) for f, e in SERVERS if not e or e in SHAPES])
def test_servers_agree(fields: str, expected: str) -> None:
    text, _ = marked(server(fields))
    assert is_valid(text) is not bool(expected)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (EXTENSION + "prompts: [{fragment_id: a, text: t, tier: profile, layer: l1}]\n", True),
        (EXTENSION + "prompts: [{fragment_id: a, text: t, tier: platform}]\n", False),
        (EXTENSION + "prompts: [{fragment_id: a, text: t, layer: l0}]\n", False),
        (EXTENSION + "prompts: [{fragment_id: a, slot: {max_chars: 1}}]\n", False),
        (AGENT + "prompts: [{fragment_id: a, text: t, tier: platform, layer: l0}]\n", True),
        (AGENT + "prompts: [{fragment_id: a}]\n", False),
        (AGENT + "prompts: [{fragment_id: A, text: t}]\n", False),
        (AGENT + "grants: [memory_raed]\n", False),
        (AGENT + "variants: {crm/x: [a, {use: b, config: {}}], crm/y: [[a], {chain: [b], as: c}]}\n", True),
        (AGENT + "variants: {crm/x: []}\n", False),
        (AGENT + "variants: {crm/x: [[]]}\n", False),
        (AGENT + "variants: {crm/x: audit}\n", False),
        ("kind: extension\nname: crm\n", False),
        ("kind: extension\nname: files\nmcp: {command: [run]}\n", True),
        ("kind: extension\nname: files\nmcp: {command: [run]}\ntools: []\n", False),
        ("kind: extension\nname: crm\nversion: '1'\npin: x.json\n", False),
        ("kind: agent\nname: My Desk\n", False),
        (WORKSPACE + "rules: {SYM301: off}\nlimits: {tools: 3}\n", True),
    ],
)
def test_what_only_an_editor_needs(text: str, valid: bool) -> None:
    assert is_valid(text) is valid
