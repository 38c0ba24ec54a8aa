"""Fixtures: for every diagnostic code a small workspace that earns it.

A fixture is a folder ``tests/cases/diagnostics/<name>/`` — call it as its code (``tool-name-collision``), with a suffix
behind a dot when a code has several (``tool-name-collision.variant``). In it:

``expected.json``
    ``{"diagnostics": [{"code", "name", "file", "line"}, …]}``: all that is reported, in report order; ``file`` as symc
    prints it (``manifests/extensions/web.yaml``), ``line`` 1-based, 1 for a whole file. Optional keys: ``"command"``
    (default ``["compile"]``; ``--format json`` is added) and ``"exit"`` (default 1, or 0 when no code is an error).
everything else (``manifests/…``, ``symc.lock``)
    The folder in which the command runs, as a copy. Keep it as small as the mistake allows.

Where a reported hint carries an edit, the edits are applied to the copy and the command runs again: what had an edit
must be gone, and when all had one, the exit code is 0.

A code that no file in a folder can earn (a link loop, a server that changed) has a test of its own: ``elsewhere.json``
maps its name to the file of that test, which must mention the code. ``missing.txt`` lists the names that have neither
yet, one a line; the list is exact, so a new code cannot be forgotten, and a finished one leaves it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symc.diagnostics import Level
from symc.diagnostics.codes import find

CASES = Path(__file__).parents[1] / "cases" / "diagnostics"

Place = tuple[str, str, str, int]
"""Code, name, file and line of one diagnostic: what a fixture expects."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did: its exit code and the diagnostics of its JSON."""

    exit: int
    diagnostics: tuple[Mapping[str, Any], ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """What a fixture can expect of it."""
        return tuple(
            (found["code"], found["name"], found["primary"]["file"], found["primary"]["start"]["line"])
            for found in self.diagnostics
        )


Run = Callable[[Path, Sequence[str]], Outcome]
"""Runs a symc command in a folder."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """One folder, read."""

    folder: Path
    command: tuple[str, ...]
    exit: int
    expected: tuple[Place, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the codes that it earns."""
        return frozenset(name for _, name, _, _ in self.expected)


def load(folder: Path) -> Fixture:
    """Read ``expected.json``; a key that is missing or unknown raises."""
    document = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    rows = document.pop("diagnostics")
    if not rows or any(set(row) != {"code", "name", "file", "line"} for row in rows):
        raise ValueError(f"{folder.name}/expected.json: see the docstring of {__name__}")
    command = tuple(document.pop("command", ["compile"]))
    code = document.pop("exit", int(any(_is_error(row["code"]) for row in rows)))
    if document:
        raise ValueError(f"{folder.name}/expected.json: see the docstring of {__name__}")
    expected = tuple((row["code"], row["name"], row["file"], row["line"]) for row in rows)
    return Fixture(folder, command, code, expected)


def _is_error(code: str) -> bool:
    row = find(code)
    return row is None or row.level is Level.ERROR


def fixtures(cases: Path = CASES) -> Iterator[Fixture]:
    """Every fixture, by name; a folder without ``expected.json`` raises."""
    for folder in sorted(cases.iterdir()):
        if folder.is_dir():
            yield load(folder)


def elsewhere(cases: Path = CASES) -> Mapping[str, str]:
    """Names of codes that have a test of their own, and its file."""
    found = json.loads((cases / "elsewhere.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def missing(cases: Path = CASES) -> frozenset[str]:
    """Names of codes that have neither yet."""
    return frozenset((cases / "missing.txt").read_text(encoding="utf-8").split())


def check(fixture: Fixture, workplace: Path, run: Run) -> None:
    """Run the fixture in a copy and hold it to what it expects, its edits included."""
    place = workplace / fixture.folder.name
    shutil.copytree(fixture.folder, place, symlinks=True, ignore=shutil.ignore_patterns("expected.json"))
    outcome = run(place, fixture.command)
    assert outcome.places == fixture.expected
    assert outcome.exit == fixture.exit
    edits = [
        found["hint"]["edit"] for found in outcome.diagnostics if found["hint"] and found["hint"]["edit"]
    ]
    if not edits:
        return
    apply(edits, place)
    after = run(place, fixture.command)
    rest = [found for found in outcome.diagnostics if not (found["hint"] and found["hint"]["edit"])]
    assert sorted(found["code"] for found in after.diagnostics) == sorted(found["code"] for found in rest)
    if not rest:
        assert after.exit == 0


def apply(edits: Sequence[Mapping[str, Any]], place: Path) -> None:
    """Replace each edit's stretch in its file, last first, so that places before it stay true; equal edits once."""
    unique = {json.dumps(edit, sort_keys=True): edit for edit in edits}.values()
    for edit in sorted(unique, key=_start, reverse=True):
        path = place / edit["file"]
        lines = path.read_bytes().decode().split("\n")
        first, last = edit["start"], edit["end"]
        before = "\n".join([*lines[: first["line"] - 1], lines[first["line"] - 1][: first["column"] - 1]])
        after = "\n".join([lines[last["line"] - 1][last["column"] - 1 :], *lines[last["line"] :]])
        path.write_bytes((before + edit["replacement"] + after).encode())


def _start(edit: Mapping[str, Any]) -> tuple[str, int, int]:
    return edit["file"], edit["start"]["line"], edit["start"]["column"]
