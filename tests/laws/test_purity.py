"""Purity: from parse on there is no file, clock, environment, random number, network or locale."""

from __future__ import annotations

import builtins
import gc
import io
import locale
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, NoReturn

import pytest

from symc.compose import compile as compile_workspace
from symc.lock import dumps
from symc.source import Workspace

FILES = {
    "desk.yaml": b"""\
kind: workspace
name: desk
extensions: [guard]
vars: {tone: calm}
prompts: [{fragment_id: rules, layer: l0, tier: platform, file: rules.md}]
rules: {tool-name-in-prose: info}
""",
    "rules.md": b"Never lie.\n",
    "guard.yaml": b"""\
kind: extension
name: guard
version: "1"
policies:
  - {policy_id: big, deny: {tools: ["*/export_*"], when: {properties: {n: {type: integer, minimum: 9}}, required: [n]}}}
""",
    "crm.yaml": b"""\
kind: extension
name: crm
version: "1.4"
requires: ["guard >=1"]
tools:
  - {name: lookup, description: Find., invoke: "m:f", input_schema: {type: object, properties: {q: {type: string}}}}
  - {name: export_all, description: All., invoke: "m:f", input_schema: {type: object, properties: {n: {type: integer}}}}
prompts:
  - {fragment_id: t, template: true, text: "Be {{ tone }}.{% if tone %}!{% endif %}"}
  - {fragment_id: u, template: true, text: "{{ tone | upper }} {% if tone == 'calm' %}x{% endif %}"}
""",
    "files.yaml": b"""\
kind: extension
name: files
mcp: {command: [npx, server], env: {TOKEN: "${env:TOKEN}"}}
""",
    "files.pin.json": b'{"tools": [{"name": "read", "description": "Read.", "inputSchema": {"type": "object"}}]}',
    "base.yaml": b"kind: agent\nname: base\nabstract: true\ninstructions: Base.\n",
    "support.yaml": b"""\
kind: agent
name: support
provider: openai
extends: [base]
extensions: [crm >=1.4, {use: files, prefix: fs}]
tools: ["crm/*", files/read]
variants: {crm/lookup: [cache, {use: audit, config: {level: info}}]}
prompts: [{fragment_id: customer, layer: l2, tier: profile, scope: profile, slot: {max_chars: 9}}]
delegates: [{agent: helper, may_exceed: [memory_read]}]
""",
    "helper.yaml": b"kind: agent\nname: helper\ngrants: [memory_read]\ninstructions: Call `lookup`.\n",
    # One that does not compile, so that every message is worded, too.
}
BROKEN = FILES | {
    "z.yaml": b"""\
kind: agent
name: z
extends: [bas]
extensions: [crmm, {use: crm, prefix: c}]
tools: [crm/lokup, crm/x*, {tool: crm/lookup, as: a}, {tool: crm/lookup, as: b}]
exclude: [crm/lookup]
variants: {crm/lookup: [cahce]}
limits: {prompt_chars: 1}
prompts: [{fragment_id: t, template: true, text: "{{ nobody }} {{ a.b }} {{"}]
policies: [{policy_id: p, deny: {tools: [crm/gone]}}]
delegates: [z]
""",
    "y.yaml": b"kind: extension\nname: y\nversion: 1.0\nrequires: [y]\n",
    "x.yaml": b'kind: extension\nname: x\nversion: "1.0"\nrequires: [x]\nvars: {tone: x}\n',
}

POISONED: list[tuple[Any, str]] = [
    (builtins, "open"),
    (io, "open"),
    *(
        (os, name)
        for name in ("open", "stat", "lstat", "listdir", "scandir", "getcwd", "getenv", "urandom", "readlink")
    ),
    *((os, name) for name in ("getpid", "getlogin", "uname") if hasattr(os, name)),
    *(
        (time, name)
        for name in (
            "time",
            "time_ns",
            "monotonic",
            "perf_counter",
            "localtime",
            "gmtime",
            "strftime",
            "sleep",
        )
    ),
    *((random, name) for name in ("random", "randint", "choice", "shuffle", "seed", "getrandbits")),
    *((socket, name) for name in ("socket", "create_connection", "getaddrinfo", "gethostname")),
    *((locale, name) for name in ("getlocale", "setlocale", "localeconv", "strcoll", "strxfrm")),
    (subprocess, "Popen"),
]


class PoisonedEnvironment(dict[str, str]):
    """An environment that nobody may look at."""

    def _refuse(self, *_: object) -> NoReturn:
        raise AssertionError("the compile looks at the environment")

    __getitem__ = __contains__ = __iter__ = get = keys = items = values = _refuse


@contextmanager
def poisoned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file, clock, environment, random number, network or locale."""

    def deadly(name: str) -> Any:
        def refuse(*_: object, **__: object) -> NoReturn:
            raise AssertionError(f"the compile calls {name}")

        return refuse

    gc.collect()
    gc.disable()  # what is collected may close files, which is none of the compile's
    with monkeypatch.context() as patch:
        for module, name in POISONED:
            patch.setattr(module, name, deadly(f"{module.__name__}.{name}"))
        patch.setattr(os, "environ", PoisonedEnvironment())
        yield
    gc.enable()


@pytest.mark.parametrize("files", [FILES, BROKEN], ids=["sound", "broken"])
def test_a_compile_touches_nothing(files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.of(files)
    expected = compile_workspace(workspace)  # imports are done now, and what is loaded lazily is loaded
    assert expected.ok == (files is FILES), expected.diagnostics
    expected_text = None if expected.lock is None else dumps(expected.lock)
    with poisoned(monkeypatch):
        found = compile_workspace(workspace)
        texts = found.texts
        text = None if found.lock is None else dumps(found.lock)
    assert found == expected
    assert texts == expected.texts
    assert text == expected_text


def test_the_poison_works(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []
    with poisoned(monkeypatch):
        acts: list[Callable[[], object]] = [getattr(module, name) for module, name in POISONED]
        acts += [lambda: os.environ["HOME"], lambda: os.environ.get("HOME")]
        for act in acts:
            # Not pytest.raises: it would look at files itself.
            try:
                act()
            except AssertionError:
                refused.append(act)
    assert refused == acts


@pytest.mark.parametrize("files", [FILES, BROKEN], ids=["sound", "broken"])
def test_composing_mutates_nothing(files: dict[str, bytes]) -> None:
    workspace = Workspace.of(dict(files))
    first = compile_workspace(workspace)
    before = deepcopy([document.document.data for document in first.manifests.agents.values()])
    bodies = [one.body.model_dump() for one in first.manifests.extensions.values()]
    compile_workspace(workspace)
    assert dict(workspace.files) == files
    assert [document.document.data for document in first.manifests.agents.values()] == before
    assert [one.body.model_dump() for one in first.manifests.extensions.values()] == bodies


SEEDED = """
import sys
from tests.laws.test_purity import BROKEN, FILES
from symc.compose import compile
from symc.lock import dumps
from symc.source import Workspace
lock = compile(Workspace.of(FILES)).lock
print(dumps(lock), compile(Workspace.of(dict(reversed(BROKEN.items())))).diagnostics)
"""


def test_neither_hash_seed_nor_locale_changes_a_byte() -> None:
    """O-16: what is sorted is sorted by code point, and nothing is left to the order of a set."""
    root = Path(__file__).parents[2]
    said = {
        subprocess.run(
            [sys.executable, "-c", SEEDED],
            check=True,
            capture_output=True,
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale_name},
        ).stdout
        for seed, locale_name in (("0", "C"), ("1", "C.UTF-8"), ("2", "tr_TR.UTF-8"))
    }
    assert len(said) == 1
