"""Typesetting: each fragment's text as an agent sees it, templates rendered with the values that hold there.

What an agent changes nothing about is set once for the whole workspace; most agents change nothing about most extensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symc.compose.inheritance import owned_prompts
from symc.compose.link import LinkedAgent, Links, OwnedPrompt
from symc.compose.templates import Rendering, Templates
from symc.compose.variable import Fault, Setting, settings, values_of
from symc.contracts.vocabulary import LAYERS, SCOPES, TIERS, is_learned
from symc.diagnostics import Diagnostic

Rank = tuple[int, bool, int, int, int, int, str, str]
"""A fragment's place in the total order of docs/prompts.md §2."""

_LAYER = {layer: number for number, layer in enumerate(LAYERS)}
_SCOPE = {scope: number for number, scope in enumerate(SCOPES)}
_TIER = {tier: number for number, tier in enumerate(TIERS)}
_OWNER_CLASS = {"workspace": 0, "base": 1, "agent": 2, "extension": 3}


def rank(owned: OwnedPrompt) -> Rank:
    """Where a fragment stands: unique, because owner and fragment id are."""
    prompt = owned.prompt
    return (
        _LAYER[prompt.layer],
        is_learned(prompt.tier),  # authored text before learned text
        _SCOPE[prompt.scope],  # wider-shared bytes before narrower ones
        _TIER[prompt.tier],
        prompt.order,
        _OWNER_CLASS[owned.owner_class],
        owned.owner,  # code points, which is the order of the UTF-8 bytes
        prompt.fragment_id,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFragment:
    """One fragment in its place, with its text as this agent sees it (a slot has none)."""

    source: OwnedPrompt
    text: str
    rank: Rank = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rank", rank(self.source))

    @property
    def id(self) -> str:
        """``owner/fragment_id``."""
        return self.source.id

    @property
    def is_slot(self) -> bool:
        """Whether the text arrives with each run."""
        return self.source.prompt.slot is not None


@dataclass(frozen=True, slots=True)
class SetFragments:
    """Fragments with their texts, not in order yet, and what was wrong with their templates.

    ``vars`` are the values they got from workspace, bases or agent, by name or ``extension.name``.
    """

    fragments: tuple[PlacedFragment, ...] = ()
    vars: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


class Typesetter:
    """Sets the fragments of one workspace; what it remembers only saves time."""

    __slots__ = ("_defaults", "_links", "_mentioned", "templates")

    def __init__(self, links: Links) -> None:
        self.templates = Templates()
        self._links = links
        self._defaults: dict[str, SetFragments] = {}
        self._mentioned: dict[str, frozenset[str]] = {}

    def fragments(self, agent: LinkedAgent) -> SetFragments:
        """Every fragment of the agent: its own, its bases', the workspace's, its extensions'."""
        given = settings(agent)
        parts = [self._set(agent.prompts, "", values_of("", {}, given), given)]
        for extension in agent.closure:
            if extension not in self._links.prompts:
                continue
            relevant = given and tuple(
                setting
                for setting in given
                if setting.extension in ("", extension) and setting.name in self.mentioned(extension)
            )
            parts.append(self._extension(extension, relevant))
        return SetFragments(
            tuple(fragment for part in parts for fragment in part.fragments),
            {key: value for part in parts if part.vars for key, value in part.vars.items()},
            tuple(diagnostic for part in parts for diagnostic in part.diagnostics),
        )

    def mentioned(self, extension: str) -> frozenset[str]:
        """The variables that templates of an extension read."""
        found = self._mentioned.get(extension)
        if found is None:
            found = self.mentioned_by(self._links.prompts.get(extension, ()))
            self._mentioned[extension] = found
        return found

    def mentioned_by(self, prompts: Iterable[OwnedPrompt]) -> frozenset[str]:
        """The variables that these fragments read."""
        return frozenset(
            name
            for owned in prompts
            if owned.prompt.template
            for name in self.templates.names(owned.prompt.text or "")
        )

    def all_read(self, prompts: Iterable[OwnedPrompt]) -> bool:
        """Whether every template among these fragments can be read, so that ``mentioned`` knows all they read."""
        return not any(
            owned.prompt.template and self.templates.unreadable(owned.prompt.text or "") for owned in prompts
        )

    def default_text(self, owned: OwnedPrompt) -> str | None:
        """A template rendered with what its owner and the workspace declare; None for plain text, and where that fails."""
        if not owned.prompt.template:
            return None
        document = owned.place.manifest
        extension = owned.owner if owned.owner_class == "extension" else ""
        workspace = self._links.manifests.workspace
        given = tuple(
            _setting(key, value, owned)
            for source in ((workspace,) if extension or document is workspace else (workspace, document))
            if source is not None
            for key, value in source.body.vars.items()
        )
        values = values_of(extension, document.body.vars if extension else {}, given)
        rendering = self._rendered(owned, values)
        return None if rendering.faults else rendering.text

    def unread(self) -> tuple[Diagnostic, ...]:
        """What keeps templates from being read at all, also those that no agent has."""
        documents = (*self._links.manifests.agents.values(), self._links.manifests.workspace)
        prompts = [
            *(owned for owned_by in self._links.prompts.values() for owned in owned_by),
            *(
                owned
                for document in documents
                if document is not None
                for owned in owned_prompts(document, "workspace")
            ),
        ]
        return tuple(
            located(fault, owned)
            for owned in prompts
            if owned.prompt.template
            for fault in self.templates.unreadable(owned.prompt.text or "")
        )

    def _extension(self, name: str, given: tuple[Setting, ...]) -> SetFragments:
        if given:
            defaults = self._links.extensions[name].body.vars
            return self._set(self._links.prompts[name], name, values_of(name, defaults, given), given)
        found = self._defaults.get(name)
        if found is None:
            values = self._links.extensions[name].body.vars
            found = self._defaults[name] = self._set(self._links.prompts[name], name, values, ())
        return found

    def _rendered(self, owned: OwnedPrompt, values: Mapping[str, Any]) -> Rendering:
        framed = is_learned(owned.prompt.tier)
        return self.templates.render(owned.prompt.text or "", values, framed=framed)

    def _set(
        self,
        prompts: tuple[OwnedPrompt, ...],
        extension: str,
        values: Mapping[str, Any],
        given: tuple[Setting, ...],
    ) -> SetFragments:
        fragments: list[PlacedFragment] = []
        diagnostics: list[Diagnostic] = []
        used: dict[str, Any] = {}
        names = {setting.name for setting in given}
        for owned in prompts:
            text = owned.prompt.text or ""
            if owned.prompt.template:
                rendering = self._rendered(owned, values)
                diagnostics.extend(located(fault, owned) for fault in rendering.faults)
                for name in self.templates.names(text) if given else ():
                    if name in names and name in values:
                        used[f"{extension}.{name}" if extension else name] = values[name]
                text = rendering.text
            fragments.append(PlacedFragment(source=owned, text=text))
        return SetFragments(tuple(fragments), used, tuple(diagnostics))


def located(fault: Fault, owned: OwnedPrompt) -> Diagnostic:
    """The diagnostic of a template's fault, at its line in the manifest or the file the text comes from."""
    index = int(owned.place.path[1])
    return fault.code.at(
        owned.place.manifest.text_span(index, fault.line, fault.column),
        f'fragment "{owned.prompt.fragment_id}": {fault.message}',
        hint=fault.hint or None,
        subject=owned.owner,
    )


def _setting(key: str, value: Any, owned: OwnedPrompt) -> Setting:
    extension, _, name = key.rpartition(".")
    return Setting(extension, name, value, owned.place)
