"""What a process takes: its CPU time, its elapsed time and its peak memory, several contenders in turns.

CPU time is what is compared: a machine has other work to do. Contenders take turns, and a ratio is the median of the
ratios within each round, so that a machine that slows down slows both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds of CPU (user and system), elapsed seconds, and peak resident memory in MiB."""

    cpu: float
    elapsed: float
    peak: float


@dataclass(frozen=True, slots=True)
class Contender:
    """A process to measure: its command, where it runs, and what puts things in place before each run."""

    command: Sequence[str]
    folder: Path
    before: Callable[[], object] = lambda: None
    may_fail: bool = False


def run(contender: Contender) -> Usage:
    """One run; its output goes nowhere. Raises ``CalledProcessError`` unless it may fail."""
    contender.before()
    environment = os.environ | {"PYTHONHASHSEED": "0", "NO_COLOR": "1"}
    start = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        cwd=contender.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not contender.may_fail:
        raise subprocess.CalledProcessError(process.returncode, contender.command)
    peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Usage(used.ru_utime + used.ru_stime, elapsed, peak)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The usages of each contender, round by round."""

    usages: Mapping[str, tuple[Usage, ...]]

    def ratio(self, name: str, base: str, what: str = "cpu") -> float:
        """How many times as much of ``what`` the one takes as the other: the median over the rounds."""
        pairs = zip(self.usages[name], self.usages[base], strict=True)
        return float(median(getattr(one, what) / getattr(other, what) for one, other in pairs))

    def median(self, name: str, what: str = "cpu") -> float:
        """The median of one contender."""
        return float(median(getattr(one, what) for one in self.usages[name]))


def rounds(contenders: Mapping[str, Contender], count: int) -> Rounds:
    """So many rounds in which each contender has its turn."""
    found: dict[str, list[Usage]] = {name: [] for name in contenders}
    for _ in range(count):
        for name, contender in contenders.items():
            found[name].append(run(contender))
    return Rounds({name: tuple(usages) for name, usages in found.items()})
