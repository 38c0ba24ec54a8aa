"""JSON text → a mapping, strictly: what readers of JSON disagree about is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from symc.diagnostics import Diagnostic, LabelledSpan, Position, Report, Span
from symc.diagnostics.codes import reading
from symc.source.construct import DEEPEST
from symc.source.findings import AT_MOST
from symc.source.json_places import lexemes
from symc.source.scalars import UnsafeNumberError, fraction, whole
from symc.source.texts import Lines

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile("-?[0-9]+", re.ASCII)
_WORDS = frozenset(("true", "false", "null"))


class _IrregularError(ValueError):
    """The text is JSON by its grammar and not by ours; a second look says where."""


def read_pin(path: str, text: bytes) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    """The object that the JSON file ``path`` holds, and why there is none.

    ``text`` is UTF-8 without byte order mark. Refused beside syntax errors: duplicate keys, ``NaN`` and ``Infinity``,
    numbers without a canonical form, lone surrogates, nesting deeper than 100.
    """
    try:
        data = json.loads(
            text, object_pairs_hook=_object, parse_int=whole, parse_float=fraction, parse_constant=_constant
        )
        if _is_too_deep(data) or (_SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(data)):
            raise _IrregularError  # noqa: TRY301  # where, is said in one place
    except json.JSONDecodeError as error:
        return None, (_syntax_error(path, error),)
    except (_IrregularError, UnsafeNumberError, RecursionError):
        return None, _second_look(path, text)
    if not isinstance(data, dict):
        at = Span(path, Position(1, 1), Position(1, 1))
        said = "the file holds a JSON value that is no object"
        return None, (
            reading.NOT_A_MAPPING.at(at, said, hint='a pin is an object with the key "tools"', subject=path),
        )
    return data, ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _IrregularError
    return found


def _constant(name: str) -> Any:
    raise _IrregularError(name)


def _is_too_deep(data: Any) -> bool:
    level, depth = _containers((data,)), 0
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            value
            for container in level
            for value in _containers(container.values() if container.__class__ is dict else container)
        ]
    return depth > DEEPEST


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value.__class__ is dict or value.__class__ is list]


def _has_lone_surrogate(data: Any) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _syntax_error(path: str, error: json.JSONDecodeError) -> Diagnostic:
    at = Position(error.lineno, error.colno)
    said = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return reading.JSON_SYNTAX.at(
        Span(path, at, at),
        f"the file is not valid JSON: {said}",
        hint="write the file again with: symc pin",
        subject=path,
    )


def _second_look(path: str, text: bytes) -> tuple[Diagnostic, ...]:
    """Every mistake of a text that was refused, with its place."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:  # the first look stopped before it came to this
        return (_syntax_error(path, error),)
    except RecursionError:
        pass
    examination = _Examination(path, text.decode())
    examination.run()
    return examination.report.diagnostics


class _Examination:
    """One walk over the lexemes of a text that is JSON by its grammar, or is nested too deep to tell."""

    def __init__(self, path: str, text: str) -> None:
        self.report = Report()
        self._path = path
        self._text = text
        self._lines = Lines(text)
        self._around: list[dict[str, Span] | None] = []  # the keys of each open object; None for an array
        self._key_due = False

    def run(self) -> None:
        """Collects mistakes until there are too many, or the nesting is too deep to go on."""
        for lexeme, start, end in lexemes(self._text):
            if lexeme in "{[":
                self._around.append({} if lexeme == "{" else None)
                self._key_due = lexeme == "{"
                if len(self._around) > DEEPEST:
                    said = "values are nested deeper than 100 levels"
                    self.report.add(
                        reading.NESTING.at(self._span(start, end), said, hint="flatten the value")
                    )
                    return
            elif lexeme in "}]":
                self._around.pop()
            elif lexeme == ",":
                self._key_due = self._around[-1] is not None
            elif lexeme == ":":
                self._key_due = False
            elif lexeme[0] == '"':
                self._string(lexeme, start, end)
            elif lexeme not in _WORDS:
                self._number(lexeme, start, end)
            if len(self.report.found) >= AT_MOST:
                return

    def _string(self, lexeme: str, start: int, end: int) -> None:
        value = json.loads(lexeme)
        if _SURROGATE.search(value):
            said = "this text holds half a surrogate pair, which is no character"
            hint = "write the character itself, or the whole pair"
            self.report.add(reading.LONE_SURROGATE.at(self._span(start, end), said, hint=hint))
        keys = self._around[-1] if self._around and self._key_due else None
        if keys is None:
            return
        here = self._span(start, end)
        if value in keys:
            self.report.add(
                reading.DUPLICATE_KEY.at(
                    here,
                    f"the key {lexeme} stands twice in one object",
                    secondary=(LabelledSpan(keys[value], "first here"),),
                    hint="keep one of the two",
                    subject=value,
                )
            )
        keys.setdefault(value, here)

    def _number(self, lexeme: str, start: int, end: int) -> None:
        shown = lexeme if len(lexeme) <= 60 else lexeme[:59] + "…"
        try:
            if _INTEGER.fullmatch(lexeme):
                whole(lexeme)
            elif lexeme[-1].isdigit():
                fraction(lexeme)
            else:  # NaN and Infinity, which Python reads
                said = f"{shown} is no number that JSON knows"
                self.report.add(reading.UNSAFE_NUMBER.at(self._span(start, end), said, hint="use null"))
        except UnsafeNumberError as error:
            self.report.add(reading.UNSAFE_NUMBER.at(self._span(start, end), f"{shown} {error}"))

    def _span(self, start: int, end: int) -> Span:
        return Span(self._path, self._lines.position(start), self._lines.position(end))
