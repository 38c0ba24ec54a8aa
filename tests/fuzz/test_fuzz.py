"""A short run of every target, the inputs that were found once, and any bytes at all; the long runs: README.md."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import oracles
from tests.fuzz.campaign import FOUND, PINNED, TARGETS, Judge, kind_of, run
from tests.fuzz.mutations import damaged, nonsense
from tests.fuzz.oracles import FindingError
from tests.fuzz.seeds import Seeds

SHORT = {
    "texts": 400,
    "manifests": 150,
    "pins": 250,
    "templates": 250,
    "locks": 200,
    "sealed": 100,
    "diffs": 30,
    "others": 200,
}
"""Inputs of the short run: a few seconds each."""

_CASES = sorted(path for path in FOUND.glob("*/*") if path.is_dir())


@pytest.fixture(scope="module")
def seeds() -> Seeds:
    return Seeds.of_the_repository()


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file, names with a dot and odd endings included: it is an input, no workspace."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_target_has_a_short_run() -> None:
    assert SHORT.keys() == TARGETS.keys()


@pytest.mark.parametrize("target", SHORT)
def test_short_run(target: str) -> None:
    found = run(target, SHORT[target], seed=1, save=False)
    assert not found, "\n".join(f"{kind}: {error}" for kind, (_, error) in found.items())


@pytest.mark.parametrize("folder", _CASES, ids=[f"{path.parent.name}/{path.name}" for path in _CASES])
def test_what_was_found_once(folder: Path, seeds: Seeds) -> None:
    Judge(seeds, thorough_each=1)(folder.parent.name, files_of(folder))


@given(st.binary(max_size=300), st.sampled_from(["a.yaml", "a.json", "a.md", "a.txt", "b.pin.json"]))
@settings(max_examples=150, deadline=None)
def test_any_bytes_as_a_file(content: bytes, path: str) -> None:
    oracles.workspace(
        {"agent.yaml": b"kind: agent\nname: a\nprompts: [{fragment_id: f, file: a.md}]\n", path: content}
    )


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_as_a_lock(content: bytes) -> None:
    assert not oracles.lock(content, ())


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_as_a_template(text: str) -> None:
    found = oracles.workspace(
        {
            "a.yaml": b"kind: agent\nname: a\nprompts: [{fragment_id: f, template: true, file: f.md}]\nvars: {x: y, z: [a]}\n",
            "f.md": text.encode("utf-8", "surrogatepass"),
        }
    )
    assert {one.primary.file for one in found.diagnostics} <= {"a.yaml", "f.md"}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "properties", "required", "$ref", "items", "enum", "a", "pattern"]), inner, max_size=4), max_leaves=12))  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_any_json_as_a_schema_in_a_pin(schema: object) -> None:
    import json

    pin = json.dumps({"tools": [{"name": "t", "inputSchema": schema}]}).encode()
    oracles.workspace({**PINNED, "files.pin.json": pin})


# The harness itself: an oracle that never objects finds nothing.


def test_mutations_follow_their_seed(seeds: Seeds) -> None:
    one = [damaged(b"kind: agent\nname: a\n", seeds.texts, Random(number)) for number in range(50)]
    assert one == [damaged(b"kind: agent\nname: a\n", seeds.texts, Random(number)) for number in range(50)]
    assert len(set(one)) > 40
    data = {"a": [1, {"b": "c"}]}
    told = [nonsense(data, seeds.data, Random(number)) for number in range(50)]
    assert sum(one != data for one in told) > 40
    assert data == {"a": [1, {"b": "c"}]}


def test_every_seed_is_read(seeds: Seeds) -> None:
    assert len(seeds.workspaces) > 100
    assert len(seeds.locks) > 10
    assert len(seeds.pins) > 5


def test_internals_in_a_message_are_a_finding() -> None:
    from symc.diagnostics import Position, Span
    from symc.diagnostics.codes import reading

    text = {"a.yaml": b"a: b\n"}
    place = Span("a.yaml", Position(1, 1), Position(1, 2))
    for message in ("None is no name", "pydantic says no", "got <class 'str'>", "KeyError", "x is True"):
        with pytest.raises(FindingError, match="internals"):
            oracles.diagnostics([reading.YAML_SYNTAX.at(place, message)], text, {})
    for outside in (Position(1, 6), Position(3, 1)):
        with pytest.raises(FindingError, match="outside"):
            oracles.diagnostics([reading.YAML_SYNTAX.at(Span("a.yaml", outside, outside), "no")], text, {})
    with pytest.raises(FindingError, match="twice"):
        oracles.diagnostics([reading.YAML_SYNTAX.at(place, "no")] * 2, text, {})


def test_another_lock_is_a_finding(seeds: Seeds) -> None:
    assert oracles.lock(seeds.locks[0], seeds.locks)
    with pytest.raises(FindingError, match="another meaning"):
        oracles.lock(seeds.locks[0], ())


def test_too_slow_is_a_finding() -> None:
    with pytest.raises(FindingError, match="processor time"):
        oracles.bounded(lambda: sum(range(1000)), -1.0)
    assert oracles.bounded(lambda: 3) == 3


def test_findings_of_one_kind_are_one() -> None:
    assert kind_of(FindingError("no 12")) == kind_of(FindingError("no 13"))
    assert kind_of(FindingError("no")) != kind_of(FindingError("never"))


def test_warnings_are_errors_in_a_run() -> None:
    with warnings.catch_warnings(record=True) as caught:
        run("others", 5, seed=0, save=False)
    assert not caught
