"""Where a change came from: the line of the manifest, for every kind of item (docs/diff.md §3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from symc.cli.positions import positions
from symc.cli.project import compile_project
from symc.cli.reporting import Reporter
from symc.diff import Item

FILES = {
    "workspace.yaml": """\
kind: workspace
name: acme
policies:
  - policy_id: spend
    ask: {tools: [os/write]}
""",
    "os.yaml": """\
kind: extension
name: os
version: "1.0"
implementation: acme.os:provider
tools:
  - {name: read, invoke: "acme.os:read", input_schema: {type: object}}
  - name: write
    invoke: acme.os:write
    input_schema: {type: object}
prompts:
  - fragment_id: tone
    text: |
      Be kind.
      Be brief.
  - {fragment_id: filed, file: filed.md}
lifecycle:
  - {hook_id: open, phase: install, run: "acme.pool:open"}
tool_extensions:
  - {name: memo, kind: wrapper, factory: "acme.wrap:memo"}
""",
    "filed.md": "One.\nTwo.\n",
    "files.yaml": """\
kind: extension
name: files
mcp:
  command: [run, files]
  env: {TOKEN: "${env:TOKEN}"}
""",
    "files.pin.json": '{"tools": [\n{"name": "read_file",\n"inputSchema": {"type": "object"}}\n]}\n',
    "child.yaml": "kind: agent\nname: child\n",
    "desk.yaml": """\
kind: agent
name: desk
model: small
instructions: |
  One line.
  Another line.
extensions: [os, files]
tools:
  - os/read
  - files/*
variants:
  os/read: [memo]
grants:
  - memory_read
prompts:
  - {fragment_id: who, layer: l2, tier: profile, scope: profile, slot: {max_chars: 90}}
policies:
  - policy_id: none
    deny: {tools: [os/write]}
delegates:
  - child
limits:
  max_model_rounds: 4
vars: {}
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("manifests").mkdir()
    for name, text in FILES.items():
        (Path("manifests") / name).write_text(text)
    return Path("manifests")


@pytest.mark.parametrize(
    ("item", "file", "line"),
    [
        (Item("policy", "acme", "spend"), "workspace.yaml", "  - policy_id: spend"),
        (Item("policy", "desk", "none"), "desk.yaml", "  - policy_id: none"),
        (Item("fragment", "desk", "instructions"), "desk.yaml", "instructions: |"),
        (Item("fragment", "desk", "instructions", line=1), "desk.yaml", "  Another line."),
        (Item("fragment", "os", "tone", line=1), "os.yaml", "      Be brief."),
        (Item("fragment", "os", "filed", line=1), "filed.md", "Two."),
        (Item("fragment", "desk", "who"), "desk.yaml", FILES["desk.yaml"].splitlines()[15]),
        (Item("tool", "os", "write"), "os.yaml", "  - name: write"),
        (Item("tool", "files", "read_file"), "files.pin.json", '{"name": "read_file",'),
        (Item("selection", "desk", "read"), "desk.yaml", "  - os/read"),
        (Item("selection", "desk", "read_file"), "desk.yaml", "  - files/*"),
        (Item("selection", "desk", "read_memo"), "desk.yaml", "  os/read: [memo]"),
        (Item("grant", "desk", "memory_read"), "desk.yaml", "  - memory_read"),
        (Item("delegate", "desk", "child"), "desk.yaml", "  - child"),
        (Item("limit", "desk", "max_model_rounds"), "desk.yaml", "  max_model_rounds: 4"),
        (Item("model", "desk"), "desk.yaml", "model: small"),
        (Item("vars", "desk"), "desk.yaml", "vars: {}"),
        (Item("hook", "os", "open"), "os.yaml", FILES["os.yaml"].splitlines()[16]),
        (Item("layer", "os", "memo"), "os.yaml", FILES["os.yaml"].splitlines()[18]),
        (Item("server", "files", "command"), "files.yaml", "  command: [run, files]"),
        (Item("implementation", "os"), "os.yaml", "implementation: acme.os:provider"),
    ],
    ids=str,
)
def test_an_item_is_placed_at_its_line(folder: Path, item: Item, file: str, line: str) -> None:
    span = positions(compile_project(folder, Reporter()))(item)
    assert span is not None
    assert span.file == f"manifests/{file}"
    assert FILES[file].splitlines()[span.start.line - 1] == line


@pytest.mark.parametrize(
    "item",
    [
        Item("agent", "desk"),
        Item("policy", "desk", "gone"),
        Item("fragment", "desk", "gone"),
        Item("tool", "os", "gone"),
        Item("selection", "desk", "gone"),
        Item("selection", "child", "gone"),
        Item("delegate", "desk", "gone"),
        Item("grant", "desk", "gone"),
        Item("limit", "desk", "tools"),
        Item("limit", "child", "tools"),
        Item("vars", "child"),
        Item("server", "files", "url"),
        Item("hook", "os", "gone"),
    ],
    ids=str,
)
def test_what_is_gone_is_placed_at_the_document(folder: Path, item: Item) -> None:
    span = positions(compile_project(folder, Reporter()))(item)
    assert span is not None
    assert span.is_whole_file
    assert span.file == f"manifests/{item.owner}.yaml"


def test_a_document_that_is_gone_is_not_placed(folder: Path) -> None:
    assert positions(compile_project(folder, Reporter()))(Item("agent", "gone")) is None
