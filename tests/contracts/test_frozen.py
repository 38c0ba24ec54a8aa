"""Frozen JSON values (symc.contracts.frozen)."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.contracts.frozen import DEEPEST, FrozenDict, freeze, thaw

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def containers(value: Any) -> list[Any]:
    """Every container in a frozen value, outermost first."""
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in containers(item))]
    if isinstance(value, tuple):
        return [value, *(found for item in value for found in containers(item))]
    assert not isinstance(value, list)
    return []


@settings(max_examples=150)
@given(JSON)
def test_thaw_undoes_freeze(value: Any) -> None:
    assert thaw(freeze(value)) == value


@settings(max_examples=150)
@given(JSON)
def test_a_frozen_value_has_frozen_containers_only_and_one_hash(value: Any) -> None:
    frozen = freeze(value)
    assert {type(found) for found in containers(frozen)} <= {FrozenDict, tuple}
    assert hash(frozen) == hash(freeze(copy.deepcopy(value)))


@settings(max_examples=150)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_frozen_object_equals_the_plain_one_from_both_sides(value: dict[str, Any]) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert value == frozen
    assert not frozen != value  # noqa: SIM202  # `!=` is a method of its own
    assert frozen != {**value, "one more key, not generated": 1}
    assert json.dumps(frozen) == json.dumps(value)


@settings(max_examples=100)
@given(JSON)
def test_a_frozen_value_survives_pickle_and_copies(value: Any) -> None:
    frozen = freeze(value)
    for twin in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert twin == frozen
        assert type(twin) is type(frozen)
        assert hash(twin) == hash(frozen)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.__setitem__("a", 2),
        lambda one: one.__delitem__("a"),
        lambda one: one.__ior__({"b": 2}),
        lambda one: one.clear(),
        lambda one: one.pop("a"),
        lambda one: one.pop("missing", None),
        lambda one: one.popitem(),
        lambda one: one.setdefault("a", 2),
        lambda one: one.setdefault("b", 2),
        lambda one: one.update(b=2),
        lambda one: one.update({}),
    ],
)
def test_every_mutator_refuses(change: Callable[[FrozenDict], object]) -> None:
    one = FrozenDict(a=1)
    with pytest.raises(TypeError, match="does not change"):
        change(one)
    assert one == {"a": 1}


def test_no_mutator_of_dict_was_forgotten() -> None:
    readers = {"copy", "fromkeys", "get", "items", "keys", "values"}
    public = {name for name in dir(dict) if not name.startswith("_")}
    assert {name for name in public if getattr(FrozenDict, name) is getattr(dict, name, None)} <= readers
    with pytest.raises(TypeError):
        FrozenDict.fromkeys(["a"])


def test_init_is_no_way_in() -> None:
    one = FrozenDict(a=1)
    one.__init__({"b": 2})  # type: ignore[misc]
    assert one == {"a": 1}


def test_construction_freezes_what_it_is_given() -> None:
    inner: list[Any] = [{"x": []}]
    one = FrozenDict({"a": inner}, b=[1])
    inner[0]["x"].append(1)
    inner.append(2)
    assert one == {"a": [{"x": []}], "b": [1]}
    assert one["a"] == ({"x": ()},)
    assert FrozenDict([("a", 1)]) == {"a": 1}


def test_freezing_a_frozen_value_costs_nothing() -> None:
    one = FrozenDict(a=[1])
    assert freeze(one) is one


def test_a_union_is_a_plain_dict() -> None:
    one = FrozenDict(a=1)
    assert (one | {"b": [2]}) == {"a": 1, "b": [2]}
    assert one == {"a": 1}


def test_any_mapping_is_an_object() -> None:
    assert freeze(MappingProxyType({"a": [1]})) == {"a": [1]}


def test_subclasses_of_scalars_lose_their_behaviour() -> None:
    class Word(enum.StrEnum):
        YES = "yes"

    class Count(enum.IntEnum):
        ONE = 1

    class Ratio(float):
        pass

    frozen = freeze({Word.YES: [Word.YES, Count.ONE, Ratio(0.5), True]})
    assert [type(key) for key in frozen] == [str]
    assert [type(item) for item in frozen["yes"]] == [str, int, float, bool]
    assert frozen == {"yes": ["yes", 1, 0.5, True]}


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", {1: "a"}, {None: 1}, [object()], {"a": {"b": 1j}}, print]
)
def test_what_is_not_json_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        freeze(value)
    assert FrozenDict(a=1) != value
    assert FrozenDict(a=1) != {"a": value}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_json_cannot_write_is_a_value_error(number: float) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        freeze({"a": [number]})


def test_a_value_that_contains_itself_is_a_value_error() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = [loop]
    with pytest.raises(ValueError, match="contains itself"):
        freeze(loop)
    with pytest.raises(ValueError, match="contains itself"):
        FrozenDict(loop)
    assert FrozenDict(a=1) != loop


def test_levels_are_counted() -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for level in range(levels):
            value = [value] if level % 2 else {"a": value}
        return value

    assert thaw(freeze(nested(DEEPEST + 1))) == nested(DEEPEST + 1)
    for levels in (DEEPEST + 2, 100_000):
        with pytest.raises(ValueError, match="nested deeper than 200 levels"):
            freeze(nested(levels))


def test_the_text_form_says_what_it_is() -> None:
    assert repr(FrozenDict(a=[1])) == "FrozenDict({'a': (1,)})"
