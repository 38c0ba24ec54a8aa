"""What stands in the place of a lock or of acceptances, chosen by whoever wrote the branch (docs/policies.md §8).

Every command ends at once with its code, and shows nothing of what a link leads to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root

CANARY = "canary-9d1f"
AGENT = "kind: agent\nname: a\ninstructions: Help.\n"

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a POSIX file system is needed"),
    pytest.mark.timeout(60),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a sound lock, ``good.lock``, and nothing in the place of ``symc.lock``."""
    folder = tmp_path / "project"
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests/a.yaml").write_text(AGENT)
    monkeypatch.chdir(folder)
    assert _run("compile", "--output", "good.lock").exit_code == 0
    return folder


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(root, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert CANARY not in result.output
    assert "elsewhere" not in result.output
    return result


def _outside(place: Path, content: str) -> Path:
    target = place.parent / f"elsewhere-{CANARY}"
    target.write_text(content)
    return target


def _link_to_json(place: Path, path: Path) -> None:
    path.symlink_to(_outside(place, json.dumps({"lock_version": 1, CANARY: CANARY})))


def _link_to_text(place: Path, path: Path) -> None:
    path.symlink_to(_outside(place, f"accept:\n- {{{CANARY}: {CANARY}}}\n"))


def _chain_of_links(place: Path, path: Path) -> None:
    (place / "step").symlink_to(_outside(place, f"[{CANARY}]"))
    path.symlink_to("step")


def _link_to_sibling_with_our_prefix(place: Path, path: Path) -> None:
    sibling = place.with_name("project-2")
    sibling.mkdir()
    (sibling / "x").write_text(f"{{{CANARY}")
    path.symlink_to(sibling / "x")


def _link_to_device(place: Path, path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(place: Path, path: Path) -> None:
    path.symlink_to(path.name)


def _pipe(place: Path, path: Path) -> None:
    os.mkfifo(path)


def _folder(place: Path, path: Path) -> None:
    path.mkdir()


KINDS = [
    _link_to_json,
    _link_to_text,
    _chain_of_links,
    _link_to_sibling_with_our_prefix,
    _link_to_device,
    _loop,
    _pipe,
    _folder,
]


@pytest.mark.parametrize("kind", KINDS)
def test_no_lock(place: Path, kind: Callable[[Path, Path], None]) -> None:
    kind(place, place / "symc.lock")
    before = os.lstat("symc.lock")
    written = _run("compile")
    assert (written.exit_code, "lock-unwritable" in written.stderr) == (2, True)
    for arguments in (("digest",), ("run", "a", "hello"), ("verify",)):
        result = _run(*arguments)
        assert (result.exit_code, "lock-unreadable" in result.stderr) == (2, True), arguments
    assert _run("compile", "--check").exit_code == 1
    assert _run("compile", "--diff").exit_code == 2
    for sides in (("symc.lock", "good.lock"), ("good.lock", "symc.lock")):
        for format_ in ("text", "json", "markdown", "github", "accept"):
            assert _run("diff", *sides, "--format", format_).exit_code == 2
    assert os.lstat("symc.lock").st_ino == before.st_ino


def test_a_sound_lock_outside_is_not_told_either(place: Path) -> None:
    """Whoever links to the lock of another project would else read it in the summary of a check."""
    other = place.parent / "other"
    (other / "manifests").mkdir(parents=True)
    (other / "manifests/a.yaml").write_text(AGENT.replace("Help.", CANARY))
    (other / "symc.lock").write_bytes((place / "good.lock").read_bytes().replace(b"Help.", CANARY.encode()))
    (place / "symc.lock").symlink_to(other / "symc.lock")
    assert _run("compile", "--check").exit_code == 1
    assert _run("compile", "--diff").exit_code == 2


@pytest.mark.parametrize("kind", KINDS)
def test_no_acceptances(place: Path, kind: Callable[[Path, Path], None]) -> None:
    (place / "manifests/a.yaml").write_text(AGENT.replace("Help.", "Help them."))
    assert _run("compile", "--output", "new.lock").exit_code == 0
    kind(place, place / "symc.accept.yaml")
    for format_ in ("text", "json", "markdown", "github", "accept"):
        for sides in (("good.lock",), ("good.lock", "new.lock")):
            result = _run("diff", *sides, "--format", format_)
            assert result.exit_code == 2
            assert "could not compare" in result.output
            assert "symc.accept.yaml" in result.output


def test_acceptances_may_be_a_link_inside(place: Path) -> None:
    (place / "policy").mkdir()
    (place / "policy/accepted.yaml").write_text("# none yet\n")
    (place / "symc.accept.yaml").symlink_to("policy/accepted.yaml")
    assert _run("diff", "good.lock", "good.lock").exit_code == 0
    (place / "policy/accepted.yaml").write_text("accept: 3\n")
    assert _run("diff", "good.lock", "good.lock").exit_code == 2


def test_a_giant_is_not_read(place: Path) -> None:
    with (place / "symc.accept.yaml").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    result = _run("diff", "good.lock", "good.lock")
    assert (result.exit_code, "64 MiB" in result.output.replace("mib", "MiB")) == (2, True)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not _loop])
@pytest.mark.parametrize("name", ["a.pin.json", "text.md", "b.yaml"])
def test_no_file_of_the_workspace(place: Path, name: str, kind: Callable[[Path, Path], None]) -> None:
    """A pin, a text and a manifest: as the reader has them, whole commands do."""
    (place / "manifests/files.yaml").write_text(
        "kind: extension\nname: files\nmcp: {command: [x]}\npin: a.pin.json\n"
        "prompts: [{fragment_id: f, file: text.md}]\n"
    )
    kind(place, place / "manifests" / name)
    for arguments in (("compile",), ("compile", "--check"), ("show", "a"), ("diff", "good.lock")):
        for more in ((), ("--verbose",)) if arguments[0] == "compile" else ((),):
            result = _run(*arguments, *more)
            # A folder in the workspace's folder that has no name of a file is none of its files.
            assert result.exit_code in (1, 2), arguments
            assert f"manifests/{name}" in result.output
    assert not (place / "symc.lock").exists()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the file system refuses such names itself")
def test_a_folder_whose_name_is_no_text(place: Path) -> None:
    """What is said of it can be shown, and kept for the next time."""
    folder = place / os.fsdecode(b"caf\xe9\x1b[2J")
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests/a.yaml").write_text(AGENT)
    for arguments in ((), (), ("--verbose",), ("--check",), ("--format", "json"), ("--no-cache",)):
        command = [sys.executable, "-m", "symc.cli", "compile", str(folder / "manifests"), *arguments]
        ran = subprocess.run(command, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert b"\x1b" not in ran.stdout + ran.stderr
        assert b"caf<U+DCE9><U+001B>[2J" in ran.stderr
