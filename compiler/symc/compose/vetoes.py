"""Vetoes: every policy of the workspace once, with what it matches there (docs/policies.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symc.compose import parts
from symc.compose.inheritance import owned_policies
from symc.compose.link import LinkedAgent, Links, OwnedPolicy
from symc.compose.requirement import Requirement
from symc.composition import Policy
from symc.diagnostics import Span
from symc.guarding import Identity, Reach, Roster, pattern, reach
from symc.manifest import model
from symc.manifest.checked import Checked


@dataclass(frozen=True, slots=True)
class Veto:
    """One policy as a document wrote it, with its frozen form and what it matches among the workspace's tools."""

    owned: OwnedPolicy
    policy: Policy
    reach: Reach

    @property
    def id(self) -> str:
        """The joined id ``owner/policy_id``."""
        return self.owned.id

    @property
    def unconditional(self) -> bool:
        """True for a ``deny`` or ``ask`` that asks nothing of the arguments."""
        return self.policy.effect != "decide" and self.policy.when in (None, True, {})

    def span(self, *path: str | int) -> Span:
        """The place of the body of the rule, or of a part of it."""
        return self.owned.place.span(self.policy.effect, *path)


@dataclass(frozen=True, slots=True)
class Vetoes:
    """All policies of a workspace by owner and joined id, its tools, and which documents always come together."""

    links: Links
    roster: Roster
    by_owner: Mapping[str, Mapping[str, Veto]]
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _together: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, links: Links) -> Vetoes:
        """The policies of every document: of extensions that nobody uses, and of abstract agents, too."""
        roster = Roster.of(
            (name, tool.name) for name, one in links.extensions.items() for tool in one.body.tools
        )
        frozen = parts.Frozen()
        found: dict[str, dict[str, Veto]] = {}
        for document, owner_class in _documents(links):
            for owned in owned_policies(document, owner_class):
                policy = parts.policy(owned.policy, frozen)
                found.setdefault(document.name, {})[owned.id] = Veto(owned, policy, reach(policy, roster))
        return cls(links, roster, found)

    def __iter__(self) -> Iterator[Veto]:
        return (veto for owned in self.by_owner.values() for veto in owned.values())

    def of_agent(self, agent: LinkedAgent) -> dict[str, Veto]:
        """The policies that apply to an agent, by joined id."""
        workspace = self.links.manifests.workspace
        owners = (*(document.name for document in agent.documents), *agent.closure)
        found: dict[str, Veto] = {}
        for owner in owners if workspace is None else (workspace.name, *owners):
            if owner in self.by_owner:
                found.update(self.by_owner[owner])
        return found

    @property
    def registrations(self) -> frozenset[str]:
        """Every tool extension of the workspace, by bare name and as ``extension/name``."""
        return frozenset(
            name
            for owner, extension in self.links.extensions.items()
            for one in extension.body.tool_extensions
            for name in (one.name, f"{owner}/{one.name}")
        )

    def identities(self, extension: str) -> list[Identity]:
        """The tools of an extension, or of all where the workspace has none of that name."""
        owners = (extension,) if extension in self.roster.by_extension else sorted(self.roster.by_extension)
        return [(owner, raw) for owner in owners for raw in sorted(self.roster.by_extension[owner])]

    def declared(self, identity: Identity) -> tuple[Checked[model.Extension], int]:
        """The extension that brings a tool of the workspace, and the tool's number there."""
        owner, raw = identity
        extension = self.links.extensions[owner]
        numbers = self._numbers.get(owner)
        if numbers is None:
            numbers = self._numbers[owner] = {tool.name: i for i, tool in enumerate(extension.body.tools)}
        return extension, numbers[raw]

    def come_along(self, owner: str) -> frozenset[str]:
        """The documents whose policies apply wherever those of ``owner`` do, itself included."""
        found = self._together.get(owner)
        if found is None:
            found = self._together[owner] = frozenset(self._closed(owner))
        return found

    def _closed(self, owner: str) -> set[str]:
        workspace = self.links.manifests.workspace
        waiting = [owner]
        if workspace is not None:
            waiting += [workspace.name, *_required(use.use for use in workspace.body.extensions)]
        agent = self.links.agents.get(owner)
        if agent is not None:
            waiting += [*agent.closure, *(base.name for base in agent.bases)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                extension = self.links.extensions.get(name)
                waiting += () if extension is None else _required(extension.body.requires)
        return found


def literal_tools(veto: Veto, roster: Roster) -> tuple[frozenset[Identity], frozenset[Identity]]:
    """What the veto names tool by tool, and what it matches with patterns; a tool may be in both."""
    literal: set[Identity] = set()
    matched: set[Identity] = set()
    for selector in veto.policy.tools or ():
        if not selector.variant:
            wanted = pattern(selector.pattern)
            (literal if wanted.literal else matched).update(roster.matching(wanted))
    return frozenset(literal), frozenset(matched)


def _documents(links: Links) -> Iterator[tuple[Checked[Any], Any]]:
    workspace = links.manifests.workspace
    if workspace is not None:
        yield workspace, "workspace"
    yield from ((agent.manifest, "agent") for agent in links.agents.values())
    yield from ((extension, "extension") for extension in links.extensions.values())


def _required(requirements: Iterable[str]) -> list[str]:
    return [Requirement.parse(text).name for text in requirements]
