"""Pairs about behaviour, interface and what is neutral; none of them changes authority (docs/diff.md §2)."""

from __future__ import annotations

from typing import Any

from tests.diff.authority_pairs import N, desk, ruled
from tests.diff.pairs import Pair, server
from tests.policies.workspaces import Document, agent, deny, extension, workspace


def same(
    name: str, old: tuple[Document, ...], new: tuple[Document, ...], *changes: str, remote: int = 0
) -> Pair:
    return Pair(name=name, old=old, new=new, verdict="SAME AUTHORITY", changes=changes, remote=remote)


def fragment(name: str, text: str = "Be brief.", **more: Any) -> Document:
    return {"fragment_id": name, "text": text, **more}


def writer(*prompts: Document, **more: Any) -> Document:
    return agent("desk", [], prompts=list(prompts), **more)


def crm(*prompts: Document, **more: Any) -> Document:
    return {"kind": "extension", "name": "crm", "version": "1.0", "prompts": list(prompts), **more}


USER = agent("desk", [], extensions=["crm"])
A, B, C = (fragment(name, f"About {name}.") for name in "abc")
SLOT = {"fragment_id": "who", "layer": "l2", "tier": "profile", "scope": "profile"}
TONE = fragment("tone", "Be {{ tone }}.", template=True)

PROMPTS = (
    same("a fragment is added", (writer(A),), (writer(A, B),), "fragment-added desk/b"),
    same("a fragment is removed", (writer(A, B),), (writer(A),), "fragment-removed desk/b"),
    same(
        "instructions are given",
        (writer(),),
        (writer(instructions="Be kind."),),
        "fragment-added desk/instructions",
    ),
    same(
        "a text is edited",
        (writer(fragment("a", "Be kind.\nBe brief.")),),
        (writer(fragment("a", "Be kind.\nBe quick.")),),
        "fragment-text-changed desk/a",
    ),
    same(
        "an extension's text is edited",
        (crm(fragment("e")), USER),
        (crm(fragment("e", "Be long.")), USER),
        "fragment-text-changed crm/e",
    ),
    same(
        "white space is edited",
        (writer(fragment("a", "Be kind.")),),
        (writer(fragment("a", "Be  kind.\n")),),
        "whitespace-only desk/a",
    ),
    same(
        "a fragment moves behind two",
        (writer(A, B, C),),
        (writer(A | {"order": 900}, B, C),),
        "fragment-moved desk/a",
    ),
    same(
        "a fragment gets another id",
        (writer(A),),
        (writer(A | {"fragment_id": "z"}),),
        "fragment-moved desk/z",
    ),
    same(
        "a fragment moves into a base",
        (writer(A), agent("base", [], abstract=True)),
        (writer(extends=["base"]), agent("base", [], abstract=True, prompts=[A])),
        "fragment-moved base/a",
        "provenance-only desk",
        "provenance-only base",
    ),
    same(
        "an order without effect",
        (writer(A, B),),
        (writer(A, B | {"order": 120}),),
        "placement-without-effect desk/b",
    ),
    same(
        "learned text becomes authored",
        (writer(A),),
        (writer(A | {"tier": "operating"}),),
        "trust-boundary-crossed desk/a",
        "cache-prefix-broken desk/a",
    ),
    same(
        "a text is shared by fewer",
        (writer(A),),
        (writer(A | {"scope": "tenant"}),),
        "trust-boundary-crossed desk/a",
    ),
    same(
        "a text is cut",
        (crm(fragment("e")), USER),
        (crm(fragment("e", truncated=True)), USER),
        "truncated-set crm/e",
    ),
    same(
        "a text is whole again",
        (crm(fragment("e", truncated=True)), USER),
        (crm(fragment("e")), USER),
        "placement-without-effect crm/e",
    ),
    same(
        "a variable has another value",
        (crm(TONE, vars={"tone": "kind"}), USER),
        (crm(TONE, vars={"tone": "cold"}), USER),
        "variables-changed crm/tone",
        "version-without-effect crm",
    ),
    same(
        "one agent gives a variable another value",
        (crm(TONE, vars={"tone": "kind"}), USER),
        (crm(TONE, vars={"tone": "kind"}), USER | {"vars": {"crm.tone": "cold"}}),
        "variables-changed crm/tone",
    ),
    same(
        "a text becomes a template",
        (writer(A),),
        (writer(A | {"template": True}),),
        "fragment-text-changed desk/a",
    ),
    same(
        "the cached prefix breaks at the second fragment",
        (writer(A, B),),
        (writer(A, B | {"text": "Other."}),),
        "fragment-text-changed desk/b",
        "cache-prefix-broken desk/b",
    ),
    same(
        "a slot is added",
        (writer(),),
        (writer(SLOT | {"slot": {"max_chars": 90}}),),
        "fragment-added desk/who",
    ),
    same(
        "a slot takes less",
        (writer(SLOT | {"slot": {"max_chars": 90}}),),
        (writer(SLOT | {"slot": {"max_chars": 50, "required": True}}),),
        "slot-changed desk/who",
    ),
)

