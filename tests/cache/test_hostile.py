"""A cache that somebody committed: whole, with checksums that fit, and believed in nothing (docs/performance.md)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.cache import Cache
from symc.cli.compile import command
from symc.cli.parsed import Parsed
from symc.cli.replay import replay
from symc.source import Workspace

AGENT = "kind: agent\nname: desk\ninstructions: Help.\ngrants: [model_call]\n"
POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a POSIX file system is needed")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that was compiled, so that its cache is there."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests/desk.yaml").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert _compile().exit_code == 0
    return tmp_path


def _compile(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def _forged(entry: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """An entry that says something else under a checksum that fits."""
    head, _, body = entry.partition(b"\n")
    body = change(body)
    return b"%s sha256:%s\n%s" % (
        head.rpartition(b" ")[0],
        hashlib.sha256(body).hexdigest().encode(),
        body,
    )


def _checked_out(path: Path, content: bytes) -> None:
    """As git does: a new file, with the time of now."""
    path.unlink()
    path.write_bytes(content)


def _overwritten(path: Path, content: bytes) -> None:
    """The same file, another time."""
    os.utime(path, ns=(0, 0))
    path.write_bytes(content)


def _unpacked(path: Path, content: bytes) -> None:
    """As from an archive: a new file, with the time that the archive says."""
    then = path.stat().st_mtime_ns
    other = path.with_name("other")
    other.write_bytes(content)
    path.unlink()
    other.rename(path)
    os.utime(path, ns=(then, then))


ARRIVALS = [_checked_out, _overwritten, _unpacked]


def _more_grants(body: bytes) -> bytes:
    assert b"model_call" in body
    return body.replace(b'"model_call"', b'"model_call","tool_call","memory_write"')


@pytest.mark.parametrize("arrives", ARRIVALS)
@pytest.mark.parametrize("change", [_more_grants, lambda body: body], ids=["forged", "as it was"])
def test_data_that_came_with_the_files_is_not_theirs(
    desk: Path, arrives: Callable[[Path, bytes], None], change: Callable[[bytes], bytes]
) -> None:
    """Believed, it would make a lock that its manifests do not say, and that a person reviews as theirs."""
    lock = (desk / "symc.lock").read_bytes()
    entry = desk / ".symc_cache/parsed"
    arrives(entry, _forged(entry.read_bytes(), change))
    assert Cache("symc.lock").get("parsed") is None
    (desk / "manifests/more.md").write_text("x")  # nothing of this compile was told before
    (desk / "symc.lock").unlink()
    assert _compile().exit_code == 0
    assert (desk / "symc.lock").read_bytes() == lock


@pytest.mark.parametrize("arrives", ARRIVALS)
def test_what_was_said_elsewhere_is_not_said_again(
    desk: Path, arrives: Callable[[Path, bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = desk / ".symc_cache/compiled"
    arrives(
        entry,
        _forged(entry.read_bytes(), lambda body: body + b"\x1b]0;owned\x07\x1b[2J9 agents, 0 errors\n"),
    )
    assert not replay([])
    assert capsys.readouterr().err == ""


def test_the_forger_of_these_tests_is_believed_in_the_file_itself(desk: Path) -> None:
    """What keeps the others out is the file: without this, they would be refused for a slip in the forging."""
    entry = desk / ".symc_cache/parsed"
    then = entry.stat().st_mtime_ns
    with entry.open("r+b") as file:
        forged = _forged(file.read(), _more_grants)
        file.seek(0)
        file.write(forged)
    os.utime(entry, ns=(then, then))
    found = Cache("symc.lock").get("parsed")
    assert found is not None
    assert b"memory_write" in found


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b'{"\\ud800": {}}',
        b"[1, 2]",
        b"null",
        b"NaN",
        b"9" * 5_000,
        b'{"a": \xff}',
    ],
    ids=lambda body: body[:12].decode("latin-1"),
)
def test_nonsense_under_a_sound_head(desk: Path, body: bytes) -> None:
    Cache("symc.lock").put("parsed", body)
    assert Parsed.beside(Path("symc.lock"), Workspace.of({"a.yaml": b"x"})).data == {}
    assert _compile().exit_code == 0


def test_of_the_files_own_hash_something_that_is_no_manifest(desk: Path) -> None:
    digest = hashlib.sha256(AGENT.encode()).hexdigest()
    for data in ([1], "x", None, 3):
        Cache("symc.lock").put("parsed", json.dumps({digest: data}).encode())
        assert Parsed.beside(Path("symc.lock"), Workspace.of({"a.yaml": AGENT.encode()})).data == {}


@POSIX
def test_a_giant_costs_nothing(desk: Path) -> None:
    for name in ("parsed", "compiled"):
        with (desk / ".symc_cache" / name).open("r+b") as file:
            file.truncate(400 * 2**20)  # a hole: no disk is filled
    tracemalloc.start()
    try:
        assert Cache("symc.lock").get("parsed") is None
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert not replay([])


@POSIX
@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["parsed", "compiled"])
@pytest.mark.parametrize("target", ["/dev/zero", "../outside", "parsed", "pipe"])
def test_an_entry_that_is_a_link(desk: Path, name: str, target: str) -> None:
    entry = desk / ".symc_cache" / name
    shutil.copy2(entry, desk / "outside")
    os.mkfifo(desk / ".symc_cache/pipe")
    entry.unlink()
    entry.symlink_to(target)
    assert Cache("symc.lock").get(name) is None
    assert _compile().exit_code == 0
    assert (desk / "outside").read_bytes()
    assert not entry.is_symlink()


@POSIX
def test_a_folder_that_is_a_link_is_not_written_through(desk: Path, tmp_path: Path) -> None:
    shutil.rmtree(desk / ".symc_cache")
    (tmp_path / "outside").mkdir()
    (desk / ".symc_cache").symlink_to(tmp_path / "outside")
    assert _compile().exit_code == 0
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_refused_manifest_is_not_kept(desk: Path) -> None:
    """A credential was written: the person takes it out, and it must be nowhere else by then."""
    secret = "hunter2-CANARY-0123456789"
    server = f"kind: extension\nname: files\nmcp: {{command: [x], env: {{API_TOKEN: {secret}}}}}\n"
    (desk / "manifests/files.yaml").write_text(server)
    (desk / "manifests/files.pin.json").write_text('{"tools": []}')
    result = _compile()
    assert result.exit_code == 1
    assert "secret-literal" in result.stderr
    hints = [secret, hashlib.sha256(secret.encode()).hexdigest()]
    kept = [entry.read_bytes() for entry in (desk / ".symc_cache").iterdir()]
    assert len(kept) == 3
    assert not [hint for hint in hints for entry in kept if hint.encode() in entry]
    assert secret not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="no such bits")
def test_entries_are_nobody_elses_to_write(desk: Path) -> None:
    old = os.umask(0o022)
    try:
        shutil.rmtree(desk / ".symc_cache")
        assert _compile().exit_code == 0
    finally:
        os.umask(old)
    assert not [one for one in (desk / ".symc_cache").iterdir() if one.stat().st_mode & 0o022]
