"""The published JSON Schemas of manifests: generated from the models and the rules of names (docs/manifests.md §7).

They describe what may be *written* — shorthands and ``x-`` keys included — so that an editor completes every key with
its description. What needs more than one document, or a sentence of its own, is left to the check stage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

from pydantic.fields import FieldInfo

from symc.contracts.names import EXTENSION_NAME, LOCAL_TOOL_NAME, MEMBER_ID, TOOL_EXTENSION_NAME, NameRule
from symc.contracts.vocabulary import EFFECTS, LEARNED_TIERS
from symc.manifest import model
from symc.manifest.keys import arms, written_keys
from symc.manifest.model import Node
from symc.manifest.shape import MODELS

JsonSchema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, JsonSchema]:
    """The schema of each kind of manifest (``workspace``, ``agent``, ``extension``); new values at each call."""
    return {kind: _Schema(kind).document() for kind in MODELS}


class _Schema:
    """One schema document while it is made: definitions are added as they are referred to."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.definitions: dict[str, JsonSchema] = {}

    def document(self) -> JsonSchema:
        body = self._object(MODELS[self.kind])
        head = {"$schema": DIALECT, "title": f"symc {self.kind} manifest"}
        return head | body | {"$defs": dict(sorted(self.definitions.items()))}

    def _object(self, node: type[Node]) -> JsonSchema:
        fields = {field.alias or name: field for name, field in node.model_fields.items()}
        properties = {key: self._property(node, key, fields[key]) for key in written_keys(node)}
        for key in self._forbidden(node):
            del properties[key]
        required = [key for key in properties if fields[key].is_required()]
        found: JsonSchema = {
            "description": _described(node),
            "type": "object",
            "properties": properties,
            "patternProperties": {"^x-": {"description": "Free-form, ignored."}},
            "additionalProperties": False,
        }
        if required:
            found["required"] = required
        return found | _TOGETHER.get(node, {})

    def _forbidden(self, node: type[Node]) -> tuple[str, ...]:
        # Only operators declare what changes with a run.
        return ("slot",) if node is model.Prompt and self.kind == "extension" else ()

    def _property(self, node: type[Node], key: str, field: FieldInfo) -> JsonSchema:
        found: JsonSchema = {"description": field.description} if field.description else {}
        found |= self._narrowed(node, key) or self._value(node, key, field.annotation)
        for bound in field.metadata:
            for attribute, keyword in _BOUNDS.items():
                if hasattr(bound, attribute):
                    found[keyword] = getattr(bound, attribute)
        if isinstance(field.default, str | int | bool) and field.default != "" and not field.is_required():
            found["default"] = field.default
        return found

    def _narrowed(self, node: type[Node], key: str) -> JsonSchema | None:
        """What an extension's fragment may say (X-15), and the keys that have a rule of their own."""
        if node is model.Prompt and self.kind == "extension":
            if key == "layer":
                return {"enum": ["l1"]}
            if key == "tier":
                return {"enum": list(LEARNED_TIERS)}
        if rule := _NAMES.get((node, key)):
            return _named(rule)
        if (node, key) in _EFFECTS:
            found: JsonSchema = {"type": "array", "items": {"enum": list(EFFECTS)}}
            return found | ({"minItems": 1} if (node, key) in _NOT_EMPTY else {})
        return self._variants() if (node, key) == (model.Agent, "variants") else None

    def _value(self, node: type[Node], key: str, annotation: Any) -> JsonSchema:
        options = [self._type(arm) for arm in arms(annotation)]
        if (node, key) in _NOT_EMPTY:
            options[0]["minItems"] = 1
        if {"type": "number"} in options:  # every integer is a number
            options = [option for option in options if option != {"type": "integer"}]
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _type(self, annotation: Any) -> JsonSchema:
        if annotation in _SCALARS:
            return {"type": _SCALARS[annotation]}
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return {"enum": list(arguments)} if len(arguments) > 1 else {"const": arguments[0]}
        if origin in (tuple, list):
            return {"type": "array", "items": self._union(arguments[0])}
        if origin is dict:
            members = {} if arguments[1] is Any else {"additionalProperties": self._union(arguments[1])}
            return {"type": "object", **members}
        return self._reference(annotation)

    def _union(self, annotation: Any) -> JsonSchema:
        options = [self._type(arm) for arm in arms(annotation)]
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _reference(self, node: type[Node]) -> JsonSchema:
        name = node.__name__
        if name not in self.definitions:
            self.definitions[name] = {}  # holds the place while its parts are made
            self.definitions[name] = self._object(node)
        reference: JsonSchema = {"$ref": f"#/$defs/{name}"}
        return {"anyOf": [{"type": "string"}, reference]} if node in _SHORT else reference

    def _variants(self) -> JsonSchema:
        """V2: a list of layers is one chain, a list of lists or chains several."""
        layers: JsonSchema = {"type": "array", "minItems": 1, "items": self._reference(model.ChainElement)}
        chains = {"anyOf": [layers, self._reference(model.Chain)]}
        several: JsonSchema = {"type": "array", "minItems": 1, "items": chains}
        return {"type": "object", "additionalProperties": {"anyOf": [layers, several]}}


