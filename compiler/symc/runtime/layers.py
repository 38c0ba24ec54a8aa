"""Layers: a factory and a gated inner callable → the callable of one variant (docs/variants.md §5, V30–V32)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any, Final

from symc.canonical import digest
from symc.composition import ToolExtension
from symc.contracts.contribution import is_async
from symc.contracts.frozen import FrozenDict
from symc.contracts.kinds import ExtensionKind, LayerCallable
from symc.diagnostics.codes import running
from symc.runtime.extras import installing
from symc.runtime.gates import Gate, Reason, RefusedError
from symc.runtime.targets import TargetError
from symc.runtime.toolset import Invoke

__all__ = ["OMITTED", "Omitted", "ParameterSchema", "given", "layer", "present"]


class Omitted(Enum):
    """The type of `OMITTED`."""

    OMITTED = "omitted"

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = Omitted.OMITTED
"""The default of every optional parameter that a layer presents: the call has no such argument.

A layer may pass it on as it is; it never reaches a tool, a policy or a wire."""


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a call has: all but those left at `OMITTED`."""
    return {name: value for name, value in arguments.items() if value is not OMITTED}


@dataclass(frozen=True, slots=True)
class ParameterSchema:
    """The annotation of a parameter that a layer presents: stands for its JSON Schema, and is equal to its equals."""

    schema: Mapping[str, Any] | bool = field(compare=False)
    digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest("parameter", self.schema))


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a tool by name, required ones first; none where names cannot tell them all (`open`)."""

    by_name: Mapping[str, Parameter]
    open: bool = False

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Parameters:
        """The parameters of an input schema.

        They are open where a property has a name that no Python parameter can have, and where the schema allows
        properties that its root does not list: a call with them must reach the tool, too (V30).
        """
        properties: Mapping[str, Any] = schema.get("properties", {})
        required = frozenset(schema.get("required", ()))
        if not all(map(_is_parameter_name, properties)) or not required <= properties.keys():
            return cls({}, open=True)
        if _lists_not_all(schema):
            return cls({}, open=True)
        named = sorted(properties, key=lambda name: name not in required)
        return cls({name: _parameter(name, properties[name], required=name in required) for name in named})

    def without(self, names: frozenset[str]) -> Parameters:
        """These but for some."""
        return Parameters({name: one for name, one in self.by_name.items() if name not in names}, self.open)


def _is_parameter_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


_BRINGS_PROPERTIES: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_COMBINES: Final = ("allOf", "anyOf", "oneOf")
_REFERS: Final = ("$ref", "$dynamicRef", "$recursiveRef", "dependentSchemas", "dependencies")


def _lists_not_all(schema: Mapping[str, Any]) -> bool:
    """Whether the schema describes properties that its `properties` does not list; to allow them unnamed is not to."""
    described = (schema.get(key) for key in _BRINGS_PROPERTIES)
    if any(key in schema for key in _REFERS) or any(one and one is not True for one in described):
        return True
    inner = [one for key in _COMBINES for one in schema.get(key, ())]
    inner += [schema[key] for key in ("if", "then", "else") if key in schema]
    listed = schema.get("properties", {}).keys()
    return any(
        isinstance(one, Mapping) and (not one.get("properties", {}).keys() <= listed or _lists_not_all(one))
        for one in inner
    )


def _parameter(name: str, schema: Mapping[str, Any] | bool, *, required: bool) -> Parameter:
    default = Parameter.empty if required else OMITTED
    return Parameter(
        name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=ParameterSchema(schema)
    )


def present(gate: Gate, parameters: Parameters, origin: str) -> LayerCallable:
    """The inner callable that a factory is given: presents the tool's parameters, and passes its gate at every call."""

    async def call(**arguments: Any) -> str:
        return await gate.call(given(arguments), origin=origin)

    name = gate.tool.name if _is_parameter_name(gate.tool.name) else "tool"
    if parameters.open:
        call.__name__, call.__qualname__, call.__doc__ = name, name, gate.tool.description
        return call
    try:
        import makefun  # only a variant pays for it
    except ModuleNotFoundError as error:
        raise TargetError(
            running.TARGET_MISSING,
            f'a variant needs "{error.name}", which is not installed',
            hint=installing(error),
            shared=True,
        ) from None
    made: LayerCallable = makefun.create_function(
        Signature(list(parameters.by_name.values()), return_annotation=str),
        call,  # type: ignore[arg-type]  # it may have any parameters
        func_name=name,
        doc=gate.tool.description,
    )
    return made


def layer(
    registered: ToolExtension,
    factory: Callable[..., Any],
    inner: Gate,
    *,
    name: str,
    description: str,
    input_schema: Mapping[str, Any],
    config: Mapping[str, Any] | None,
) -> Invoke:
    """The body of the variant `name`: what `factory` makes of the gated inner callable.

    Raises `TargetError` for an answer that cannot stand as the layer that the lock describes (V30, V31).
    """
    received = Parameters.of(inner.tool.input_schema)
    func = present(inner, received, origin=registered.name)
    settings = () if registered.config_schema is None else (FrozenDict(config or {}),)
    try:
        answer = factory(func, name, description, *settings)
    except Exception as error:
        raise TargetError(
            running.LAYER_REFUSED,
            f'the factory "{registered.factory}" raises {type(error).__name__}: {error}',
            hint="mend the factory; it is called once for each variant, when an agent opens",
        ) from error
    parameters = Parameters.of(input_schema)
    _require_layer(registered, answer, func)
    _require_parameters(registered, answer, parameters, received)
    return _body(answer, parameters)


