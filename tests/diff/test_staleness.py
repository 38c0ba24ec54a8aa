"""What `symc compile --check` says of a lock that is not current (docs/lockfile.md §5, L20–L22)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root

CRM = """\
kind: extension
name: crm
version: "1.0"
tools:
  - {name: lookup, description: Find., invoke: "acme.crm:lookup", input_schema: {type: object}}
  - {name: refund, description: Pay., invoke: "acme.crm:refund", input_schema: {type: object}}
prompts:
  - fragment_id: etiquette
    text: |
      Be friendly.
      Be brief.
"""
SUPPORT = """\
kind: agent
name: support
extensions: [crm]
tools: [crm/lookup]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "crm.yaml").write_text(CRM)
    (tmp_path / "manifests" / "support.yaml").write_text(SUPPORT)
    monkeypatch.chdir(tmp_path)
    assert symc("compile").exit_code == 0
    return tmp_path


def symc(*arguments: str) -> Result:
    return CliRunner().invoke(root, arguments, catch_exceptions=False)


def last_line(result: Result) -> str:
    return result.stderr.splitlines()[-1]


def test_a_current_lock_is_fine_and_untouched(project: Path) -> None:
    lock = project / "symc.lock"
    os.utime(lock, ns=(1, 1))
    assert symc("compile", "--check").exit_code == 0
    assert lock.stat().st_mtime_ns == 1


def test_a_stale_lock_is_described(project: Path) -> None:
    lock = project / "symc.lock"
    before = lock.read_bytes()
    os.utime(lock, ns=(1, 1))
    (project / "manifests" / "crm.yaml").write_text(CRM.replace("friendly", "kind"))
    (project / "manifests" / "support.yaml").write_text(SUPPORT.replace("[crm/lookup]", '["crm/*"]'))
    result = symc("compile", "--check")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == (
        "error[SYM611 lock-stale]: "
        "symc.lock is out of date: support: fragment crm/etiquette changed (manifests/crm.yaml:10); 1 tool added"
        " — WIDENING. Run: symc compile"
    )
    # One cause is told once, and the last line is a verdict (docs/diagnostics.md §2–3).
    assert result.stderr.count("WIDENING") == result.stderr.count("symc compile") == 1
    assert last_line(result) == "1 agent, 1 extension — symc.lock is not up to date"
    assert (lock.read_bytes(), lock.stat().st_mtime_ns) == (before, 1)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (None, 1, "there is no lock"),
        ("<<<<<<< ours\n{}\n", 1, "conflict marker"),
        ('{"agents": {}, "lock_version": 99}', 2, "lock_version 99"),
        ('{"agents": {}, "lock_version": "one"}', 2, "unknown lock_version"),
        ("{", 1, "not JSON"),
    ],
)
def test_a_lock_that_cannot_be_compared(project: Path, text: str | None, code: int, said: str) -> None:
    lock = project / "symc.lock"
    lock.unlink()
    if text is not None:
        lock.write_text(text)
    result = symc("compile", "--check")
    assert result.exit_code == code
    assert result.stderr.count(said) == 1
    assert last_line(result) == "1 agent, 1 extension — symc.lock is not up to date"


def test_other_bytes_of_the_same_content_are_stale(project: Path) -> None:
    lock = project / "symc.lock"
    lock.write_text(lock.read_text() + "\n")
    result = symc("compile", "--check")
    assert result.exit_code == 1
    assert "the same content in other bytes — SAME AUTHORITY. Run: symc compile" in result.stderr


def test_a_lock_that_somebody_wrote_into_is_told_as_that(project: Path) -> None:
    (project / "manifests" / "support.yaml").write_text(
        SUPPORT + "policies: [{policy_id: no, deny: {tools: [crm/lookup]}}]\n"
    )
    assert symc("compile").exit_code == 0
    lock = project / "symc.lock"
    tree = json.loads(lock.read_text())
    assert tree["agents"]["support"]["tools"]["lookup"].pop("guarded_by") == ["support/no"]
    lock.write_text(json.dumps(tree, indent=2, sort_keys=True) + "\n")
    result = symc("compile", "--check")
    assert result.exit_code == 1
    assert "lock-derived" in result.stderr
    assert "git diff symc.lock" in result.stderr


def test_compile_shows_what_it_changes(project: Path) -> None:
    (project / "manifests" / "support.yaml").write_text(SUPPORT.replace("[crm/lookup]", '["crm/*"]'))
    result = symc("compile", "--diff")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "WIDENING — support may now call crm/refund (was: not among its tools)"
    )
    assert symc("compile", "--diff").stdout == "no changes\n"


def test_a_check_shows_what_the_change_means(project: Path) -> None:
    """docs/commands.md: `--diff` also shows what the change means; `--check` writes nothing."""
    assert symc("compile", "--check", "--diff").stdout == "no changes\n"
    (project / "manifests" / "support.yaml").write_text(SUPPORT.replace("[crm/lookup]", '["crm/*"]'))
    before = (project / "symc.lock").read_bytes()
    result = symc("compile", "--check", "--diff")
    assert result.exit_code == 1
    assert result.stdout == symc("diff", "symc.lock").stdout
    assert (project / "symc.lock").read_bytes() == before


def test_compile_says_when_the_old_lock_is_none(project: Path) -> None:
    (project / "symc.lock").write_text("<<<<<<< ours\n")
    result = symc("compile", "--diff")
    assert result.exit_code == 0
    assert result.stdout.startswith("could not compare: ")
    assert symc("compile", "--check").exit_code == 0
