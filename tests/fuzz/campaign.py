"""The long run: ``python -m tests.fuzz.campaign TARGET --count N --seed S`` (tests/fuzz/README.md).

One process, no file but for what is found: each kind of finding once, made small, in ``tests/fuzz/found/TARGET/``. Exit
code 1 when something was found. The same seed and count try the same inputs.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from symc.cli.decisions import read_cases
from symc.compose import compile as compile_workspace
from symc.lock import loads
from symc.pins.adopt import AdoptionError, adopt
from symc.source import Workspace
from tests.fuzz import oracles
from tests.fuzz.mutations import damaged, nonsense, written
from tests.fuzz.oracles import FindingError
from tests.fuzz.seeds import SOUND, Seeds

FOUND: Final = Path(__file__).parent / "found"
_HANGS: Final = 120.0
"""Seconds after which an input of a campaign counts as one that hangs, on however busy a machine."""

Files = Mapping[str, bytes]
"""One input: a workspace, or the one file of another target."""

PINNED: Final = {
    "files.yaml": b"kind: extension\nname: files\nmcp: {command: [server]}\n",
    "desk.yaml": b'kind: agent\nname: desk\nextensions: [files]\ntools: ["files/*"]\nprovider: openai\n',
}
"""The workspace around a pin ``files.pin.json``."""

TEMPLATED: Final = {
    "a.yaml": b"kind: agent\nname: a\nvars: {x: y, z: [a, b], n: 1, yes: true}\n"
    b"prompts: [{fragment_id: f, template: true, file: f.md}]\n",
}
"""The workspace around a template ``f.md``."""

TEMPLATES: Final = (
    b"Be {{ x }}.\n{% if yes %}{{ x | upper }}{% elif n > 3 %}{{ n }}{% else %}b{% endif %}\n",
    b"{% for i in z %}- {{ i }}: {{ x | default('no') }}\n{% endfor %}{{ z | join(', ') }}\n",
    b"{# a note #}{%- if n == 1 -%} {{- x | trim | lower -}} {%- endif -%}\n{% raw %}{{ kept }}{% endraw %}",
    b"{% set a = x.y['b'](1, *z, k=2) %}{{ [1, (2, 3), {'a': -1}] ~ a if a is defined else not b and c }}",
    b"{% with q = 1 %}{% autoescape false %}{% filter upper %}{{ q ** 2 // 3 }}{% endfilter %}{% endautoescape %}{% endwith %}",
    b"{% macro m(a, b=1) %}{{ caller() }}{% endmacro %}{% call(u) m(1) %}{{ u }}{% endcall %}{% import 'i' as i %}",
    b"{% extends 'e' %}{% block b scoped %}{{ super() }}{% include ['a', 'b'] ignore missing %}{% endblock %}{% from 'f' import g as h %}",
)

_SOUND_PIN: Final = SOUND["sound.server"]["files.pin.json"]


def manifests(seeds: Seeds, random: Random) -> Files:
    """A workspace with one damaged file, or with one that says nonsense, or with a file of another one."""
    name = "example" if random.random() < 0.02 else random.choice(seeds.small)
    files = dict(seeds.workspaces[name])
    path = random.choice(sorted(files))
    if random.random() < 0.05:
        other = seeds.workspaces[random.choice(seeds.small)]
        files.update(other)
    readable = [document for document in _documents(seeds, name) if document[0] == path]
    if readable and random.random() < 0.5:
        files[path] = written(nonsense(readable[0][1], seeds.data, random))
    else:
        files[path] = damaged(files[path], seeds.texts, random)
    return files


def texts(seeds: Seeds, random: Random) -> Files:
    """One damaged manifest, or fragment file, by itself: what most damage comes to, and the fastest to try."""
    files = seeds.workspaces[random.choice(seeds.small)]
    path = random.choice(sorted(files))
    return {path: damaged(files[path], seeds.texts, random)}


def pins(seeds: Seeds, random: Random) -> Files:
    """A small workspace with a damaged pin, or one that says nonsense."""
    pin = random.choice(seeds.pins) if random.random() < 0.5 else _SOUND_PIN
    try:
        data = json.loads(pin)
    except (ValueError, RecursionError):
        data = {"tools": []}
    changed = random.random() < 0.5
    text = (
        written(nonsense(data, [*seeds.data, data], random)) if changed else damaged(pin, seeds.pins, random)
    )
    return {**PINNED, "files.pin.json": text}


def templates(_seeds: Seeds, random: Random) -> Files:
    """An agent with a damaged template; many a tag of Jinja2 stands in those that are damaged."""
    return {**TEMPLATED, "f.md": damaged(random.choice(TEMPLATES), TEMPLATES, random)}


def locks(seeds: Seeds, random: Random) -> Files:
    """A damaged lock."""
    return {"symc.lock": damaged(random.choice(seeds.small_locks), seeds.locks, random)}


def sealed(seeds: Seeds, random: Random) -> Files:
    """A lock that says nonsense under digests that fit."""
    trees = [json.loads(one) for one in random.sample(seeds.small_locks, 2)]
    return {
        "symc.lock": written(nonsense(trees[0], trees, random)),
        "old.lock": random.choice(seeds.small_locks),
    }


def diffs(seeds: Seeds, random: Random) -> Files:
    """A sound workspace, and the same with one file that says something else and compiles."""
    name = random.choice(("example", *SOUND, *SOUND, *SOUND))
    files = seeds.workspaces[name]
    changed = dict(files)
    for _ in range(20):
        path = random.choice(sorted(files))
        read = dict(_documents(seeds, name))
        one = (
            written(nonsense(read[path], seeds.data, random))
            if path in read
            else damaged(files[path], seeds.texts, random)
        )
        if compile_workspace(Workspace.of({**changed, path: one})).ok:
            changed[path] = one
    return {
        **{f"old/{p}": text for p, text in files.items()},
        **{f"new/{p}": text for p, text in changed.items()},
    }


def others(seeds: Seeds, random: Random) -> Files:
    """A configuration of another client, a table of expected decisions, or acceptances."""
    name, data = random.choice(
        (("config.json", _CONFIG), ("cases.yaml", _TABLE), ("symc.accept.yaml", _ACCEPTED))
    )
    return {name: _changed(data, random)}


def _changed(data: Any, random: Random) -> bytes:
    text = written(nonsense(data, _DATA, random) if random.random() < 0.7 else data)
    return text if random.random() < 0.4 else damaged(text, [written(one) for one in _DATA], random)


_CONFIG: Final = {
    "mcpServers": {
        "Git Hub": {
            "command": "npx",
            "args": ["-y", "server", "--token", "abc"],
            "env": {"TOKEN": "${input:token}"},
        },
        "web": {
            "type": "http",
            "url": "https://user:word@host/mcp?key=1",
            "headers": {"Authorization": "Bearer x"},
        },
    },
    "inputs": [{"id": "token", "type": "promptString"}],
}
_TABLE: Final = {
    "support": [
        {"tool": "refund", "args": {"amount": 800}, "expect": "deny", "rule": "guardrails/large-refunds"},
        {"tool": "read_manual", "args": {}, "expect": "allow", "through": ["support"]},
    ],
}
_ACCEPTED: Final = {
    "accept": [
        {"fingerprint": "sha256:" + "0" * 64, "rule": "grant-widened", "reason": "Wanted.", "by": "sec"}
    ],
}
_DATA: Final = (_CONFIG, _TABLE, _ACCEPTED)


def _documents(seeds: Seeds, name: str) -> list[tuple[str, Any]]:
    if name not in _read:
        from symc.source import parse

        sources = parse(Workspace.of(seeds.workspaces[name]))
        _read[name] = [(document.path, document.data) for document in sources.documents]
    return _read[name]


_read: dict[str, list[tuple[str, Any]]] = {}


@dataclass
class Judge:
    """Holds an input to what must hold of its target; counts what was seen."""

    seeds: Seeds
    seen: Counter[str] = field(default_factory=Counter)
    thorough_each: int = 16
    _number: int = 0
    _last: Any = None

    def __call__(self, target: str, files: Files) -> None:
        """Raises whatever it raises: a `FindingError`, or an exception that nobody may see."""
        self._number += 1
        if target in ("texts", "pins") and not oracles.readable(files):
            self.seen["not read"] += 1
        elif target in ("texts", "manifests", "pins", "templates"):
            found = oracles.workspace(files, thorough=self._number % self.thorough_each == 0)
            self.seen["compiled" if found.ok else "refused"] += 1
            if found.lock is not None:
                if self._last is not None and self._number % 4 == 0:
                    oracles.difference(self._last, found.lock)
                self._last = found.lock
        elif target == "locks":
            thorough = self._number % self.thorough_each == 0
            accepted = oracles.lock(files["symc.lock"], self.seeds.locks, thorough=thorough)
            self.seen["accepted" if accepted else "refused"] += 1
        elif target == "sealed":
            sound = loads(files["old.lock"])
            self.seen[
                "accepted" if oracles.resealed_lock(json.loads(files["symc.lock"]), sound) else "refused"
            ] += 1
        elif target == "diffs":
            old, new = (
                compile_workspace(
                    Workspace.of({p.removeprefix(side): t for p, t in files.items() if p.startswith(side)})
                )
                for side in ("old/", "new/")
            )
            assert old.lock is not None
            assert new.lock is not None
            self.seen[str(oracles.difference(old.lock, new.lock).verdict)] += 1
        else:
            self._other(files)

    def _other(self, files: Files) -> None:
        for path, content in files.items():
            if path == "cases.yaml":
                found = read_cases(path, content)
                oracles.diagnostics(found.diagnostics, {path: content}, {path: found.text})
                self.seen["table read" if found.cases else "table refused"] += 1
                continue
            if path == "symc.accept.yaml":
                self.seen["acceptances read" if oracles.acceptances(content) else "acceptances refused"] += 1
                continue
            try:
                adopted = adopt(content)
            except AdoptionError:
                self.seen["configuration refused"] += 1
                continue
            # What is taken over reads as manifests; what is missing then are the pins.
            compilation = compile_workspace(Workspace.of({p: t.encode() for p, t in adopted.items()}))
            oracles.diagnostics(
                compilation.diagnostics, {p: t.encode() for p, t in adopted.items()}, compilation.texts
            )
            self.seen["configuration adopted"] += 1


TARGETS: Final[Mapping[str, Callable[[Seeds, Random], Files]]] = {
    "texts": texts,
    "manifests": manifests,
    "pins": pins,
    "templates": templates,
    "locks": locks,
    "sealed": sealed,
    "diffs": diffs,
    "others": others,
}


def kind_of(error: BaseException) -> str:
    """What makes two findings the same: where an exception was raised, or what a `FindingError` says without its values."""
    if isinstance(error, FindingError):
        return "finding " + "".join(c for c in str(error)[:60] if c.isalpha() or c == " ")
    last = [one for one in traceback.extract_tb(error.__traceback__) if "/symc/" in one.filename][-1:]
    where = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else "elsewhere"
    return f"{type(error).__name__} {where}"


def run(
    target: str, count: int, seed: int, *, save: bool = True, most: float | None = None
) -> Mapping[str, tuple[Files, BaseException]]:
    """Try ``count`` inputs; every kind of finding with the first input that showed it.

    An input that takes more than ``most`` seconds ends the process, which shows where it was.
    """
    seeds, random = Seeds.of_the_repository(), Random(seed)
    judge = Judge(seeds)
    found: dict[str, tuple[Files, BaseException]] = {}
    start = time.monotonic()
    for number in range(1, count + 1):
        if most is not None:
            faulthandler.dump_traceback_later(most, exit=True)
        files = TARGETS[target](seeds, random)
        try:
            judge(target, files)
        except Exception as error:
            kind = kind_of(error)
            if kind not in found:
                found[kind] = (files, error)
                print(f"FOUND {kind}: {error}", flush=True)
                if save:
                    print("  kept in", keep(target, files, kind))
        if number % 10_000 == 0:
            took = time.monotonic() - start
            print(
                f"{target} seed {seed}: {number} inputs, {len(found)} findings, {took:.0f} s, {dict(judge.seen)}",
                flush=True,
            )
    faulthandler.cancel_dump_traceback_later()
    print(f"{target} seed {seed}: {count} inputs, {len(found)} findings; {dict(judge.seen)}")
    return found


def keep(target: str, files: Files, kind: str) -> Path:
    """Write the input as a folder that the tests replay."""
    name = kind.lower().replace(" ", "-").replace(":", "-")[:60]
    content = json.dumps({path: text.decode("latin-1") for path, text in files.items()}).encode()
    folder = FOUND / target / f"{name}-{hashlib.sha256(content).hexdigest()[:6]}"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text)
    return folder


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.campaign")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error")
    found = run(options.target, options.count, options.seed, save=not options.no_save, most=_HANGS)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
