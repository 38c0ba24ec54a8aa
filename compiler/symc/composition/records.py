"""The records of the lock: which attribute of a part stands under which key, and in which form (docs/lockfile.md §2).

The table is the one place that says so: writing, reading and the published JSON Schema come from it. An agent's entry,
whose tools are written against their extensions', is in :mod:`symc.composition.entries`.
"""

from __future__ import annotations

from typing import Final

from symc.canonical import JsonPath
from symc.composition import parts
from symc.composition.form import (
    COUNT,
    FLAG,
    JSON,
    LINES,
    NUMBER,
    SEALED_TEXT,
    TABLE,
    WORD,
    WORDS,
    Form,
    FormError,
    Json,
    Key,
    Record,
    called,
    closed_object,
    expect,
    expect_keys,
    one_of,
    parts_by_id,
    verbatim,
)
from symc.contracts.frozen import FrozenDict

EMPTY: Final = FrozenDict()


def _write_selectors(selectors: tuple[parts.Selector, ...]) -> list[Json]:
    return [{"chain": one.chain, "variant": one.variant} if one.variant else one.pattern for one in selectors]


def _read_selectors(json: Json, at: JsonPath) -> tuple[parts.Selector, ...]:
    return tuple(
        _read_selector(one, (*at, index)) for index, one in enumerate(expect(list, "an array", json, at))
    )


def _read_selector(json: Json, at: JsonPath) -> parts.Selector:
    if type(json) is str:
        return parts.Selector(pattern=json)
    if type(json) is not dict:
        raise FormError(at, f"is {called(json)}; a tool pattern or a variant belongs there")
    expect_keys(json, at, required=("chain", "variant"))
    return parts.Selector(
        variant=WORD.read(json["variant"], (*at, "variant")),
        chain=WORDS.read(json["chain"], (*at, "chain")),
    )


_VARIANT = closed_object({"chain": WORDS.schema, "variant": WORD.schema}, ("chain", "variant"))
_SELECTORS: Final = Form(
    _write_selectors,
    _read_selectors,
    {"type": "array", "items": {"anyOf": [{"type": "string"}, _VARIANT]}},
)
_LAYER: Final = one_of("l0", "l1", "l2")
_TIER: Final = one_of("platform", "operating", "profile", "session")
_SCOPE: Final = one_of("deployment", "tenant", "profile")

