"""The typed manifests: what ``workspace``, ``agent`` and ``extension`` documents hold once they are checked.

Field names are the YAML keys (docs/manifests.md §3–5); descriptions feed the published JSON Schemas. The models say
which keys exist and of which type; everything that needs a sentence of its own is said by the check stage.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

T = TypeVar("T")


def _given(value: Any, info: ValidationInfo) -> Any:
    if value is None and info.context is WRITTEN:
        raise PydanticCustomError("null", "a key without a value")
    return value


WRITTEN = "written"
"""The validation context of what people write: a key may be left out, but not be null (docs/manifests.md §4)."""

Maybe: TypeAlias = Annotated[T | None, BeforeValidator(_given)]
"""A value that may be absent, which is None in memory and never in a manifest."""


class Node(BaseModel):
    """A mapping of a manifest: frozen, no unknown keys, no conversions between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


# YAML gives lists; the models hold tuples. Only the container is lenient, never its items.
def _many(description: str) -> Any:
    return Field(default=(), strict=False, description=description)


Schema = dict[str, Any]
Vars = dict[str, str | int | float | bool | list[str | int | float | bool]]
Layer = Literal["l0", "l1", "l2"]
Tier = Literal["platform", "operating", "profile", "session"]
Scope = Literal["deployment", "tenant", "profile"]
Provider = Literal["anthropic", "openai", "gemini", "bedrock", "none"]
LintLevel = Literal["error", "warn", "info", "off"]


class Slot(Node):
    """The limits of a text that arrives with each run (docs/prompts.md §4)."""

    max_chars: int = Field(ge=1, description="Longest accepted text, in characters; longer text is refused.")
    required: bool = Field(default=False, description="Refuse a run that does not give this text.")


class Prompt(Node):
    """One prompt fragment; after the check stage ``text`` is filled unless the fragment is a slot."""

    fragment_id: str = Field(description="Id, unique within its owner.")
    text: Maybe[str] = Field(default=None, description="The text itself.")
    file: Maybe[str] = Field(default=None, description="A .md or .txt file, relative to this manifest.")
    layer: Layer = Field(default="l1", description="Lifetime of the bytes: l0 kernel, l1 fixed, l2 per turn.")
    tier: Tier = Field(default="session", description="Class of authority.")
    scope: Scope = Field(default="deployment", description="Who shares the same bytes.")
    order: int = Field(default=100, ge=0, le=9999, description="Tie-break; lower comes first.")
    template: bool = Field(default=False, description="Render the text with the declared variables.")
    truncated: bool = Field(default=False, description="The text was already cut before it came here.")
    slot: Maybe[Slot] = Field(default=None, description="Limits of the text given per run (layer l2).")


class VariantSelector(Node):
    """Names one variant, and what is stacked on it, in a rule (docs/policies.md P10)."""

    variant: str = Field(description="extension/tool, the raw identity of the base.")
    chain: tuple[str, ...] = Field(strict=False, description="Tool extensions, innermost first.")


class Rule(Node):
    """The body of a declarative ``deny`` or ``ask``."""

    tools: tuple[str | VariantSelector, ...] = _many("Tool patterns (extension/glob) that the rule stops.")
    when: Maybe[Schema | bool] = Field(
        default=None, description="JSON Schema over the arguments; absent: always."
    )
    reason: str = Field(default="", description="What the model and the reviewer read.")


class Policy(Node):
    """A veto: exactly one of ``deny``, ``ask``, ``decide``."""

    policy_id: str = Field(description="Id, unique within its owner.")
    deny: Maybe[Rule] = Field(default=None, description="Refuse what matches.")
    ask: Maybe[Rule] = Field(default=None, description="Ask a person before what matches.")
    decide: Maybe[str] = Field(default=None, description="module:qualname of an async function that decides.")
    actions: Maybe[tuple[str, ...]] = Field(
        default=None, strict=False, description="Effects that the policy guards."
    )
    timeout: Maybe[float | int] = Field(
        default=None, gt=0, description="Seconds `decide` may take; default 5."
    )


class Hook(Node):
    """Code that runs when a composition opens or unwinds."""

    hook_id: str = Field(description="Id, unique within its extension.")
    phase: Literal["install", "teardown"] = Field(description="When it runs.")
    run: str = Field(description="module:qualname of a function without arguments.")