MODELS = (
    same("another model", (writer(model="small"),), (writer(model="large"),), "model-changed desk"),
    same(
        "another provider",
        (writer(provider="openai"),),
        (writer(provider="anthropic"),),
        "model-changed desk",
    ),
)


def tool(**fields: Any) -> Document:
    row = {
        "name": "read",
        "description": "Read.",
        "invoke": "acme.os:read",
        "input_schema": {"type": "object"},
    }
    return {"kind": "extension", "name": "os", "version": "1.0", "tools": [row | fields]}


def taking(*required: str, **properties: Any) -> Document:
    schema: Document = {"type": "object", "properties": properties}
    return tool(input_schema=schema | ({"required": list(required)} if required else {}))


def remote(**fields: Any) -> Document:
    return server("files", {"read": fields})


READER = desk("os/read")
STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def params(name: str, old: Document, new: Document, *, breaks: bool) -> Pair:
    kind = "incompatible" if breaks else "compatible"
    return same(f"parameters: {name}", (old, READER), (new, READER), f"tool-parameters-{kind} os/read")


TOOLS = (
    same(
        "a description is edited",
        (tool(), READER),
        (tool(description="Read it."), READER),
        "tool-description-changed os/read",
    ),
    same(
        "a remote description is edited",
        (remote(), desk("files/read")),
        (remote(description="Always call this first."), desk("files/read")),
        "tool-description-changed files/read",
        remote=1,
    ),
    same(
        "a remote title and hint are edited",
        (remote(), desk("files/read")),
        (remote(title="Read", annotations={"readOnlyHint": True}), desk("files/read")),
        "tool-description-changed files/read",
        remote=1,
    ),
    same(
        "a text inside a remote schema is edited",
        (
            remote(inputSchema={"type": "object", "properties": {"p": {"description": "A path."}}}),
            desk("files/read"),
        ),
        (
            remote(inputSchema={"type": "object", "properties": {"p": {"description": "The token."}}}),
            desk("files/read"),
        ),
        "tool-description-changed files/read",
        remote=1,
    ),
    same(
        "a remote schema changes",
        (remote(inputSchema={"type": "object", "properties": {"p": STRING}}), desk("files/read")),
        (remote(inputSchema={"type": "object", "properties": {"p": INTEGER}}), desk("files/read")),
        "tool-parameters-incompatible files/read",
        remote=1,
    ),
    same(
        "an agent describes a tool itself",
        (tool(), READER),
        (tool(), desk({"tool": "os/read", "description": "Read one."})),
        "tool-description-changed desk: os/read",
    ),
    same(
        "a variant's description follows its base",
        (tool(), desk("os/read", variants={"os/read": ["cache"]})),
        (tool(description="Read it."), desk("os/read", variants={"os/read": ["cache"]})),
        "tool-description-changed os/read",
    ),
    same(
        "a delegate is described otherwise",
        (agent("child", [], description="Finds."), agent("lead", [], delegates=["child"])),
        (agent("child", [], description="Searches."), agent("lead", [], delegates=["child"])),
        "tool-description-changed ask_child",
        "version-without-effect child",
    ),
    same(
        "a reason is reworded",
        (
            tool(),
            ruled(
                deny("d", "os/read") | {"deny": {"tools": ["os/read"], "reason": "No."}}, tools=("os/read",)
            ),
        ),
        (
            tool(),
            ruled({"policy_id": "d", "deny": {"tools": ["os/read"], "reason": "Never."}}, tools=("os/read",)),
        ),
        "reason-changed desk/d",
    ),
    params("new and optional", taking(a=STRING), taking(a=STRING, b=STRING), breaks=False),
    params("new and required", taking(a=STRING), taking("b", a=STRING, b=STRING), breaks=True),
    params("removed", taking(a=STRING, b=STRING), taking(a=STRING), breaks=True),
    params("now required", taking(a=STRING), taking("a", a=STRING), breaks=True),
    params("no longer required", taking("a", a=STRING), taking(a=STRING), breaks=False),
    params("another type", taking(a=STRING), taking(a=INTEGER), breaks=True),
    params("a narrower type", taking(a=NUMBER), taking(a=INTEGER), breaks=True),
    params("a wider type", taking(a=INTEGER), taking(a=NUMBER), breaks=False),
    params("one more type", taking(a=STRING), taking(a={"type": ["string", "null"]}), breaks=False),
    params("fewer values", taking(a={"enum": ["x", "y"]}), taking(a={"enum": ["x"]}), breaks=True),
    params("more values", taking(a={"enum": ["x"]}), taking(a={"enum": ["x", "y"]}), breaks=False),
    params(
        "a lower maximum", taking(a=INTEGER | {"maximum": 9}), taking(a=INTEGER | {"maximum": 5}), breaks=True
    ),
    params(
        "a lower minimum",
        taking(a=INTEGER | {"minimum": 9}),
        taking(a=INTEGER | {"minimum": 5}),
        breaks=False,
    ),
    params("a new pattern", taking(a=STRING), taking(a=STRING | {"pattern": "^x"}), breaks=True),
    params("a pattern less", taking(a=STRING | {"pattern": "^x"}), taking(a=STRING), breaks=False),
    params(
        "other items",
        taking(a={"type": "array", "items": STRING}),
        taking(a={"type": "array", "items": INTEGER}),
        breaks=True,
    ),
    params(
        "closed", tool(), tool(input_schema={"type": "object", "additionalProperties": False}), breaks=True
    ),
    params(
        "deeper",
        taking(a={"type": "object", "properties": {"b": STRING}}),
        taking(a={"type": "object", "properties": {"b": STRING, "c": STRING}}),
        breaks=False,
    ),
    same(
        "an answer is promised",
        (tool(), READER),
        (tool(output_schema={"type": "object"}), READER),
        "output-schema-changed os/read",
    ),
    same(
        "another answer",
        (tool(output_schema={"type": "object", "properties": {"a": STRING}}), READER),
        (tool(output_schema={"type": "object", "properties": {"a": INTEGER}}), READER),
        "output-schema-changed os/read",
    ),
)

