"""JSON: the comparison for programs, complete; its keys are API (docs/diff.md §3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from symc.diagnostics import Span
from symc.diff.digests import DigestChange
from symc.diff.model import Change, Comparison

FORMAT: Final = 1
"""Grows when a key changes its meaning or goes; new keys alone do not change it."""


def render(comparison: Comparison, digests: Sequence[DigestChange] = ()) -> str:
    """All changes as one JSON document in ASCII, so that no terminal and no encoding can hide a character."""
    return _written(
        {
            "format": FORMAT,
            "verdict": str(comparison.verdict),
            "witness": comparison.witness,
            "remote_text_changed": comparison.remote_text_changed,
            "changes": [_change(change) for change in comparison.changes],
            "digests": [{"agent": one.agent, "before": one.before, "after": one.after} for one in digests],
        }
    )


def could_not(reason: str) -> str:
    """What is said instead when a side could not be read: there is no verdict and there are no changes."""
    return _written({"format": FORMAT, "verdict": None, "error": f"could not compare: {reason}"})


def _written(document: Mapping[str, Any]) -> str:
    # "##[" starts a command wherever it stands in a log of GitHub Actions; in JSON it can be spelled otherwise.
    return json.dumps(document, indent=2, default=dict).replace("##[", "#\\u0023[") + "\n"


def _change(change: Change) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "name": change.name,
        "axis": str(change.axis),
        "level": str(change.level),
        "direction": str(change.direction),
        "subject": change.subject,
        "before": change.before,
        "after": change.after,
        "witness": change.witness,
        "touches": list(change.touches),
        "remote": change.remote,
        "locations": [_location(span) for span in change.locations],
        "fingerprint": change.fingerprint,
        "accepted": change.accepted or None,
    }


def _location(span: Span) -> dict[str, Any]:
    whole = span.is_whole_file
    return {
        "file": span.file,
        "line": None if whole else span.start.line,
        "column": None if whole else span.start.column,
    }