class Tool(Node):
    """A tool an extension brings; for an MCP server the check stage fills these from its pin."""

    name: str = Field(description="Local name; for a pinned tool the raw name.")
    description: str = Field(default="", description="What the model reads.")
    invoke: Maybe[str] = Field(default=None, description="module:qualname of the async function.")
    input_schema: Schema = Field(default_factory=dict, description="JSON Schema of the arguments object.")
    output_schema: Maybe[Schema] = Field(default=None, description="JSON Schema of the answer.")
    annotations: Maybe[dict[str, Any]] = Field(default=None, description="MCP behaviour hints.")
    origin: str = Field(default="", description="Where the tool comes from, for people.")
    title: Maybe[str] = Field(default=None, exclude=True, description="A pinned tool's title.")


class ToolExtension(Node):
    """A factory that mints a new-named tool beside the one it extends (docs/variants.md)."""

    name: str = Field(description="The suffix of the minted name.")
    kind: Literal["wrapper", "transformer", "backend"] = Field(description="What the factory may change.")
    factory: str = Field(description="module:qualname of the factory.")
    description: Maybe[str] = Field(
        default=None, description="Description; {description} is the received one."
    )
    reserved_params: dict[str, Schema] = Field(default_factory=dict, description="Parameters a wrapper adds.")
    requires_body_locality: bool = Field(default=False, description="Must stand inside any backend.")
    config_schema: Maybe[Schema] = Field(default=None, description="JSON Schema of its `config`.")
    input_schema: Maybe[Schema] = Field(default=None, description="The schema it presents.")
    inherit_properties: bool = Field(default=False, description="Add the received properties (transformer).")
    output_schema: Maybe[Schema] = Field(default=None, description="The output schema it declares.")
    annotations: Maybe[dict[str, Any]] = Field(default=None, description="Behaviour hints it declares.")


class Server(Node):
    """An MCP server: ``command`` (stdio) or ``url`` (streamable HTTP)."""

    command: Maybe[tuple[str, ...]] = Field(default=None, strict=False, description="Program and arguments.")
    env: dict[str, str] = Field(default_factory=dict, description="Environment; use ${env:NAME} for secrets.")
    url: Maybe[str] = Field(default=None, description="Address of a streamable HTTP server.")
    headers: dict[str, str] = Field(default_factory=dict, description="HTTP headers; use ${env:NAME}.")


class Extension(Node):
    """An extension: code or a server that contributes tools, prompt fragments, policies and hooks."""

    kind: Literal["extension"] = Field(description="What this manifest is.")
    name: str = Field(description="Name, unique in the workspace.")
    version: Maybe[str] = Field(default=None, description="PEP 440 version; required unless `mcp`.")
    description: str = Field(default="", description="For people.")
    requires: tuple[str, ...] = _many("Requirements: a name, or a name and a PEP 440 specifier set.")
    implementation: Maybe[str] = Field(default=None, description="module:qualname of an ExtensionProvider.")
    vars: Vars = Field(default_factory=dict, description="Defaults of its own templates' variables.")
    mcp: Maybe[Server] = Field(default=None, description="The MCP server whose pinned tools it brings.")
    pin: Maybe[str] = Field(default=None, description="The pin file; default <file name>.pin.json.")
    tools: tuple[Tool, ...] = _many("Tools.")
    prompts: tuple[Prompt, ...] = _many("Prompt fragments.")
    policies: tuple[Policy, ...] = _many("Policies: vetoes only.")
    lifecycle: tuple[Hook, ...] = _many("Lifecycle hooks.")
    tool_extensions: tuple[ToolExtension, ...] = _many("Factories that mint variants.")


class Use(Node):
    """An extension with the prefix of its exposed names."""

    use: str = Field(description="Requirement.")
    prefix: Maybe[str] = Field(default=None, description="Exposed names become prefix_name.")


class ToolRow(Node):
    """One selected tool with the name or description it gets."""

    tool: str = Field(description="extension/tool.")
    as_: Maybe[str] = Field(default=None, alias="as", description="The final base name.")
    description: Maybe[str] = Field(default=None, description="What the model reads instead.")


