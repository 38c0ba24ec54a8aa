"""Conditions: what is wrong with the ``when`` of a rule, alone and against the tools it names (docs/policies.md P12–P13).

A ``when`` that is wrong is worse than none: the rule is there, reviewed, and does not stop what it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symc.compose.contradiction import NUMERIC, TYPES, contradiction, types_of
from symc.compose.vetoes import Veto
from symc.diagnostics import Diagnostic, Edit, Hint, LabelledSpan, Span
from symc.diagnostics.codes import policies as codes
from symc.diagnostics.suggest import did_you_mean
from symc.schema.drafts import DRAFT_2020_12, draft_of
from symc.schema.references import Document, Target
from symc.schema.survey import Tokens


@dataclass(frozen=True, slots=True)
class Named:
    """A tool whose arguments a rule's condition sees.

    ``name`` is for people; ``alone`` tells that the rule names it by itself and not by a pattern; ``span`` gives the place
    of its definition, or of a part of it.
    """

    name: str
    alone: bool
    input_schema: Mapping[str, Any]
    span: Callable[..., Span]


_STRING: Final = frozenset({"string"})
_ABOUT: Final = {
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"), NUMERIC),
    **dict.fromkeys(("format", "maxLength", "minLength", "pattern"), _STRING),
    **dict.fromkeys(
        ("contains", "items", "maxItems", "minItems", "prefixItems", "uniqueItems"), frozenset({"array"})
    ),
    **dict.fromkeys(
        (
            "additionalProperties",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "required",
        ),
        frozenset({"object"}),
    ),
}
"""Keywords, and the types of value that they say something about; every other value passes them."""

_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf")
_NEGATABLE: Final = ("not", "if", "then", "else")
_PATH_WORDS: Final = frozenset(
    {
        "cwd",
        "dir",
        "directories",
        "directory",
        "dirs",
        "file",
        "filename",
        "filenames",
        "filepath",
        "filepaths",
    }
    | {"files", "folder", "folders", "path", "paths"}
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def conditions(veto: Veto, tools: Sequence[Named]) -> list[Diagnostic]:
    """Everything that is wrong with the rule's condition; ``tools`` are those whose arguments it sees."""
    when = veto.policy.when
    if when is None or when is True:
        return []
    if when is False:
        return [_never(veto, (), "its condition is `false`")]
    found = list(_impossible(veto, when))
    found.extend(_against_schemas(veto, when, tools))
    found.extend(_untyped(veto, when, tools))
    found.extend(_path_patterns(veto, when))
    return found


def _never(veto: Veto, path: Tokens, why: str) -> Diagnostic:
    return codes.POLICY_NEVER_FIRES.at(
        veto.span("when", *path),
        f'policy "{veto.id}" never fires: {why}',
        hint="correct the condition, or remove the rule",
        subject=veto.owned.owner,
    )


