"""Determinism: the same manifests give the same lock, byte for byte, wherever and however they are compiled."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from symc.compose import compile
from symc.lock import dumps
from symc.source import Workspace, read

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "manifests"
SCRIPT = """\
import sys
from pathlib import Path
from symc.compose import compile
from symc.lock import dumps
from symc.source import read
sys.stdout.buffer.write(dumps(compile(read(Path(sys.argv[1]))).lock).encode())
"""


def compiled(folder: Path) -> bytes:
    lock = compile(read(folder)).lock
    assert lock is not None
    return dumps(lock).encode()


def elsewhere(folder: Path, python: str = sys.executable, **environment: str) -> bytes:
    """The lock as a process of its own computes it, in another working folder."""
    paths = [str(ROOT / "compiler"), *(path for path in sys.path if "site-packages" in path)]
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)}
    ran = subprocess.run(
        [python, "-c", SCRIPT, str(folder)], capture_output=True, cwd="/", env=base | environment, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


@pytest.fixture(scope="module")
def expected() -> bytes:
    return compiled(EXAMPLE)


def test_the_committed_lock_is_what_the_example_compiles_to(expected: bytes) -> None:
    assert (ROOT / "symc.lock").read_bytes() == expected


@pytest.mark.parametrize("seed", range(10))
def test_hash_seeds(seed: int, expected: bytes) -> None:
    assert elsewhere(EXAMPLE, PYTHONHASHSEED=str(seed)) == expected


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "tr_TR.UTF-8", "nowhere"])
def test_locales(locale: str, expected: bytes) -> None:
    assert elsewhere(EXAMPLE, LC_ALL=locale, LANG=locale) == expected


def _pythons() -> Mapping[str, str | None]:
    """Other interpreters of this machine that have what symc needs."""
    found: dict[str, str | None] = {}
    for version in ("3.11", "3.12", "3.13"):
        places = [
            shutil.which(f"python{version}"),
            *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python")),
        ]
        found[version] = next((place for place in places if place and _runs(place, version)), None)
    return found


def _runs(python: str, version: str) -> bool:
    try:
        ran = subprocess.run([python, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return False
    return ran.returncode == 0 and f" {version}." in ran.stdout


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A virtual environment with symc for each other Python, made once; they take a while."""
    made = {}
    for version, python in _pythons().items():
        if python is None or version == f"{sys.version_info[0]}.{sys.version_info[1]}":
            continue
        folder = tmp_path_factory.mktemp(f"python{version}")
        subprocess.run([python, "-m", "venv", str(folder)], check=True, capture_output=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", str(ROOT)]
        subprocess.run(pip, check=True, capture_output=True)
        made[version] = str(folder / "bin" / "python")
    return made


@pytest.mark.ci
@pytest.mark.skipif(
    not os.environ.get("CI"), reason="needs python3.12 or 3.13 and minutes; set CI=true to run it"
)
def test_other_pythons(environments: dict[str, str], expected: bytes) -> None:
    if not environments:
        pytest.skip("no other Python from 3.11 to 3.13 is installed; install python3.12 or python3.13")
    for version, python in environments.items():
        ran = subprocess.run(
            [python, "-I", "-c", SCRIPT, str(EXAMPLE)], capture_output=True, cwd="/", check=False
        )
        assert (version, ran.returncode, ran.stderr) == (version, 0, b"")
        # Digests: two locks side by side in a failure help nobody.
        assert (version, sha256(ran.stdout).hexdigest()) == (version, sha256(expected).hexdigest())


def test_a_crlf_checkout(tmp_path: Path, expected: bytes) -> None:
    for path in EXAMPLE.rglob("*"):
        if path.is_file():
            target = tmp_path / "manifests" / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert compiled(tmp_path / "manifests") == expected


@pytest.mark.parametrize("folder", ["a", "a/b/c/d/e", "name with blanks", "ünï"])
def test_another_folder_and_depth(folder: str, tmp_path: Path, expected: bytes) -> None:
    shutil.copytree(EXAMPLE, tmp_path / folder / "manifests")
    assert compiled(tmp_path / folder / "manifests") == expected
    text = expected.decode()
    assert str(tmp_path) not in text
    assert str(ROOT) not in text


def test_any_order_of_the_directory(tmp_path: Path, expected: bytes) -> None:
    files = [path for path in EXAMPLE.rglob("*") if path.is_file()]
    for seed in range(5):
        random.Random(seed).shuffle(files)
        folder = tmp_path / str(seed)
        for path in files:
            target = folder / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        assert compiled(folder) == expected


def test_any_order_of_the_files_handed_in(expected: bytes) -> None:
    files = list(read(EXAMPLE).files.items())
    for seed in range(5):
        random.Random(seed).shuffle(files)
        lock = compile(Workspace.of(dict(files))).lock
        assert lock is not None
        assert dumps(lock).encode() == expected


def test_a_pin_in_any_order_and_spelling(tmp_path: Path, expected: bytes) -> None:
    """O-16: the order of `tools/list` and of keys is not guaranteed, and does not matter."""
    import json

    shutil.copytree(EXAMPLE, tmp_path / "manifests")
    pin = tmp_path / "manifests" / "extensions" / "knowledge.pin.json"
    data = json.loads(pin.read_bytes())
    for seed in range(20):
        chance = random.Random(seed)
        chance.shuffle(data["tools"])
        data["tools"] = [dict(chance.sample(list(tool.items()), len(tool))) for tool in data["tools"]]
        pin.write_text(
            json.dumps(data, indent=chance.choice([None, 1, 4]), ensure_ascii=chance.random() < 0.5)
        )
        assert compiled(tmp_path / "manifests") == expected


def test_deleting_the_lock_and_compiling_again(tmp_path: Path, expected: bytes) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "manifests")
    lock = tmp_path / "symc.lock"
    command = [sys.executable, "-m", "symc.cli", "compile"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert lock.read_bytes() == expected
    lock.unlink()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert lock.read_bytes() == expected
    before = lock.stat()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([*command, "--check"], cwd=tmp_path, check=True, capture_output=True)
    after = lock.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_compiling_changes_none_of_its_inputs() -> None:
    workspace = read(EXAMPLE)
    before = dict(workspace.files)
    first, second = compile(workspace), compile(workspace)
    assert dict(workspace.files) == before
    assert first.lock == second.lock
    assert first.compositions == second.compositions
