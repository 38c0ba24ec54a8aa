"""JSON Schemas in a manifest: checked where they stand, with what symc allows in them beyond JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from symc import schema
from symc.contracts.kinds import ExtensionKind
from symc.diagnostics import Span
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.codes.pins import HIDDEN_TOOL_TEXT
from symc.manifest.keys import Path
from symc.manifest.model import ToolExtension
from symc.manifest.submission import Submission
from symc.manifest.texts import json_texts

INPUT_REFERENCE: Final = "symc:input"
"""In a transformer's input schema, the schema of what it extends (V23)."""

_APPLICATORS = (
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$defs",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)


def check_schema(
    submission: Submission, path: Path, value: Any, owner: str, what: str, *, arguments: bool = False
) -> bool:
    """Check one schema; ``owner`` and ``what`` name it in messages. True when it is sound."""

    def locate(inner: Path) -> Span:
        return submission.span((*path, *inner))

    found = schema.check(
        value,
        locate,
        owner,
        what=what,
        arguments=arguments,
        shows_all=submission.shows_all,
        is_plain=submission.has_plain_schemas,
    )
    submission.take(path, found)
    return not found


def check_tool_extension(submission: Submission, path: Path, extension: ToolExtension) -> None:
    """Check the schemas of one tool extension against its kind (docs/variants.md V14, V20–V24)."""
    kind = ExtensionKind(extension.kind)
    name = extension.name
    _reserved_params(submission, (*path, "reserved_params"), extension, kind)
    if extension.config_schema is not None:
        _config_schema(submission, (*path, "config_schema"), extension.config_schema, name)
    if kind.preserves_schema:
        _no_input_schema(submission, path, extension)
    elif extension.input_schema is None:
        if kind.declares_schema and not extension.inherit_properties:
            submission.refuse(  # V23
                codes.TOOL_EXTENSION_SCHEMA,
                path,
                f'transformer "{name}" does not say which arguments it takes',
                hint="add `input_schema`; {$ref: symc:input} stands for the schema it received",
            )
    else:
        _input_schema(submission, (*path, "input_schema"), extension, kind)
    if extension.inherit_properties and not kind.declares_schema:
        submission.refuse(
            codes.IDLE_KEY,
            (*path, "inherit_properties"),
            f'{extension.kind} "{name}" inherits nothing: only a transformer replaces the properties it received',
            at_key=True,
            hint="remove it",
        )
    if extension.output_schema is not None:
        # An extension of symc's own may hand its user's schema on.
        reference = extension.output_schema.get("$ref")
        if not (submission.built_in and isinstance(reference, str) and reference.startswith("symc:config/")):
            check_schema(submission, (*path, "output_schema"), extension.output_schema, name, "output schema")


def _no_input_schema(submission: Submission, path: Path, extension: ToolExtension) -> None:
    """V20: a wrapper presents what it received, so a schema of its own would be ignored."""
    if extension.input_schema is not None:
        submission.refuse(
            codes.TOOL_EXTENSION_SCHEMA,
            (*path, "input_schema"),
            f'wrapper "{extension.name}" gives an input schema, and a wrapper keeps the one it received',
            at_key=True,
            hint="remove it, or make the kind `transformer`; parameters of its own are `reserved_params`",
        )


def _config_schema(submission: Submission, path: Path, value: dict[str, Any], name: str) -> None:
    """V14: JSON Schema 2020-12 of an object."""
    dialect = value.get("$schema")
    if isinstance(dialect, str) and "2020-12" not in dialect:
        submission.refuse(
            codes.TOOL_EXTENSION_SCHEMA,
            (*path, "$schema"),
            f'the config schema of "{name}" declares another draft than 2020-12',
            hint="remove `$schema`",
        )
    else:
        check_schema(submission, path, value, name, "config schema", arguments=True)


def _input_schema(submission: Submission, path: Path, extension: ToolExtension, kind: ExtensionKind) -> None:
    """V23, V24: an object schema with named properties, or with none."""
    declared = extension.input_schema
    assert declared is not None
    uses = list(_input_references(declared, ()))
    if uses and not kind.declares_schema:
        submission.refuse(
            codes.TOOL_EXTENSION_SCHEMA,
            (*path, *uses[0], "$ref"),
            f'{extension.kind} "{extension.name}" refers to {INPUT_REFERENCE}, which only a transformer can',
            hint="remove `input_schema`: a backend keeps the one it received",
        )
        return
    checked = _without_references(declared) if uses else declared
    if (
        not check_schema(submission, path, checked, extension.name, "input schema", arguments=True)
        or () in uses
    ):
        return
    if declared.get("type") != "object":
        submission.refuse(
            codes.TOOL_EXTENSION_SCHEMA,
            path,
            f'the input schema of "{extension.name}" is not of type object',
            hint="add `type: object`",
        )
    elif not declared.get("properties") and not extension.inherit_properties:
        for keyword in ("additionalProperties", "patternProperties", "unevaluatedProperties"):
            if declared.get(keyword, False) is not False:
                submission.refuse(
                    codes.TOOL_EXTENSION_SCHEMA,
                    (*path, keyword),
                    f'the input schema of "{extension.name}" is open to anything',
                    at_key=True,
                    hint="name the arguments under `properties`",
                )


def _reserved_params(
    submission: Submission, path: Path, extension: ToolExtension, kind: ExtensionKind
) -> None:
    """V21, V22: inline primitives or plain containers of them, on wrappers alone."""
    if not extension.reserved_params:
        return
    if not kind.preserves_schema:
        submission.refuse(
            codes.RESERVED_PARAMETER,
            path,
            f'{extension.kind} "{extension.name}" reserves parameters, which only a wrapper can',
            at_key=True,
            hint="name them in its `input_schema`",
        )
        return
    names = dict.fromkeys(extension.reserved_params)
    json_texts(submission, path, names, "the reserved parameters", code=HIDDEN_TOOL_TEXT)
    for name, value in extension.reserved_params.items():
        fault = _not_inline(value)
        if fault is None:
            check_schema(submission, (*path, name), value, extension.name, f'schema of parameter "{name}"')
        else:
            submission.refuse(
                codes.RESERVED_PARAMETER,
                (*path, name),
                f'the parameter "{name}" that "{extension.name}" reserves {fault}',
                hint="write a primitive such as {type: number}, or a list or mapping of primitives",
            )


def _not_inline(value: Any, *, inner: bool = False) -> str | None:
    """Why a schema is no primitive and no plain container of primitives, as the rest of a sentence (V21)."""
    if not isinstance(value, dict):
        return "has a schema that is no mapping"
    for keyword in _APPLICATORS:
        if keyword in value:
            return f"uses `{keyword}`"
    kinds = value.get("type")
    if kinds is None:
        return None if "enum" in value or "const" in value else "has no `type`"
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not {"array", "object"}.intersection(kind for kind in kinds if isinstance(kind, str)):
        return None  # primitives, or no types at all: then the schema is not valid
    if inner:
        return "holds containers inside a container"
    members = [value[key] for key in ("items", "contains") if key in value]
    members += value.get("prefixItems", ())
    properties = value.get("properties", {})
    members += properties.values() if isinstance(properties, dict) else ()
    extra = value.get("additionalProperties")
    members += [extra] if isinstance(extra, dict) else []
    if not members:
        return "is a container and does not say of what"
    return next((fault for fault in (_not_inline(member, inner=True) for member in members) if fault), None)


# Below these keys stand values, not schemas.
_LITERAL = frozenset({"const", "default", "enum", "examples"})


def _input_references(value: Any, path: Path) -> Iterator[Path]:
    """The paths of the schemas that are ``{$ref: symc:input}``."""
    if isinstance(value, dict):
        if value.get("$ref") == INPUT_REFERENCE:
            yield path
        for key, item in value.items():
            if key not in _LITERAL:
                yield from _input_references(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _input_references(item, (*path, index))


def _without_references(value: Any) -> Any:
    """The schema with each ``{$ref: symc:input}`` open: what it will hold is checked with the tool it comes from."""
    if isinstance(value, dict):
        return {
            key: item if key in _LITERAL else _without_references(item)
            for key, item in value.items()
            if (key, item) != ("$ref", INPUT_REFERENCE)
        }
    return [_without_references(item) for item in value] if isinstance(value, list) else value
