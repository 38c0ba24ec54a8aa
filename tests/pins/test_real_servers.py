"""Public servers: pinned twice to equal bytes, composed under every provider, and their real changes told exactly."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from symc.compose import compile as compile_workspace
from symc.diagnostics import Level, Span
from symc.pins import Drift, drift, tools_of
from symc.pins.discover import discover
from symc.pins.file import text_of
from symc.pins.launch import Launch
from symc.source import Workspace
from tests.pins.real_servers import from_npm, from_pypi

PYPI = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19", "mcp-server-fetch==2026.10.24")
NPM = tuple(
    f"@modelcontextprotocol/server-{name}@2026.8.31" for name in ("everything", "filesystem", "memory")
)
COUNTS = {"time": 2, "git": 12, "fetch": 1, "everything": 13, "filesystem": 14, "memory": 9}


@pytest.fixture
def pypi(tmp_path: Path) -> Mapping[str, Launch]:
    """The launches of the servers from PyPI."""
    programs = from_pypi(*PYPI)
    return {name: _launch(programs, name, tmp_path) for name in ("time", "git", "fetch")}


@pytest.fixture
def npm(tmp_path: Path) -> Mapping[str, Launch]:
    """The launches of the servers from npm."""
    programs = from_npm(*NPM)
    return {name: _launch(programs, name, tmp_path) for name in ("everything", "filesystem", "memory")}


def _launch(programs: Path, name: str, folder: Path) -> Launch:
    arguments = {"filesystem": (str(folder),), "time": ("--local-timezone", "Etc/UTC")}.get(name, ())
    env = {"MEMORY_FILE_PATH": str(folder / "memory.json")} if name == "memory" else {}
    return Launch(command=(str(programs / f"mcp-server-{name}"), *arguments), env=env)


def _ask(launch: Launch, folder: Path) -> dict[str, Any]:
    return discover(launch, environ=os.environ, cwd=folder, timeout=60)


def _pinned_twice(launches: Mapping[str, Launch], folder: Path) -> None:
    for name, launch in launches.items():
        first, second = _ask(launch, folder), _ask(launch, folder)
        tools, faults = tools_of(first, lambda _: Span("pin"), name)
        assert faults == ()
        assert len(tools) == COUNTS[name]
        assert text_of(first) == text_of(second)
        assert drift(first["tools"], second["tools"]) == ()


def _composed(launches: Mapping[str, Launch], folder: Path, provider: str) -> None:
    files: dict[str, bytes] = {}
    for name, launch in launches.items():
        manifest = {
            "kind": "extension",
            "name": name,
            "mcp": {"command": list(launch.command), "env": dict(launch.env)},
        }
        files[f"{name}.yaml"] = yaml.safe_dump(manifest).encode()
        files[f"{name}.pin.json"] = text_of(_ask(launch, folder)).encode()
    agent = {
        "kind": "agent",
        "name": "assistant",
        "provider": provider,
        "extensions": [{"use": name, "prefix": name} for name in launches],
        "tools": [f"{name}/*" for name in launches],
    }
    files["assistant.yaml"] = yaml.safe_dump(agent).encode()
    compilation = compile_workspace(Workspace.of(files))
    assert [d.message for d in compilation.diagnostics if d.level is Level.ERROR] == []
    assert compilation.lock is not None
    assert len(compilation.lock.agents["assistant"].tools) == sum(COUNTS[name] for name in launches)


def _fields(found: tuple[Drift, ...], field: str) -> set[str]:
    return {one.tool for one in found if one.field == field}


def _names(found: tuple[Drift, ...], change: str) -> set[str]:
    return {one.tool for one in found if one.change == change}


def test_servers_from_pypi_are_pinned_twice_to_equal_bytes(
    pypi: Mapping[str, Launch], tmp_path: Path
) -> None:
    _pinned_twice(pypi, tmp_path)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_servers_from_pypi_compose(provider: str, pypi: Mapping[str, Launch], tmp_path: Path) -> None:
    _composed(pypi, tmp_path, provider)


@pytest.mark.ci
def test_servers_from_npm_are_pinned_twice_to_equal_bytes(npm: Mapping[str, Launch], tmp_path: Path) -> None:
    _pinned_twice(npm, tmp_path)


@pytest.mark.ci
@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_servers_from_npm_compose(provider: str, npm: Mapping[str, Launch], tmp_path: Path) -> None:
    _composed(npm, tmp_path, provider)


@pytest.mark.ci
def test_a_real_update_of_git_is_told(pypi: Mapping[str, Launch], tmp_path: Path) -> None:
    # Releases of that time name no upper bound of the SDK and fail with the next major one.
    older = _launch(from_pypi("mcp-server-git==2025.7.1", "mcp<2"), "git", tmp_path)
    found = drift(_ask(older, tmp_path)["tools"], _ask(pypi["git"], tmp_path)["tools"])
    assert _names(found, "removed") == {"git_init"}
    assert _names(found, "added") == set()
    assert _fields(found, "description") == {"git_show"}
    assert len(_fields(found, "inputSchema")) == len(_fields(found, "annotations")) == 12
    assert _fields(found, "title") == _fields(found, "outputSchema") == set()


NPM_UPDATES = {
    "filesystem": ("2025.8.21", 14, {"read_media_file", "search_files"}),
    "memory": ("2025.9.25", 9, set()),
}


@pytest.mark.ci
@pytest.mark.parametrize("name", NPM_UPDATES)
def test_a_real_update_from_npm_is_told(name: str, npm: Mapping[str, Launch], tmp_path: Path) -> None:
    release, count, described = NPM_UPDATES[name]
    older = _launch(from_npm(f"@modelcontextprotocol/server-{name}@{release}"), name, tmp_path)
    found = drift(_ask(older, tmp_path)["tools"], _ask(npm[name], tmp_path)["tools"])
    assert _names(found, "added") == _names(found, "removed") == set()
    assert _fields(found, "description") == described
    # Every tool got a title, an output schema and behaviour hints in between.
    for field in ("title", "outputSchema", "annotations"):
        assert len(_fields(found, field)) == count
        assert all(one.old is None and one.new is not None for one in found if one.field == field)


@pytest.mark.ci
def test_a_real_renaming_is_told_as_tools_that_went_and_came(
    npm: Mapping[str, Launch], tmp_path: Path
) -> None:
    older = _launch(from_npm("@modelcontextprotocol/server-everything@2025.8.18"), "everything", tmp_path)
    found = drift(_ask(older, tmp_path)["tools"], _ask(npm["everything"], tmp_path)["tools"])
    assert len(_names(found, "removed")) == 10
    assert len(_names(found, "added")) == 12
    assert {"printEnv", "sampleLLM", "add"} < _names(found, "removed")
    assert {"get-env", "get-sum"} < _names(found, "added")
    assert _names(found, "changed") == {"echo"}
