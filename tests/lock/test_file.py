"""The lock as a file: whole or not at all, whatever happens (L23)."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from symc.lock import LockError, dumps
from symc.lock import file as lock_file
from tests.lock.sample import LOCK

TEXT = dumps(LOCK)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "symc.lock"
    assert lock_file.write(path, TEXT)
    assert path.read_bytes() == TEXT.encode()
    assert lock_file.load(path) == LOCK
    assert [each.name for each in tmp_path.iterdir()] == ["symc.lock"]


def test_the_same_bytes_leave_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "symc.lock"
    lock_file.write(path, TEXT)
    os.utime(path, (1, 1))
    before = path.stat()
    assert not lock_file.write(path, TEXT)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert lock_file.write(path, TEXT + "\n")


def test_the_mode_of_the_old_lock_stays(tmp_path: Path) -> None:
    path = tmp_path / "symc.lock"
    path.write_text("old")
    path.chmod(0o640)
    lock_file.write(path, TEXT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_lock_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    lock_file.write(tmp_path / "symc.lock", TEXT)
    assert (tmp_path / "symc.lock").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_no_lock(tmp_path: Path) -> None:
    assert _code(lambda: lock_file.read(tmp_path / "symc.lock")) == "lock-missing"


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "device"])
def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "symc.lock"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(tmp_path / "other")
            (tmp_path / "other").symlink_to(path)
        case "device":
            path = Path("/dev/null")
    assert _code(lambda: lock_file.read(path)) == "lock-unreadable"
    assert _code(lambda: lock_file.write(path, TEXT)) == "lock-unwritable"


def test_a_giant_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "symc.lock"
    with path.open("wb") as file:
        file.truncate(lock_file.LARGEST + 1)
    assert _code(lambda: lock_file.read(path)) == "lock-unreadable"
    assert lock_file.write(path, TEXT)


def test_a_link_is_written_through_inside_the_repository(tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/deep").mkdir()
    target = tmp_path / "repo/real.lock"
    target.write_text("old")
    link = tmp_path / "repo/deep/symc.lock"
    link.symlink_to("../real.lock")
    assert lock_file.write(link, TEXT)
    assert link.is_symlink()
    assert target.read_text() == TEXT
    target.unlink()
    assert lock_file.write(link, TEXT)
    assert target.read_text() == TEXT


def test_a_link_that_leads_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    target = tmp_path / "secret-name"
    target.write_text("old")
    link = tmp_path / "repo/symc.lock"
    link.symlink_to(target)
    with pytest.raises(LockError) as error:
        lock_file.write(link, TEXT)
    assert target.read_text() == "old"
    assert "secret-name" not in repr(error.value.diagnostics)


def test_without_a_repository_a_link_stays_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    link = tmp_path / "here/symc.lock"
    link.symlink_to("../other.lock")
    assert _code(lambda: lock_file.write(link, TEXT)) == "lock-unwritable"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "symc.lock"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*(os, "fsync", full) if step == "fsync" else (Path, "replace", full))
    assert _code(lambda: lock_file.write(path, TEXT)) == "lock-unwritable"
    assert [each.name for each in tmp_path.iterdir()] == ["symc.lock"]
    assert path.read_text() == "old"


def test_an_interrupt_leaves_the_old_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "symc.lock"
    path.write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock_file.write(path, TEXT)
    assert [each.name for each in tmp_path.iterdir()] == ["symc.lock"]
    assert path.read_text() == "old"


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from symc.lock import LockError
from symc.lock import file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    file.write(Path(sys.argv[1]), "x" * 1_000_000)
except LockError as error:
    print(error.diagnostics[0].name)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX's")
def test_no_room_for_the_new_lock(tmp_path: Path) -> None:
    """The system itself refuses in the middle of a write."""
    path = tmp_path / "symc.lock"
    path.write_text("old")
    run = subprocess.run([sys.executable, "-c", _LIMITED, path], capture_output=True, text=True, check=True)
    assert run.stdout == "lock-unwritable\n"
    assert [each.name for each in tmp_path.iterdir()] == ["symc.lock"]
    assert path.read_text() == "old"


# One interpreter that forks: 300 starts of Python would take a minute.
_KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from symc.lock import file
path, rounds = Path(sys.argv[1]), int(sys.argv[2])
texts = ["a" * 500_000, "b" * 400_000]
began = time.perf_counter()
for text in (*texts, *texts):
    file.write(path, text)
typical = (time.perf_counter() - began) / 4
file.write(path, texts[0])
clock, outcomes = random.Random(7), [0, 0]
for number in range(rounds):
    child = os.fork()
    if child == 0:
        file.write(path, texts[(number + 1) % 2])
        os._exit(0)
    time.sleep(clock.random() * 3 * typical)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    held = path.read_text()
    if held not in texts:
        sys.exit(f"round {number}: a mixture of {len(held)} characters")
    outcomes[texts.index(held) == (number + 1) % 2] += 1
print(*outcomes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_300_writes_killed_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "symc.lock"
    run = subprocess.run(
        [sys.executable, "-c", _KILLED, path, "300"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    old, new = map(int, run.stdout.split())
    assert old + new == 300
    assert old > 10, "no write was interrupted: the test shows nothing"
    assert new > 10, "no write came through: the test shows nothing"
    # What a killed write leaves is hidden and is nobody's input.
    strays = [each.name for each in tmp_path.iterdir() if each != path]
    assert all(name.startswith(".symc.lock.") and name.endswith(".tmp") for name in strays)


def _code(action: object) -> str:
    assert callable(action)
    with pytest.raises(LockError) as error:
        action()
    return error.value.diagnostics[0].name
