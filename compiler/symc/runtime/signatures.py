"""Signatures: whether a callable takes what its use passes, by count and by what its first parameter says of itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

__all__ = ["parameters_fault", "value_fault"]

_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters_fault(function: Callable[..., Any], count: int) -> str | None:
    """What keeps `function` from being called with `count` positional values, or None."""
    if _plainly_takes(function, count):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None  # some callables of C show no signature
    try:
        signature.bind(*[None] * count)
    except TypeError:
        # Names only: a default may be anything, a secret too.
        return f"has the parameters ({', '.join(signature.parameters)})"
    return None


def value_fault(function: Callable[..., Any], given: type, others: Collection[str] = ()) -> str | None:
    """What shows that the first parameter is not meant for a value of `given`, or None.

    Its annotation is a type that is neither a kind of `given` nor as general; or, where the annotation leaves it open,
    its name is one of `others`, which mean something else. An annotation that cannot be evaluated shows nothing.
    """
    first = _first(function)
    if first is None:
        return None
    name, annotation, scope = first
    fits = _fits(_evaluated(annotation, scope), given)
    if fits is False:
        return f'has the parameter "{name}: {_written(annotation)}"'
    if fits is None and name in others:
        return f'has the parameter "{name}", which is one of its arguments'
    return None


def _plainly_takes(function: Any, count: int) -> bool:
    """Whether a plain function has exactly so many parameters; an agent may have hundreds, and `inspect` is slow."""
    return (
        type(function) is FunctionType
        and not function.__dict__
        and function.__code__.co_argcount == count
        and not function.__code__.co_kwonlyargcount
    )


def _first(function: Any) -> tuple[str, Any, dict[str, Any]] | None:
    """Name and annotation of the first positional parameter, and the names that the annotation may use."""
    if _plainly_takes(function, 1):
        name = function.__code__.co_varnames[0]
        annotation = function.__annotations__.get(name, inspect.Parameter.empty)
        return name, annotation, function.__globals__
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    first = next((one for one in parameters if one.kind in _POSITIONAL), None)
    if first is None:
        return None
    inner = inspect.unwrap(function)
    inner = getattr(inner, "func", inner)  # of a partial
    scope = getattr(inner, "__globals__", None) or getattr(type(inner).__call__, "__globals__", {})
    return first.name, first.annotation, scope


def _evaluated(annotation: Any, scope: dict[str, Any]) -> Any:
    """The annotation where it can be evaluated; `object`, which fits everything, where not."""
    if not isinstance(annotation, str):
        return annotation
    try:
        holder = SimpleNamespace(__annotations__={"it": annotation})
        return get_type_hints(holder, globalns=scope, include_extras=True)["it"]
    except Exception:  # a name that only a type checker sees; evaluating may raise anything
        return Annotated[object, "unknown"]


def _fits(annotation: Any, given: type) -> bool | None:
    """Whether the annotation admits a value of `given`; None where it says nothing of it."""
    origin = get_origin(annotation)
    if annotation is inspect.Parameter.empty or annotation in (Any, object):
        return None
    if origin is Annotated:
        inner = get_args(annotation)[0]
        return True if inner is object else _fits(inner, given)
    if origin in (Union, UnionType):
        found = [_fits(one, given) for one in get_args(annotation)]
        return True if True in found else None if None in found else False
    if isinstance(annotation, NewType):
        return _fits(annotation.__supertype__, given)
    if annotation is None or origin is Literal:
        return False
    kind = origin or annotation
    if not isinstance(kind, type):
        return None
    try:
        return kind is not NoneType and (issubclass(kind, given) or issubclass(given, kind))
    except TypeError:  # a protocol that is not checked at run time
        return None


def _written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