_OPEN, _WARM = (
    {"hook_id": name, "phase": "install", "run": f"acme.pool:{name}"} for name in ("open", "warm")
)


def hooked(*hooks: Document) -> Document:
    return extension("os", {"read": N}, lifecycle=list(hooks))


_BASE = {"type": "object", "properties": {"a": STRING}}
_MEMO = {"name": "memo", "kind": "wrapper", "factory": "acme.wrap:memo", "reserved_params": {"ttl": NUMBER}}
_BULK = {
    "name": "bulk",
    "kind": "transformer",
    "factory": "acme.wrap:bulk",
    "input_schema": {"type": "object", "properties": {"items": {"type": "array", "items": STRING}}},
    "output_schema": {"type": "object", "properties": {"n": INTEGER}},
}


def layered(layer: Document, **fields: Any) -> tuple[Document, Document]:
    """A tool under one layer, and the agent that has both."""
    made = tool(**{"input_schema": _BASE} | fields) | {"tool_extensions": [layer]}
    return made, desk("os/read", variants={"os/read": [layer["name"]]})


LAYERS = (
    same(
        "a layer reserves another parameter",
        layered(_MEMO),
        layered(_MEMO | {"reserved_params": {"exp": NUMBER}}),
        "tool-parameters-incompatible desk: os/read + memo",
        "version-without-effect os/memo",
    ),
    same(
        "a layer reserves one more parameter",
        layered(_MEMO),
        layered(_MEMO | {"reserved_params": {"ttl": NUMBER, "exp": NUMBER}}),
        "tool-parameters-compatible desk: os/read + memo",
        "version-without-effect os/memo",
    ),
    same(
        "a variant's parameters follow its base",
        layered(_MEMO),
        layered(_MEMO, input_schema={"type": "object", "properties": {"a": STRING, "b": STRING}}),
        "tool-parameters-compatible os/read",
    ),
    same(
        "a layer is described otherwise",
        layered(_MEMO | {"description": "{description} Kept."}),
        layered(_MEMO | {"description": "{description} Kept for long."}),
        "tool-description-changed os/memo",
        "tool-description-changed desk: os/read + memo",
    ),
    same(
        "a layer promises another answer",
        layered(_BULK),
        layered(_BULK | {"output_schema": {"type": "object", "properties": {"n": STRING}}}),
        "output-schema-changed desk: os/read + bulk",
        "version-without-effect os/bulk",
    ),
    same(
        "a layer takes another config",
        layered(_MEMO | {"config_schema": {"type": "object"}}),
        layered(_MEMO | {"config_schema": {"type": "object", "properties": {"size": INTEGER}}}),
        "version-without-effect os/memo",
    ),
    same(
        "a layer gives hints",
        layered(_BULK),
        layered(_BULK | {"annotations": {"readOnlyHint": True}}),
        "tool-description-changed desk: os/read + bulk",
        "version-without-effect os/bulk",
    ),
    same(
        "a variant's hints follow its base",
        layered(_MEMO),
        layered(_MEMO, annotations={"readOnlyHint": True}),
        "tool-description-changed os/read",
    ),
    same(
        "a default inside a schema",
        (taking(a=STRING), READER),
        (taking(a=STRING | {"default": "x"}), READER),
        "tool-description-changed os/read",
    ),
    same(
        "where a tool comes from",
        (tool(origin="here"), READER),
        (tool(origin="there"), READER),
        "version-without-effect os/read",
    ),
    same(
        "a tool behind the same name",
        (
            tool(),
            extension("web", {"read": N}),
            desk({"tool": "os/read", "as": "look"}),
            agent("b", ["web/read"]),
        ),
        (
            tool(),
            extension("web", {"read": N}),
            desk({"tool": "os/read", "as": "view"}),
            agent("b", ["web/read"]),
        ),
        "tool-renamed os/read",
    ),
)

