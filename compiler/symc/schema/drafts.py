"""The JSON Schema drafts symc knows, and where each keyword holds subschemas (docs/policies.md P35)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Draft:
    """One draft: the name people use, the URI of its meta-schema, and the two ways in which drafts differ here."""

    name: str
    uri: str
    id_keyword: str = "$id"
    ref_stands_alone: bool = False
    """Up to draft-07 whatever stands beside a ``$ref`` is ignored."""


DRAFT_04: Final = Draft("draft-04", "http://json-schema.org/draft-04/schema#", "id", ref_stands_alone=True)
DRAFT_06: Final = Draft("draft-06", "http://json-schema.org/draft-06/schema#", ref_stands_alone=True)
DRAFT_07: Final = Draft("draft-07", "http://json-schema.org/draft-07/schema#", ref_stands_alone=True)
DRAFT_2019_09: Final = Draft("2019-09", "https://json-schema.org/draft/2019-09/schema")
DRAFT_2020_12: Final = Draft("2020-12", "https://json-schema.org/draft/2020-12/schema")

DRAFTS: Final = (DRAFT_04, DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12)
"""All known drafts, oldest first."""


def _bare(uri: str) -> str:
    # Schemas in the wild write either scheme, and with or without the empty fragment.
    return uri.removesuffix("#").removeprefix("https://").removeprefix("http://")


_BY_URI: Final = {_bare(draft.uri): draft for draft in DRAFTS}


def draft_named(uri: object) -> Draft | None:
    """The draft that a ``$schema`` value names, or None."""
    return _BY_URI.get(_bare(uri)) if isinstance(uri, str) else None


def draft_of(schema: object) -> Draft | None:
    """The draft a schema declares, 2020-12 if it declares none; None for one that symc does not know."""
    if isinstance(schema, dict) and "$schema" in schema:
        return draft_named(schema["$schema"])
    return DRAFT_2020_12


class Role(Enum):
    """What a JSON value inside a schema document is."""

    SCHEMA = "a schema"
    SCHEMAS = "an array or object whose direct members are schemas"
    DATA = "anything else, such as an enum or a default"


KEYWORDS: Final = frozenset(
    [
        "$anchor",
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "$vocabulary",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "definitions",
        "dependentRequired",
        "dependentSchemas",
        "deprecated",
        "description",
        "else",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "readOnly",
        "required",
        "then",
        "title",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
        "writeOnly",
    ]
)
"""The keywords of 2020-12, with the older name of ``$defs``, where references may lead (source: its vocabularies)."""

_ONE: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_SEVERAL: Final = (
    "$defs",
    "allOf",
    "anyOf",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
)

# One table for all drafts: a keyword of another draft holds nothing that is evaluated, but what it holds is still
# a schema to its reader (`definitions` under 2020-12 is the common case).
_ROLES: Final = dict.fromkeys(_ONE, Role.SCHEMA) | dict.fromkeys(_SEVERAL, Role.SCHEMAS)


def role_of(keyword: str, value: Any) -> Role:
    """What the value of a schema's keyword is."""
    role = _ROLES.get(keyword, Role.DATA)
    # `items` was an array of schemas up to 2019-09.
    return Role.SCHEMAS if role is Role.SCHEMA and isinstance(value, list | tuple) else role


DEFINITIONS: Final = frozenset({"$defs", "definitions"})
"""Keywords that only store schemas for references."""

ANNOTATIONS: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
"""Keywords that say something to the reader and nothing about what is valid."""
