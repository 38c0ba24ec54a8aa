"""One input schema under one profile: what the provider refuses in it, and what symc sends instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from symc.canonical import pointer
from symc.diagnostics import Code, Level
from symc.diagnostics.codes import pins as codes
from symc.profiles.adapt import (
    Schema,
    add_properties,
    add_type,
    can_split,
    positions,
    split_types,
    types_of,
)
from symc.profiles.profile import ADAPTATIONS, Profile, Rule
from symc.schema import CannotInlineError, Tokens, inline_refs

_RULES_OF_SCHEMAS: Final = frozenset(
    {
        "root-type",
        "root-combinators",
        "property-keys",
        "references",
        "single-type",
        "array-items",
        "object-properties",
        "schema-depth",
    }
)
_NESTING: Final = frozenset(
    {"additionalProperties", "items", "patternProperties", "prefixItems", "properties"}
)
# Where `true` and `false` are how everybody opens and closes an object, and providers take them.
_OPEN_OR_CLOSED: Final = frozenset(
    {"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"}
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing in a schema that the provider refuses: the rule it breaks, where, and the rest of the sentence."""

    code: Code
    rule: Rule
    path: Tokens
    sentence: str
    hint: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A schema as the provider gets it, the names of the adaptations that made it so, and what is refused."""

    schema: Schema
    adaptations: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def examine(profile: Profile, schema: Schema) -> Examined:
    """The input schema of one tool under ``profile``; it must have passed ``symc.schema.check``.

    Every fault points into ``schema`` as it was given. With an error among them the result's schema is that one.
    """
    if _RULES_OF_SCHEMAS.isdisjoint(profile.rules):
        return Examined(schema)
    faults = [*_root(profile, schema), *_everywhere(profile, schema)]
    adapted = schema
    names: list[str] = []
    for name in ADAPTATIONS:
        rule = next((rule for rule in profile.rules.values() if rule.adaptation == name), None)
        if rule is None or any(fault.rule.level is Level.ERROR for fault in faults):
            continue
        try:
            changed = _CHANGES[name](adapted)
        except CannotInlineError as error:
            faults.append(_not_inlined(profile, rule, error))
            continue
        if changed != adapted:
            adapted, names = changed, [*names, name]
    if adapted is not schema and not faults:
        # Only laying a reference's target and its neighbours together can bring forth what no part of it had.
        faults += [replace(fault, path=()) for fault in _everywhere(profile, adapted)]
    faults += _depth_of(profile, adapted)
    if any(fault.rule.level is Level.ERROR for fault in faults):
        return Examined(schema, (), tuple(faults))
    return Examined(adapted, tuple(names), tuple(faults))


def _root(profile: Profile, schema: Schema) -> Iterator[Fault]:
    if rule := profile.rule("root-combinators"):
        for keyword in sorted(schema.keys() & set(rule.keywords)):
            yield Fault(
                codes.SCHEMA_ROOT_COMBINATOR,
                rule,
                (keyword,),
                f"has `{keyword}` at the root of its input schema (/{keyword}), which {_refuses(profile, rule)}",
                "move it into a property, or say it in the description and check it in the tool",
            )
    rule = profile.rule("property-keys")
    properties = schema.get("properties")
    if rule and rule.pattern and isinstance(properties, dict):
        for key in properties:
            if not rule.pattern.fullmatch(key):
                yield Fault(
                    codes.SCHEMA_PROPERTY_KEY,
                    rule,
                    ("properties", key),
                    f"has the parameter {json.dumps(key, ensure_ascii=False)} ({pointer(('properties', key))});"
                    f" {profile.name} allows {rule.legal}",
                    "rename the parameter, or mint a variant whose schema names it otherwise",
                )


def _everywhere(profile: Profile, schema: Schema) -> Iterator[Fault]:
    items, single = profile.rule("array-items"), profile.rule("single-type")
    if not items and not single:
        return
    for path, node in positions(schema):
        if items and "array" in types_of(node) and "items" not in node:
            yield Fault(
                codes.SCHEMA_ARRAY_ITEMS,
                items,
                path,
                f"has an array without `items` at {pointer(path)}, which {_refuses(profile, items)}",
                "say under `items` what the array holds",
            )
        if single and (why := _not_one_type(path, node)):
            sentence = f"{why} at {pointer(path)}, which {_refuses(profile, single)}"
            hint = "name one type, or alternatives under `anyOf`"
            yield Fault(codes.SCHEMA_UNION_TYPE, single, path, sentence, hint)


def _refuses(profile: Profile, rule: Rule) -> str:
    return f"{profile.name} {'refuses' if rule.level is Level.ERROR else 'may refuse'}"


def _not_one_type(path: Tokens, node: Any) -> str:
    if isinstance(node, bool):
        if path and path[-1] not in _OPEN_OR_CLOSED:
            return f"has the schema `{json.dumps(node)}`, naming no type,"
    elif not isinstance(node.get("type", ""), str) and not can_split(node):
        return f"has a union of types ({', '.join(types_of(node))}) without an equal of single types"
    return ""


def _inlined(schema: Schema) -> Schema:
    has_references = any("$ref" in node for _, node in positions(schema) if isinstance(node, dict))
    return inline_refs(schema) if has_references else schema


_CHANGES: Final[Mapping[str, Callable[[Schema], Schema]]] = {
    "inline-refs": _inlined,
    "split-types": split_types,
    "add-type": add_type,
    "add-properties": add_properties,
}


def _not_inlined(profile: Profile, rule: Rule, error: CannotInlineError) -> Fault:
    return Fault(
        codes.SCHEMA_REF_UNSUPPORTED,
        rule,
        error.path,
        f"has a reference at {pointer(error.path)} that cannot be inlined, and {profile.name} takes none: {error.reason}",
        "give the tool a schema without the reference in a variant, or leave the tool out",
    )


def _depth_of(profile: Profile, schema: Schema) -> Iterator[Fault]:
    rule = profile.rule("schema-depth")
    if rule is None:
        return
    levels: dict[Tokens, int] = {}
    for path, _ in positions(schema):
        parent = path[:-1] if path[:-1] in levels else path[:-2]
        deeper = bool(path) and path[len(parent)] in _NESTING
        levels[path] = levels.get(parent, 1) + deeper
    if (depth := max(levels.values())) > rule.limit:
        yield Fault(
            codes.SCHEMA_TOO_NESTED,
            rule,
            (),
            f"has an input schema of {depth} levels; {profile.name} follows {rule.limit}",
            "make the arguments flatter",
        )
