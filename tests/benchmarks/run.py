#!/usr/bin/env python3
"""Measure symc against the figures of docs/performance.md, and print them as a table.

    python tests/benchmarks/run.py [--rounds 3] [--quick] [--keep FOLDER] [--write]

Everything is generated, compiled and compared in one run: a ratio never mixes two machines or two moods of one. Peers
that are not installed are left out, and their row says so; nothing is downloaded. ``--write`` puts the table into the
README beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "compiler")]

from tests.benchmarks.gen_corpus import Corpus  # noqa: E402  # found by the path above
from tests.benchmarks.measuring import Contender, Rounds, rounds  # noqa: E402
from tests.benchmarks.peers import PEERS  # noqa: E402

PYTHON = sys.executable
_SCRIPT = Path(PYTHON).with_name("symc")
SYMC = (str(_SCRIPT),) if _SCRIPT.exists() else (PYTHON, "-m", "symc.cli")
CHANGED = "description: "

BASE = """\
import sys, yaml
from pathlib import Path
kept = [yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) for path in sorted(Path(sys.argv[1]).rglob("*.yaml"))]
"""
HASHING = """\
import hashlib, os, sys
def files(folder):
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from files(entry.path)
            else:
                yield entry.path
whole = hashlib.sha256()
for path in sorted(files(sys.argv[1])):
    os.stat(path)
    with open(path, "rb") as file:
        whole.update(hashlib.sha256(file.read()).digest())
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: what is measured, how much it may take at most, what it took, and in which unit. None: not measured."""

    what: str
    goal: float
    measured: float | None
    unit: str = "×"
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal was met."""
        if self.measured is None:
            return "–"
        return "met" if self.measured <= self.goal else "missed"

    @property
    def row(self) -> str:
        """As a row of a Markdown table."""
        measured = "–" if self.measured is None else f"{self.measured:.2f} {self.unit}"
        return f"| {self.what} | {self.goal:g} {self.unit} | {measured} | {self.verdict} | {self.note} |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One run: where its workspaces are, how many rounds are measured, and how large the large ones are."""

    folder: Path
    rounds: int
    files: int = 2500
    largest: int = 20_000

    def figures(self) -> Iterator[Figure]:
        """Every row, in the order of docs/performance.md §3."""
        yield from self._cold()
        yield from self._start()
        yield from self._warm()
        yield from self._growth()
        yield from self._shapes()
        yield from self._mistakes()
        yield from self._within()
        yield from self._peers()
        yield from self._backends()

    def _cold(self) -> Iterator[Figure]:
        big = self.workspace("big", self.files)
        found = self._rounds(base=_script(BASE, big), compile=_compile(big, "--no-cache"))
        cold, base = found.median("compile"), found.median("base")
        note = (
            f"{cold:.1f} s and {base:.1f} s of CPU; elapsed {found.ratio('compile', 'base', 'elapsed'):.2f} ×"
        )
        yield Figure(
            f"cold compile of {self.files:,} manifests", 1.0, found.ratio("compile", "base"), note=note
        )
        peaks = f"{found.median('compile', 'peak'):.0f} MiB and {found.median('base', 'peak'):.0f} MiB"
        yield Figure("peak memory, cold", 3, found.ratio("compile", "base", "peak"), note=peaks)
        small = self.workspace("small", 50)
        found = self._rounds(base=_script(BASE, small), compile=_compile(small, "--no-cache"))
        note = f"{found.median('compile'):.2f} s and {found.median('base'):.2f} s"
        yield Figure("cold, 50 files, whole process", 2.0, found.ratio("compile", "base"), note=note)

    def _start(self) -> Iterator[Figure]:
        found = self._rounds(
            2,
            base=Contender((PYTHON, "-c", "pass"), self.folder),
            version=Contender((*SYMC, "--version"), self.folder),
            help=Contender((*SYMC, "--help"), self.folder),
        )
        yield Figure("`symc --version`", 1.5, found.ratio("version", "base"), note="against `python -c pass`")
        yield Figure("`symc --help`", 5, found.ratio("help", "base"), note="against `python -c pass`")

    def _warm(self) -> Iterator[Figure]:
        big = self.workspace("big", self.files)
        _once(_compile(big))
        found = self._rounds(base=_script(HASHING, big), same=_compile(big))
        note = f"{found.median('same'):.2f} s and {found.median('base'):.2f} s"
        yield Figure("nothing changed, every file hashed", 1.3, found.ratio("same", "base"), note=note)
        files = sorted(big.rglob("*.yaml"))
        chosen = random.Random(1)

        def change() -> None:
            path = chosen.choice(files)
            path.write_text(path.read_text().replace(CHANGED, f"{CHANGED}New ", 1))

        found = self._rounds(base=_script(HASHING, big), changed=_compile(big, before=change))
        note = f"{found.median('changed'):.2f} s and {found.median('base'):.2f} s"
        yield Figure(f"one changed file of {self.files:,}", 5, found.ratio("changed", "base"), note=note)

    def _growth(self) -> Iterator[Figure]:
        # The first step by itself, the others together: the factor of each doubling is their root.
        sizes = (self.files, self.files * 2, self.largest)
        times = [
            _once(_compile(self.workspace(_named(size, self.files), size), "--no-cache")).median("it")
            for size in sizes
        ]
        each = max(
            (later / earlier) ** (1 / log2(large / small))
            for (small, earlier), (large, later) in pairwise(zip(sizes, times, strict=True))
        )
        note = ", ".join(f"{size:,}: {seconds:.1f} s" for size, seconds in zip(sizes, times, strict=True))
        yield Figure(f"twice the manifests (to {self.largest:,})", 2.1, each, note=f"the worst step; {note}")

    def _shapes(self) -> Iterator[Figure]:
        size = self.files * 4 // 5
        folders = {
            shape: self._made(shape, Corpus(extensions=size, agents=50, shape=shape))
            for shape in ("layers", "chain", "hub")
        }
        found = self._rounds(
            max(1, self.rounds // 2),
            **{shape: _compile(folder, "--no-cache") for shape, folder in folders.items()},
        )
        for shape, said in (("chain", "each requires the one before"), ("hub", "all require one")):
            yield Figure(
                f"{size:,} extensions, {said}",
                4,
                found.ratio(shape, "layers"),
                note="against a few requirements each; 50 agents",
            )

    def _mistakes(self) -> Iterator[Figure]:
        count = self.files * 3 // 25
        agents = self.files // 5
        wrong = self._made("wrong", Corpus(extensions=self.files - agents, agents=agents, mistakes=count))
        big = self.workspace("big", self.files)
        found = self._rounds(
            max(1, self.rounds // 2),
            clean=_compile(big, "--no-cache"),
            wrong=_compile(wrong, "--no-cache", may_fail=True),
        )
        yield Figure(
            f"{count} mistakes in {self.files:,} files", 2, found.ratio("wrong", "clean"), note="against none"
        )

    def _within(self) -> Iterator[Figure]:
        big = self.workspace("big", self.files)
        _once(_compile(big))
        loaded = _inside("load", _lock(big))
        yield Figure("`runtime.load`", 1.4, loaded["load"], note="against `json.loads` of the text")
        note = "one agent, digests verified; against `json.loads` of the text"
        yield Figure("`runtime.load` and `open`", 1.6, loaded["open"], note=note)
        yield Figure("gates of a call, 10 policies", 50, _inside("gate")["gate"] * 1e6, "µs")
        # A lock of some 10 MB.
        old = self.workspace("old", self.files // 5)
        new = self._made("new", self._corpus(self.files // 5))
        for path in sorted(new.rglob("*.yaml"))[::30]:
            path.write_text(
                path.read_text().replace(" ask:", " deny:", 1).replace(CHANGED, f"{CHANGED}New ", 1)
            )
        for folder in (old, new):
            _once(_compile(folder, "--no-cache"))
        size = _lock(old).stat().st_size / 1e6
        note = f"{size:.0f} MB each; against `json.loads` of both"
        yield Figure(
            "`symc diff` of two locks", 3, _inside("diff", _lock(old), _lock(new))["diff"], note=note
        )

    def _peers(self) -> Iterator[Figure]:
        big = self.workspace("big", self.files)
        contenders = {"compile": _compile(big, "--no-cache")}
        for peer in PEERS:
            target = self.folder / peer.name.replace(" ", "-")
            target.mkdir(exist_ok=True)
            if (contender := peer.prepare(big, target)) is not None:
                contenders[peer.name] = contender
        found = self._rounds(max(1, self.rounds // 3), **contenders)
        for peer in PEERS:
            # Only the first has a figure that was set; of the others it is worth knowing how they compare.
            goal = 0.2 if peer is PEERS[0] else 1.0
            what = f"cold compile against `{peer.name}`"
            if peer.name not in contenders:
                yield Figure(what, goal, None, note=f"not installed: {peer.install}")
                continue
            note = (
                f"{found.median(peer.name):.1f} s of CPU there; "
                f"elapsed {found.ratio('compile', peer.name, 'elapsed'):.2f} ×"
            )
            yield Figure(what, goal, found.ratio("compile", peer.name), note=note)

    def _backends(self) -> Iterator[Figure]:
        command = [PYTHON, "-m", "tests.benchmarks.backends"]
        ran = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
        if ran.returncode:
            yield Figure("a call through a backend", 0, None, note="could not be measured here")
            return
        found = json.loads(ran.stderr.splitlines()[-1])
        direct = found.pop("direct")["one_by_one"]
        for name, each in found.items():
            overhead = (each["one_by_one"] - direct) * 1e3
            note = f"{each['per_second']:.0f} calls a second with two workers"
            # No figure is set for them; ten milliseconds is what nobody notices beside a model's answer.
            yield Figure(f"overhead of a call through `{name}`", 10, overhead, "ms", note)

    def workspace(self, name: str, files: int) -> Path:
        """The manifests of a workspace of so many files, a fifth of them agents; its lock and cache stand beside it."""
        return self._made(name, self._corpus(files))

    def _corpus(self, files: int) -> Corpus:
        return Corpus(extensions=files - files // 5, agents=files // 5)

    def _made(self, name: str, corpus: Corpus) -> Path:
        folder = self.folder / name.replace(" ", "-") / "manifests"
        if not folder.exists():
            corpus.write(folder)
        return folder

    def _rounds(self, count: int | None = None, **contenders: Contender) -> Rounds:
        return rounds(contenders, count or self.rounds)


def _named(size: int, files: int) -> str:
    return "big" if size == files else f"of {size}"


def _script(code: str, folder: Path) -> Contender:
    return Contender((PYTHON, "-c", code, str(folder)), folder.parent)


def _compile(
    folder: Path, *options: str, before: Callable[[], object] = lambda: None, may_fail: bool = False
) -> Contender:
    return Contender((*SYMC, "compile", *options), folder.parent, before, may_fail)


def _once(contender: Contender) -> Rounds:
    return rounds({"it": contender}, 1)


def _lock(folder: Path) -> Path:
    return folder.parent / "symc.lock"


def _inside(*arguments: object) -> dict[str, float]:
    command = [PYTHON, "-m", "tests.benchmarks.inside", *map(str, arguments)]
    ran = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, check=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table, with what they were measured on."""
    head = ("| what | at most | measured | | |", "|---|---|---|---|---|")
    where = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return "\n".join((*head, *(figure.row for figure in figures), "", where, ""))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the files, to see that it works")
    parser.add_argument("--keep", type=Path, help="generate here, and leave it")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    sizes = {"files": 250, "largest": 1000} if arguments.quick else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        figures = []
        for figure in Bench(folder=folder, rounds=arguments.rounds, **sizes).figures():
            print(figure.row, flush=True)
            figures.append(figure)
    if arguments.write:
        readme = HERE / "README.md"
        before, start, rest = readme.read_text(encoding="utf-8").partition("<!-- figures -->\n")
        _, end, after = rest.partition("<!-- end -->")
        readme.write_text(f"{before}{start}{table(figures)}{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
