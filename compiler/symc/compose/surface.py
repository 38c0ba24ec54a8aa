"""Surface: what one layer of a chain makes of the surface it received — schemas, description, annotations (V20–V27).

The baseline of a layer is the surface it received, not the original tool's. Everything is computed from data alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from symc.contracts.kinds import ExtensionKind
from symc.manifest import model

JsonSchema = Mapping[str, Any]

INPUT_REFERENCE = "symc:input"
CONFIG_REFERENCE = "symc:config/"

# Keywords that can close an object to properties added beside them (V20).
_CLOSING = (
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "unevaluatedProperties",
    "propertyNames",
    "maxProperties",
)
# A subschema with a base or a name of its own cannot be moved without changing what points at it (V23).
_UNMOVABLE = ("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef")
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What a model sees of a tool, name aside."""

    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema | None = None
    annotations: JsonSchema | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a layer cannot present a surface: the rule, a sentence about the schema, and where in the registration."""

    rule: str
    message: str
    at: tuple[str | int, ...]
    remedy: str


def layer_surface(
    received: Surface, extension: model.ToolExtension, config: Mapping[str, Any] | None
) -> Surface | Fault:
    """The surface of one layer over the ``received`` one (docs/variants.md V20–V27), or the first fault."""
    kind = ExtensionKind(extension.kind)
    inputs = _input_schema(received, extension, kind)
    if isinstance(inputs, Fault):
        return inputs
    outputs = _output_schema(received, extension, kind, config)
    if isinstance(outputs, Fault):
        return outputs
    return Surface(
        description=_description(received, extension),  # V26
        input_schema=inputs,
        output_schema=outputs,
        annotations=_annotations(received, extension, kind),  # V27
    )


def _description(received: Surface, extension: model.ToolExtension) -> str:
    if extension.description is None:
        return received.description
    return extension.description.replace("{description}", received.description)


def _annotations(received: Surface, extension: model.ToolExtension, kind: ExtensionKind) -> JsonSchema | None:
    # A transformer answers another question than its base: its hints are its own or none.
    inherited = None if kind.declares_schema else received.annotations
    if extension.annotations is None:
        return inherited
    return {**(inherited or {}), **extension.annotations}


def _output_schema(
    received: Surface, extension: model.ToolExtension, kind: ExtensionKind, config: Mapping[str, Any] | None
) -> JsonSchema | Fault | None:
    declared = extension.output_schema
    if declared is None:
        return received.output_schema if kind.preserves_output_shape else None  # V25
    reference = declared.get("$ref")
    if not (isinstance(reference, str) and reference.startswith(CONFIG_REFERENCE)):
        return declared
    # An extension whose declared output is the user's: the schema stands in the layer's config.
    key = reference.removeprefix(CONFIG_REFERENCE)
    configured = (config or {}).get(key)
    if not isinstance(configured, Mapping):
        return Fault("V25", f'the config gives no "{key}"', ("output_schema",), f"add `{key}` to its config")
    return configured


def _input_schema(
    received: Surface, extension: model.ToolExtension, kind: ExtensionKind
) -> JsonSchema | Fault:
    if kind.preserves_schema:
        return _reserve(received.input_schema, extension)
    if extension.input_schema is None and not kind.declares_schema:
        return received.input_schema  # V24
    return _declare(received.input_schema, extension, kind)


def _reserve(baseline: JsonSchema, extension: model.ToolExtension) -> JsonSchema | Fault:
    """V20: the baseline plus the reserved parameters, never required."""
    if not extension.reserved_params:
        return baseline
    for keyword in _CLOSING:
        if keyword in baseline:
            return Fault(
                "V20",
                f"the input schema it receives has `{keyword}` at its root (pointer /{keyword}), "
                "which may refuse an added parameter",
                ("reserved_params",),
                "put it outside a transformer that presents a plain object schema",
            )
    properties = baseline.get("properties", {})
    for name in extension.reserved_params:
        if name in properties:
            return Fault(
                "V20",
                f'the parameter "{name}" that it reserves is already a parameter of the schema it receives',
                ("reserved_params", name),
                "leave this layer out, or put a transformer that drops the parameter before it",
            )
    return {**baseline, "properties": {**properties, **extension.reserved_params}}


def _declare(baseline: JsonSchema, extension: model.ToolExtension, kind: ExtensionKind) -> JsonSchema | Fault:
    """V23, V24: the schema the extension gives, with the baseline where it refers to it."""
    declared = extension.input_schema
    if declared is None:
        if not extension.inherit_properties:
            return Fault("V23", "it gives no input schema", (), "add `input_schema` to the tool extension")
        declared = {"type": "object"}
    uses_baseline = extension.inherit_properties or _mentions_input(declared)
    if uses_baseline and kind.declares_schema:
        unmovable = _first_key(baseline, _UNMOVABLE)
        if unmovable:
            return Fault(
                "V23",
                f"the input schema it receives has `{unmovable[-1]}` at {_pointer(unmovable)}, "
                "so it cannot stand inside another schema",
                ("input_schema",),
                "extend a tool whose schema has no identifiers of its own",
            )
        declared = _inline(declared, (), baseline)
        if extension.inherit_properties:
            declared = dict(_inherit(declared, baseline))
        # The result takes the baseline's draft: its keywords mean what that draft says.
        declared = {k: v for k, v in declared.items() if k != "$schema"}
        if "$schema" in baseline:
            declared["$schema"] = baseline["$schema"]
    return _closed_object(declared)


def _closed_object(schema: JsonSchema) -> JsonSchema | Fault:
    """V23: an object schema with named properties, or with none."""
    if schema.get("type") != "object":
        return Fault(
            "V23", "its input schema is not of type object", ("input_schema",), "write `type: object`"
        )
    if schema.get("properties"):
        return schema
    for keyword in ("additionalProperties", "patternProperties", "unevaluatedProperties"):
        if schema.get(keyword, False) is not False:
            return Fault(
                "V23",
                f"its input schema is open to anything: `{keyword}` without `properties`",
                ("input_schema", keyword),
                "name the parameters under `properties`",
            )
    return schema


def _inherit(declared: JsonSchema, baseline: JsonSchema) -> JsonSchema:
    """``inherit_properties``: the baseline's properties and required list; a property declared here stands."""
    own = declared.get("properties", {})
    inherited = baseline.get("properties", {})
    required = [*baseline.get("required", ()), *declared.get("required", ())]
    merged = {**declared, "properties": {**inherited, **own}}
    if required:
        merged["required"] = list(dict.fromkeys(required))
    for keyword in _DEFINITIONS:
        if keyword in baseline:
            merged[keyword] = {**baseline[keyword], **declared.get(keyword, {})}
    return merged


