"""`@tool`: schema, name and description from an annotated async callable (docs/contracts.md §1)."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional, Union

import jsonschema
import pytest

from symc.contracts import ExtensionContractError, ExtensionContribution, ToolContribution, tool
from symc.contracts.declaration import input_schema_of
from symc.contracts.frozen import thaw


@tool(extension="crm")
async def lookup(key: str, limit: int = 10, *, exact: bool = False) -> str:
    """Find a customer.

    By e-mail address or id.
    """
    return f"{key}:{limit}:{exact}"


def test_name_description_and_schema_come_from_the_function() -> None:
    assert type(lookup) is ToolContribution
    assert (lookup.name, lookup.extension) == ("lookup", "crm")
    assert lookup.description == "Find a customer.\n\nBy e-mail address or id."
    assert lookup.input_schema == {
        "type": "object",
        "properties": {
            "key": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "exact": {"type": "boolean", "default": False},
        },
        "required": ["key"],
        "additionalProperties": False,
    }
    ExtensionContribution.build("crm", tools=[lookup]).validate()


def test_invoke_takes_the_mapping_of_bound_arguments() -> None:
    async def call(arguments: Mapping[str, Any]) -> str:
        return await lookup.invoke(arguments)

    assert asyncio.run(call({"key": "a"})) == "a:10:False"
    assert asyncio.run(call({"key": "a", "limit": 3, "exact": True})) == "a:3:True"


def test_what_is_given_is_used_as_it_is() -> None:
    async def untyped(anything):  # type: ignore[no-untyped-def]
        return "x"

    one = tool(
        extension="crm",
        name="Other",
        description="",
        input_schema={"type": "object"},
        output_schema={"type": "string"},
        annotations={"readOnlyHint": True},
        origin="here",
    )(untyped)
    assert (one.name, one.description, one.origin) == ("Other", "", "here")
    assert (one.input_schema, one.output_schema, one.annotations) == (
        {"type": "object"},
        {"type": "string"},
        {"readOnlyHint": True},
    )


def test_without_parentheses_the_tool_has_no_extension_yet() -> None:
    @tool
    async def ping() -> str:
        return "pong"

    assert ping.extension == ""
    assert ping.description == ""
    assert ping.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    with pytest.raises(ExtensionContractError, match="`extension` is empty"):
        ExtensionContribution.build("crm", tools=[ping]).validate()


_SENTINEL = object()


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (dict[str, None], {"type": "object", "additionalProperties": {"type": "null"}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (
            list[dict[str, bool]],
            {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "boolean"}}},
        ),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", 1, None, True], {"enum": ["a", 1, None, True]}),
        (Annotated[str, "The key."], {"type": "string", "description": "The key."}),
        (Annotated[int, {"unhashable": []}], {"type": "integer"}),
        (
            list[Annotated[str, "One key."]],
            {"type": "array", "items": {"type": "string", "description": "One key."}},
        ),
    ],
)
def test_annotations(annotation: Any, schema: dict[str, Any]) -> None:
    async def function(value: Any) -> str:
        return ""

    function.__annotations__["value"] = annotation
    derived = input_schema_of(function)
    assert derived["properties"]["value"] == schema
    assert derived["required"] == ("value",)
    jsonschema.Draft202012Validator.check_schema(thaw(derived))


def test_annotations_written_as_strings_are_resolved() -> None:
    async def function(value: "Annotated[list[str], 'Keys.']" = ["a"]) -> "str":  # noqa: B006, UP037
        return ""

    assert input_schema_of(function)["properties"]["value"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "Keys.",
        "default": ["a"],
    }


def test_a_default_that_is_not_json_makes_the_parameter_optional_and_is_not_stated() -> None:
    async def function(value: str = _SENTINEL) -> str:  # type: ignore[assignment]
        return ""

    assert input_schema_of(function) == {
        "type": "object",
        "properties": {"value": {"type": "string"}},
        "additionalProperties": False,
    }


def test_methods_and_callable_objects_are_tools() -> None:
    class Search:
        """Search everything."""

        async def __call__(self, key: str) -> str:
            return f"called {key}"

        async def find(self, key: str) -> str:
            """Find one."""
            return f"found {key}"

    async def call(one: ToolContribution) -> str:
        return await one.invoke({"key": "x"})

    called, found = tool(Search()), tool(Search().find)
    assert (called.name, called.description) == ("Search", "Search everything.")
    assert (found.name, found.description) == ("find", "Find one.")
    assert called.input_schema == found.input_schema
    assert asyncio.run(call(called)) == "called x"
    assert asyncio.run(call(found)) == "found x"


async def _unannotated(value) -> str:  # type: ignore[no-untyped-def]
    return ""


async def _positional_only(value: str, /) -> str:
    return ""


async def _many(*values: str) -> str:
    return ""


async def _anything(**values: str) -> str:
    return ""


async def _a_set(value: set[str]) -> str:
    return ""


async def _an_object(value: list[object]) -> str:
    return ""


async def _integer_keys(value: dict[int, str]) -> str:
    return ""


async def _bytes_in_a_literal(value: Literal[b"x"]) -> str:
    return ""


async def _unknown(value: NotDefinedAnywhere) -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


@pytest.mark.parametrize(
    "function",
    [
        _unannotated,
        _positional_only,
        _many,
        _anything,
        _a_set,
        _an_object,
        _integer_keys,
        _bytes_in_a_literal,
        _unknown,
    ],
)
def test_nothing_is_guessed(function: Callable[..., Any]) -> None:
    with pytest.raises(ExtensionContractError) as caught:
        tool(extension="crm")(function)
    assert caught.value.extension == "crm"
    assert f'tool "{function.__name__}"' in str(caught.value)
    if function is not _unknown:
        assert "value" in caught.value.fault


def test_a_sync_callable_is_refused() -> None:
    def sync(key: str) -> str:
        return key

    for function in (sync, functools.partial(sync), int):
        with pytest.raises(ExtensionContractError, match="async"):
            tool(function)  # type: ignore[arg-type]
