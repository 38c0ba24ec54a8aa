"""The lock's bytes: round trips, and what L1–L4 say about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.composition import Agent, Fragment, Lock
from symc.contracts.frozen import FrozenDict
from symc.lock import digest_lines, dumps, loads, tree, verify
from symc.lock.writing import render
from tests.lock.sample import LOCK

TEXT = dumps(LOCK)


def test_a_lock_comes_back_as_it_was_written() -> None:
    assert loads(TEXT) == LOCK
    assert loads(TEXT.encode()) == LOCK


def test_a_text_comes_back_as_it_was_read() -> None:
    assert dumps(loads(TEXT)) == TEXT


def test_what_was_written_verifies() -> None:
    verify(loads(TEXT))


def test_a_lock_that_differs_is_not_equal() -> None:
    other = replace(LOCK, agents={**LOCK.agents, "support": replace(LOCK.agents["support"], model="other")})
    assert loads(dumps(other)) != LOCK


def test_layout_of_the_text() -> None:
    """L1: two spaces, sorted keys, one element a line, a final newline: what the standard library's writer gives."""
    plain = json.loads(TEXT)
    assert (
        TEXT.replace("\\u2028", "\u2028")
        == json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    )


def test_the_tree_of_a_compiled_lock_is_that_of_the_read_one() -> None:
    assert tree(LOCK) == tree(loads(TEXT)) == json.loads(TEXT)


@pytest.mark.parametrize(
    ("value", "spelled"),
    [(1e21, "1e+21"), (1e20, "100000000000000000000"), (0.1, "0.1"), (-0.0, "0"), (1.0, "1"), (1e-7, "1e-7")],
)
def test_numbers_have_the_spelling_of_rfc_8785(value: float, spelled: str) -> None:
    agent = Agent(name="a", source="a.yaml", vars={"x": value})  # type: ignore[arg-type]
    text = dumps(Lock(agents={"a": agent}))
    assert f'"x": {spelled}\n' in text
    again = loads(text)
    assert again.agents["a"].vars["x"] == value
    assert dumps(again) == text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ['""']),
        ("one", ['"one"']),
        ("one\n", ['"one"', '""']),
        ("\n\n", ['""', '""', '""']),
        ("a\u2028b\x0bc\r\x85d", ['"a\\u2028b\\u000bc\\r\\u0085d"']),
    ],
)
def test_a_text_is_the_array_of_its_lines(text: str, lines: list[str]) -> None:
    """L2: split at line feeds only, an exact bijection."""
    lock = _with_text(text)
    inside = dumps(lock).split('"text": [\n')[1].split("\n          ]")[0]
    assert [line.strip().rstrip(",") for line in inside.split("\n")] == lines
    assert loads(dumps(lock)) == lock


@pytest.mark.parametrize(
    ("hidden", "escaped"),
    [
        ("\u202e", "\\u202e"),
        ("\u200b", "\\u200b"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\x7f", "\\u007f"),
        ("\xad", "\\u00ad"),
    ],
)
def test_hidden_characters_are_seen(hidden: str, escaped: str) -> None:
    """L3."""
    lock = _with_text(f"a{hidden}b\\{hidden}")
    text = dumps(lock)
    assert f'"a{escaped}b\\\\{escaped}"' in text
    assert hidden not in text
    assert loads(text) == lock


def test_an_emoji_sequence_stays_readable() -> None:
    text = "\U0001f3f4\u200d\u2620\ufe0f and \U0001f469\u200d\U0001f4bb"
    assert text in dumps(_with_text(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100)
def test_any_text_survives(text: str) -> None:
    lock = _with_text(text)
    again = loads(dumps(lock).encode())
    assert again == lock
    assert again.agents["a"].fragments["f"].text == text


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), _JSON))
@settings(max_examples=80)
def test_any_json_survives(value: dict[str, object]) -> None:
    assert json.loads(render(value), parse_int=float) == json.loads(json.dumps(value), parse_int=float)
    lock = Lock(agents={"a": Agent(name="a", source="a.yaml", vars=value)})  # type: ignore[arg-type]
    again = loads(dumps(lock))
    assert again == lock
    assert dumps(again) == dumps(lock)


def _with_text(text: str) -> Lock:
    fragment = Fragment(fragment_id="f", text=text)
    return Lock(agents={"a": Agent(name="a", source="a.yaml", prompt=("a/f",), fragments={"f": fragment})})


def test_the_order_in_which_maps_were_made_plays_no_role() -> None:
    """O-16."""
    assert dumps(_reversed(LOCK)) == TEXT
    assert digest_lines(_reversed(LOCK)) == digest_lines(LOCK)


def _reversed(value: Any) -> Any:
    """The same value with every map in the opposite order."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _reversed(getattr(value, each.name)) for each in fields(value)})
    if isinstance(value, FrozenDict):
        return FrozenDict({key: value[key] for key in reversed(value)})
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return value


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_seed_of_hashes_plays_no_role(seed: str) -> None:
    code = "from tests.lock.sample import LOCK; from symc.lock import dumps; print(dumps(LOCK), end='')"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    assert run.stdout.decode().replace("\r\n", "\n") == TEXT
