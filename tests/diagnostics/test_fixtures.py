"""Every diagnostic code has a fixture or a test of its own, and every fixture earns exactly what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symc.diagnostics.codes import TABLE, find
from tests.diagnostics.fixtures import Fixture, Outcome, check, elsewhere, fixtures, load, missing

ROOT = Path(__file__).parents[2]
EVERY = list(fixtures())


@pytest.mark.parametrize("fixture", EVERY, ids=lambda fixture: fixture.folder.name)
def test_fixture(fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from symc.cli.frame import root

    def run(place: Path, command: Sequence[str]) -> Outcome:
        monkeypatch.chdir(place)
        result = CliRunner().invoke(root, [*command, "--format", "json"])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Outcome(result.exit_code, tuple(json.loads(result.stdout)["diagnostics"]))

    check(fixture, tmp_path, run)


@pytest.mark.parametrize("fixture", EVERY, ids=lambda fixture: fixture.folder.name)
def test_a_fixture_is_called_as_a_code_that_it_earns(fixture: Fixture) -> None:
    assert fixture.folder.name.partition(".")[0] in fixture.names
    for code, name, _, _ in fixture.expected:
        row = find(code)
        assert row is not None
        assert row.name == name


def test_no_code_is_forgotten() -> None:
    shown = set().union(*(fixture.names for fixture in EVERY)) | set(elsewhere())
    assert {row.name for row in TABLE} - shown == missing()
    assert set(elsewhere()) <= {row.name for row in TABLE}


@pytest.mark.parametrize(("name", "path"), elsewhere().items())
def test_a_test_of_its_own_mentions_the_code(name: str, path: str) -> None:
    row = find(name)
    assert row is not None
    text = (ROOT / path).read_text(encoding="utf-8")
    assert any(word in text for word in (row.code, row.name, row.name.upper().replace("-", "_")))


# The scheme itself, with a compiler of its own: "bad" is a mistake, and one that it can mend.


def _fixture(folder: Path, line: int, **more: object) -> Fixture:
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests" / "a.yaml").write_text("ok\né bad\n", encoding="utf-8")
    row = {"code": "SYM301", "name": "tool-name-collision", "file": "manifests/a.yaml", "line": line}
    (folder / "expected.json").write_text(json.dumps({"diagnostics": [row], **more}), encoding="utf-8")
    return load(folder)


def _compiler(replacement: str | None) -> Any:
    def run(place: Path, command: Sequence[str]) -> Outcome:
        assert command == ("compile",)
        assert not (place / "expected.json").exists()
        lines = (place / "manifests" / "a.yaml").read_text(encoding="utf-8").split("\n")
        found = []
        for number, line in enumerate(lines, 1):
            if "bad" in line:
                at = line.index("bad") + 1
                span = {
                    "file": "manifests/a.yaml",
                    "start": {"line": number, "column": at},
                    "end": {"line": number, "column": at + 3},
                }
                edit = None if replacement is None else {**span, "replacement": replacement}
                hint = {"text": "mend it", "edit": edit}
                found.append({"code": "SYM301", "name": "tool-name-collision", "primary": span, "hint": hint})
        return Outcome(1 if found else 0, tuple(found))

    return run


def test_a_true_fixture_passes(tmp_path: Path) -> None:
    check(_fixture(tmp_path / "x", 2), tmp_path / "copy", _compiler("good"))
    assert (tmp_path / "copy" / "x" / "manifests" / "a.yaml").read_text(encoding="utf-8") == "ok\né good\n"
    assert (tmp_path / "x" / "manifests" / "a.yaml").read_text(encoding="utf-8") == "ok\né bad\n"


def test_a_fixture_without_edits_passes(tmp_path: Path) -> None:
    check(_fixture(tmp_path / "x", 2), tmp_path / "copy", _compiler(None))


@pytest.mark.parametrize(
    ("line", "more", "replacement"),
    [
        (1, {}, "good"),  # another line
        (2, {"exit": 0}, "good"),  # another exit code
        (2, {}, "bad again"),  # an edit that mends nothing
    ],
)
def test_an_untrue_fixture_fails(
    tmp_path: Path, line: int, more: dict[str, object], replacement: str
) -> None:
    fixture = _fixture(tmp_path / "x", line, **more)
    with pytest.raises(AssertionError):
        check(fixture, tmp_path / "copy", _compiler(replacement))


@pytest.mark.parametrize("more", [{"lines": 3}, {"diagnostics": []}, {"diagnostics": [{"code": "SYM301"}]}])
def test_a_fixture_that_says_too_little_or_too_much_is_refused(
    tmp_path: Path, more: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=r"x/expected\.json"):
        _fixture(tmp_path / "x", 2, **more)
