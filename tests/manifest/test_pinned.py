"""A server's tools: from its pin, with places in it (docs/manifests.md §3, docs/policies.md §5)."""

from __future__ import annotations

from symc.manifest.check import check
from symc.source import Workspace, parse
from tests.manifest.written import AGENT, manifests, place, places

FILES = "kind: extension\nname: files\nmcp: {command: [run]}\n"
PIN = """{
  "tools": [
    {"name": "read/text.file", "inputSchema": {"type": "object"}, "description": "Read.", "title": "Read a file",
     "annotations": {"readOnlyHint": true}, "_meta": {"x": 1}},
    {"name": "Write", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
    {"name": "write", "inputSchema": {"type": "object"}}
  ]
}
"""


def test_the_tools_of_a_pin_become_those_of_the_extension() -> None:
    extension = manifests({"ext/files.yaml": FILES, "ext/files.pin.json": PIN}).extensions["files"]
    first, second, _ = extension.body.tools
    assert (first.name, first.description, first.title) == ("read/text.file", "Read.", "Read a file")
    assert (first.input_schema, first.output_schema) == ({"type": "object"}, None)
    assert first.annotations == {"readOnlyHint": True}
    assert first.invoke is None
    assert (second.description, second.output_schema, second.annotations) == ("", {"type": "object"}, None)
    assert extension.pin is not None
    assert extension.pin.path == "ext/files.pin.json"


def test_the_places_of_its_tools_are_in_the_pin() -> None:
    extension = manifests({"files.yaml": FILES, "files.pin.json": PIN}).extensions["files"]
    span = extension.tool_span(1, "output_schema", "type")
    assert (span.file, span.start.line) == ("files.pin.json", 5)


def test_a_pin_may_be_named() -> None:
    files = {"ext/files.yaml": FILES + "pin: ../pins/mine.json\n", "pins/mine.json": PIN}
    assert manifests(files).diagnostics == ()


def test_a_missing_pin_is_said_with_the_command_that_makes_it() -> None:
    found = manifests({"ext/files.yaml": FILES}).diagnostics
    assert [place(one) for one in found] == ["pin-missing 3:1"]
    assert found[0].message == 'the server of "files" has no pin: there is no file "ext/files.pin.json"'
    assert found[0].hint is not None
    assert found[0].hint.text == "run `symc pin files`"
    assert places({"files.yaml": FILES + "pin: mine.json\n"}) == ["pin-missing files.yaml:4:6"]


def test_a_pin_stays_in_the_workspace() -> None:
    assert places(FILES + "pin: ../../mine.json\n") == ["path-escape 4:6"]
    assert places(FILES + "pin: pins\\mine.json\n") == ["path-separator 4:6"]


def test_a_faulty_pin_refuses_its_extension() -> None:
    pin = '{"tools": [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b"}]}'
    found = manifests({"files.yaml": FILES, "files.pin.json": pin})
    assert [one.name for one in found.diagnostics] == ["pin-schema-missing"]
    assert found.diagnostics[0].primary.file == "files.pin.json"
    assert found.extensions == {}
    assert found.poisoned == {"files"}


def test_a_pin_that_is_no_json_is_not_said_to_be_missing() -> None:
    sources = parse(Workspace.of({"files.yaml": FILES.encode(), "files.pin.json": b"{"}))
    assert [one.name for one in sources.diagnostics] == ["json-syntax"]
    found = check(sources)
    assert found.diagnostics == ()
    assert found.extensions == {}


def test_a_manifest_that_could_not_be_read_poisons_the_name_of_its_file() -> None:
    sources = parse(Workspace.of({"crm.yaml": b"name: [", "a.yaml": AGENT.encode()}))
    found = check(sources)
    assert "crm" in found.poisoned
    assert list(found.agents) == ["helper"]
