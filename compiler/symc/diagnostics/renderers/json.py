"""JSON: the diagnostics for programs; its keys are API (docs/diagnostics.md §3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from symc.diagnostics.record import Diagnostic, Hint, Position, Span

FORMAT = 1
"""Grows when a key changes its meaning or goes; new keys alone do not change it."""


def render(diagnostics: Sequence[Diagnostic], *, ok: bool, reason: str = "") -> str:
    """All diagnostics as one JSON document in ASCII, so that no terminal and no encoding can hide a character."""
    document = {
        "format": FORMAT,
        "ok": ok,
        "reason": reason,
        "diagnostics": [as_json(diagnostic) for diagnostic in diagnostics],
    }
    return json.dumps(document, indent=2) + "\n"


def as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """One diagnostic as a JSON object; every key is always there."""
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "level": diagnostic.level.value,
        "message": diagnostic.message,
        "subject": diagnostic.subject,
        "primary": _span(diagnostic.primary),
        "secondary": [{**_span(second.span), "label": second.label} for second in diagnostic.secondary],
        "notes": list(diagnostic.notes),
        "hint": _hint(diagnostic.hint) if diagnostic.hint else None,
    }


def _span(span: Span) -> dict[str, Any]:
    return {"file": span.file, "start": _position(span.start), "end": _position(span.end)}


def _position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column}


def _hint(hint: Hint) -> dict[str, Any]:
    edit = hint.edit
    return {
        "text": hint.text,
        "edit": {**_span(edit.span), "replacement": edit.replacement} if edit else None,
    }
