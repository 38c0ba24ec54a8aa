"""Structured output: the schema a model is asked for, and the value its answer becomes (docs/contracts.md F-44)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symc.contracts.errors import ConfigurationError, StructuredOutputError
from symc.runtime.results import AgentResult

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["OutputShape", "shape_of"]

_WRAPPED = "value"


@dataclass(frozen=True, slots=True)
class OutputShape:
    """The shape an answer must have: the JSON Schema for the provider, and the adapter that judges the answer.

    Both are None for `str`: the answer itself. Providers want an object at the root: any other type travels as the
    one property `value` of an object (`wrapped`).
    """

    schema: Mapping[str, Any] | None = None
    adapter: TypeAdapter[Any] | None = None
    wrapped: bool = False

    def read(self, result: AgentResult[Any]) -> Any:
        """The value of the result's text; `StructuredOutputError` with the result where there is none."""
        if result.stop_reason == "tool_limit":
            raise StructuredOutputError("the round limit was reached before the model answered", result)
        if self.adapter is None:
            return result.text
        from pydantic import ValidationError

        try:
            text = self._unwrapped(result.text) if self.wrapped else result.text
            return self.adapter.validate_json(text)
        except ValidationError as error:
            found = "; ".join(
                f"{'/'.join(map(str, fault['loc'])) or 'the answer'}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)[:3]
            )
            raise StructuredOutputError(
                f"the answer does not have the shape asked for: {found}", result
            ) from error

    @staticmethod
    def _unwrapped(text: str) -> str:
        try:
            value = json.loads(text)
        except ValueError:
            return text  # the adapter says what is wrong with it
        # A model without native support may answer the bare value; the adapter judges that just as well.
        return json.dumps(value[_WRAPPED]) if isinstance(value, dict) and value.keys() == {_WRAPPED} else text


def shape_of(output_type: Any) -> OutputShape:
    """The shape of a type pydantic knows; `ConfigurationError` for one it does not."""
    if output_type is str:
        return OutputShape()
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        schema = adapter.json_schema()
    except (PydanticUserError, TypeError, ValueError, NameError) as error:
        raise ConfigurationError(f"output_type {output_type!r} has no JSON Schema: {error}") from error
    if schema.get("type") == "object":
        return OutputShape(schema, adapter)
    definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    root = {
        "type": "object",
        "properties": {_WRAPPED: schema},
        "required": [_WRAPPED],
        "additionalProperties": False,
    }
    return OutputShape(root | definitions, adapter, wrapped=True)
