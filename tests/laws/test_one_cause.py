"""One cause, one diagnostic (docs/diagnostics.md §2): whatever file of a sound workspace is spoilt, in whatever way, only
that is told, and nothing that follows from it.

``tests/cases/one-cause`` is made so that every document is needed by others, in every way that there is: its names, what
a base excludes, hides and declares, what the workspace prefixes, requires and silences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from symc.compose import compile
from symc.source import Workspace, read

ROOT: Final = Path(__file__).parents[2]
WORKSPACES: Final = (ROOT / "tests" / "cases" / "one-cause" / "manifests", ROOT / "manifests")


def _line(key: str, becomes: str) -> Callable[[str], str]:
    return lambda text: re.sub(rf"(?m)^{key}: *(\S+).*$", becomes, text, count=1)


MISTAKES: Final[dict[str, Callable[[str], str]]] = {
    "an unknown key": lambda text: text + "\nzzz: 1\n",
    "a slip in the YAML": lambda text: text + "\n}: [\n",
    "an empty file": lambda _: "",
    "no kind": _line("kind", ""),
    "a misspelt key of the kind": _line("kind", r"kindd: \1"),
    "a misspelt kind": _line("kind", r"kind: \1q"),
    "a misspelt key of the name": _line("name", r"nam: \1"),
    "a name that is a number": _line("name", "name: 12"),
    "a name in capitals": lambda text: re.sub(
        r"(?m)^name: (\S)", lambda found: f"name: {found[1].upper()}", text, count=1
    ),
}


def _told(workspace: Workspace) -> list[str]:
    return [f"{one.primary.file}: {one.code} {one.message}" for one in compile(workspace).diagnostics]


def _with(workspace: Workspace, path: str, raw: bytes) -> Workspace:
    return Workspace.of({**workspace.files, path: raw})


def _manifests(workspace: Workspace) -> dict[str, str]:
    return {path: raw.decode() for path, raw in workspace.files.items() if path.endswith(".yaml")}


@pytest.mark.parametrize("folder", WORKSPACES, ids=["case", "example"])
def test_the_workspaces_are_sound(folder: Path) -> None:
    assert _told(read(folder)) == []


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("folder", WORKSPACES, ids=["case", "example"])
def test_one_spoilt_file_is_told_once(folder: Path, mistake: str) -> None:
    workspace = read(folder)
    spoilt = 0
    for path, text in _manifests(workspace).items():
        changed = MISTAKES[mistake](text)
        if changed == text:
            continue
        spoilt += 1
        told = _told(_with(workspace, path, changed.encode()))
        assert len(told) == 1, (path, told)
        assert told[0].startswith(path)
    assert spoilt >= len(_manifests(workspace)) - 1


@pytest.mark.parametrize("folder", WORKSPACES, ids=["case", "example"])
def test_a_file_that_is_no_text_is_told_once(folder: Path) -> None:
    workspace = read(folder)
    for path, text in _manifests(workspace).items():
        told = _told(_with(workspace, path, text.encode("utf-16")))
        assert len(told) == 1, (path, told)


def test_two_documents_of_one_name_are_told_once() -> None:
    workspace = read(WORKSPACES[0])
    names = {
        path: str(re.findall(r"(?m)^name: (\S+)", text)[0]) for path, text in _manifests(workspace).items()
    }
    for path, text in _manifests(workspace).items():
        for name in set(names.values()) - {names[path]}:
            told = _told(_with(workspace, path, re.sub(r"(?m)^name: .*$", f"name: {name}", text).encode()))
            assert len(told) == 1, (path, name, told)
            assert "is the name of two manifests" in told[0]


def test_a_document_is_known_by_its_name_where_its_file_has_another() -> None:
    """A file that cannot be parsed still says its name in a line."""
    workspace = read(WORKSPACES[0])
    for path, text in _manifests(workspace).items():
        others = {other: raw for other, raw in workspace.files.items() if other != path}
        moved = Workspace.of({**others, f"{path[:-5]}-2.yaml": f"{text}\n}}: [\n".encode()})
        told = _told(moved)
        assert len(told) == 1, (path, told)


def test_a_misspelt_name_of_a_refused_document_is_told_with_the_name() -> None:
    """Only what follows from the refused file is silent; a slip elsewhere is a cause of its own."""
    workspace = read(WORKSPACES[0])
    spoilt = _with(workspace, "agents/scribe.yaml", workspace.files["agents/scribe.yaml"] + b"zzz: 1\n")
    back = spoilt.files["agents/back.yaml"].replace(b"scribe", b"scrible")
    found = compile(_with(spoilt, "agents/back.yaml", back)).diagnostics
    assert [one.name for one in found] == ["agent-unknown", "unknown-key"]
    assert found[0].hint is not None
    assert found[0].hint.text == 'did you mean "scribe"?'
