"""The parts of a composition: fragments, tools, vetoes, hooks, and the agents and extensions that hold them.

Everything here is data that the lockfile holds (docs/lockfile.md §2); nothing is looked up, computed from the world or
changed in place. Schemas and configs are deep-frozen (:mod:`symc.contracts.frozen`). Maps are plain read-only
mappings sorted by key; a sequence is a tuple only where its order means something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from symc.contracts.frozen import FrozenDict, freeze

LOCK_VERSION = 1
"""The newest lock version this release writes; readers accept it and the one before (L30)."""

Json = Any
Effect = Literal["deny", "ask", "decide"]
_EMPTY: FrozenDict = FrozenDict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """One static prompt fragment of one owner.

    ``text`` is the source text; ``rendered`` is the default rendering of a template (with the owner's and the
    workspace's variables), None for plain text and for a template that has no default rendering.
    """

    fragment_id: str
    text: str
    layer: str = "l1"
    tier: str = "session"
    scope: str = "deployment"
    order: int = 100
    template: bool = False
    truncated: bool = False
    rendered: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for text that arrives with each run; the lock holds its limits, never its text."""

    fragment_id: str
    tier: str
    scope: str
    order: int
    max_chars: int
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """What a rule names: a tool pattern over raw identities, or one variant (``variant`` and ``chain``, P10)."""

    pattern: str = ""
    variant: str = ""
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One veto. ``effect`` says which kind; ``decide`` holds the code target of a ``decide`` policy.

    ``tools`` is None for a policy over effects; ``actions`` are the effects it guards, sorted (empty: every effect).
    ``timeout`` in seconds, for ``decide`` only.
    """

    policy_id: str
    effect: Effect
    actions: tuple[str, ...] = ()
    tools: tuple[Selector, ...] | None = None
    when: FrozenDict | bool | None = None
    reason: str = ""
    decide: str = ""
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One lifecycle hook; its order stands in the agent's ``lifecycle``."""

    hook_id: str
    phase: str
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as its extension declares it (``invoke``) or as its server said (``invoke`` empty)."""

    name: str
    description: str = ""
    title: str | None = None
    invoke: str = ""
    origin: str = ""
    input_schema: FrozenDict = _EMPTY
    output_schema: FrozenDict | None = None
    annotations: FrozenDict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExtension:
    """A registered factory that mints variants (docs/variants.md)."""

    name: str
    kind: str
    factory: str
    description: str | None = None
    reserved_params: FrozenDict = _EMPTY
    requires_body_locality: bool = False
    config_schema: FrozenDict | None = None
    input_schema: FrozenDict | None = None
    inherit_properties: bool = False
    output_schema: FrozenDict | None = None
    annotations: FrozenDict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How an MCP server is started or reached; secrets stay ``${env:NAME}`` references."""

    command: tuple[str, ...] = ()
    env: FrozenDict = _EMPTY
    url: str = ""
    headers: FrozenDict = _EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An extension as far as the lock holds it.

    ``tools`` are all it declares; of a pinned server, those that some agent selects (its other tools can reach nobody,
    so their texts are not part of what is reviewed).
    """

    name: str
    source: str
    version: str = ""
    description: str = ""
    requires: tuple[str, ...] = ()
    implementation: str = ""
    vars: FrozenDict = _EMPTY
    mcp: Server | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    fragments: Mapping[str, Fragment] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    hooks: Mapping[str, Hook] = field(default_factory=dict)
    tool_extensions: Mapping[str, ToolExtension] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """A document of the operator's that others inherit from: an agent used as a base, or the workspace manifest.

    Its fragments and policies stand once in the lock and are referred to as ``name/id``.
    """

    name: str
    source: str
    fragments: Mapping[str, Fragment] = field(default_factory=dict)
    slots: Mapping[str, Slot] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of a variant's chain."""

    extension: str
    name: str
    config: FrozenDict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTool:
    """One tool of an agent: the base or a variant, with everything resolved.

    ``name`` is the exposed name, ``extension`` and ``raw`` the identity, ``chain`` the layers innermost first.
    ``adaptations`` name the lossless changes made for the provider; ``overrides`` the fields that the agent's manifest
    set. ``guarded_by`` are ids ``owner/policy_id``, sorted.
    """

    name: str
    extension: str
    raw: str
    selected_by: str
    chain: tuple[Layer, ...] = ()
    exposed: bool = True
    description: str = ""
    input_schema: FrozenDict = _EMPTY
    output_schema: FrozenDict | None = None
    annotations: FrozenDict | None = None
    adaptations: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    guarded_by: tuple[str, ...] = ()

    @property
    def is_variant(self) -> bool:
        """True for a tool minted by a chain."""
        return bool(self.chain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegate:
    """An edge to another agent: exposed to the model as the tool ``tool`` (P23)."""

    agent: str
    tool: str
    description: str = ""
    may_exceed: tuple[str, ...] = ()


DELEGATE_INPUT: Final = freeze(
    {
        "type": "object",
        "properties": {
            "message": {
                "type": "string",
                "description": "All that the agent is told: it sees nothing else of this conversation.",
            }
        },
        "required": ["message"],
    }
)
"""The input schema of every delegate's tool (P23)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """Where a prompt cache may break, as fragment ids (docs/prompts.md §6); empty where there is no such place."""

    deployment: str = ""
    static: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The agent's effective limits; None is unlimited."""

    max_model_rounds: int = 10
    prompt_chars: int | None = None
    extension_prompt_chars: int | None = None
    tools: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent of the lock.

    ``prompt`` is the total order of its fragments as ``owner/fragment_id``; ``rendered`` holds, by the same ids, texts
    that a template renders differently here than by default. ``effects`` gives, for each granted effect, the policies
    that guard it without naming tools.
    """

    name: str
    source: str
    description: str = ""
    provider: str = "none"
    model: str = ""
    bases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    prefixes: FrozenDict = _EMPTY
    grants: tuple[str, ...] = ()
    limits: Limits = Limits()
    vars: FrozenDict = _EMPTY
    env: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    fragments: Mapping[str, Fragment] = field(default_factory=dict)
    slots: Mapping[str, Slot] = field(default_factory=dict)
    rendered: Mapping[str, str] = field(default_factory=dict)
    cache_plan: CachePlan = CachePlan()
    tools: Mapping[str, BoundTool] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    install: tuple[str, ...] = ()
    teardown: tuple[str, ...] = ()
    delegates: Mapping[str, Delegate] = field(default_factory=dict)
