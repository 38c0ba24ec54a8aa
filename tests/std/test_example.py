"""Every tool extension that ships, on the example workspace: bound against the compiled schema, and called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from symc.compose import compile
from symc.lock import dumps
from symc.runtime import load
from symc.source import Workspace
from tests.runtime.workbench import play
from tests.std.celery_worker import worker
from tests.std.desk import Obeying, call

ROOT = Path(__file__).parents[2]
ADA = {"key": "C-17"}
CUSTOMER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
    "required": ["id", "name"],
}

SHIPPED: dict[str, tuple[Any, Mapping[str, Any]]] = {
    "cache": ("cache", {**ADA, "exp": 5}),
    "retry": ("retry", ADA),
    "timeout": ("timeout", ADA),
    "proxy": ({"use": "proxy", "config": {"url": "http://127.0.0.1:9"}}, ADA),
    "audit": ("audit", ADA),
    "batch": ("batch", {"calls": [ADA, {"key": "nobody"}]}),
    "output_schema": ({"use": "output_schema", "config": {"schema": CUSTOMER}}, ADA),
    "process": ({"use": "process", "config": {"workers": 1}}, ADA),
}
"""Each extension as it stands in a chain, and a call of its variant."""


def compiled(folder: Path, *chains: Any) -> Path:
    """The lock of the example with one more agent, `clerk`, whose `lookup_customer` has these chains."""
    manifests = ROOT / "manifests"
    files = {str(path.relative_to(manifests)): path.read_bytes() for path in manifests.rglob("*.*")}
    clerk = {
        "kind": "agent",
        "name": "clerk",
        "extensions": ["crm"],
        "tools": ["crm/lookup_customer"],
        "variants": {"crm/lookup_customer": list(chains)},
    }
    files["agents/clerk.yaml"] = json.dumps(clerk).encode()
    compilation = compile(Workspace.of(files))
    assert compilation.lock is not None, [one.message for one in compilation.diagnostics]
    lock = folder / "symc.lock"
    lock.write_text(dumps(compilation.lock), encoding="utf-8")
    return lock


async def looked_up(lock: Path, name: str, arguments: Mapping[str, Any]) -> str:
    provider = Obeying()
    provider.vendor = "anthropic"
    async with load(lock).open("clerk", provider=provider, environ={}) as agent:
        made = await call(agent, name, **arguments)
    assert made.error is None, made.error
    assert made.result is not None
    return made.result


def test_the_table_is_complete() -> None:
    import yaml

    std = yaml.safe_load((ROOT / "compiler/symc/std/std.yaml").read_text(encoding="utf-8"))
    assert {row["name"] for row in std["tool_extensions"]} == {*SHIPPED, "celery"}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    inside = [element for name, (element, _) in SHIPPED.items() if name not in ("batch", "process")]
    everything = {"chain": [*inside, SHIPPED["process"][0]], "expose": "leaf", "as": "all_of_them"}
    chains = [{"chain": [element]} for element, _ in SHIPPED.values()]
    return compiled(tmp_path_factory.mktemp("example"), *chains, everything)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_extension_serves_the_example(name: str, example: Path) -> None:
    said = json.loads(play(looked_up(example, f"lookup_customer_{name}", SHIPPED[name][1])))
    if name == "batch":
        first, second = said["results"]
        assert json.loads(first["result"])["name"] == "Ada Byron"
        assert second == {"error": "tool_error: LookupError: no customer nobody"}
    else:
        assert said["name"] == "Ada Byron"


def test_all_of_them_in_one_chain_inside_a_worker(example: Path) -> None:
    assert json.loads(play(looked_up(example, "all_of_them", ADA)))["name"] == "Ada Byron"


@contextmanager
def celery(folder: Path) -> Iterator[Path]:
    broker = {"use": "celery", "config": {"broker": f"filesystem://{folder}/broker"}}
    lock = compiled(folder, {"chain": ["audit", broker]})
    with worker(lock, "--concurrency", "1", log=folder / "log"):
        yield lock
    # The line of `audit`, which stands inside the backend, is the worker's.
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines() if line.startswith("{")]
    assert [(line["tool"], line["outcome"]) for line in lines] == [("lookup_customer_audit", "answered")]


def test_celery_serves_the_example(tmp_path: Path) -> None:
    with celery(tmp_path) as lock:
        said = play(looked_up(lock, "lookup_customer_audit_celery", ADA))
    assert json.loads(said)["name"] == "Ada Byron"
