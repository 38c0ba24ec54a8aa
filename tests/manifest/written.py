"""Small workspaces as text, checked: what the tables of these tests are written in."""

from __future__ import annotations

from collections.abc import Mapping

from symc.diagnostics import Diagnostic, Edit
from symc.manifest.check import check
from symc.manifest.checked import Manifests
from symc.source import Workspace, parse

AGENT = "kind: agent\nname: helper\n"
"""Two lines: what a table adds starts in line 3."""

EXTENSION = 'kind: extension\nname: crm\nversion: "1"\n'
"""Three lines: what a table adds starts in line 4."""

WORKSPACE = "kind: workspace\nname: desk\n"
"""Two lines."""


def manifests(files: Mapping[str, str]) -> Manifests:
    """The files, parsed without a mistake, and checked."""
    sources = parse(Workspace.of({path: text.encode() for path, text in files.items()}))
    assert sources.diagnostics == ()
    return check(sources)


def places(files: Mapping[str, str] | str) -> list[str]:
    """What the check says, each as ``name line:column``, with the file before it unless there is one file only."""
    found = manifests({"a.yaml": files} if isinstance(files, str) else files).diagnostics
    return [place(one, with_file=not isinstance(files, str)) for one in found]


def marked(text: str) -> tuple[str, str]:
    """A text without its mark ``§``, and the ``line:column`` of what the mark stood before; empty without one."""
    before, mark, after = text.partition("§")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return before + after, f"{line}:{column}" if mark else ""


def place(one: Diagnostic, *, with_file: bool = False) -> str:
    """One diagnostic as a table shows it."""
    start = one.primary.start
    file = f"{one.primary.file}:" if with_file else ""
    return f"{one.name} {file}{start.line}:{start.column}"


def only(text: str) -> Diagnostic:
    """The one thing the check says of a document."""
    found = manifests({"a.yaml": text}).diagnostics
    assert len(found) == 1, [place(one) for one in found]
    return found[0]


def mended(text: str, edits: list[Edit]) -> str:
    """The text with the edits applied."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        start, end = edit.span.start, edit.span.end
        assert start.line == end.line
        line = lines[start.line - 1]
        lines[start.line - 1] = line[: start.column - 1] + edit.replacement + line[end.column - 1 :]
    return "".join(lines)
