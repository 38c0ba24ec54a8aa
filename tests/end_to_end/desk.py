"""The example workspace, compiled anew and opened with scripts in place of models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from symc.compose import compile
from symc.lock import dumps
from symc.runtime import LoadedLock, load
from symc.runtime.providers import MockModelProvider
from symc.source import read

ROOT = Path(__file__).parents[2]

ENVIRON = {"PATH": os.environ["PATH"], "KNOWLEDGE_TOKEN": "of-the-tests"}


@cache
def text_of_lock() -> str:
    compilation = compile(read(ROOT / "manifests"))
    assert compilation.lock is not None, compilation.diagnostics
    return dumps(compilation.lock)


def compiled(folder: Path) -> LoadedLock:
    """The example's lock in a folder of its own."""
    path = folder / "symc.lock"
    path.write_text(text_of_lock(), encoding="utf-8")
    return load(path)


def scripts(**by_agent: Iterable[Any]) -> dict[str, MockModelProvider]:
    """A scripted provider for each agent of the example."""
    return {
        name: MockModelProvider(by_agent.get(name, ()), vendor="anthropic")
        for name in ("support", "researcher", "triage")
    }


def terms(**more: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = {"environ": ENVIRON, "root": ROOT}
    return {**given, **more}
