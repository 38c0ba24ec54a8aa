"""The error root and its family (docs/contracts.md F-41)."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

import symc
from symc.contracts import errors
from symc.contracts.errors import (
    ConfigurationError,
    ContractViolationError,
    ExtensionContractError,
    PrivilegeWideningError,
    StructuredOutputError,
    SymfonicError,
)

FAMILY = [getattr(errors, name) for name in errors.__all__ if name != "SymfonicError"]


@pytest.mark.parametrize("error", FAMILY)
def test_symfonic_error_is_the_root(error: type[Exception]) -> None:
    assert issubclass(error, SymfonicError)


def test_whose_fault_it_is() -> None:
    assert issubclass(ExtensionContractError, ConfigurationError)
    assert issubclass(PrivilegeWideningError, ExtensionContractError)
    assert not issubclass(ContractViolationError, ConfigurationError)
    assert not issubclass(StructuredOutputError, ConfigurationError)


def test_codes_are_distinct_and_a_missed_output_is_unprocessable() -> None:
    assert StructuredOutputError.code == "unprocessable"
    assert len({error.code for error in FAMILY}) == len(FAMILY)


def test_the_root_is_never_raised_itself() -> None:
    package = Path(symc.__file__).parent
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                assert getattr(raised, "id", getattr(raised, "attr", "")) != "SymfonicError", path


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ExtensionContractError("is bad", "crm", 'tools[0] tool "x"'),
            'extension "crm", tools[0] tool "x": is bad',
        ),
        (ExtensionContractError("is bad", "crm"), 'extension "crm": is bad'),
        (PrivilegeWideningError("is bad"), "is bad"),
        (StructuredOutputError("no output", partial=3), "no output"),
    ],
)
def test_messages_name_extension_and_member(error: Exception, text: str) -> None:
    assert str(error) == text
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert vars(twin) == vars(error)
    assert str(twin) == text


def test_the_partial_result_is_kept() -> None:
    partial = object()
    assert StructuredOutputError("no output", partial).partial is partial
    assert StructuredOutputError("no output").partial is None
