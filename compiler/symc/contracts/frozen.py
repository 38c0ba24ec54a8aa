"""Frozen JSON values: what schemas, configurations and arguments are made of once they are accepted.

`freeze` turns any JSON value into an immutable, hashable one; `thaw` gives fresh plain containers back, for a
library that insists on `list` or wants to edit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn, overload

__all__ = ["FrozenDict", "freeze", "thaw"]


class FrozenDict(dict[str, Any]):
    """A JSON object that never changes, at any depth; hashable, and equal to a plain one of equal content.

    Construction freezes the values, so there is no half-frozen one: TypeError for a key that is no string and for a
    value that is not JSON, ValueError for NaN, an infinity or a value that contains itself. Being a real `dict` it
    goes through the C encoder of `json` and through validators as it is. Equality is Python's: `1`, `1.0` and `True`
    are equal; where they must not be, compare canonical bytes.
    """

    __slots__ = ("_hash",)

    _hash: int

    def __new__(
        cls, items: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **named: Any
    ) -> FrozenDict:
        """Freeze `items` and `named`, as `dict` would take them."""
        frozen: FrozenDict = freeze(dict(items, **named))
        return frozen

    def __init__(self, *_items: object, **_named: object) -> None:
        # Everything happened in __new__: dict's own __init__ would be a mutator that can be called again.
        pass

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dict):
            return NotImplemented
        if dict.__eq__(self, other):
            return True
        if isinstance(other, FrozenDict) or len(self) != len(other):
            return False
        # A plain dict of equal content holds lists where this one holds tuples.
        try:
            return dict.__eq__(self, freeze(other))
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def __repr__(self) -> str:
        return f"FrozenDict({dict.__repr__(self)})"

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def _refuse(self, *_args: object, **_named: object) -> NoReturn:
        raise TypeError("a FrozenDict does not change; make another from thaw(value)")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse


@overload
def freeze(value: Mapping[str, Any]) -> FrozenDict: ...
@overload
def freeze(value: Any) -> Any: ...
def freeze(value: Any) -> Any:
    """The frozen equal of a JSON value: objects become `FrozenDict`, arrays tuples, scalars stay.

    TypeError for what is not JSON, ValueError for NaN, an infinity, and a value that contains itself or has more than
    `DEEPEST` levels. The input is not changed, and nothing of it is shared that could be.
    """
    return _freeze(value, 0)


def thaw(value: Any) -> Any:
    """A fresh, plain copy of a JSON value: objects as `dict`, arrays as `list`; the inverse of `freeze`."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


DEEPEST: Final = 200
"""Levels of a frozen value: whoever walks one may do so by recursion. Manifests and pins have half of them at most."""

_ATOMS = frozenset({str, int, bool, type(None)})


def _freeze(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _ATOMS or kind is FrozenDict:
        return value
    if depth > DEEPEST:
        raise ValueError(f"the value is nested deeper than {DEEPEST} levels, or contains itself")
    # Schemas are most of a workspace: the atoms are told apart in place, without a call each.
    if kind is dict or isinstance(value, Mapping):
        frozen = dict.__new__(FrozenDict)
        dict.update(
            frozen,
            {
                key if type(key) is str else _key(key): item
                if type(item) in _ATOMS
                else _freeze(item, depth + 1)
                for key, item in value.items()
            },
        )
        return frozen
    if isinstance(value, list | tuple):
        return tuple([item if type(item) in _ATOMS else _freeze(item, depth + 1) for item in value])
    # A subclass (an enum of strings, a positioned string) would carry its own behaviour into the frozen value.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return float(value)
    raise TypeError(f"a value of type {kind.__name__} is not JSON")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise TypeError(f"a key must be a string, not {type(key).__name__}")
