"""What is wrong with a YAML text, as diagnostics (docs/manifests.md §1)."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from yaml import YAMLError
from yaml.events import (
    AliasEvent,
    ScalarEvent,
)

from symc.diagnostics import Code, Diagnostic, Edit, Hint, LabelledSpan, Position, Report, Span
from symc.diagnostics.codes import reading
from symc.source.events import ParserEvent
from symc.source.rereading import duplicate_keys, question_marks
from symc.source.syntax import syntax_error
from symc.source.texts import Lines, unclean
from symc.source.yaml_places import yaml_places

AT_MOST = 1_000
"""Mistakes of one file that are collected: a damaged file of 64 MiB must not fill the memory with its diagnostics."""

TOO_MANY = f"the search in this file ends after {AT_MOST} mistakes"

_ANCHOR = re.compile(r"[&*]([0-9A-Za-z_-]*)(\S?)")
_TAG = re.compile(r"!(?:<[^>\s]*>|[^\s,\[\]{}]*)")
_QUOTE_PATTERNS = 'quote patterns: "*" at the start of unquoted text is an alias in YAML'


class TooManyError(Exception):
    """So many mistakes are found that nobody looks for more."""


class Findings:
    """Collects the mistakes of one YAML text, in the user's words and with their places."""

    def __init__(self, path: str, text: bytes) -> None:
        self._path = path
        self._bytes = text
        self._report = Report()
        self._keys_repeat = False

    def concluded(self) -> tuple[Diagnostic, ...]:
        """All that was found, in report order."""
        if self._keys_repeat:
            with suppress(TooManyError):
                self._duplicate_keys()
        return self._report.diagnostics

    def _duplicate_keys(self) -> None:
        for key, first, second in duplicate_keys(self._bytes):
            self._add(
                reading.DUPLICATE_KEY.at(
                    self._span(second),
                    f'the key "{_short(key)}" stands twice in one mapping',
                    secondary=(LabelledSpan(self._span(first), "first here"),),
                    hint="keep one of the two",
                    subject=key,
                )
            )

    def tag(self, event: ParserEvent) -> None:
        """A value with an explicit tag; the parsers resolve it, the message shows what is written."""
        start = event.start_mark
        found = _TAG.search(self._text, start.index)
        written = found.group() if found is not None else str(event.tag)
        at = self._at(found.start() if found is not None else start.index)
        self._add(
            reading.EXPLICIT_TAG.at(
                Span(self._path, at, Position(at.line, at.column + len(written))),
                f'the tag "{_short(written)}" is not allowed: a manifest is plain data',
                hint="remove it; quote the value if a string is meant",
                subject=written,
            )
        )

    def anchor(self, event: ParserEvent) -> None:
        """An anchor or alias: the parsers end its name where YAML 1.2 reads on, at ``:`` and some others."""
        found = _ANCHOR.search(self._text, event.start_mark.index)
        if found is None or found[2] in ("", *",[]{}"):
            return
        at = self._at(found.start())
        self._add(
            reading.YAML_SYNTAX.at(
                Span(self._path, at, Position(at.line, at.column + len(found[0]))),
                f'"{_short(found[0])}" is no name of an anchor or alias',
                hint=f'put a space after "{_short(found[1])}", or quote the text',
            )
        )

    def doubtful_keys(self) -> None:
        """Keys and items of flow collections that start with a question mark."""
        for at in map(self._at, question_marks(self._bytes)):
            self._add(
                reading.YAML_SYNTAX.at(
                    Span(self._path, at, Position(at.line, at.column + 1)),
                    'inside brackets, unquoted text cannot start with "?"',
                    hint="quote the text",
                )
            )

    def non_string_key(self, event: ParserEvent) -> None:
        """A key that is a number, a word such as ``true``, or a collection."""
        hint = Hint("a key is text; quote it")
        if isinstance(event, ScalarEvent):
            said = (
                f'the key "{_short(event.value)}" is no string'
                if event.value
                else "a key is missing before this colon"
            )
            quoted = f'"{event.value}"'
            hint = (
                Hint(f"quote it: {quoted}", Edit(self._span(event), quoted))
                if event.value
                else Hint("name the value")
            )
        elif isinstance(event, AliasEvent):
            said = f'the alias "*{event.anchor}" is no string and cannot be a key'
            hint = Hint("write the key out")
        else:
            said = "a list or a mapping cannot be a key"
        self._add(reading.NON_STRING_KEY.at(self._span(event), said, hint=hint))

    def merge_key(self, event: ParserEvent) -> None:
        """The ``<<`` of YAML 1.1."""
        self._add(
            reading.MERGE_KEY.at(
                self._span(event),
                'the merge key "<<" is not allowed',
                hint='write the keys out, or share them by "extends"',
            )
        )

    def duplicate_key(self) -> None:
        """Some key repeats; where, a second walk says once, for all of them."""
        self._keys_repeat = True

    def unsafe_number(self, event: ParserEvent, error: ValueError) -> None:
        """A number without a canonical JSON form."""
        self._add(
            reading.UNSAFE_NUMBER.at(
                self._span(event), f"{_short(event.value)} {error}", hint="quote it if a string is meant"
            )
        )

    def nesting(self, event: ParserEvent) -> None:
        """A level below the deepest that is allowed; said once a file."""
        self._add(
            reading.NESTING.at(
                self._span(event), "values are nested deeper than 100 levels", hint="flatten the value"
            )
        )

    def undefined_alias(self, event: ParserEvent) -> None:
        """An alias to nothing: nearly always a pattern without quotes."""
        written = f"*{event.anchor}"
        span = self._span(event)
        self._add(
            reading.UNDEFINED_ALIAS.at(
                span,
                f'"{_short(written)}" is an alias, and there is no anchor "&{_short(event.anchor)}" before it',
                hint=Hint(f'{_QUOTE_PATTERNS}; write "{written}"', Edit(span, f'"{written}"')),
                subject=event.anchor,
            )
        )

    def cyclic_alias(self, event: ParserEvent) -> None:
        """An alias inside its own value."""
        self._add(
            reading.CYCLIC_ALIAS.at(
                self._span(event),
                f'the alias "*{_short(event.anchor)}" stands inside the value that it names',
                hint="write the value out",
                subject=event.anchor,
            )
        )

    def alias_budget(self, event: ParserEvent) -> None:
        """Aliases repeat too much; said once a file."""
        self._add(
            reading.ALIAS_BUDGET.at(
                self._span(event),
                f'with "*{_short(event.anchor)}", the aliases of this file repeat more than 1,000,000 characters',
                hint="write the values out, or split the manifest",
            )
        )

    def second_document(self, event: ParserEvent) -> None:
        """Another document after the first."""
        self._add(
            reading.SECOND_DOCUMENT.at(
                self._span(event),
                "a second document begins here; one file is one manifest",
                hint="move it to a file of its own",
            )
        )

    def root(self, found: list[Any]) -> None:
        """The text was read to its end: is it one mapping?"""
        if found and isinstance(found[0], dict):
            return
        places = yaml_places(self._bytes)
        if not places.raw(())[1]:
            self._add(
                reading.EMPTY_FILE.at(
                    Span(self._path), "the file holds no manifest", hint="write one, or delete the file"
                )
            )
            return
        what = "a list" if isinstance(found[0], list) else "a single value"
        self._add(
            reading.NOT_A_MAPPING.at(
                places.span(self._path, ()),
                f"the manifest is {what} instead of a mapping of keys",
                hint='start with a key, such as "kind: agent"',
            )
        )

    def unclean(self) -> None:
        """The parser met what is no text."""
        self._add(unclean(self._path, self._bytes, yaml=True) or syntax_error(self._path, YAMLError()))

    def syntax(self, error: YAMLError) -> None:
        """The parser stopped."""
        diagnostic = syntax_error(self._path, error, self._text)
        if self._first(reading.NESTING) or diagnostic.code != reading.NESTING.code:
            self._add(diagnostic)

    @cached_property
    def _text(self) -> str:
        return self._bytes.decode(errors="replace")

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def _add(self, diagnostic: Diagnostic) -> None:
        found = self._report.found
        if len(found) == AT_MOST - 1:
            diagnostic = replace(diagnostic, notes=(*diagnostic.notes, TOO_MANY))
        if len(found) == AT_MOST:
            raise TooManyError
        found.append(diagnostic)

    def _first(self, code: Code) -> bool:
        """True when no mistake of this code was found yet, for those that are said once a file."""
        return all(found.code != code.code for found in self._report.found)

    def _span(self, event: ParserEvent) -> Span:
        return Span(self._path, _position(event.start_mark), _position(event.end_mark))

    def _at(self, offset: int) -> Position:
        return self._lines.position(offset)


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:59] + "…"
