"""Real releases of public servers, pinned and pinned again: what nobody edited and everybody has to review."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from symc.compose import compile
from symc.composition import Lock
from symc.diff import Comparison, Verdict, compare
from symc.pins.discover import discover
from symc.pins.file import text_of
from symc.pins.launch import Launch
from symc.source import Workspace
from tests.pins.real_servers import from_npm

pytestmark = pytest.mark.ci


def pinned(name: str, release: str, folder: Path) -> Mapping[str, Any]:
    """What a release answers to `tools/list`."""
    program = from_npm(f"@modelcontextprotocol/server-{name}@{release}") / f"mcp-server-{name}"
    arguments = (str(folder),) if name == "filesystem" else ()
    launch = Launch(command=(str(program), *arguments), env={})
    return discover(launch, environ=os.environ, cwd=folder, timeout=60)


def lock(name: str, pin: Mapping[str, Any], command: str = "run") -> Lock:
    """An agent with every tool of the server, under a rule that was written for the older release."""
    documents = {
        "server": {
            "kind": "extension",
            "name": name,
            "mcp": {"command": [command, name]},
            "pin": "server.pin.json",
        },
        "desk": {"kind": "agent", "name": "desk", "extensions": [name], "tools": [f"{name}/*"]},
        "acme": {
            "kind": "workspace",
            "name": "acme",
            "policies": [{"policy_id": "no-environment", "deny": {"tools": ["*/printEnv*"]}}],
        },
    }
    files = {f"{key}.yaml": json.dumps(document).encode() for key, document in documents.items()}
    found = compile(Workspace.of(files | {"server.pin.json": text_of(dict(pin)).encode()}))
    assert found.lock is not None, [one.message for one in found.diagnostics]
    return found.lock


def names(comparison: Comparison, rule: str) -> set[str]:
    return {change.subject for change in comparison.changes if change.name == rule}


def test_a_renewed_pin_renames_a_tool_out_of_a_denial(tmp_path: Path) -> None:
    older = lock("everything", pinned("everything", "2025.8.18", tmp_path))
    newer = lock("everything", pinned("everything", "2026.8.31", tmp_path))
    found = compare(older, newer)
    assert found.verdict is Verdict.MIXED
    # The tool that shows the environment has another name, which the rule does not match.
    told = names(found, "wildcard-captured") | names(found, "pattern-escaped")
    assert "desk: everything/get-env" in told
    assert names(found, "rule-ineffective") == {"acme/no-environment"}
    assert found.witness.startswith("desk may now call everything/")
    assert compare(newer, older).verdict is Verdict.MIXED


def test_a_renewed_pin_writes_into_the_prompt(tmp_path: Path) -> None:
    older = lock("filesystem", pinned("filesystem", "2025.8.21", tmp_path))
    newer = lock("filesystem", pinned("filesystem", "2026.8.31", tmp_path))
    found = compare(older, newer)
    assert found.verdict is Verdict.SAME
    assert found.remote_text_changed >= 14
    assert "filesystem/search_files" in names(found, "tool-description-changed")


def test_another_package_behind_the_same_name_is_unknown(tmp_path: Path) -> None:
    pin = pinned("filesystem", "2026.8.31", tmp_path)
    found = compare(lock("filesystem", pin), lock("filesystem", pin, command="another"))
    assert found.verdict is Verdict.UNKNOWN
    assert found.witness.startswith("filesystem mcp.command is now another filesystem (was: run filesystem)")
