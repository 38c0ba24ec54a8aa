"""`@tool`: a tool contribution from an annotated async callable (docs/contracts.md §1).

The signature is the schema and the docstring the description. Nothing is guessed: a parameter that is not annotated,
or whose annotation has no JSON Schema here, is refused with its name.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, overload

from symc.contracts.contribution import ToolContribution, is_async
from symc.contracts.errors import ExtensionContractError
from symc.contracts.frozen import FrozenDict, freeze

__all__ = ["input_schema_of", "tool"]

_AsyncText = Callable[..., Awaitable[str]]

_SCALARS: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_TYPES: dict[type, str] = {**_SCALARS, list: "array", Sequence: "array", dict: "object", Mapping: "object"}


@overload
def tool(function: _AsyncText, /) -> ToolContribution: ...
@overload
def tool(
    *,
    extension: str = "",
    name: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    origin: str = "",
) -> Callable[[_AsyncText], ToolContribution]: ...
def tool(
    function: _AsyncText | None = None,
    /,
    *,
    extension: str = "",
    name: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    origin: str = "",
) -> ToolContribution | Callable[[_AsyncText], ToolContribution]:
    """A `ToolContribution` of the decorated async callable; its name, docstring and signature say the rest.

    What is given here is used as it is. A tool that goes into a bundle needs its `extension`; one passed to an agent
    does not. `ExtensionContractError` for a callable that is not async or whose signature has no schema.
    """

    def declare(function: _AsyncText) -> ToolContribution:
        declared = name if name is not None else getattr(function, "__name__", type(function).__name__)
        if not is_async(function):
            raise ExtensionContractError(
                "must be async; declare it with `async def`", extension, f'tool "{declared}"'
            )

        async def invoke(arguments: Mapping[str, Any]) -> str:
            return await function(**arguments)

        return ToolContribution(
            name=declared,
            extension=extension,
            invoke=invoke,
            description=description if description is not None else inspect.getdoc(function) or "",
            input_schema=input_schema if input_schema is not None else input_schema_of(function, extension),
            origin=origin,
            output_schema=output_schema,
            annotations=annotations,
        )

    return declare if function is None else declare(function)


def input_schema_of(function: Callable[..., Any], extension: str = "") -> FrozenDict:
    """The JSON Schema (2020-12) of a callable's parameters: an object closed to others.

    Knows str, int, float, bool, None, Any, list and Sequence, dict and Mapping with string keys, Optional and
    unions, Literal, and `Annotated[…, "description"]`; a default that is JSON is stated. `ExtensionContractError`
    names the parameter it cannot describe; pass `input_schema` then.
    """
    subject = f'tool "{getattr(function, "__name__", type(function).__name__)}"'
    described = function if inspect.isroutine(function) else type(function).__call__
    try:
        hints = get_type_hints(described, include_extras=True)
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        raise ExtensionContractError(f"its signature cannot be read: {error}", extension, subject) from error
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ExtensionContractError(
                f"parameter `{parameter.name}` cannot be passed by name; arguments are", extension, subject
            )
        if parameter.name not in hints:
            raise ExtensionContractError(f"parameter `{parameter.name}` is not annotated", extension, subject)
        try:
            schema = _schema(hints[parameter.name])
        except TypeError as error:
            raise ExtensionContractError(
                f"parameter `{parameter.name}`: {error}; pass `input_schema`", extension, subject
            ) from None
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            schema |= _default(parameter.default)
        properties[parameter.name] = schema
    root: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return FrozenDict(root | ({"required": required} if required else {}))


def _default(value: object) -> dict[str, Any]:
    try:
        return {"default": freeze(value)}
    except (TypeError, ValueError):
        return {}  # a sentinel: the parameter is optional, and its default is nothing a model could send


def _schema(annotation: Any) -> dict[str, Any]:
    """The schema of one annotation; TypeError, worded for the author, where there is none."""
    if annotation is Any:
        return {}
    if annotation is None:
        return {"type": "null"}
    if isinstance(annotation, type) and annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *metadata = arguments
        texts = [text for text in metadata if isinstance(text, str)]
        return _schema(inner) | ({"description": texts[0]} if texts else {})
    if origin is Literal:
        return _enum(arguments)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(argument) for argument in arguments]}
    if origin in (list, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    if origin in (dict, Mapping) and arguments[0] is str:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    raise TypeError(f"`{inspect.formatannotation(annotation)}` has no JSON Schema")


def _enum(values: tuple[Any, ...]) -> dict[str, Any]:
    kinds = {type(value) for value in values}
    if not kinds <= _SCALARS.keys():
        raise TypeError("a Literal holds strings, numbers, booleans and None only")
    schema: dict[str, Any] = {"enum": list(values)}
    return ({"type": _SCALARS[kinds.pop()]} | schema) if len(kinds) == 1 else schema
