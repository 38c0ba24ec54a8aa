"""Every format that a command takes comes out whole: one document, and nothing beside it (docs/commands.md)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import COMMANDS, root

ROOT = Path(__file__).parents[2]
CASES = "support: [{tool: refund, args: {order: O-1, amount: 600}, expect: deny}]\n"
REFUND = ("policy", "test", "support", "--tool", "refund", "--args", '{"order": "O-1", "amount": 600}')
RUNS = [
    ("compile",),
    ("compile", "--check"),
    ("policy", "test", "--cases", "cases.yaml"),
    REFUND,
    ("digest",),
    ("digest", "support"),
    ("show", "support"),
    ("show", "support", "--tools"),
    ("graph", "support"),
    ("diff", "symc.lock"),
]
"""What speaks to programs without a server or a key; `verify`, `pin` and `worker` share the options of `compile`."""


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, whose lock is stale by one description."""
    shutil.copytree(ROOT / "manifests", tmp_path / "manifests")
    shutil.copyfile(ROOT / "symc.lock", tmp_path / "symc.lock")
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def symc(*arguments: str) -> Result:
    return CliRunner().invoke(root, arguments, catch_exceptions=False)


def reworded() -> None:
    crm = Path("manifests/extensions/crm.yaml")
    crm.write_text(
        crm.read_text(encoding="utf-8").replace("Pay an order back.", "Pay it back."), encoding="utf-8"
    )


def formats(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The formats that the command itself says it takes."""
    found: click.Command = root
    for word in arguments:
        if isinstance(found, click.Group):
            named = found.get_command(click.Context(found), word)
            assert named is not None
            found = named
    option = next(one for one in found.params if one.name == "format_")
    assert isinstance(option.type, click.Choice)
    return tuple(map(str, option.type.choices))


@pytest.mark.parametrize("stale", [False, True], ids=["current", "stale"])
@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_json_is_one_document_that_knows_its_format(arguments: tuple[str, ...], stale: bool) -> None:
    if stale:
        reworded()
    result = symc(*arguments, "--format", "json")
    assert result.exit_code in ((0, 1) if stale else (0,))
    found = json.loads(result.stdout)
    if arguments[0] != "graph":
        assert found["format"] == 1


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_a_format_that_is_taken_comes_out(arguments: tuple[str, ...]) -> None:
    """Another format is another text; one that a form of the command has not is refused in words."""
    reworded()
    seen = {"": symc(*arguments).stdout}
    for form in formats(arguments):
        result = symc(*arguments, "--format", form)
        if result.exit_code == 2:
            assert f"no format {form}" in result.stderr
        elif form == "sarif":
            assert json.loads(result.stdout)["version"] == "2.1.0"
        elif form == "github":
            assert all(line.startswith(("::", "symc diff:")) for line in result.stdout.splitlines())
        else:
            seen[form] = result.stdout
    default = "mermaid" if arguments[0] == "graph" else "text"
    if arguments[0] == "compile":  # it wrote the lock meanwhile
        return
    assert seen.pop(default) == seen.pop("")
    assert len({*seen.values()}) == len(seen)


def test_every_command_with_a_format_is_held_to_it() -> None:
    shared = {"pin", "verify", "worker"}
    taking = {
        name
        for name in COMMANDS
        if name != "policy"
        and (found := root.get_command(click.Context(root), name)) is not None
        and any(one.name == "format_" for one in found.params)
    }
    assert taking - shared == {run[0] for run in RUNS} - {"policy"}
    assert all(formats((name,)) == ("text", "json", "github", "sarif") for name in shared)


def test_digests_as_json_are_those_of_the_text() -> None:
    lines = dict(line.split("  ")[::-1] for line in symc("digest").stdout.splitlines())
    assert json.loads(symc("digest", "--format", "json").stdout) == {"format": 1, "digests": lines}
    one = json.loads(symc("digest", "triage", "--format", "json").stdout)
    assert one == {"format": 1, "digests": {"triage": symc("digest", "triage").stdout.strip()}}
    missing = symc("digest", "traige", "--format", "json")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert 'did you mean "triage"?' in missing.stderr


@pytest.mark.parametrize("option", ["--diff", "--watch"])
@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_what_speaks_to_people_has_no_format_for_programs(option: str, form: str) -> None:
    result = symc("compile", option, "--format", form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "symc diff --format json" in result.stderr


def test_a_lock_that_cannot_be_written_is_told_with_the_warnings_in_one_document() -> None:
    triage = Path("manifests/agents/triage.yaml")
    text = triage.read_text(encoding="utf-8")
    triage.write_text(
        text + "policies: [{policy_id: none, deny: {tools: ['crm/nothing_*']}}]\n", encoding="utf-8"
    )
    Path("symc.lock").unlink()
    Path("symc.lock").mkdir()
    result = symc("compile", "--format", "json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert not found["ok"]
    assert [one["level"] for one in found["diagnostics"]].count("error") == 1
    assert "policy-matches-nothing" in [one["name"] for one in found["diagnostics"]]
