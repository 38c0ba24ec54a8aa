"""The front door, `symc` (docs/contracts.md F-01…F-03)."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import symc

TWELVE = [
    "Agent",
    "AgentEvent",
    "AgentResult",
    "Attachment",
    "CapabilityConfig",
    "ConfigurationError",
    "ContractViolationError",
    "Message",
    "StructuredOutputError",
    "SymfonicError",
    "TokenUsage",
    "ToolCall",
]


def modules_after(statement: str) -> set[str]:
    """The modules that `statement` alone adds to a fresh interpreter."""
    program = f"import sys, json; before = set(sys.modules)\n{statement}\nprint(json.dumps([*set(sys.modules) - before]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_F_01_importing_symc_imports_nothing_else() -> None:
    """[F-01][FAC-1]"""
    assert modules_after("import symc") == {"symc"}


def test_F_01_the_body_imports_no_submodule() -> None:
    """[F-01][FAC-1] Only a type checker follows the imports of the body."""
    tree = ast.parse(Path(symc.__file__).read_bytes())
    assert not [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def test_F_01_one_subpackage_costs_no_other() -> None:
    """[F-01][FAC-1] The contracts are a leaf: the standard library and nothing else."""
    loaded = modules_after("import symc.contracts")
    ours = {name for name in loaded if name.split(".")[0] == "symc"}
    assert {name for name in ours if not name.startswith("symc.contracts")} == {"symc"}
    assert {name.split(".")[0] for name in loaded - ours} <= sys.stdlib_module_names


@pytest.mark.parametrize("name", ["SymfonicError", "ConfigurationError"])
def test_F_02_an_error_pulls_only_the_contracts(name: str) -> None:
    """[F-02][QUI-1]"""
    loaded = modules_after(f"from symc import {name}")
    assert not {
        module for module in loaded if module.startswith("symc.") and not module.startswith("symc.contracts")
    }


FACADE_CHAIN = {
    "symc",
    "symc.canonical",
    "symc.contracts",
    "symc.diagnostics",
    "symc.composition",
    "symc.runtime",
}


def test_F_02_the_agent_pulls_only_the_facade_chain() -> None:
    """[F-02][QUI-1] The runtime, what it is allowed to know, and the standard library: no third party at all."""
    loaded = modules_after("from symc import Agent")
    ours = {name for name in loaded if name.split(".")[0] == "symc"}
    assert {".".join(name.split(".")[:2]) for name in ours} <= FACADE_CHAIN
    assert {name.split(".")[0] for name in loaded - ours} <= sys.stdlib_module_names
    assert "symc.runtime.agent" in loaded


def test_F_03_all_is_exactly_the_twelve_names() -> None:
    """[F-03]"""
    assert sorted(symc.__all__) == TWELVE


def test_F_03_dir_lists_them() -> None:
    """[F-03]"""
    assert set(TWELVE) <= set(dir(symc))


@pytest.mark.parametrize("name", TWELVE)
def test_F_03_every_name_resolves(name: str) -> None:
    """[F-03] To the same object each time."""
    found = getattr(symc, name)
    assert found is getattr(symc, name)
    assert found.__name__ == name


@pytest.mark.parametrize("name", ["Agents", "agent", "load", "_Agent"])
def test_F_03_an_unknown_name_is_an_attribute_error(name: str) -> None:
    """[F-03]"""
    with pytest.raises(AttributeError, match=name):
        getattr(symc, name)
