"""The entries of the lock in JSON: an agent (whose tools refer to their extensions'), and a lock as one tree.

The forms of all other entries are rows of a table (:mod:`symc.composition.form`); an agent's tools hold texts and
schemas only where they differ from what the extension declares, so they are written and read against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from symc.canonical import JsonPath, canonical_bytes
from symc.composition import form, parts, records
from symc.composition.form import FormError, Json, Key, Record

OWN_KEYS: Final = ("adaptations", "annotations", "description", "input_schema", "output_schema", "overrides")
"""What an agent's tool may hold of its own; a digest of its own covers these (docs/lockfile.md §3)."""

# Against these the extension's own value counts when the key is left out; null says that there is none here.
_INHERITED: Final[Mapping[str, form.Form]] = {
    "annotations": form.NULLABLE_JSON,
    "description": form.LINES,
    "input_schema": form.JSON,
    "output_schema": form.NULLABLE_JSON,
}

_BOUND: Final[Record[dict[str, Any]]] = Record(
    dict,
    (
        Key("adaptations", form.WORDS, (), note="Lossless changes made for the provider."),
        Key("chain", form.many(records.LAYER), (), note="Layers of a variant, innermost first."),
        Key("exposed", form.FLAG, True, note="False: the model never sees it."),
        Key("extension", form.WORD, note="The extension it comes from."),
        Key("guarded_by", form.WORDS, (), note="Derived: the policies that match it.", derived=True),
        Key("overrides", form.WORDS, (), note="Fields that the agent's manifest set."),
        Key("raw", form.WORD, note="Its name there."),
        Key("selected_by", form.WORD, note="The row that selected it."),
    ),
    sealed=False,
)

_DELEGATE: Final[Record[dict[str, Any]]] = Record(
    dict,
    (
        Key("may_exceed", form.WORDS, (), note="What the child may have beyond this agent."),
        Key("tool", form.WORD, note="The tool that calls it."),
    ),
    sealed=False,
)

_LIFECYCLE: Final[Record[dict[str, Any]]] = Record(
    dict,
    (
        Key("install", form.WORDS, (), note="Hooks in the order they run."),
        Key("teardown", form.WORDS, (), note="Hooks in the order they run."),
    ),
    sealed=False,
)

_AGENT: Final[Record[dict[str, Any]]] = Record(
    dict,
    (
        Key("bases", form.WORDS, (), note="Agents it extends, in order."),
        Key("cache_plan", records.CACHE_PLAN.form, parts.CachePlan(), note="Where a prompt cache may break."),
        Key("description", form.LINES, "", note="For people, and for a parent that delegates."),
        Key(
            "effects",
            form.by_id(form.WORDS),
            {},
            note="Derived: policies that guard an effect without naming tools.",
            derived=True,
        ),
        Key("env", form.WORDS, (), note="Environment variables it needs."),
        Key("extensions", form.WORDS, (), note="Extensions in composed order."),
        records.FRAGMENTS,
        records.FROM,
        Key("grants", form.WORDS, (), note="Effects that the operator allows."),
        Key("limits", records.LIMITS.form, note="Numbers that only tighten."),
        Key("model", form.WORD, "", note="Model name handed to the provider."),
        records.POLICIES,
        Key("prefixes", form.TABLE, records.EMPTY, note="Prefixes of exposed names, by extension."),
        Key("prompt", form.WORDS, (), note="Fragments and slots in order, as owner/id."),
        Key("provider", form.WORD, "none", note="Whose limits were checked."),
        Key(
            "rendered",
            form.by_id(form.SEALED_TEXT),
            {},
            note="Texts that a template renders differently here.",
        ),
        records.SLOTS,
        Key("vars", form.JSON, records.EMPTY, note="Values of the variables its templates use."),
    ),
)
_SHAPED_ELSEWHERE: Final = ("delegates", "lifecycle", "tools")


def write_agent(agent: parts.Agent, extensions: Mapping[str, parts.Extension]) -> dict[str, Any]:
    """The agent's entry, without digests; ``extensions`` are all it refers to."""
    json = _AGENT.write(agent)
    if agent.delegates:
        json["delegates"] = {name: _DELEGATE.write(agent.delegates[name]) for name in sorted(agent.delegates)}
    if lifecycle := _LIFECYCLE.write(agent):
        json["lifecycle"] = lifecycle
    if agent.tools:
        json["tools"] = {
            name: _write_tool(tool, extensions[tool.extension].tools[tool.raw])
            for name, tool in sorted(agent.tools.items())
        }
    return json


