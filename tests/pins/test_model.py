"""``symc.pins.model``: a pin's tools, and what is refused in them (docs/policies.md §5, docs/manifests.md §2)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from symc.canonical import pointer
from symc.diagnostics import Diagnostic, Span
from symc.pins import PinnedTool, tools_of


def _read(data: Any) -> tuple[tuple[PinnedTool, ...], tuple[Diagnostic, ...]]:
    return tools_of(data, lambda path: Span(pointer(path)), "files")


def _tool(**more: Any) -> dict[str, Any]:
    return {"name": "read", "description": "Read.", "inputSchema": {"type": "object"}, **more}


def test_a_sound_pin_is_read_whole() -> None:
    raw = _tool(
        title="Read a file",
        outputSchema={"type": "array"},
        annotations={"readOnlyHint": True, "x-vendor": {"cost": 1}},
        icons=[{"src": "data:"}],
        _meta={"v": 2},
        execution={"taskSupport": "forbidden"},
    )
    before = copy.deepcopy(raw)
    (tool,), found = _read({"tools": [raw], "nextCursor": None})
    assert found == ()
    assert (tool.index, tool.name, tool.description, tool.title) == (0, "read", "Read.", "Read a file")
    assert tool.input_schema == {"type": "object"}
    assert tool.output_schema == {"type": "array"}
    assert tool.annotations == {"readOnlyHint": True, "x-vendor": {"cost": 1}}
    assert tool.raw == raw == before


@pytest.mark.parametrize(
    ("raw", "description", "title", "annotations"),
    [
        ({"name": "a", "inputSchema": {}}, "", None, None),
        (
            {"name": "a", "inputSchema": {}, "description": None, "title": None, "annotations": None},
            "",
            None,
            None,
        ),
        ({"name": "a", "inputSchema": {}, "description": "", "title": "", "annotations": {}}, "", None, None),
    ],
)
def test_absent_null_and_empty_are_one(raw: Any, description: str, title: None, annotations: None) -> None:
    (tool,), found = _read({"tools": [raw]})
    assert found == ()
    assert (tool.description, tool.title, tool.output_schema, tool.annotations) == (
        description,
        title,
        None,
        annotations,
    )


REFUSED: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "no tools": ({}, [("pin-invalid", "")]),
    "tools is an object": ({"tools": {}}, [("pin-invalid", "")]),
    "a tool is a text": ({"tools": ["read"]}, [("pin-invalid", "/tools/0")]),
    "no name": ({"tools": [{"inputSchema": {}}]}, [("pin-invalid", "/tools/0")]),
    "a number for a name": ({"tools": [_tool(name=3)]}, [("pin-invalid", "/tools/0")]),
    "an empty name": ({"tools": [_tool(name="")]}, [("pin-tool-name", "/tools/0/name")]),
    "a blank in a name": ({"tools": [_tool(name="delete all")]}, [("pin-tool-name", "/tools/0/name")]),
    "another script": (
        {"tools": [_tool(name="検索"), _tool(name="翻訳")]},
        [("pin-tool-name", "/tools/0/name"), ("pin-tool-name", "/tools/1/name")],
    ),
    "a line feed after a name": ({"tools": [_tool(name="read\n")]}, [("pin-tool-name", "/tools/0/name")]),
    "129 characters": ({"tools": [_tool(name="a" * 129)]}, [("pin-tool-name", "/tools/0/name")]),
    "no input schema": (
        {"tools": [{"name": "search", "description": "Search."}]},
        [("pin-schema-missing", "/tools/0")],
    ),
    "null as input schema": ({"tools": [_tool(inputSchema=None)]}, [("pin-schema-missing", "/tools/0")]),
    "a boolean as input schema": ({"tools": [_tool(inputSchema=True)]}, [("pin-invalid", "/tools/0/inputSchema")]),
    "an input schema of an array": (
        {"tools": [_tool(inputSchema={"type": "array"})]},
        [("schema-not-object", "/tools/0/inputSchema/type")],
    ),
    "a wrong input schema": (
        {"tools": [_tool(inputSchema={"type": "object", "properties": {"a": {"type": "strng"}}})]},
        [("schema-invalid", "/tools/0/inputSchema/properties/a/type")],
    ),
    "a wrong output schema": (
        {"tools": [_tool(outputSchema={"$ref": "#/nope"})]},
        [("schema-ref-dangling", "/tools/0/outputSchema/$ref")],
    ),
    "a list as description": ({"tools": [_tool(description=["Read."])]}, [("pin-invalid", "/tools/0/description")]),
    "a number as title": ({"tools": [_tool(title=1)]}, [("pin-invalid", "/tools/0/title")]),
    "a list as annotations": ({"tools": [_tool(annotations=[])]}, [("pin-invalid", "/tools/0/annotations")]),
    "two of one name": ({"tools": [_tool(), _tool(description="Other.")]}, [("pin-duplicate-tool", "/tools/1/name")]),
    "hidden in the description": (
        {"tools": [_tool(description="Read.\u200b")]},
        [("hidden-tool-text", "/tools/0/description")],
    ),
    "hidden in the title": ({"tools": [_tool(title="\u202eRead")]}, [("hidden-tool-text", "/tools/0/title")]),
    "hidden in the annotations": (
        {"tools": [_tool(annotations={"title": "a\u2060b"})]},
        [("hidden-tool-text", "/tools/0/annotations/title")],
    ),
    "hidden in a schema": (
        {"tools": [_tool(inputSchema={"properties": {"a": {"enum": ["\u00ad"]}}})]},
        [("hidden-tool-text", "/tools/0/inputSchema/properties/a/enum/0")],
    ),
    "several at once": (
        {"tools": [_tool(name="a b"), "x", _tool()]},
        [("pin-tool-name", "/tools/0/name"), ("pin-invalid", "/tools/1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    data, expected = REFUSED[name]
    _, found = _read(data)
    assert [(d.name, d.primary.file) for d in found] == expected
    assert all('"files' in d.message for d in found)
    assert all(d.message.isprintable() for d in found)


def test_a_refused_tool_drops_out_and_the_others_stay() -> None:
    tools, found = _read({"tools": [_tool(name="a"), _tool(name="b c"), _tool(name="d"), _tool(name="a")]})
    assert [tool.name for tool in tools] == ["a", "d"]
    assert len(found) == 2


@pytest.mark.parametrize("name", ["a", "a" * 128, "calendar.read", "calendar/write", "A-Z_09", "-x"])
def test_names_that_mcp_allows(name: str) -> None:
    (tool,), found = _read({"tools": [_tool(name=name)]})
    assert (tool.name, found) == (name, ())