NEUTRAL = (
    same("nothing", (tool(), READER), (tool(), READER)),
    same(
        "keys change places",
        (tool(), READER),
        (dict(reversed(tool().items())), dict(reversed(READER.items()))),
    ),
    same(
        "a manifest moves",
        (tool(), READER),
        (tool() | {"_path": "deep/os.yaml"}, READER),
        "provenance-only os",
    ),
    same("free keys", (tool(), READER), (tool() | {"x-owner": "desk"}, READER)),
    same("a version", (tool(), READER), (tool() | {"version": "1.1"}, READER), "version-without-effect os"),
    same(
        "a description for people",
        (tool(), READER),
        (tool() | {"description": "Files."}, READER),
        "version-without-effect os",
    ),
    same(
        "an agent nobody calls is described",
        (tool(), READER),
        (tool(), READER | {"description": "Files."}),
        "version-without-effect desk",
    ),
    same(
        "a requirement without effect",
        (tool(), extension("web", {}), READER),
        (tool() | {"requires": ["web"]}, extension("web", {}), READER),
        "version-without-effect os",
    ),
    same(
        "hooks change places",
        (hooked(_OPEN, _WARM), READER),
        (hooked(_WARM, _OPEN), READER),
        "hooks-reordered desk install",
    ),
    same(
        "an extension without anything",
        (tool(), READER),
        (tool(), extension("web", {}), desk("os/read", extensions=["os", "web"])),
        "provenance-only desk",
        "provenance-only web",
    ),
    same("a workspace without anything", (tool(), READER), (tool(), READER, workspace())),
    same(
        "an unused tool extension",
        (tool(), READER),
        (
            tool() | {"tool_extensions": [{"name": "memo", "kind": "wrapper", "factory": "acme.wrap:memo"}]},
            READER,
        ),
        "unreached-changed os/memo",
    ),
)

PAIRS = (*PROMPTS, *MODELS, *TOOLS, *LAYERS, *NEUTRAL)
