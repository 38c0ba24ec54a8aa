"""Guided by coverage: ``python -m tests.fuzz.guided TARGET -runs=100000`` (needs atheris; tests/fuzz/README.md).

The fuzzer makes the bytes; what it may not make them do is said by the same oracles as everywhere. A finding ends the run
with the input in the working folder; what comes after the target are options of libFuzzer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

import atheris

with atheris.instrument_imports(include=["symc", "yaml", "json"]):
    from tests.fuzz import oracles
    from tests.fuzz.campaign import PINNED, Judge
    from tests.fuzz.seeds import Seeds

_AGENT: Final = b"kind: agent\nname: a\nextensions: [x]\ntools: [x/*]\n"


def _entries(judge: Judge) -> Mapping[str, Callable[[bytes], object]]:
    return {
        "manifests": lambda content: oracles.workspace(
            {"agent.yaml": _AGENT, "x.yaml": content}, thorough=False
        ),
        "pins": lambda content: oracles.workspace({**PINNED, "files.pin.json": content}, thorough=False),
        "locks": lambda content: oracles.lock(content, judge.seeds.locks),
        "cases": lambda content: judge("others", {"cases.yaml": content}),
        "config": lambda content: judge("others", {"config.json": content}),
        "accept": lambda content: judge("others", {"symc.accept.yaml": content}),
    }


def main() -> None:
    """Fuzz one entry until libFuzzer's options say stop."""
    entries = _entries(Judge(Seeds.of_the_repository()))
    if len(sys.argv) < 2 or sys.argv[1] not in entries:
        sys.exit(f"usage: python -m tests.fuzz.guided {'|'.join(entries)} [-runs=N] [-max_len=N] [FOLDER]")
    entry = entries[sys.argv.pop(1)]
    atheris.Setup(sys.argv, entry)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
