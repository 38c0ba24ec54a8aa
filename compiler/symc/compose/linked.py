"""The linked workspace: every agent after ``extends``, every item with the place that wrote it (docs/manifests.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from symc.diagnostics import Diagnostic, Span
from symc.manifest import model
from symc.manifest.checked import Checked, Manifests
from symc.manifest.model import Delegate, Limits

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

    @property
    def id(self) -> str:
        """The joined id ``owner/fragment_id``, an opaque key."""
        return f"{self.owner}/{self.prompt.fragment_id}"


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

    ``closure`` holds the names of all its extensions in composed order: each after all it requires, then by name (X-20);
    the built-in ``std`` is not among them. ``policies`` are those of workspace, bases and agent, then of the closure's
    extensions. ``registrations`` maps each name a chain may use (bare where unambiguous, and ``extension/name``) to its
    registration. A delegate named by several documents stands once for each: what it may exceed is their union.
    ``poisoned`` holds the names this agent refers to, directly or through others, that were refused or do not exist:
    that is reported already, and what is missing because of it is not. ``lacks_base`` and ``lacks_workspace`` tell that
    a document it stands on is among them: what that one would have replaced, excluded, prefixed or declared is not known.
    """

    manifest: Checked[model.Agent]
    workspace: Checked[model.Workspace] | None = None
    bases: tuple[Checked[model.Agent], ...] = ()
    provider: str = "none"
    model: str = ""
    limits: Limits = field(default_factory=Limits)
    uses: Mapping[str, UsedExtension] = field(default_factory=dict)
    closure: tuple[str, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    exclude: tuple[tuple[str, Place], ...] = ()
    variants: tuple[VariantRow, ...] = ()
    grants: tuple[tuple[str, Place], ...] = ()
    prompts: tuple[OwnedPrompt, ...] = ()
    policies: tuple[OwnedPolicy, ...] = ()
    vars: Mapping[str, tuple[Any, Place]] = field(default_factory=dict)
    delegates: tuple[tuple[Delegate, Place], ...] = ()
    registrations: Mapping[str, Registration] = field(default_factory=dict)
    poisoned: frozenset[str] = frozenset()
    lacks_base: bool = False
    lacks_workspace: bool = False

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.manifest.name

    @property
    def abstract(self) -> bool:
        """True for a base that is not composed itself."""
        return self.manifest.body.abstract

    @property
    def is_partial(self) -> bool:
        """Whether a document that it stands on is not known."""
        return self.lacks_base or self.lacks_workspace

    @property
    def documents(self) -> tuple[Checked[Any], ...]:
        """The agent documents it stands on, each after those it extends; its own is the last."""
        return (*self.bases, self.manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The linked workspace: every agent (abstract ones too), sorted by name.

    ``extensions`` are all of the workspace, and ``std``; ``prompts`` are the fragments of each that brings some.
    """

    manifests: Manifests
    agents: Mapping[str, LinkedAgent]
    extensions: Mapping[str, Checked[model.Extension]]
    prompts: Mapping[str, tuple[OwnedPrompt, ...]] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
