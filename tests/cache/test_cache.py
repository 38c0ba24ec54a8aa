"""The cache is never trusted for correctness: whatever is done to it, a compile writes and says the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from symc.cli import main, replay
from symc.cli.cache import Cache
from symc.source import ENDINGS

ROOT = Path(__file__).parents[2]
ENTRIES = ("compiled", "parsed")

MANIFESTS = {
    "agents/desk.yaml": """\
kind: agent
name: desk
extensions: [crm]
tools: [crm/*]
grants: [model_call, tool_call]
vars: {unread: 1}
prompts:
- {fragment_id: identity, tier: platform, file: identity.md}
""",
    "agents/identity.md": "You are the desk.\n",
    "crm.yaml": """\
kind: extension
name: crm
version: 1.0.0
tools:
- name: lookup
  description: Looks a customer up.
  invoke: crm.tools:lookup
  input_schema: &customer {type: object, properties: {id: {type: number, default: 1.0, minimum: 1e-7}}}
- {name: look_again, description: Café ✓, invoke: "crm.tools:again", input_schema: *customer}
""",
}

Said = tuple[bytes, str]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a workspace, where commands run."""
    folder = tmp_path / "desk"
    _write(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return folder


@pytest.fixture
def compiles(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Runs ``symc compile``; gives the lock's bytes and what was said."""

    def run(*arguments: str, lock: Path = desk / "symc.lock") -> Said:
        monkeypatch.setattr(sys, "argv", ["symc", "compile", *arguments])
        code = None
        try:
            main()
        except SystemExit as end:
            code = end.code
        if code:
            pytest.fail(f"exit code {code!r}")
        return lock.read_bytes(), capsys.readouterr().err

    return run


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each compile, whether it was answered from the cache."""
    answers: list[bool] = []

    def spy(arguments: list[str]) -> bool:
        answers.append(original(arguments))
        return answers[-1]

    original = replay.replay
    monkeypatch.setattr(replay, "replay", spy)
    return answers


def _write(folder: Path) -> None:
    for path, text in MANIFESTS.items():
        file = folder / "manifests" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _entries(desk: Path) -> list[Path]:
    return [desk / ".symc_cache" / name for name in ENTRIES]


def test_nothing_changed_is_told_without_a_compile(
    compiles: Callable[..., Said], replayed: list[bool]
) -> None:
    lock, said = compiles()
    assert "variable-unused" in said
    assert compiles() == (lock, said.replace("written", "is up to date"))
    assert compiles("--no-cache") == (lock, said.replace("written", "is up to date"))
    assert replayed == [False, True, False]


def _deleted(desk: Path) -> None:
    shutil.rmtree(desk / ".symc_cache")


def _emptied(desk: Path) -> None:
    for entry in _entries(desk):
        entry.write_bytes(b"")


def _cut(desk: Path) -> None:
    for entry in _entries(desk):
        entry.write_bytes(entry.read_bytes()[:-7])


def _flipped(desk: Path) -> None:
    for entry in _entries(desk):
        content = bytearray(entry.read_bytes())
        content[len(content) * 3 // 4] ^= 4
        entry.write_bytes(bytes(content))


def _of_another_version(desk: Path) -> None:
    for entry in _entries(desk):
        entry.write_bytes(entry.read_bytes().replace(b"symc ", b"symc 9", 1))


def _swapped(desk: Path) -> None:
    """Each whole and with its checksum, under the other's name."""
    first, second = _entries(desk)
    kept = first.read_bytes()
    second.rename(first)
    second.write_bytes(kept)


def _foreign(desk: Path) -> None:
    for entry in _entries(desk):
        entry.write_bytes(b'{"cache": "of something else"}\n')


def _whole_nonsense(desk: Path) -> None:
    for name, value in (("compiled", b"\n\xff"), ("parsed", b"[[1, 2")):
        Cache(str(desk / "symc.lock")).put(name, value)


def _folders(desk: Path) -> None:
    for entry in _entries(desk):
        entry.unlink()
        entry.mkdir()


def _a_file(desk: Path) -> None:
    shutil.rmtree(desk / ".symc_cache")
    (desk / ".symc_cache").write_text("no folder")


def _a_link(desk: Path) -> None:
    (desk / ".symc_cache").rename(desk / "elsewhere")
    (desk / ".symc_cache").symlink_to("elsewhere")


def _pipes(desk: Path) -> None:
    for entry in _entries(desk):
        entry.unlink()
        os.mkfifo(entry)


@pytest.mark.parametrize(
    "damage",
    [
        _deleted,
        _emptied,
        _cut,
        _flipped,
        _of_another_version,
        _swapped,
        _foreign,
        _whole_nonsense,
        _folders,
        _a_file,
        _a_link,
        pytest.param(_pipes, marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")),
    ],
)
@pytest.mark.parametrize("lock_is_there", [True, False])
def test_a_damaged_cache_changes_nothing(
    desk: Path,
    compiles: Callable[..., Said],
    replayed: list[bool],
    damage: Callable[[Path], None],
    lock_is_there: bool,
) -> None:
    lock, said = compiles()
    damage(desk)
    if not lock_is_there:
        (desk / "symc.lock").unlink()
    assert compiles() == (lock, said if not lock_is_there else said.replace("written", "is up to date"))
    assert replayed == [False, False]


def test_the_cache_of_another_workspace_changes_nothing(
    desk: Path, compiles: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    _write(other)
    (other / "manifests/agents/identity.md").write_text("You are another desk.\n")
    monkeypatch.chdir(other)
    theirs, said = compiles(lock=other / "symc.lock")
    shutil.copytree(other / ".symc_cache", desk / ".symc_cache")
    shutil.copyfile(other / "symc.lock", desk / "symc.lock")
    monkeypatch.chdir(desk)
    ours, said_here = compiles()
    assert ours != theirs
    assert (ours, said_here) == (compiles("--no-cache")[0], said)


@pytest.mark.parametrize(
    "change",
    [
        lambda desk: (desk / "manifests/agents/identity.md").write_text("You are a desk.\n"),
        lambda desk: (desk / "manifests/agents/identity.md").rename(desk / "manifests/agents/other.md"),
        lambda desk: (desk / "manifests/more.txt").write_text("unused"),
        lambda desk: (desk / "manifests/crm.yaml").rename(desk / "manifests/crm.yml"),
        lambda desk: (desk / "manifests/more.YAML").write_text("kind: workspace\n"),
        lambda desk: (desk / "symc.lock").write_bytes(b""),
        lambda desk: (desk / "symc.lock").unlink(),
        lambda desk: (desk / "symc.lock").write_bytes((desk / "symc.lock").read_bytes() + b"\n"),
    ],
)
def test_whatever_changed_is_compiled(
    desk: Path, compiles: Callable[..., Said], replayed: list[bool], change: Callable[[Path], object]
) -> None:
    compiles()
    change(desk)
    exits = (desk / "manifests/agents/other.md").exists() or (desk / "manifests/more.YAML").exists()
    if exits:
        with pytest.raises(pytest.fail.Exception):
            compiles()
    else:
        found = compiles()
        assert found[0] == compiles("--no-cache")[0]
    assert replayed[:2] == [False, False]


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        (("manifests",), True),
        (("./manifests/",), True),
        (("-q",), False),  # asked in another way than the first time
        (("--verbose",), False),
        (("--format", "json"), False),
        (("--output", "symc.lock"), False),
        (("--check",), False),
        (("--no-cache",), False),
        (("manifests", "--max-errors", "1"), False),
    ],
)
def test_only_the_plain_command_is_answered_from_the_cache(
    compiles: Callable[..., Said], replayed: list[bool], arguments: tuple[str, ...], answers: bool
) -> None:
    compiles()
    compiles(*arguments)
    assert replayed == [False, answers]


def test_quietly_asked_is_quietly_answered(compiles: Callable[..., Said], replayed: list[bool]) -> None:
    assert [compiles("-q")[1], compiles("--quiet")[1]] == ["", ""]
    assert replayed == [False, True]


def test_a_check_neither_reads_nor_writes_it(desk: Path, compiles: Callable[..., Said]) -> None:
    compiles("--no-cache")
    compiles("--check")
    assert not (desk / ".symc_cache").exists()
    compiles()
    before = {entry: entry.read_bytes() for entry in _entries(desk)}
    (desk / "manifests/agents/identity.md").write_text("You are a desk.\n")
    (desk / "symc.lock").write_bytes(compiles("--no-cache")[0])
    compiles("--check")
    assert {entry: entry.read_bytes() for entry in _entries(desk)} == before


def test_a_workspace_with_a_link_is_always_compiled(
    desk: Path, compiles: Callable[..., Said], replayed: list[bool]
) -> None:
    (desk / "manifests/linked.md").symlink_to("agents/identity.md")
    assert compiles()[0] == compiles()[0]
    assert replayed == [False, False]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that this user cannot write")
def test_a_folder_that_cannot_be_written(desk: Path, compiles: Callable[..., Said]) -> None:
    lock, said = compiles("--no-cache")
    desk.chmod(0o555)
    try:
        assert compiles() == (lock, said.replace("written", "is up to date"))
    finally:
        desk.chmod(0o755)


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path) -> None:
    """A file stands where the cache's folder would: as good as a folder that may not be written, whoever runs this."""
    (tmp_path / ".symc_cache").write_text("")
    cache = Cache(str(tmp_path / "symc.lock"))
    cache.put("entry", b"value")
    assert cache.get("entry") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == [".symc_cache"]


def test_git_does_not_see_it(desk: Path, compiles: Callable[..., Said]) -> None:
    compiles()
    subprocess.run(["git", "init", "-q"], cwd=desk, check=True)
    shown = subprocess.run(
        ["git", "status", "--porcelain"], cwd=desk, capture_output=True, text=True, check=True
    )
    assert ".symc_cache" not in shown.stdout


def test_compiles_at_the_same_time(desk: Path) -> None:
    command = [sys.executable, "-m", "symc.cli", "compile"]
    running = [
        subprocess.Popen(command, cwd=desk, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    for process in running:
        process.communicate()
    together = sha256((desk / "symc.lock").read_bytes()).hexdigest()
    assert sorted(path.name for path in (desk / ".symc_cache").iterdir()) == [".gitignore", *ENTRIES]
    shutil.rmtree(desk / ".symc_cache")
    subprocess.run([*command, "--no-cache"], cwd=desk, check=True, capture_output=True)
    assert sha256((desk / "symc.lock").read_bytes()).hexdigest() == together


def test_the_walk_takes_the_files_that_a_workspace_has() -> None:
    assert replay.ENDINGS == ENDINGS
