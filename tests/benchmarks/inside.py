"""What is measured within one process, everything imported: loading a lock, opening an agent, a gate, a diff.

    python -m tests.benchmarks.inside load LOCK | gate | diff OLD NEW

Prints ratios (or seconds) as JSON. The garbage collector is in its default state.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import types
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from symc.composition import Layer, Policy, Selector, ToolExtension
from symc.contracts.frozen import freeze
from symc.diff import compare
from symc.diff.renderers import text
from symc.lock import loads
from symc.runtime import LoadedLock, load
from symc.runtime.gates import gate
from symc.runtime.providers import MockModelProvider
from symc.runtime.rulebook import rulebook
from symc.runtime.toolset import ToolBinding

ROUNDS = 7
CALLS = 2_000
POLICIES = 10


def loading(lock: Path) -> dict[str, float]:
    """``load``, and ``load`` with ``open`` of one agent, beside ``json.loads`` of the text."""
    _stand_in()
    content = lock.read_text(encoding="utf-8")
    agents = json.loads(content)["agents"]
    # A factory of the corpus has no code to open.
    names = [
        name for name, agent in agents.items() if not any("chain" in tool for tool in agent["tools"].values())
    ]
    asyncio.run(_opened(load(lock), names[-1]))  # imports what is loaded lazily
    del agents
    json.loads(content)  # the first of them finds no memory to use again
    ratios = []
    for name in names[:ROUNDS]:
        kept: list[LoadedLock] = []
        loaded = _seconds(lambda: kept.append(load(lock)))  # noqa: B023  # called at once
        opened = _seconds(lambda: asyncio.run(_opened(kept[0], name)))  # noqa: B023
        kept.clear()
        base = _seconds(partial(json.loads, content))
        ratios.append((loaded / base, (loaded + opened) / base))
    return {"load": median(one for one, _ in ratios), "open": median(both for _, both in ratios)}


async def _opened(lock: LoadedLock, name: str) -> None:
    async with lock.open(name, provider=MockModelProvider(["done"]), environ={}):
        pass


def _stand_in() -> None:
    """The package ``corpus``, whose modules have every function that a manifest may name."""

    async def answer(_arguments: Mapping[str, Any]) -> str:
        return "done"

    for name in ("corpus", "corpus.tools"):
        module = types.ModuleType(name)
        module.__dict__["__getattr__"] = lambda _name: answer
        module.__path__ = []
        sys.modules[name] = module


def gating() -> dict[str, float]:
    """Seconds that the gate of a tool takes for a call: grant, arguments, ten declarative policies."""

    async def answer(_arguments: Mapping[str, Any]) -> str:
        return "done"

    schema = {
        "type": "object",
        "properties": {
            "key": {"type": "string", "maxLength": 64},
            "amount": {"type": "number", "minimum": 0},
        },
        "required": ["key"],
        "additionalProperties": False,
    }
    policies = {
        f"crm/p{number}": Policy(
            policy_id=f"p{number}",
            effect="deny",
            actions=("tool_call",),
            tools=(Selector(pattern="crm/find"),),
            when=freeze(
                {"properties": {"amount": {"exclusiveMinimum": 1000 + number}}, "required": ["amount"]}
            ),
            reason="too much",
        )
        for number in range(POLICIES)
    }
    tool = ToolBinding(name="find", invoke=answer, input_schema=freeze(schema), extension="crm", raw="find")
    gated = gate(tool, agent="desk", grants=["tool_call"], vetoes=rulebook(policies, {}, _registered))
    arguments = {"key": "a", "amount": 12.5}

    async def calls(call: Callable[[Mapping[str, Any]], Any]) -> float:
        start = process_time()
        for _ in range(CALLS):
            await call(arguments)
        return (process_time() - start) / CALLS

    async def overhead() -> float:
        await calls(gated.call)
        return median([await calls(gated.call) - await calls(answer) for _ in range(ROUNDS)])

    return {"gate": asyncio.run(overhead())}


def _registered(_layer: Layer) -> ToolExtension:
    raise LookupError("no rule of this benchmark names a variant")


def diffing(old: Path, new: Path) -> dict[str, float]:
    """Two locks read, compared and told as text, beside ``json.loads`` of both."""
    before, after = old.read_bytes(), new.read_bytes()

    def parsed() -> object:
        return json.loads(before), json.loads(after)

    def compared() -> str:
        return text.render(compare(loads(before), loads(after)))

    compared()
    pairs = [(_seconds(parsed), _seconds(compared)) for _ in range(ROUNDS)]
    return {"diff": median(ours / base for base, ours in pairs)}


def _seconds(work: Callable[[], object]) -> float:
    """The CPU time of one call. What it made is gone before the next is measured, which would need fresh memory else."""
    gc.collect()
    start = process_time()
    result = work()
    seconds = process_time() - start
    del result
    return seconds


def main() -> None:
    """The command."""
    what, *paths = sys.argv[1:]
    measured: Mapping[str, Callable[..., dict[str, float]]] = {
        "load": loading,
        "gate": gating,
        "diff": diffing,
    }
    json.dump(measured[what](*map(Path, paths)), sys.stdout)


if __name__ == "__main__":
    main()