def _impossible(veto: Veto, when: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """P12: a condition that no arguments satisfy, or that a property can satisfy only by being absent."""
    whole = contradiction(when, frozenset({"object"}))
    if whole is not None:
        yield _never(veto, whole.path, whole.reason)
        return
    for path, name, schema in _properties(when):
        inner = contradiction(schema)
        if inner is not None:
            yield codes.POLICY_NEVER_FIRES.at(
                veto.span("when", *path, *inner.path),
                f'policy "{veto.id}" never fires where `{name}` is given: {inner.reason}',
                hint="correct the condition on it",
                subject=veto.owned.owner,
            )


def _against_schemas(veto: Veto, when: Mapping[str, Any], tools: Sequence[Named]) -> Iterator[Diagnostic]:
    """P13: properties that no tool has, and values that no tool accepts.

    Each tool that is named by itself is held to the condition; of those a pattern matches, one that fits will do.
    """
    known = [(tool, _Shape.of(tool.input_schema)) for tool in tools]
    if not known:
        return
    required = frozenset(_required(when))
    for path, prop in _mentioned(when).items():
        lacking = _offending([tool for tool, shape in known if not shape.has(prop)], known)
        if not lacking:
            continue
        nearest = did_you_mean(prop, sorted({one for _, shape in known for one in shape.properties}))
        never = prop in required
        yield codes.CONDITION_PROPERTY_UNKNOWN.at(
            _place_of(veto, path),
            f"{_have([tool.name for tool in lacking])} no property `{prop}`"
            + (f', so policy "{veto.id}" never fires' if never else ""),
            secondary=(LabelledSpan(lacking[0].span("input_schema"), f"the arguments of {lacking[0].name}"),),
            notes=() if never else (f'policy "{veto.id}" decides as if it did not mention `{prop}`',),
            hint=f'did you mean "{nearest}"?' if nearest else "name a property of the tool's input schema",
            subject=veto.owned.owner,
        )
    for path, prop, schema in _properties(when):
        if contradiction(schema) is not None:
            continue  # said already
        reasons = {id(tool): shape.conflict(prop, schema) for tool, shape in known}
        clashing = _offending([tool for tool, _ in known if reasons[id(tool)] is not None], known)
        if not clashing:
            continue
        first = clashing[0]
        yield codes.CONDITION_AGAINST_SCHEMA.at(
            veto.span("when", *path),
            f'policy "{veto.id}" never fires where `{prop}` is given to {first.name}: {reasons[id(first)]}',
            secondary=(
                LabelledSpan(first.span("input_schema", "properties", prop), f"what {first.name} accepts"),
            ),
            hint="write the condition in the type and range of the tool's input schema",
            subject=veto.owned.owner,
        )


def _offending(found: Sequence[Named], known: Sequence[tuple[Named, _Shape]]) -> Sequence[Named]:
    """Of the tools that do not fit a condition, those to speak of: each named by itself, else all if none fits."""
    alone = [tool for tool in found if tool.alone]
    return alone or (found if len(found) == len(known) else ())


def _place_of(veto: Veto, path: Tokens) -> Span:
    """Where a property is named: its key under ``properties``, its item under ``required``."""
    if path[-2] == "required":
        return veto.span("when", *path)
    place = veto.owned.place
    return place.manifest.key_span(*place.path, veto.policy.effect, "when", *path)


def _have(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown} {'has' if len(names) == 1 else 'have'}"


def _untyped(veto: Veto, when: Mapping[str, Any], tools: Sequence[Named]) -> Iterator[Diagnostic]:
    """P13: keywords that let every value of another type pass."""
    for path, name, keyword, about in _loose(when, (), "", frozenset({"object"})):
        kind = _fitting(name, about, tools)
        yield codes.CONDITION_PROPERTY_UNTYPED.at(
            veto.span("when", *path),
            f"`{keyword}` of `{name}` lets every value pass that is no {_noun(about)}: its `type` is not fixed",
            hint=_add_type(veto, path, kind),
            subject=veto.owned.owner,
        )


def _loose(
    schema: Any, path: Tokens, name: str, types: frozenset[str]
) -> Iterator[tuple[Tokens, str, str, frozenset[str]]]:
    """Subschemas of properties with keywords about less than the types that their value may have."""
    if not isinstance(schema, Mapping):
        return
    fixed = types & types_of(schema)
    if name:
        for keyword in schema:
            about = _ABOUT.get(keyword)
            if about is not None and not fixed <= about:
                yield path, name, keyword, about
                break  # one type settles them all
    for keyword in _SAME_VALUE:
        for index, one in enumerate(schema.get(keyword, ())):
            yield from _loose(one, (*path, keyword, index), name, fixed)
    for keyword in _NEGATABLE:
        if keyword in schema:
            yield from _loose(schema[keyword], (*path, keyword), name, fixed)
    for key, one in _members(schema, "properties").items():
        yield from _loose(one, (*path, "properties", key), key, TYPES)
    for keyword in ("items", "contains", "additionalProperties"):
        if keyword in schema:
            yield from _loose(schema[keyword], (*path, keyword), name or keyword, TYPES)


def _fitting(name: str, about: frozenset[str], tools: Sequence[Named]) -> str:
    """The type to write: what the tools say of the property, where they agree, else what the keyword is about."""
    said: set[str] = set()
    for tool in tools:
        declared = _members(tool.input_schema, "properties").get(name)
        kind = declared.get("type") if isinstance(declared, Mapping) else None
        said.update({kind} if isinstance(kind, str) else ())
    return min(said) if len(said) == 1 and said <= about else _noun(about)


def _add_type(veto: Veto, path: Tokens, kind: str) -> Hint:
    place = veto.owned.place
    at = (*place.path, veto.policy.effect, "when", *path)
    raw = place.manifest.document.raw(*at)
    edit = None
    if raw.startswith("{") and '"type"' not in raw and "type:" not in raw:
        edit = Edit(place.manifest.span(*at), f"{{type: {kind}, {raw[1:].lstrip()}")
    return Hint(f"add `type: {kind}`", edit)


def _noun(about: frozenset[str]) -> str:
    return "number" if about is NUMERIC else min(about)


def _path_patterns(veto: Veto, when: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """P13: a pattern sees the letters of a path, and not where it leads."""
    for path, name in _patterned(when, (), ""):
        yield codes.CONDITION_PATH_PATTERN.at(
            veto.span("when", *path),
            f"a pattern on `{name}` is no sandbox: `src/../.env` begins with `src/` and leads out of it",
            hint="keep the boundary where paths are resolved: in the tool, or in its server's own settings",
            subject=veto.owned.owner,
        )


def _patterned(schema: Any, path: Tokens, name: str) -> Iterator[tuple[Tokens, str]]:
    if not isinstance(schema, Mapping):
        return
    if "pattern" in schema and _PATH_WORDS.intersection(word.lower() for word in _WORD.findall(name)):
        yield (*path, "pattern"), name
    for keyword in _SAME_VALUE:
        for index, one in enumerate(schema.get(keyword, ())):
            yield from _patterned(one, (*path, keyword, index), name)
    for keyword in (*_NEGATABLE, "items", "contains"):
        if keyword in schema:
            yield from _patterned(schema[keyword], (*path, keyword), name)
    for key, one in _members(schema, "properties").items():
        yield from _patterned(one, (*path, "properties", key), key)


def _members(schema: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, Mapping) else {}


def _properties(schema: Any, path: Tokens = ()) -> Iterator[tuple[Tokens, str, Any]]:
    """The properties of the arguments that must be as their subschema says, where they are given."""
    if not isinstance(schema, Mapping):
        return
    for name, one in _members(schema, "properties").items():
        yield (*path, "properties", name), name, one
    for index, one in enumerate(schema.get("allOf", ())):
        yield from _properties(one, (*path, "allOf", index))


def _required(schema: Any) -> Iterator[str]:
    """The properties without which the condition does not hold."""
    if isinstance(schema, Mapping):
        yield from schema.get("required", ())
        for one in schema.get("allOf", ()):
            yield from _required(one)


def _mentioned(when: Mapping[str, Any]) -> dict[Tokens, str]:
    """Every property of the arguments that the condition speaks of, by the first place where it does."""
    first: dict[str, Tokens] = {}
    waiting: list[tuple[Any, Tokens]] = [(when, ())]
    while waiting:
        schema, path = waiting.pop(0)
        if not isinstance(schema, Mapping):
            continue
        for name in _members(schema, "properties"):
            first.setdefault(name, (*path, "properties", name))
        for index, name in enumerate(schema.get("required", ())):
            first.setdefault(name, (*path, "required", index))
        for keyword in _SAME_VALUE:
            waiting += [(one, (*path, keyword, i)) for i, one in enumerate(schema.get(keyword, ()))]
        waiting += [(schema[keyword], (*path, keyword)) for keyword in _NEGATABLE if keyword in schema]
    return {path: name for name, path in first.items()}


class _Shape:
    """The properties that a tool's input schema declares, wherever in it, and whether it takes others."""

    __slots__ = ("is_open", "properties")

    def __init__(self, properties: Mapping[str, Sequence[Any]], *, is_open: bool) -> None:
        self.properties = properties
        self.is_open = is_open

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> _Shape:
        """The shape of an input schema; where a reference leads nowhere, everything may be there."""
        properties: dict[str, list[Any]] = {}
        is_open = False
        document: Document | None = None
        waiting: list[Any] = [schema]
        seen: set[int] = set()
        while waiting:
            one = waiting.pop()
            if not isinstance(one, Mapping) or id(one) in seen:
                continue
            seen.add(id(one))
            for name, inner in _members(one, "properties").items():
                properties.setdefault(name, []).append(inner)
            # Only a schema that says so takes more: most leave out `additionalProperties` and mean no others.
            is_open |= one.get("additionalProperties", False) is not False or "patternProperties" in one
            is_open |= one.get("unevaluatedProperties", False) is not False
            for keyword in _SAME_VALUE:
                waiting.extend(one.get(keyword, ()))
            waiting.extend(one[keyword] for keyword in ("if", "then", "else") if keyword in one)
            waiting.extend(_members(one, "dependentSchemas").values())
            if "$ref" in one or "$dynamicRef" in one:
                if document is None:
                    document = Document(dict(schema), draft_of(schema) or DRAFT_2020_12)
                target = document.resolve(str(one.get("$ref", one.get("$dynamicRef"))), "")
                waiting.append(
                    target.schema if isinstance(target, Target) else {"additionalProperties": True}
                )
        return cls(properties, is_open=is_open)

    def has(self, name: str) -> bool:
        """Whether arguments may have a property of this name."""
        return self.is_open or name in self.properties

    def conflict(self, name: str, condition: Any) -> str | None:
        """Why no value of the property can satisfy the condition; None where one may."""
        declared = self.properties.get(name, ())
        if len(declared) != 1:  # not there, or several alternatives: nothing is certain
            return None
        both = contradiction({"allOf": [declared[0], condition]})
        return None if both is None else both.reason