FRAGMENT: Final = Record(
    parts.Fragment,
    (
        Key("layer", _LAYER, note="Lifetime of the bytes."),
        Key("order", COUNT, note="Tie-break; lower comes first."),
        Key("rendered", SEALED_TEXT, None, note="A template's text with the default variables."),
        Key("scope", _SCOPE, note="Who shares the same bytes."),
        Key("template", FLAG, False, note="The text is a template."),
        Key("text", LINES, note="The text as written."),
        Key("tier", _TIER, note="Class of authority."),
        Key("truncated", FLAG, False, note="The text was already cut before it came here."),
    ),
)
SLOT: Final = Record(
    parts.Slot,
    (
        Key("max_chars", COUNT, note="Longest accepted text, in characters."),
        Key("order", COUNT, note="Tie-break; lower comes first."),
        Key("required", FLAG, False, note="A run without this text is refused."),
        Key("scope", _SCOPE, note="Who shares the same bytes."),
        Key("tier", _TIER, note="Class of authority."),
    ),
)
POLICY: Final = Record(
    parts.Policy,
    (
        Key("actions", WORDS, (), note="Effects that it guards; absent: every effect."),
        Key("decide", WORD, "", note="module:qualname of the function that decides."),
        Key("effect", one_of("deny", "ask", "decide"), note="What it does."),
        Key("reason", LINES, "", note="What the model and the reviewer read."),
        Key("timeout", NUMBER, None, note="Seconds `decide` may take."),
        Key("tools", _SELECTORS, None, note="Tools that it names; absent: it guards effects."),
        Key("when", verbatim(bool), None, note="JSON Schema over the arguments; absent: always."),
    ),
)
HOOK: Final = Record(
    parts.Hook,
    (
        Key("phase", one_of("install", "teardown"), note="When it runs."),
        Key("run", WORD, note="module:qualname of the function."),
    ),
)
TOOL: Final = Record(
    parts.Tool,
    (
        Key("annotations", JSON, None, note="Behaviour hints."),
        Key("description", LINES, "", note="What the model reads."),
        Key("input_schema", JSON, EMPTY, note="JSON Schema of the arguments object."),
        Key("invoke", WORD, "", note="module:qualname of the function; absent: the server's tool."),
        Key("origin", WORD, "", note="Where it comes from, for people."),
        Key("output_schema", JSON, None, note="JSON Schema of the answer."),
        Key("title", WORD, None, note="The server's title for it."),
    ),
)
TOOL_EXTENSION: Final = Record(
    parts.ToolExtension,
    (
        Key("annotations", JSON, None, note="Behaviour hints it declares."),
        Key("config_schema", JSON, None, note="JSON Schema of its config."),
        Key("description", LINES, None, note="Description; {description} is the received one."),
        Key("factory", WORD, note="module:qualname of the factory."),
        Key("inherit_properties", FLAG, False, note="It adds the received properties."),
        Key("input_schema", JSON, None, note="The schema it presents."),
        Key(
            "kind",
            one_of("wrapper", "transformer", "backend"),
            note="What it may change.",
        ),
        Key("output_schema", JSON, None, note="The output schema it declares."),
        Key("requires_body_locality", FLAG, False, note="It stands inside any backend."),
        Key("reserved_params", JSON, EMPTY, note="Parameters it adds."),
    ),
)
SERVER: Final = Record(
    parts.Server,
    (
        Key("command", WORDS, (), note="Program and arguments."),
        Key("env", TABLE, EMPTY, note="Environment; secrets are ${env:NAME}."),
        Key("headers", TABLE, EMPTY, note="HTTP headers; secrets are ${env:NAME}."),
        Key("url", WORD, "", note="Address of a streamable HTTP server."),
    ),
    sealed=False,
)
LAYER: Final = Record(
    parts.Layer,
    (
        Key("config", JSON, None, note="Its config; absent: it takes none."),
        Key("extension", WORD, note="The extension that brings it."),
        Key("name", WORD, note="Its name there."),
    ),
    sealed=False,
)
LIMITS: Final = Record(
    parts.Limits,
    (
        Key("extension_prompt_chars", COUNT, None, note="Characters of one extension's fragments."),
        Key("max_model_rounds", COUNT, note="Provider calls of one run."),
        Key("prompt_chars", COUNT, None, note="Characters of the whole static layout."),
        Key("tools", COUNT, None, note="Number of exposed tools."),
    ),
    sealed=False,
)
CACHE_PLAN: Final = Record(
    parts.CachePlan,
    (
        Key("deployment", WORD, "", note="Last fragment of the longest prefix that all share."),
        Key("static", WORD, "", note="Last fragment that is fixed while the lock is."),
    ),
    sealed=False,
)

FRAGMENTS: Final = Key("fragments", parts_by_id(FRAGMENT, "fragment_id"), {}, note="Prompt fragments by id.")
SLOTS: Final = Key(
    "slots", parts_by_id(SLOT, "fragment_id"), {}, note="Places for text that arrives with each run."
)
POLICIES: Final = Key("policies", parts_by_id(POLICY, "policy_id"), {}, note="Vetoes by id.")
FROM: Final = Key("from", WORD, attribute="source", note="The manifest, relative to the workspace folder.")

EXTENSION: Final = Record(
    parts.Extension,
    (
        Key("description", LINES, "", note="For people."),
        FRAGMENTS,
        FROM,
        Key("implementation", WORD, "", note="module:qualname of an ExtensionProvider."),
        Key("lifecycle", parts_by_id(HOOK, "hook_id"), {}, "hooks", note="Hooks by id."),
        Key("mcp", SERVER.form, None, note="The server whose pinned tools it brings."),
        POLICIES,
        Key("requires", WORDS, (), note="Requirements as written."),
        Key("tool_extensions", parts_by_id(TOOL_EXTENSION, "name"), {}, note="Factories that mint variants."),
        Key("tools", parts_by_id(TOOL, "name"), {}, note="Tools by raw name."),
        Key("vars", JSON, EMPTY, note="Defaults of its templates' variables."),
        Key("version", WORD, "", note="Its version."),
    ),
)
AUTHOR: Final = Record(parts.Author, (FRAGMENTS, FROM, POLICIES, SLOTS))
WORKSPACE: Final = Record(
    parts.Author, (FRAGMENTS, FROM, Key("name", WORD, note="Owner of its parts."), POLICIES, SLOTS)
)