def _mentions_input(schema: Any) -> bool:
    return _first(schema, lambda key, value: key == "$ref" and value == INPUT_REFERENCE) is not None


def _first_key(schema: Any, keys: tuple[str, ...]) -> tuple[str | int, ...]:
    """The path of the first schema keyword among ``keys``, or an empty path."""
    found = _first(schema, lambda key, value: key in keys and isinstance(value, str | bool))
    return found or ()


def _first(
    schema: Any, wanted: Callable[[str, Any], bool], named: bool = False
) -> tuple[str | int, ...] | None:
    """The path of the first key that is ``wanted``, depth first; keys of ``properties`` and the like are names."""
    stack: list[tuple[Any, tuple[str | int, ...], bool]] = [(schema, (), named)]
    while stack:
        value, path, are_names = stack.pop()
        if isinstance(value, Mapping):
            for key, item in value.items():
                if not are_names and wanted(key, item):
                    return (*path, key)
                if not are_names and key in _LITERAL:
                    continue
                stack.append((item, (*path, key), not are_names and key in _NAMED))
        elif isinstance(value, list | tuple):
            stack.extend((item, (*path, i), False) for i, item in enumerate(value))
    return None


# Below these keywords keys are names, not keywords; below the literal ones nothing is a schema.
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired")
_LITERAL = ("const", "enum", "default", "examples")


def _inline(schema: Any, at: tuple[str | int, ...], baseline: JsonSchema, named: bool = False) -> Any:
    """``schema`` with every ``{$ref: "symc:input"}`` replaced by the baseline, its local references re-based."""
    if isinstance(schema, list | tuple):
        return [_inline(item, (*at, i), baseline) for i, item in enumerate(schema)]
    if not isinstance(schema, Mapping):
        return schema
    if not named and schema.get("$ref") == INPUT_REFERENCE:
        siblings = {k: v for k, v in schema.items() if k != "$ref"}
        inner = {k: v for k, v in baseline.items() if k != "$schema"}
        if not siblings.keys() & (inner.keys() - {"description", "title"}):
            return {**_rebased(inner, at), **siblings}
        return {**siblings, "allOf": [_rebased(inner, (*at, "allOf", 0))]}
    return {
        key: item
        if not named and key in _LITERAL
        else _inline(item, (*at, key), baseline, named=not named and key in _NAMED)
        for key, item in schema.items()
    }


def _rebased(schema: Any, at: tuple[str | int, ...], named: bool = False) -> Any:
    """``schema`` with its local references (``#``, ``#/…``) pointing below ``at``."""
    if isinstance(schema, list | tuple):
        return [_rebased(item, at) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    moved: dict[str, Any] = {}
    for key, item in schema.items():
        if not named and key == "$ref" and isinstance(item, str) and item.startswith("#"):
            moved[key] = "#" + _pointer(at) + item[1:]
        elif not named and key in _LITERAL:
            moved[key] = item
        else:
            moved[key] = _rebased(item, at, named=not named and key in _NAMED)
    return moved


def _pointer(path: tuple[str | int, ...]) -> str:
    """The JSON pointer of a path, ready for a URI fragment."""
    from urllib.parse import quote

    tokens = (str(p).replace("~", "~0").replace("/", "~1") for p in path)
    return "".join("/" + quote(token, safe="~!$&'()*+,;=:@") for token in tokens)
