"""Tools as the runtime calls them: one normalised form for every way to bring one (docs/contracts.md F-13, F-20)."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from symc.canonical import digest
from symc.contracts.contribution import ToolContribution, is_async
from symc.contracts.declaration import tool as declare
from symc.contracts.errors import ConfigurationError
from symc.contracts.frozen import FrozenDict, freeze
from symc.contracts.names import RAW_TOOL_NAME
from symc.contracts.vocabulary import Effect
from symc.runtime.model import ToolSpec

if TYPE_CHECKING:
    from symc.composition import Layer

__all__ = ["Invoke", "ToolBinding", "Toolset", "binding_of"]

Invoke = Callable[[Mapping[str, Any]], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBinding:
    """One tool, bound: what the model is told, who it is, and the async callable that does it.

    `name` is the exposed name; `extension`, `raw` and `layers` (innermost first) are the identity, never parsed out of
    it. `effect` is what calling it means. A tool that is not `exposed` cannot be called by name. `owner` says
    in messages who brought it.
    """

    name: str
    invoke: Invoke
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=FrozenDict)
    output_schema: Mapping[str, Any] | None = None
    extension: str = ""
    raw: str = ""
    layers: tuple[Layer, ...] = ()
    effect: Effect = "tool_call"
    exposed: bool = True
    owner: str = "passed to Agent"

    @property
    def chain(self) -> tuple[str, ...]:
        """The names of its layers, innermost first."""
        return tuple(layer.name for layer in self.layers)

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(self.name, self.description, self.input_schema)

    @property
    def digest(self) -> str:
        """A digest over all that is declared of the tool, its callable aside."""
        return digest(
            "binding",
            {
                "name": self.name,
                "description": self.description,
                "input_schema": self.input_schema,
                "output_schema": self.output_schema,
                "extension": self.extension,
                "raw": self.raw,
                "chain": self.chain,
                "effect": self.effect,
                "exposed": self.exposed,
            },
        )


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools of an agent by exposed name, in the order the model sees them: sorted by name."""

    tools: Mapping[str, ToolBinding]

    @classmethod
    def of(cls, bindings: Iterable[ToolBinding]) -> Toolset:
        """The set of these tools; `ConfigurationError` shows both owners of a name that two share."""
        tools: dict[str, ToolBinding] = {}
        for binding in bindings:
            other = tools.setdefault(binding.name, binding)
            if other is not binding:
                raise ConfigurationError(
                    f'two tools are named "{binding.name}": one {other.owner}, one {binding.owner}'
                )
        return cls(dict(sorted(tools.items())))

    @property
    def exposed(self) -> Mapping[str, ToolBinding]:
        """The tools the model may name."""
        return {name: tool for name, tool in self.tools.items() if tool.exposed}


def binding_of(given: object, owner: str = "passed to Agent") -> ToolBinding:
    """The tool that `given` stands for.

    A `ToolBinding` is itself. A `ToolContribution`, an object with the shape of LangChain's `BaseTool`, and an annotated
    callable (async, or sync: it then runs in a thread) are read once, now; what they become later changes nothing
    (X-13). `ConfigurationError` for anything else.
    """
    if isinstance(given, ToolBinding):
        return given
    if isinstance(given, ToolContribution):
        return _from_contribution(given, owner)
    if _has_langchain_shape(given):
        return _from_langchain(given, owner)
    if callable(given) and not isinstance(given, type):
        return _from_contribution(declare(given if is_async(given) else _in_thread(given)), owner)
    raise ConfigurationError(
        f"a {type(given).__name__} is no tool; pass a ToolContribution, a LangChain tool or an annotated callable"
    )


def _from_contribution(contribution: ToolContribution, owner: str) -> ToolBinding:
    # A tool passed to an agent needs no extension of its own; everything else of the contract holds.
    replace(contribution, extension=contribution.extension or "agent").validate()
    return ToolBinding(
        name=contribution.name,
        invoke=contribution.invoke,
        description=contribution.description,
        input_schema=contribution.input_schema,
        output_schema=contribution.output_schema,
        extension=contribution.extension,
        raw=contribution.name,
        owner=owner,
    )


def _in_thread(function: Callable[..., str]) -> Callable[..., Awaitable[str]]:
    @functools.wraps(function)
    async def call(**arguments: Any) -> str:
        return await asyncio.to_thread(function, **arguments)

    return call


def _has_langchain_shape(given: Any) -> bool:
    return (
        not isinstance(given, type)
        and isinstance(getattr(given, "name", None), str)
        and isinstance(getattr(given, "description", None), str)
        and callable(getattr(given, "ainvoke", None))
        and (hasattr(given, "tool_call_schema") or hasattr(given, "args_schema") or hasattr(given, "args"))
    )


def _from_langchain(given: Any, owner: str) -> ToolBinding:
    if fault := RAW_TOOL_NAME.fault(given.name):
        raise ConfigurationError(f'the tool "{given.name}": its name {fault}')
    ainvoke = given.ainvoke

    async def invoke(arguments: Mapping[str, Any]) -> str:
        answer = await ainvoke(dict(arguments))
        # LangChain lets a tool answer any value and writes it as JSON for the model; so does this.
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    try:
        schema = freeze(_langchain_schema(given))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f'the tool "{given.name}": its schema is not JSON: {error}') from error
    return ToolBinding(
        name=given.name,
        invoke=invoke,
        description=given.description,
        input_schema=schema,
        raw=given.name,
        owner=owner,
    )


def _langchain_schema(given: Any) -> Mapping[str, Any]:
    declared = getattr(given, "tool_call_schema", None) or getattr(given, "args_schema", None)
    if isinstance(declared, Mapping):
        return declared
    if callable(getattr(declared, "model_json_schema", None)):
        schema: Mapping[str, Any] = declared.model_json_schema()  # type: ignore[union-attr]
        return schema
    return {"type": "object", "properties": getattr(given, "args", None) or {}}