def _described(node: type[Node]) -> str:
    """The first paragraph of a model's docstring, for people who have no repository."""
    paragraph = (node.__doc__ or "").split("\n\n")[0].replace("``", "`")
    return re.sub(r" \(docs/[^)]*\)", "", " ".join(paragraph.split()))


def _named(rule: NameRule) -> JsonSchema:
    return {"type": "string", "pattern": f"^(?:{rule.pattern.pattern})$", "maxLength": rule.longest}


def _one_of(*keys: str) -> JsonSchema:
    return {"oneOf": [{"required": [key]} for key in keys]}


_SCALARS: Final[Mapping[Any, str]] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_BOUNDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
_SHORT: Final = frozenset((model.Use, model.Delegate, model.ChainElement))
_EFFECTS: Final = frozenset(((model.Agent, "grants"), (model.Policy, "actions")))
_NOT_EMPTY: Final = frozenset(
    (
        (model.Chain, "chain"),
        (model.Policy, "actions"),
        (model.Rule, "tools"),
        (model.Server, "command"),
        (model.VariantSelector, "chain"),
    )
)
_NAMES: Final[Mapping[tuple[type[Node], str], NameRule]] = {
    (model.Workspace, "name"): EXTENSION_NAME,
    (model.Agent, "name"): EXTENSION_NAME,
    (model.Extension, "name"): EXTENSION_NAME,
    (model.Prompt, "fragment_id"): MEMBER_ID,
    (model.Policy, "policy_id"): MEMBER_ID,
    (model.Hook, "hook_id"): MEMBER_ID,
    (model.Tool, "name"): LOCAL_TOOL_NAME,
    (model.ToolRow, "as"): LOCAL_TOOL_NAME,
    (model.Chain, "as"): LOCAL_TOOL_NAME,
    (model.ToolExtension, "name"): TOOL_EXTENSION_NAME,
    (model.Use, "prefix"): TOOL_EXTENSION_NAME,
}
_TOGETHER: Final[Mapping[type[Node], JsonSchema]] = {
    model.Prompt: _one_of("text", "file", "slot"),
    model.Policy: _one_of("deny", "ask", "decide"),
    model.Server: _one_of("command", "url"),
    model.Tool: {"required": ["name", "invoke"]},
    model.Extension: {
        "anyOf": [{"required": ["version"]}, {"required": ["mcp"]}],
        "dependentRequired": {"pin": ["mcp"]},
        "dependentSchemas": {"mcp": {"properties": {"tools": False}}},
    },
}
"""Keys that need, or exclude, one another."""
