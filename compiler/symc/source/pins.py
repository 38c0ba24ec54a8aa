"""JSON text → a mapping, strictly: what readers of JSON disagree about is refused."""

from __future__ import annotations

import json
import re
from typing import Any

from symc.diagnostics import Diagnostic, LabelledSpan, Position, Report, Span
from symc.diagnostics.codes import reading
from symc.source.construct import DEEPEST
from symc.source.findings import AT_MOST
from symc.source.json_places import lexemes
from symc.source.scalars import UnsafeNumberError, fraction, whole
from symc.source.texts import position

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
    except json.JSONDecodeError as error:
        at = Position(error.lineno, error.colno)
        return None, (
            reading.JSON_SYNTAX.at(
                Span(path, at, at),
                f"the file is not valid JSON: {_said(error.msg)}",
                hint="write it again, or mend this place",
            ),
        )
    except (_IrregularError, UnsafeNumberError, RecursionError):
        return None, _examined(path, text.decode())
    if _SURROGATE_ESCAPE.search(text) or _too_deep(text):
        diagnostics = _examined(path, text.decode())
        if diagnostics:
            return None, diagnostics
    if not isinstance(data, dict):
        return None, (
            reading.NOT_A_MAPPING.at(
                Span(path), "the file holds no JSON object", hint='a pin is an object with the key "tools"'
            ),
        )
    return data, ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _IrregularError
    return found


def _constant(name: str) -> Any:
    raise _IrregularError(name)


def _said(message: str) -> str:
    """The standard library's words, without its capital letter and its implementation's terms."""
    return message[:1].lower() + message[1:].removesuffix(" at")


def _too_deep(text: bytes) -> bool:
    """False when the text cannot be nested too deep: it has no more brackets than that."""
    return text.count(b"{") + text.count(b"[") > DEEPEST


def _examined(path: str, text: str) -> tuple[Diagnostic, ...]:
    """Every mistake of a text that is JSON by its grammar, with its place."""
    report = Report()
    around: list[
        dict[str, int] | None
    ] = []  # the keys of each open object with their offsets; None for an array
    key_due = False
    too_deep = False

    def span(start: int, end: int) -> Span:
        return Span(path, position(text, start), position(text, end))

    for lexeme, start, end in lexemes(text):
        if len(report.found) >= AT_MOST:
            break
        if lexeme in "{[":
            around.append({} if lexeme == "{" else None)
            key_due = lexeme == "{"
            if len(around) > DEEPEST and not too_deep:
                too_deep = True
                report.add(reading.NESTING.at(span(start, end), "values are nested deeper than 100 levels"))
        elif lexeme in "}]":
            around.pop()
        elif lexeme == ",":
            key_due = around[-1] is not None
        elif lexeme == ":":
            key_due = False
        elif lexeme[0] == '"':
            value = json.loads(lexeme)
            if "\\" in lexeme and _SURROGATE.search(value):
                report.add(
                    reading.LONE_SURROGATE.at(
                        span(start, end), "this text holds half a surrogate pair, which is no character"
                    )
                )
            keys = around[-1] if around and key_due else None
            if keys is not None:
                if value in keys:
                    first = keys[value]
                    report.add(
                        reading.DUPLICATE_KEY.at(
                            span(start, end),
                            f"the key {lexeme} stands twice in one object",
                            secondary=(LabelledSpan(span(first, first + len(lexeme)), "first here"),),
                            hint="keep one of the two",
                            subject=value,
                        )
                    )
                keys.setdefault(value, start)
        elif lexeme not in _WORDS:
            try:
                _number(lexeme)
            except UnsafeNumberError as error:
                report.add(reading.UNSAFE_NUMBER.at(span(start, end), f"{lexeme} {error}"))
    return report.diagnostics


def _number(lexeme: str) -> None:
    if _INTEGER.fullmatch(lexeme):
        whole(lexeme)
    elif lexeme[-1].isdigit():
        fraction(lexeme)
    else:  # NaN and Infinity, which Python reads
        raise UnsafeNumberError("is no number that JSON knows")
