"""Whether a tool's schema is one that symc, a validator and a reviewer can rely on (docs/policies.md P35)."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

import jsonschema_rs

from symc import hidden
from symc.canonical import pointer
from symc.diagnostics import Code, Diagnostic, Report, Span
from symc.diagnostics.codes import pins as codes
from symc.diagnostics.suggest import did_you_mean
from symc.schema.drafts import DRAFTS, Draft, draft_named, draft_of
from symc.schema.references import Document, Unresolved
from symc.schema.survey import MAX_DEPTH, REFERENCES, SCOPES, Survey, Tokens, survey, texts, tokens
from symc.schema.validator import BACKTRACKING, UnusableSchemaError, Validator
from symc.schema.wording import closest, errors_of, located, sentence

Locate: TypeAlias = Callable[[Tokens], Span]
"""Where the value at a path inside the schema was written."""

_KNOWN = ", ".join(draft.name for draft in DRAFTS)

_LONGEST_EXPLAINED: Final = 1_000
"""Characters of a pattern that is parsed once more to say what is wrong with it."""

_MOST_PARTS: Final = 1_000
"""Parts of a schema of which every mistake is told; of a larger one, one mistake at a time."""


def check(
    schema: object,
    locate: Locate,
    subject: str,
    *,
    what: str = "schema",
    arguments: bool = False,
    shows_all: bool = False,
    is_plain: bool = False,
) -> tuple[Diagnostic, ...]:
    """All that is wrong with one schema; empty when it is sound, and then ``Validator`` takes it.

    ``locate`` gives the place of a path inside the schema, ``subject`` names its owner (``files/read_file``) and
    ``what`` the schema itself in messages (``input schema``). With ``arguments`` it must describe an object. With
    ``shows_all`` its texts are known to hold nothing hidden, with ``is_plain`` it is known to be nested within bounds
    and to have no keyword with ``$`` in it: of most files both are told at once, for all their schemas.
    """
    if shows_all and is_plain and _is_sound(schema, arguments):
        return ()
    if isinstance(schema, dict | bool):
        return _Check(schema, locate, subject, what).run(arguments, shows_all)
    message = f"the {_owned(what, subject)} is {_shown(schema)}; a JSON Schema is an object or a boolean"
    return (codes.SCHEMA_INVALID.at(locate(()), message, subject=subject),)


def _is_sound(schema: object, arguments: bool) -> bool:
    # Without `$schema` the dialect is 2020-12, and what else would need a look has a `$` in its name, or is a pattern.
    return (
        isinstance(schema, dict)
        and (not arguments or schema.get("type", "object") == "object")
        and jsonschema_rs.meta.is_valid(schema)
        and all(_is_pattern(pattern) for pattern in _perhaps_patterns(schema))
    )


def _perhaps_patterns(schema: dict[str, Any]) -> Iterator[str]:
    """Every pattern in the schema, and what only looks like one: told without asking what stands where a schema is due."""
    todo: list[Any] = [schema]
    for node in todo:  # grows while it is walked
        if node.__class__ is list:
            todo += [item for item in node if item.__class__ is dict or item.__class__ is list]
            continue
        if isinstance(pattern := node.get("pattern"), str):
            yield pattern
        if isinstance(patterns := node.get("patternProperties"), dict):
            yield from patterns
        todo += [item for item in node.values() if item.__class__ is dict or item.__class__ is list]


class _Check:
    """One run over one schema: collects, never raises."""

    def __init__(self, schema: dict[str, Any] | bool, locate: Locate, subject: str, what: str) -> None:
        self.schema = schema
        self.locate = locate
        self.subject = subject
        self.what = _owned(what, subject)
        self.report = Report()

    def run(self, arguments: bool, shows_all: bool) -> tuple[Diagnostic, ...]:
        found = survey(self.schema) if isinstance(self.schema, dict) else Survey()
        if found.too_deep is not None:
            self._add(
                codes.SCHEMA_TOO_DEEP, tokens(found.too_deep), f"is nested deeper than {MAX_DEPTH} levels"
            )
            return self.report.diagnostics
        if not shows_all:
            self._hidden_texts()
        if (draft := self._draft(found)) is not None and self._is_valid(draft):
            if arguments:
                self._describes_object()
            self._patterns(found)
            if any(not SCOPES.isdisjoint(node) for _, node in found.notable):
                self._references(found, draft)
        return self.report.diagnostics

    def _add(self, code: Code, path: Tokens, fault: str, *, hint: str | None = None) -> None:
        message = f"the {self.what}: {_short(pointer(path))} {fault}" if path else f"the {self.what} {fault}"
        self.report.add(code.at(self.locate(path), message, hint=hint, subject=self.subject))

    def _hidden_texts(self) -> None:
        for path, text in texts(self.schema):
            for _, said in hidden.told(text):
                self._add(codes.HIDDEN_TOOL_TEXT, path, f"holds {said}")

    def _describes_object(self) -> None:
        if isinstance(self.schema, bool):
            self._add(
                codes.SCHEMA_NOT_OBJECT, (), f"is {_shown(self.schema)}; arguments are always an object"
            )
        elif self.schema.get("type", "object") != "object":
            fault = f"is {_shown(self.schema['type'])}; arguments are always an object"
            self._add(codes.SCHEMA_NOT_OBJECT, ("type",), fault, hint='write "type": "object"')

    def _draft(self, found: Survey) -> Draft | None:
        # An inner `$schema` is ignored by validators unless it starts a resource; unknown, it is refused all the same.
        unknown = [
            place
            for place, node in found.notable
            if "$schema" in node and draft_named(node["$schema"]) is None
        ]
        for place in unknown:
            path = (*tokens(place), "$schema")
            fault = f"names the unknown dialect {_shown(_at(self.schema, path))}; known are {_KNOWN}"
            self._add(codes.SCHEMA_DIALECT, path, fault)
        return None if unknown else draft_of(self.schema)

    def _is_valid(self, draft: Draft) -> bool:
        # The fast answer first: sound schemas are nearly all, and the errors cost a hundred times as much.
        if jsonschema_rs.meta.is_valid(self.schema):
            return True
        said = set()
        for violation in errors_of(_meta_schema(draft), self.schema, most=_MOST_PARTS):
            nearest = closest(violation)
            path = located(nearest.instance_path, self.schema)
            value = _at(self.schema, path)
            fault = f"is {_shown(value)}; it {sentence(nearest)}"
            hint = None
            if type(nearest.kind).__name__ in {"Required", "AdditionalProperties"}:
                fault = sentence(nearest)
            elif isinstance(value, str) and type(nearest.kind).__name__ == "Enum":
                meant = did_you_mean(value, [name for name in nearest.kind.options if isinstance(name, str)])
                hint = f'did you mean "{meant}"?' if meant else None
            if (path, fault) not in said:
                said.add((path, fault))
                self._add(codes.SCHEMA_INVALID, path, f"{fault} (JSON Schema {draft.name})", hint=hint)
        return False

    def _patterns(self, found: Survey) -> None:
        for path, pattern in _patterns(found):
            if not _is_pattern(pattern):
                fault = f"holds {_shown(pattern)}, which is no regular expression that can be matched{_why(pattern)}"
                self._add(codes.SCHEMA_PATTERN, path, fault, hint="correct the pattern")

    def _references(self, found: Survey, draft: Draft) -> None:
        document = Document(self.schema, draft)
        seen = {id(node) for _, node in found.notable}
        todo = [(tokens(place), node) for place, node in found.notable]
        for path, node in todo:  # grows while it is walked
            for keyword in REFERENCES:
                if not isinstance(reference := node.get(keyword), str):
                    continue
                target = document.resolve(reference, document.base_at(path))
                if isinstance(target, Unresolved):
                    self._unresolved(target, (*path, keyword), reference)
                elif isinstance(target.schema, dict) and id(target.schema) not in seen:
                    # It points into a place that is no schema by its keyword, such as an `x-` key.
                    seen.add(id(target.schema))
                    inner = survey(target.schema)
                    todo += [((*target.path, *tokens(p)), n) for p, n in inner.notable]
        if not self.report.failed:
            self._compiles()

    def _unresolved(self, why: Unresolved, path: Tokens, reference: str) -> None:
        fault = f"is {_shown(reference)}: {why.value}"
        if why is Unresolved.REMOTE:
            self._add(codes.SCHEMA_REF_REMOTE, path, f"{fault}, and nothing is fetched")
        else:
            self._add(codes.SCHEMA_REF_DANGLING, path, fault)

    def _compiles(self) -> None:
        # The last word on identifiers and references is the engine's that will check arguments.
        try:
            Validator(self.schema)
        except UnusableSchemaError as error:
            self._add(codes.SCHEMA_INVALID, (), f"cannot be compiled: {error}")


def _owned(what: str, subject: str) -> str:
    return f'{what} of "{subject}"' if subject else what


def _patterns(found: Survey) -> Iterator[tuple[Tokens, str]]:
    for place, node in found.notable:
        if isinstance(pattern := node.get("pattern"), str):
            yield (*tokens(place), "pattern"), pattern
        if isinstance(patterns := node.get("patternProperties"), dict):
            for pattern in patterns:
                yield (*tokens(place), "patternProperties", pattern), pattern


@lru_cache(maxsize=4096)
def _is_pattern(pattern: str) -> bool:
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=BACKTRACKING, offline=True)
    except ValueError:
        return False
    return True


def _why(pattern: str) -> str:
    """What is wrong with a pattern, where Python's parser sees it, too: the validator's own words are about its insides."""
    if len(pattern) > _LONGEST_EXPLAINED:
        return ""
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        at = "" if error.pos is None else f", at its character {error.pos + 1}"
        return f": {error.msg}{at}"
    except (RecursionError, OverflowError):
        pass
    return ""


@lru_cache(maxsize=len(DRAFTS))
def _meta_schema(draft: Draft) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({"$schema": draft.uri, "$ref": draft.uri}, offline=True)


def _at(value: Any, path: Tokens) -> Any:
    for step in path:
        value = value[step]
    return value


def _shown(value: object) -> str:
    """A value as JSON on one line, long ones shortened; what is hidden in it stays visible."""
    try:
        text = hidden.escape_hidden(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"
    return _short(text)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:80]} … {text[-30:]}"
