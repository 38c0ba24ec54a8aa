"""The commands of the author's loop, as a person runs them: init, compile, show, explain, schema, digest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def symc(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "symc.cli", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"} | environment,
        check=False,
    )


@pytest.fixture
def example(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "manifests", tmp_path / "manifests")
    shutil.copyfile(ROOT / "symc.lock", tmp_path / "symc.lock")
    return tmp_path


def test_init_gives_a_workspace_that_compiles(tmp_path: Path) -> None:
    first = symc(tmp_path, "init")
    assert (first.returncode, first.stderr.splitlines()[-1]) == (0, "next: symc compile")
    assert symc(tmp_path, "compile").returncode == 0
    assert symc(tmp_path, "compile", "--check").returncode == 0
    verified = symc(tmp_path, "verify")
    assert (verified.returncode, verified.stderr) == (0, "1 agent, 1 tool: as in the lock, ready to start\n")
    ran = symc(tmp_path, "run", "assistant", 'now {"zone": "Asia/Tokyo"}', "--provider", "scripted")
    assert ran.returncode == 0
    assert ran.stdout.endswith("+09:00\n")
    attributes = (tmp_path / ".gitattributes").read_text()
    assert attributes == "symc.lock text eol=lf linguist-language=JSON linguist-generated=false\n"
    again = symc(tmp_path, "init")
    assert again.returncode == 2
    assert "exists; nothing was written" in again.stderr


def test_init_overwrites_no_code(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text("mine = 1\n")
    ran = symc(tmp_path, "init")
    assert ran.returncode == 2
    assert "clock.py exists; nothing was written" in ran.stderr
    assert not (tmp_path / "manifests").exists()
    assert (tmp_path / "clock.py").read_text() == "mine = 1\n"


def test_init_inside_the_folder_puts_the_code_beside_the_lock(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    assert symc(folder, "init", ".").returncode == 0
    assert symc(folder, "compile", ".").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"clock.py", "symc.lock", ".gitattributes"}
    assert symc(tmp_path, "verify").returncode == 0


def test_init_keeps_what_stands_in_gitattributes(tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text("*.png binary")
    symc(tmp_path, "init")
    lines = (tmp_path / ".gitattributes").read_text().splitlines()
    assert lines[0] == "*.png binary"
    assert lines[1].startswith("symc.lock ")


def test_compile_says_what_it_did_and_touches_nothing_twice(example: Path) -> None:
    lock = example / "symc.lock"
    before = lock.stat().st_mtime_ns
    same = symc(example, "compile")
    assert (same.returncode, same.stdout) == (0, "")
    assert same.stderr.splitlines()[-1].endswith("symc.lock is up to date")
    assert lock.stat().st_mtime_ns == before


def test_an_error_leaves_the_lock_and_ends_in_a_verdict(example: Path) -> None:
    before = (example / "symc.lock").read_bytes()
    agent = example / "manifests" / "agents" / "triage.yaml"
    agent.write_text(agent.read_text().replace("tools:", "toools:"))
    ran = symc(example, "compile")
    assert ran.returncode == 1
    assert "manifests/agents/triage.yaml:9:1" in ran.stderr
    assert "did you mean `tools`?" in ran.stderr
    assert ran.stderr.splitlines()[-1].endswith("1 error — lock not written")
    assert (example / "symc.lock").read_bytes() == before


@pytest.mark.parametrize("format_", ["json", "github", "sarif"])
def test_machine_formats_are_the_payload(example: Path, format_: str) -> None:
    agent = example / "manifests" / "agents" / "triage.yaml"
    agent.write_text(agent.read_text().replace("tools:", "toools:"))
    ran = symc(example, "compile", "--format", format_)
    assert ran.returncode == 1
    if format_ == "json":
        found = json.loads(ran.stdout)
        assert (found["format"], found["ok"]) == (1, False)
        assert [d["name"] for d in found["diagnostics"]] == ["unknown-key"]
    elif format_ == "sarif":
        assert json.loads(ran.stdout)["version"] == "2.1.0"
    else:
        assert ran.stdout.startswith("::error file=manifests/agents/triage.yaml,line=9,")


def test_a_file_of_another_place_is_written_with_output(example: Path) -> None:
    assert symc(example, "compile", "-o", "other.lock").returncode == 0
    assert (example / "other.lock").read_bytes() == (example / "symc.lock").read_bytes()


def test_check_and_the_flags_that_write_exclude_each_other(example: Path) -> None:
    ran = symc(example, "compile", "--check", "--upgrade-lock")
    assert ran.returncode == 2
    assert "--check writes nothing" in ran.stderr


def test_a_conflicted_lock_is_cured_by_compiling(example: Path) -> None:
    lock = example / "symc.lock"
    whole = lock.read_text()
    lock.write_text(whole.replace('  "lock_version"', '<<<<<<< ours\n  "lock_version"', 1))
    checked = symc(example, "compile", "--check")
    assert checked.returncode == 1
    assert "conflict" in checked.stderr
    assert symc(example, "compile").returncode == 0
    assert lock.read_text() == whole


def test_no_workspace_is_exit_2_with_the_next_step(tmp_path: Path) -> None:
    ran = symc(tmp_path, "compile")
    assert ran.returncode == 2
    assert "symc init" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("given", ["lock_version: 0", None])
def test_upgrade_lock_edits_one_number(example: Path, newline: str, given: str | None) -> None:
    path = example / "manifests" / "workspace.yaml"
    text = path.read_text().replace("lock_version: 1\n", "" if given is None else f"{given}\n")
    path.write_bytes(text.replace("\n", newline).encode())
    assert symc(example, "compile", "--upgrade-lock").returncode == 0
    after = path.read_bytes().decode()
    assert after.count("lock_version: 1") == 1
    assert after.replace(f"lock_version: 1{newline}", "") == text.replace("\n", newline).replace(
        f"{given}{newline}", ""
    )


def test_show_plain_is_what_the_model_reads(example: Path) -> None:
    ran = symc(example, "show", "triage", "--plain")
    assert ran.returncode == 0
    assert ran.stdout.startswith("Text between `<extension-text>` marks")
    assert ran.stdout.endswith("</extension-text>")


@pytest.mark.parametrize("view", ["--origin", "--sizes", "--tools", "--coverage"])
def test_every_view_shows_something(example: Path, view: str) -> None:
    ran = symc(example, "show", "support", view)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.stdout.splitlines()) > 3


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("show", "support", "--plain", "--sizes"), "--plain and --sizes"),
        (("show", "support", "--sizes", "--plain"), "--plain and --sizes"),
        (("show", "support", "--tools", "--origin"), "--origin and --tools"),
        (("show", "support", "--coverage", "--tools", "--format", "json"), "--tools and --coverage"),
        (("show", "support", "--plain", "--origin", "--coverage"), "--plain and --origin and --coverage"),
        (("compile", "--quiet", "--verbose"), "--quiet and --verbose"),
        (("verify", "-q", "-v"), "--quiet and --verbose"),
        (("run", "support", "hi", "-q", "-v"), "--quiet and --verbose"),
        (("explain", "--check", "--write"), "--check and --write"),
        (("explain", "SYM301", "--check"), "--check"),
        (("schema", "agent", "--check"), "--check"),
    ],
)
def test_flags_that_contradict_each_other_are_named(
    example: Path, arguments: tuple[str, ...], named: str
) -> None:
    ran = symc(example, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"Error: {named}" in ran.stderr


def test_the_parameter_of_a_delegate_is_told(example: Path) -> None:
    told = "ask_… asks another agent: its parameter `message` is all that the agent is told"
    assert symc(example, "show", "support", "--tools").stdout.splitlines()[-1] == told
    assert told not in symc(example, "show", "triage", "--tools").stdout


def test_show_as_data(example: Path) -> None:
    prompt = json.loads(symc(example, "show", "support", "--format", "json").stdout)
    assert [f["id"] for f in prompt["fragments"]][-1] == "support/customer"
    tools = json.loads(symc(example, "show", "support", "--tools", "--format", "json").stdout)
    assert {"tool": "refund_order", "exposed": False}.items() <= next(
        t for t in tools["tools"] if t["tool"] == "refund_order"
    ).items()


def test_an_unknown_agent_is_told_the_nearest(example: Path) -> None:
    ran = symc(example, "show", "suport")
    assert ran.returncode == 2
    assert 'did you mean "support"?' in ran.stderr


def test_digests_name_the_whole_and_each_agent(example: Path) -> None:
    lines = symc(example, "digest").stdout.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["*", "researcher", "support", "triage"]
    one = symc(example, "digest", "support").stdout.strip()
    assert f"{one}  support" in lines


@pytest.mark.parametrize("word", ["SYM301", "sym301", "tool-name-collision", "grant-widened"])
def test_explain_takes_codes_and_names(tmp_path: Path, word: str) -> None:
    ran = symc(tmp_path, "explain", word)
    assert ran.returncode == 0
    assert "What to do" in ran.stdout or "level" in ran.stdout.lower()


@pytest.mark.parametrize(
    ("command", "folder", "write"),
    [
        (("explain", "--check"), "docs", "symc explain --write"),
        (("schema", "--check"), "schemas", "symc schema"),
        (("schema", "--check", "-o", "there"), "there", "symc schema --output there"),
    ],
)
def test_where_nothing_is_generated_there_is_nothing_to_check(
    command: tuple[str, ...], folder: str, write: str, tmp_path: Path
) -> None:
    nothing = symc(tmp_path, *command)
    assert nothing.returncode == 2
    assert nothing.stderr.startswith(f"nothing to check: {folder} holds none of the files")
    assert nothing.stderr.endswith(f"to have them here, run: {write}\n")
    assert symc(tmp_path, *write.split()[1:]).returncode == 0
    assert symc(tmp_path, *command).returncode == 0


def test_explain_of_an_unknown_code(tmp_path: Path) -> None:
    ran = symc(tmp_path, "explain", "tool-name-colision")
    assert ran.returncode == 2
    assert "tool-name-collision" in ran.stderr


@pytest.mark.parametrize("kind", ["workspace", "agent", "extension", "lock"])
def test_schema_prints_one(tmp_path: Path, kind: str) -> None:
    printed = symc(tmp_path, "schema", kind).stdout
    assert printed == (ROOT / "schemas" / f"{kind}.schema.json").read_text()


def test_generated_files_are_current() -> None:
    assert symc(ROOT, "schema", "--check").returncode == 0
    assert symc(ROOT, "explain", "--check").returncode == 0


def test_a_bug_says_how_to_report_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from symc.cli import frame

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(frame.root, "main", broken)
    with CliRunner().isolation() as (_, err, _), pytest.raises(SystemExit) as ended:
        frame.run(["compile", "my folder"])
    assert ended.value.code == 101
    said = err.getvalue().decode()
    assert "SYMC_TRACEBACK=1 symc compile 'my folder'" in said
    assert "secret detail" not in said


def test_watch_compiles_on_every_change(example: Path) -> None:
    pytest.importorskip("watchfiles", reason="install watchfiles: pip install 'symc[watch]'")
    import time

    process = subprocess.Popen(
        [sys.executable, "-m", "symc.cli", "compile", "--watch"],
        cwd=example,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    try:
        assert process.stdout is not None
        while "is up to date" not in process.stdout.readline():
            pass
        time.sleep(1)  # until the watcher stands
        path = example / "manifests" / "agents" / "safety.md"
        path.write_text(path.read_text() + "Be kind.\n")
        seen = ""
        while "written" not in seen:
            line = process.stdout.readline()
            assert line, seen
            seen += line
        assert "+ Be kind." in seen
        assert "SAME AUTHORITY" in seen
    finally:
        process.terminate()
        process.wait(timeout=20)
        if process.stdout is not None:
            process.stdout.close()
