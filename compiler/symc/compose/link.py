"""Link: manifests → the graph of references, and each agent as it stands after ``extends``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from symc.diagnostics import Diagnostic, Span
from symc.manifest import model
from symc.manifest.checked import Checked, Manifests

OwnerClass = Literal["workspace", "base", "agent", "extension"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item was written: its manifest and its key path there. The owner is the manifest's name."""

    manifest: Checked[Any]
    path: tuple[str | int, ...]

    @property
    def owner(self) -> str:
        """Name of the document that wrote the item."""
        return self.manifest.name

    def span(self, *more: str | int) -> Span:
        """The item's place (or that of a part of it) in its file."""
        return self.manifest.span(*self.path, *more)


@dataclass(frozen=True, slots=True)
class UsedExtension:
    """An extension an agent names itself (or gets from a base or the workspace), with its prefix."""

    name: str
    prefix: str
    place: Place


@dataclass(frozen=True, slots=True)
class OwnedPrompt:
    """A fragment or slot with its owner; ``instructions`` of an agent are one, too."""

    owner: str
    owner_class: OwnerClass
    prompt: model.Prompt
    place: Place


@dataclass(frozen=True, slots=True)
class OwnedPolicy:
    """A policy with its owner; ``id`` is ``owner/policy_id``."""

    owner: str
    owner_class: OwnerClass
    policy: model.Policy
    place: Place

    @property
    def id(self) -> str:
        """The joined id, an opaque key."""
        return f"{self.owner}/{self.policy.policy_id}"


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One row of ``tools``: ``pattern`` selects, ``alias`` and ``description`` are an object row's."""

    pattern: str
    is_object: bool
    alias: str
    description: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Registration:
    """A tool extension with the extension that brings it."""

    extension: str
    tool_extension: model.ToolExtension
    place: Place


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One key of ``variants`` after ``extends``, with its chains."""

    key: str
    chains: tuple[model.Chain, ...]
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedAgent:
    """An agent after ``extends``: every item still knows the document that wrote it.

    ``closure`` holds the names of all its extensions in composed order: each after all it requires, then by name (X-20).
    ``policies`` are those of workspace, bases and agent, then of the closure's extensions.
    ``registrations`` maps each name a chain may use (bare where unambiguous, and ``extension/name``) to its registration.
    """

    manifest: Checked[model.Agent]
    bases: tuple[Checked[model.Agent], ...] = ()
    provider: str = "none"
    model: str = ""
    limits: model.Limits = model.Limits()
    uses: Mapping[str, UsedExtension] = field(default_factory=dict)
    closure: tuple[str, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    exclude: tuple[tuple[str, Place], ...] = ()
    variants: tuple[VariantRow, ...] = ()
    grants: tuple[tuple[str, Place], ...] = ()
    prompts: tuple[OwnedPrompt, ...] = ()
    policies: tuple[OwnedPolicy, ...] = ()
    vars: Mapping[str, tuple[Any, Place]] = field(default_factory=dict)
    delegates: tuple[tuple[model.Delegate, Place], ...] = ()
    registrations: Mapping[str, Registration] = field(default_factory=dict)
    poisoned: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.manifest.name

    @property
    def abstract(self) -> bool:
        """True for a base that is not composed itself."""
        return self.manifest.body.abstract


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The linked workspace: every agent that could be linked (abstract ones too), sorted by name."""

    manifests: Manifests
    agents: Mapping[str, LinkedAgent]
    extensions: Mapping[str, Checked[model.Extension]]
    diagnostics: tuple[Diagnostic, ...] = ()