def _body(answer: LayerCallable, parameters: Parameters) -> Invoke:
    async def invoke(arguments: Mapping[str, Any]) -> str:
        if not parameters.open and not arguments.keys() <= parameters.by_name.keys():
            unknown = ", ".join(sorted(arguments.keys() - parameters.by_name.keys()))
            known = ", ".join(parameters.by_name) or "none"
            raise RefusedError(Reason.INVALID_ARGUMENTS, f"unknown: {unknown}; the parameters are {known}")
        return await answer(**arguments)

    return invoke


def _require_layer(registered: ToolExtension, answer: Any, func: LayerCallable) -> None:
    """V31: what a factory answers is a new async callable."""
    said = ""
    if answer is func:
        said = "answers the callable it was given; a layer is a new one"
    elif not callable(answer):
        said = f"answers a {type(answer).__name__}, not an async callable"
    elif not is_async(answer):
        said = "answers a callable that is not async"
    if said:
        raise TargetError(
            running.LAYER_REFUSED,
            f'the factory "{registered.factory}" {said}',
            hint="answer an `async def` of its own that awaits the callable it was given",
        )


def _require_parameters(
    registered: ToolExtension, answer: Any, expected: Parameters, received: Parameters
) -> None:
    """V30: it presents the locked parameters; a layer that passes them on, with the markers it received."""
    try:
        presented = inspect.signature(answer).parameters
    except (TypeError, ValueError) as error:
        raise TargetError(
            running.LAYER_SIGNATURE,
            f'the factory "{registered.factory}" answers a callable whose signature cannot be read: {error}',
        ) from None
    kinds = [parameter.kind for parameter in presented.values()]
    if (
        not expected.open
        and kinds
        and all(kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for kind in kinds)
    ):
        raise TargetError(
            running.LAYER_REFUSED,
            f'the factory "{registered.factory}" answers a callable of anything ({_written(presented)})',
            hint=_HINT,
        )
    marked: Mapping[str, Parameter] = received.by_name if _passes_on(registered) else {}
    account = tuple(_account(presented, expected, marked))
    if any(not fine for fine, _ in account):
        raise TargetError(
            running.LAYER_SIGNATURE,
            f'the factory "{registered.factory}" answers a callable with other parameters than the lock has',
            notes=tuple(line for _, line in account),
            hint=_HINT,
        )


_HINT: Final = (
    "present the parameters it received and those it reserves: functools.wraps(func), "
    "or makefun.wraps(func, append_args=…)"
)


def _passes_on(registered: ToolExtension) -> bool:
    kind = ExtensionKind(registered.kind)
    return kind.preserves_schema or (not kind.declares_schema and registered.input_schema is None)


def _account(
    presented: Mapping[str, Parameter], expected: Parameters, marked: Mapping[str, Parameter]
) -> Iterator[tuple[bool, str]]:
    """Whether each parameter is as it must be, and how it is, in words."""
    by_name = {
        name: one
        for name, one in presented.items()
        if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    }
    catches_all = any(one.kind is Parameter.VAR_KEYWORD for one in presented.values())
    if expected.open:
        # Names that no parameter can have arrive by `**`, whatever else stands beside it.
        yield catches_all, "**arguments: " + ("as it must be" if catches_all else "missing")
        for name, one in by_name.items():
            yield (
                _can_be_named(one),
                f"{name}: {'beside ** ' if _can_be_named(one) else 'cannot be passed by name'}",
            )
        return
    for name in sorted(by_name.keys() | expected.by_name.keys()):
        yield _judged(name, by_name.get(name), expected.by_name.get(name), marked.get(name))
    for name, one in presented.items():
        if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            stars = "*" if one.kind is Parameter.VAR_POSITIONAL else "**"
            yield False, f"{stars}{name}: takes anything"


def _judged(
    name: str, one: Parameter | None, expected: Parameter | None, marker: Parameter | None
) -> tuple[bool, str]:
    if one is None:
        return False, f"{name}: missing"
    if expected is None:
        return False, f"{name}: not in the locked schema"
    if not _can_be_named(one):
        return False, f"{name}: cannot be passed by name"
    here, there = (side.default is Parameter.empty for side in (one, expected))
    if here != there:
        words = ("optional", "required")
        return False, f"{name}: {words[here]}, and {words[there]} in the locked schema"
    if marker is not None and one.annotation != marker.annotation:
        return False, f"{name}: stands for another schema than the one it received"
    return True, f"{name}: as locked"


def _can_be_named(parameter: Parameter) -> bool:
    return parameter.kind is not Parameter.POSITIONAL_ONLY


def _written(presented: Mapping[str, Parameter]) -> str:
    return ", ".join(str(parameter) for parameter in presented.values())