def read_agent(
    json: Any,
    at: JsonPath,
    name: str,
    *,
    extension: Callable[[str], parts.Extension | None],
    description: Callable[[str], str | None],
) -> parts.Agent:
    """The agent of this entry; raises ``FormError`` for another form and for references that lead nowhere.

    ``extension`` finds the extension of a name, ``description`` the description of an agent: None where there is none.
    """
    found = dict(form.expect_object(json, at))
    shaped = {key: found.pop(key) for key in _SHAPED_ELSEWHERE if key in found}
    try:
        attributes = _AGENT.read(found, at)
    except FormError as error:
        if error.unknown and error.path == (*at, error.unknown):
            error.legal = (*error.legal, *_SHAPED_ELSEWHERE)
        raise
    for key, value in shaped.items():
        if value == {}:
            raise FormError((*at, key), form.superfluous(value))
    lifecycle = _LIFECYCLE.read(shaped.get("lifecycle", {}), (*at, "lifecycle"))
    tools = form.expect_object(shaped.get("tools", {}), (*at, "tools"))
    delegates = form.expect_object(shaped.get("delegates", {}), (*at, "delegates"))
    return parts.Agent(
        name=name,
        **attributes,
        **lifecycle,
        tools={key: _read_tool(tools[key], (*at, "tools", key), key, extension) for key in sorted(tools)},
        delegates={
            key: _read_delegate(delegates[key], (*at, "delegates", key), key, description)
            for key in sorted(delegates)
        },
    )


def _write_tool(tool: parts.BoundTool, declared: parts.Tool) -> dict[str, Any]:
    json = _BOUND.write(tool)
    for key, its_form in _INHERITED.items():
        held = getattr(tool, key)
        if not _same(held, getattr(declared, key)):
            json[key] = its_form.write(held)
    return json


def _read_tool(
    json: Any, at: JsonPath, name: str, extension: Callable[[str], parts.Extension | None]
) -> parts.BoundTool:
    found = dict(form.expect_object(json, at))
    own = {
        key: its_form.read(found.pop(key), (*at, key)) for key, its_form in _INHERITED.items() if key in found
    }
    digested = "digest" in found
    if digested:
        form.expect_digest(found, at)
        del found["digest"]
    if digested != has_own_digest(json):
        raise FormError(
            at,
            "holds a digest and nothing that it covers" if digested else 'lacks the key "digest"',
        )
    try:
        attributes = _BOUND.read(found, at)
    except FormError as error:
        if error.unknown and error.path == (*at, error.unknown):
            error.legal = (*error.legal, *_INHERITED, "digest")
        raise
    owner = extension(attributes["extension"])
    declared = owner.tools.get(attributes["raw"]) if owner is not None else None
    if declared is None:
        reference = f"{attributes['extension']}/{attributes['raw']}"
        raise FormError(at, f'refers to the tool "{reference}", which the lock does not hold')
    inherited = {key: getattr(declared, key) for key in _INHERITED}
    for key, value in own.items():
        if _same(value, inherited[key]):
            raise FormError((*at, key), form.superfluous(value))
    return parts.BoundTool(name=name, **{**inherited, **own, **attributes})


def has_own_digest(tool: Mapping[str, Any]) -> bool:
    """Whether an agent's tool in JSON has contents of its own, and so a digest over them: every variant does."""
    return "chain" in tool or any(key in tool for key in OWN_KEYS)


def _read_delegate(
    json: Any, at: JsonPath, name: str, description: Callable[[str], str | None]
) -> parts.Delegate:
    attributes = _DELEGATE.read(json, at)
    words = description(name)
    if words is None:
        raise FormError(at, f'refers to the agent "{name}", which the lock does not hold')
    return parts.Delegate(agent=name, description=words, **attributes)


def _same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON; Python alone would take ``1`` for ``true``."""
    return one is other or (one == other and canonical_bytes(one) == canonical_bytes(other))


def agent_schema() -> dict[str, Any]:
    """JSON Schema of an agent's entry."""
    bound = _BOUND.schema
    own = {key: its_form.schema for key, its_form in _INHERITED.items()}
    tool = form.closed_object({**bound["properties"], **own, "digest": form.DIGEST_SCHEMA}, bound["required"])
    agent = _AGENT.schema
    return form.closed_object(
        {
            **agent["properties"],
            "delegates": {"type": "object", "additionalProperties": _DELEGATE.schema},
            "lifecycle": _LIFECYCLE.schema,
            "tools": {"type": "object", "additionalProperties": tool},
        },
        agent["required"],
    )
