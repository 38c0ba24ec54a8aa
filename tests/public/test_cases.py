"""Cases from public bug reports, by their number: a workspace each, and what must come of it.

``expected.json`` holds every diagnostic (name, file, line, words of its message) and, where the workspace compiles, the
identity of each tool in the lock (extension, raw name, chain) or the order of the prompt.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from symc import sheets
from symc.compose import compile
from symc.composition import Lock
from symc.source import read

CASES = Path(__file__).parents[1] / "cases" / "public"


@pytest.mark.parametrize("case", sorted(folder.name for folder in CASES.iterdir()))
def test_case(case: str) -> None:
    expected: dict[str, Any] = json.loads((CASES / case / "expected.json").read_text(encoding="utf-8"))
    compilation = compile(read(CASES / case / "manifests"))
    reported = [(d.name, d.primary.file, d.primary.start.line, d.message) for d in compilation.diagnostics]
    wanted = [(row["name"], row["file"], row["line"], row["says"]) for row in expected["diagnostics"]]
    assert [row[:3] for row in reported] == [row[:3] for row in wanted]
    for (*_, message), (*_, says) in zip(reported, wanted, strict=True):
        assert says in message
    if "tools" not in expected:
        assert compilation.lock is None
        return
    lock = compilation.lock
    assert lock is not None
    assert {name: _identities(lock, name) for name in lock.agents} == expected["tools"]
    for agent, order in expected.get("prompt", {}).items():
        assert list(lock.agents[agent].prompt) == order


def _identities(lock: Lock, agent: str) -> dict[str, list[Any]]:
    return {
        name: [tool.extension, tool.raw, [layer.name for layer in tool.chain]]
        for name, tool in lock.agents[agent].tools.items()
    }


def test_O28_the_last_line_is_there() -> None:
    lock = compile(read(CASES / "O-28-without-a-budget-all-is-there" / "manifests")).lock
    assert lock is not None
    text = sheets.plain(sheets.entries(lock.composition("desk")))
    assert text == (CASES / "O-28-without-a-budget-all-is-there" / "manifests" / "long.md").read_text()
    assert text.endswith("\nNever call shell.\n")


def test_O26_nothing_was_converted() -> None:
    lock = compile(read(CASES / "O-26-words-and-numbers-stay" / "manifests")).lock
    assert lock is not None
    agent, extension = lock.agents["desk"], lock.extensions["no"]
    assert (agent.model, extension.version, extension.description) == ("2026-11-30", "1.10", "off")
    assert sheets.plain(sheets.entries(lock.composition("desk"))) == "22:22"
