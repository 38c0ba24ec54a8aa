"""The table of codes is complete and consistent: what every row has, and that something raises it."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import symc.diagnostics.codes
from symc.diagnostics import Code
from symc.diagnostics.codes import TABLE, find
from symc.diagnostics.reference import RANGES

PACKAGE = Path(symc.diagnostics.codes.__file__).parents[2]

CONSTANTS = {
    (module.name, constant): row
    for module in iter_modules(symc.diagnostics.codes.__path__)
    for constant, row in vars(import_module(f"symc.diagnostics.codes.{module.name}")).items()
    if isinstance(row, Code)
}
EVERY = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.code)


def test_every_module_of_codes_is_in_the_table() -> None:
    assert sorted(CONSTANTS.values(), key=lambda row: row.code) == list(TABLE)


def test_a_code_and_a_name_are_given_once() -> None:
    assert [code for code, count in Counter(row.code for row in TABLE).items() if count > 1] == []
    assert [name for name, count in Counter(row.name for row in TABLE).items() if count > 1] == []


def test_a_module_holds_one_hundred() -> None:
    hundreds: dict[str, set[str]] = {}
    for (module, _), row in CONSTANTS.items():
        hundreds.setdefault(module, set()).add(row.code[:4])
    assert {module: codes for module, codes in hundreds.items() if len(codes) > 1} == {}


@EVERY
def test_a_row_says_everything(row: Code) -> None:
    assert re.fullmatch(r"SYM[0-79]\d\d", row.code)
    assert row.code[3] in RANGES
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", row.name)
    assert row.purpose.endswith("."), "the purpose is a sentence"
    assert row.remedy.endswith("."), "the remedy is a sentence"
    assert row.example.strip()
    assert "```" not in row.example
    # docs/diagnostics.md §2, rule 5: no internals
    assert not re.search(r"pydantic|traceback|\bNone\b|jinja2\.|yaml\.", row.purpose + row.remedy)


@EVERY
def test_a_code_is_found_by_number_and_name_in_any_case(row: Code) -> None:
    assert find(row.code) is find(row.code.lower()) is row
    assert find(row.name) is find(f" {row.name.upper()} ") is row


def test_an_unknown_code_is_not_found() -> None:
    assert find("SYM999") is None


def test_every_code_is_raised_somewhere() -> None:
    words: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "codes":
            words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    idle = {constant for (_, constant), row in CONSTANTS.items() if not words & {constant, row.code}}
    assert idle == set(), "no module outside codes/ uses these"