class ChainElement(Node):
    """One layer of a chain; a bare name means ``config: {}``."""

    use: str = Field(description="Tool extension: a bare name, or extension/name.")
    config: Maybe[dict[str, Any]] = Field(default=None, description="Checked against its config_schema.")


class Chain(Node):
    """A chain of tool extensions, innermost first (docs/variants.md V1, V6).

    ``at`` is the key path of the chain's list of elements in the document, set when the chain is read.
    """

    chain: tuple[ChainElement, ...] = Field(strict=False, description="Innermost first.")
    expose: Literal["all", "leaf", "only"] = Field(
        default="all", description="Which prefixes the model sees."
    )
    as_: Maybe[str] = Field(default=None, alias="as", description="The leaf's name.")
    at: tuple[str | int, ...] = Field(default=(), exclude=True)


class Delegate(Node):
    """An agent that this one may call."""

    agent: str = Field(description="Name of the agent.")
    may_exceed: tuple[str, ...] = _many("Tool patterns or effects the child may have beyond this agent.")


class Limits(Node):
    """Numbers that only tighten."""

    max_model_rounds: Maybe[int] = Field(
        default=None, ge=1, description="Provider calls of one run; default 10."
    )
    prompt_chars: Maybe[int] = Field(default=None, ge=1, description="Characters of the whole static layout.")
    extension_prompt_chars: Maybe[int] = Field(
        default=None, ge=1, description="Characters of one extension's fragments."
    )
    tools: Maybe[int] = Field(default=None, ge=0, description="Number of exposed tools.")


class Agent(Node):
    """An agent: what it says, which tools it selects, and what it may do with them.

    The check stage writes out every shorthand: the items of ``extensions``, ``delegates`` and ``variants``.
    """

    kind: Literal["agent"] = Field(description="What this manifest is.")
    name: str = Field(description="Name, unique in the workspace.")
    description: str = Field(default="", description="For people, and for a parent that delegates.")
    abstract: bool = Field(default=False, description="A base: not composed itself.")
    provider: Maybe[Provider] = Field(default=None, description="Whose limits are checked.")
    model: Maybe[str] = Field(default=None, description="Model name handed to the provider.")
    instructions: Maybe[str] = Field(default=None, description="The agent's own text, verbatim.")
    extends: tuple[str, ...] = _many("Bases, left to right, then this document.")
    extensions: tuple[Use, ...] = _many("Extensions used.")
    tools: tuple[str | ToolRow, ...] = _many("Selected tools; absent or [] means none.")
    exclude: tuple[str, ...] = _many("Patterns that are never selected.")
    variants: dict[str, Annotated[tuple[Chain, ...], Field(strict=False)]] = Field(
        default_factory=dict, description="Chains by tool or pattern."
    )
    grants: tuple[str, ...] = _many("Effects allowed beyond the baseline.")
    prompts: tuple[Prompt, ...] = _many("Authored fragments and slots.")
    policies: tuple[Policy, ...] = _many("Policies.")
    vars: Vars = Field(default_factory=dict, description="Values of variables: name or extension.name.")
    delegates: tuple[Delegate, ...] = _many("Agents that this one may call.")
    limits: Limits = Field(default_factory=Limits, description="Limits; the lowest of all documents counts.")


class Workspace(Node):
    """The workspace: what every agent gets."""

    kind: Literal["workspace"] = Field(description="What this manifest is.")
    name: str = Field(default="workspace", description="Name, unique in the workspace.")
    lock_version: Maybe[int] = Field(
        default=None, description="Version of the lock to write; default newest."
    )
    extensions: tuple[Use, ...] = _many("Extensions used by every agent.")
    policies: tuple[Policy, ...] = _many("Policies of every agent.")
    prompts: tuple[Prompt, ...] = _many("Authored fragments of every agent.")
    vars: Vars = Field(default_factory=dict, description="Values of variables: name or extension.name.")
    provider: Maybe[Provider] = Field(default=None, description="Provider of agents that name none.")
    limits: Limits = Field(default_factory=Limits, description="Limits of every agent.")
    rules: dict[str, LintLevel] = Field(
        default_factory=dict, description="Levels of warnings and diff rules."
    )


Manifest = Annotated[Workspace | Agent | Extension, Field(discriminator="kind")]
"""Any manifest, told apart by ``kind``."""
