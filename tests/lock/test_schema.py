"""The published schema of the lock: current, valid, and of one mind with the reader."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from symc.lock import LockError, dumps, loads, verify
from symc.lock.schema import lock_schema
from tests.lock.sample import LOCK

TREE = json.loads(dumps(LOCK))
SCHEMA = lock_schema()


def test_the_published_schema_is_current() -> None:
    published = Path(__file__).parents[2] / "schemas/lock.schema.json"
    assert published.read_text(encoding="utf-8") == json.dumps(SCHEMA, indent=2, ensure_ascii=False) + "\n"


def test_the_schema_is_one() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)


def test_a_lock_obeys_it() -> None:
    jsonschema_rs.validate(SCHEMA, TREE)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


# Inside these anything may stand.
_FREE = {
    "input_schema",
    "output_schema",
    "annotations",
    "vars",
    "config",
    "config_schema",
    "reserved_params",
    "when",
}
PLACES = [path for path in _places(TREE) if path and not _FREE & set(path[:-1])]


@pytest.mark.parametrize("wrong", [1.5, None, [1.5], {"?": 1.5}, "?"], ids=json.dumps)
def test_what_the_schema_refuses_the_reader_refuses(wrong: Any) -> None:
    validator = jsonschema_rs.validator_for(SCHEMA)
    refused = 0
    for path in PLACES:
        tree = copy.deepcopy(TREE)
        inner: Any = tree
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = wrong
        if validator.is_valid(tree):
            continue
        refused += 1
        with pytest.raises(LockError) as error:
            verify(loads(json.dumps(tree)))
        names = {one.name for one in error.value.diagnostics}
        assert names <= {"lock-structure", "lock-version-unknown"}, path
    assert refused > 30
