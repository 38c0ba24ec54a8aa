"""SARIF 2.1.0: the diagnostics for code scanning; its rules are the rows of the table of codes.

Source: docs/diagnostics.md §3; the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from symc.diagnostics.codes import TABLE
from symc.diagnostics.record import Code, Diagnostic, Edit, Level, Span
from symc.diagnostics.reference import link
from symc.diagnostics.renderers.excerpt import visible
from symc.diagnostics.renderers.withheld import WIDEST, found_by_check, seems_to_hold_credential

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_COMPARED = WIDEST
"""Characters of a line that tell it from others; a pin may be one line of megabytes."""

_LEVELS = {Level.ERROR: "error", Level.WARN: "warning", Level.INFO: "note"}


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str] = MappingProxyType({}),
    *,
    pages: str = "",
) -> str:
    """All diagnostics as one SARIF log in ASCII.

    With ``sources`` a result keeps its fingerprint while lines above it come and go.
    ``pages`` is the absolute URL under which the pages of ``docs/errors/`` are read, with its final slash; without it
    a rule carries its help as text and no link.
    """
    reported = {diagnostic.code for diagnostic in diagnostics}
    rules = [row for row in TABLE if row.code in reported]
    index = {row.code: at for at, row in enumerate(rules)}
    prints = _fingerprints(diagnostics, sources)
    driver = {"name": "symc", "rules": [_rule(row, pages) for row in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(diagnostic, index, fingerprint)
            for diagnostic, fingerprint in zip(diagnostics, prints, strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(row: Code, pages: str) -> dict[str, Any]:
    rule = {
        "id": row.code,
        "name": row.name,
        "shortDescription": {"text": row.purpose},
        "help": {"text": f"{row.remedy}\n\nMore: symc explain {row.code}"},
        "defaultConfiguration": {"level": _LEVELS[row.level]},
    }
    return rule | ({"helpUri": pages + link(row)} if pages else {})


def _result(diagnostic: Diagnostic, index: Mapping[str, int], fingerprint: str) -> dict[str, Any]:
    hint = diagnostic.hint
    sentences = [diagnostic.message, *diagnostic.notes, *([f"help: {hint.text}"] if hint else [])]
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.level],
        "message": {"text": "\n".join(_visible_lines(sentence) for sentence in sentences)},
        "partialFingerprints": {"symc/v1": fingerprint},
    }
    if diagnostic.code in index:
        result["ruleIndex"] = index[diagnostic.code]
    if diagnostic.primary.file:
        result["locations"] = [{"physicalLocation": _physical(diagnostic.primary)}]
    if diagnostic.secondary:
        result["relatedLocations"] = [
            {
                "id": at,
                "physicalLocation": _physical(second.span),
                "message": {"text": _visible_lines(second.label)},
            }
            for at, second in enumerate(diagnostic.secondary)
        ]
    if hint is not None and hint.edit is not None:
        result["fixes"] = [_fix(_visible_lines(hint.text), hint.edit)]
    return result


def _fix(text: str, edit: Edit) -> dict[str, Any]:
    replacement = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
    change = {"artifactLocation": {"uri": quote(edit.span.file)}, "replacements": [replacement]}
    return {"description": {"text": text}, "artifactChanges": [change]}


def _physical(span: Span) -> dict[str, Any]:
    # A whole file is shown at its first line: code scanning shows no result that has no line.
    region = {"startLine": 1} if span.is_whole_file else _region(span)
    return {"artifactLocation": {"uri": quote(span.file)}, "region": region}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def _fingerprints(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str]) -> list[str]:
    """What stays the same when lines above a mistake come and go: its code, file, subject and the line itself.

    Equal mistakes on equal lines are told apart by counting them.
    """
    lines = {file: text.split("\n") for file, text in sources.items()}
    withheld = found_by_check(diagnostics)
    seen: Counter[tuple[str, ...]] = Counter()
    prints = []
    for diagnostic in diagnostics:
        place = diagnostic.primary
        at = place.start.line - 1
        source = lines.get(place.file, [])
        line = source[at][:_COMPARED].strip() if at < len(source) and not place.is_whole_file else ""
        # A hash of a short credential, too, tells it to who tries them all.
        if line and (
            (place.file, at + 1) in withheld or seems_to_hold_credential(place.file, source, at + 1)
        ):
            line = ""
        key = (diagnostic.code, place.file, diagnostic.subject, line)
        seen[key] += 1
        prints.append(hashlib.sha256(json.dumps([*key, seen[key]]).encode()).hexdigest()[:32])
    return prints
