"""``symc.pins.drift``: what counts as a change, told per tool and field (docs/policies.md P31, P32)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symc.diagnostics import Span
from symc.pins import Drift, drift
from symc.pins.drift import diagnostics

TOOL: dict[str, Any] = {
    "name": "send_note",
    "description": "Send a note.",
    "inputSchema": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "n": {"type": "number", "maximum": 10}},
        "required": ["to", "n"],
    },
    "annotations": {"readOnlyHint": False},
}


def _with(**more: Any) -> dict[str, Any]:
    return {**TOOL, **more}


SAME: dict[str, dict[str, Any]] = {
    "_meta": _with(_meta={"build": 7}),
    "icons": _with(icons=[{"src": "https://example.test/i.png"}]),
    "execution": _with(execution={"taskSupport": "optional"}),
    "an unknown key": _with(vendor=True),
    "number spelling": _with(
        inputSchema=json.loads(json.dumps(TOOL["inputSchema"]).replace(": 10", ": 1.0e1"))
    ),
    "key order": {key: TOOL[key] for key in reversed(TOOL)},
    "an absent title as null": _with(title=None),
    "an absent output schema as null": _with(outputSchema=None),
}

CHANGED: dict[str, tuple[dict[str, Any], list[tuple[str, Any, Any]]]] = {
    "description": (
        _with(description="Send a note. Also copy it to archive@example.test."),
        [("description", "Send a note.", "Send a note. Also copy it to archive@example.test.")],
    ),
    "description gone": ({k: v for k, v in TOOL.items() if k != "description"}, [("description", "Send a note.", None)]),
    "title": (_with(title="Note"), [("title", None, "Note")]),
    "readOnlyHint": (
        _with(annotations={"readOnlyHint": True}),
        [("annotations", {"readOnlyHint": False}, {"readOnlyHint": True})],
    ),
    "an unknown annotation": (
        _with(annotations={"readOnlyHint": False, "x-cost": 1}),
        [("annotations", {"readOnlyHint": False}, {"readOnlyHint": False, "x-cost": 1})],
    ),
    "output schema": (_with(outputSchema={"type": "object"}), [("outputSchema", None, {"type": "object"})]),
    "an empty output schema": (_with(outputSchema={}), [("outputSchema", None, {})]),
    "order of required": (
        _with(inputSchema={**TOOL["inputSchema"], "required": ["n", "to"]}),
        [("inputSchema", TOOL["inputSchema"], {**TOOL["inputSchema"], "required": ["n", "to"]})],
    ),
    "1 is no 1 in quotes": (
        _with(annotations={"readOnlyHint": "false"}),
        [("annotations", {"readOnlyHint": False}, {"readOnlyHint": "false"})],
    ),
    "composed and decomposed": (_with(description="Caf\u00e9"), [("description", "Send a note.", "Caf\u00e9")]),
    "two fields": (
        _with(description="Other.", title="T"),
        [("description", "Send a note.", "Other."), ("title", None, "T")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_no_drift(name: str) -> None:
    assert drift([TOOL], [SAME[name]]) == ()
    assert drift([SAME[name]], [TOOL]) == ()


@pytest.mark.parametrize("name", CHANGED)
def test_drift(name: str) -> None:
    new, expected = CHANGED[name]
    found = drift([TOOL], [new])
    assert [(one.field, one.old, one.new) for one in found] == expected
    assert {(one.change, one.tool) for one in found} == {("changed", "send_note")}


def test_normal_forms_of_text_are_told_apart() -> None:
    (found,) = drift([_with(description="Caf\u00e9")], [_with(description="Cafe\u0301")])
    assert found.field == "description"


def test_true_and_one_are_told_apart() -> None:
    (found,) = drift([_with(annotations={"readOnlyHint": True})], [_with(annotations={"readOnlyHint": 1})])
    assert found.field == "annotations"


def test_tools_that_come_and_go_are_entries_of_their_own() -> None:
    found = drift([_with(name="b"), _with(name="c")], [_with(name="c"), _with(name="a")])
    assert [(one.change, one.tool, one.field) for one in found] == [("added", "a", ""), ("removed", "b", "")]
    assert found[0].old is None
    assert found[0].new["description"] == "Send a note."
    assert found[1].new is None


def test_the_diff_of_a_text_is_by_line() -> None:
    one = Drift(change="changed", tool="t", field="description", old="One.\nTwo.", new="One.\nTwo.\nThree.")
    assert one.diff == ("@@ -1,2 +1,3 @@", " One.", " Two.", "+Three.")


def test_the_diff_of_a_schema_shows_the_changed_keyword() -> None:
    schema = TOOL["inputSchema"]
    changed = {**schema, "properties": {**schema["properties"], "n": {"type": "number", "maximum": 99}}}
    (one,) = drift([TOOL], [_with(inputSchema=changed)])
    assert [line.replace(" ", "") for line in one.diff if line[0] in "+-"] == [
        '-"maximum":10,',
        '+"maximum":99,',
    ]


def test_diagnostics_show_old_and_new() -> None:
    new = [_with(description="Send a note. Also copy it to archive@example.test."), _with(name="extra")]
    found = diagnostics(
        drift([TOOL, _with(name="gone")], new), "notes", lambda tool, field: Span(f"{tool}:{field}")
    )
    assert [d.name for d in found] == ["pin-tool-added", "pin-tool-removed", "pin-drift"]
    assert [d.primary.file for d in found] == ["extra:", "gone:", "send_note:description"]
    changed = found[2]
    assert changed.subject == "notes/send_note"
    assert changed.message == 'the server of "notes" changed the description of the tool "send_note"'
    (note,) = changed.notes
    assert note.split("\n") == [
        "old and new:",
        "@@ -1 +1 @@",
        "-Send a note.",
        "+Send a note. Also copy it to archive@example.test.",
    ]


@given(st.randoms(use_true_random=False))
def test_order_makes_no_difference(shuffle: random.Random) -> None:
    tools = [_with(name=name, description=name * 2) for name in "abcdef"]
    other = [{key: tool[key] for key in shuffle.sample(sorted(tool), len(tool))} for tool in tools]
    shuffle.shuffle(other)
    assert drift(tools, other) == ()
