"""What changed between two answers of one server: per tool, per field, old and new (docs/policies.md P31). Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Literal, TypeAlias

from symc.canonical import canonical_bytes
from symc.diagnostics import Diagnostic, Span
from symc.diagnostics.codes import pins as codes
from symc.pins.model import FIELDS, normal

Change: TypeAlias = Literal["added", "removed", "changed"]

Locate: TypeAlias = Callable[[str, str], Span]
"""Where a field of the tool of this name was pinned; of the empty field, the tool; of a new tool, the pin."""

_WORDS = {"inputSchema": "input schema", "outputSchema": "output schema"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference: a tool that came or went (``field`` empty), or one field of one tool.

    ``old`` and ``new`` are the whole tools, or the field's values; None where there was nothing.
    """

    change: Change
    tool: str
    field: str = ""
    old: Any = None
    new: Any = None

    @property
    def diff(self) -> tuple[str, ...]:
        """Old against new as the lines of a unified diff without its header; texts by line, the rest as JSON."""
        lines = unified_diff(_lines(self.old), _lines(self.new), lineterm="", n=2)
        return tuple(line for line in lines if not line.startswith(("---", "+++")))


def drift(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> tuple[Drift, ...]:
    """Every difference between the raw tools pinned (``old``) and those of a new answer, by name and field.

    Order, key order, number spelling, ``_meta``, icons and anything else outside ``FIELDS`` make no difference.
    """
    before = {tool["name"]: tool for tool in old}
    after = {tool["name"]: tool for tool in new}
    found: list[Drift] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            found.append(Drift(change="added", tool=name, new=normal(after[name])))
        elif name not in after:
            found.append(Drift(change="removed", tool=name, old=normal(before[name])))
        else:
            found += _fields(name, normal(before[name]), normal(after[name]))
    return tuple(found)


def diagnostics(found: Iterable[Drift], extension: str, locate: Locate) -> tuple[Diagnostic, ...]:
    """One diagnostic for each difference, the diff as its note; ``locate`` gives the place of a tool's field in the pin."""
    return tuple(_diagnostic(one, extension, locate(one.tool, one.field)) for one in found)


def _fields(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Drift]:
    return [
        Drift(change="changed", tool=name, field=key, old=old.get(key), new=new.get(key))
        for key in FIELDS
        if canonical_bytes(old.get(key)) != canonical_bytes(new.get(key))
    ]


def _diagnostic(one: Drift, extension: str, span: Span) -> Diagnostic:
    subject = f"{extension}/{one.tool}"
    notes = ("\n".join(("old and new:", *one.diff)),)
    if one.change == "added":
        message = f'the server of "{extension}" has a new tool "{one.tool}", which is not in the pin'
        hint = "review it; after `symc pin` a pattern such as `*` selects it"
        return codes.PIN_TOOL_ADDED.at(span, message, notes=notes, hint=hint, subject=subject)
    if one.change == "removed":
        message = f'the server of "{extension}" no longer has the tool "{one.tool}"'
        return codes.PIN_TOOL_REMOVED.at(span, message, notes=notes, subject=subject)
    field = _WORDS.get(one.field, one.field)
    message = f'the server of "{extension}" changed the {field} of the tool "{one.tool}"'
    hint = "review the change; `symc pin` takes it over"
    return codes.PIN_DRIFT.at(span, message, notes=notes, hint=hint, subject=subject)


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return value.split("\n")
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).split("\n")
