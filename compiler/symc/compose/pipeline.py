"""The pipeline: a workspace → the compositions of its agents, or every mistake that stands in their way.

Pure: what is read was read before, and what is found is returned. Read :func:`compile` aloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from symc import profiles
from symc.compose.bases import unextended
from symc.compose.built_in import LOCK_VERSIONS, built_in
from symc.compose.fit import fit
from symc.compose.freeze import Composed, freeze_lock
from symc.compose.guard import guard
from symc.compose.layout import Layout, layout
from symc.compose.link import LinkedAgent, Links, link
from symc.compose.mint import MintedTool, mint
from symc.compose.prose import Misnomer, Prose, reported
from symc.compose.rules import DiffRules, ruled
from symc.compose.select import select
from symc.compose.typesetting import Typesetter
from symc.compose.unused import unused_variables
from symc.composition import LOCK_VERSION, Composition, Lock
from symc.diagnostics import Diagnostic, Level, Report
from symc.diagnostics.codes import references as codes
from symc.manifest.check import check
from symc.manifest.checked import Manifests
from symc.source import Workspace, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """What a compile found. With an error among the diagnostics there is no lock, and no agent has a composition.

    ``agents`` are those that are composed, with the result of each stage and the places of every item; they are there
    with errors, too, as far as the stages came.
    """

    workspace: Workspace
    manifests: Manifests
    links: Links
    agents: Mapping[str, Composed] = field(default_factory=dict)
    lock: Lock | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """True when no error was found."""
        return self.lock is not None

    @property
    def compositions(self) -> Mapping[str, Composition]:
        """The composition of each agent, by name, sorted; empty with an error."""
        lock = self.lock
        made: dict[str, Composition] = {}
        return {} if lock is None else {name: lock.composition(name, made) for name in lock.agents}

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts of the files that diagnostics point into, by path, as they are counted: LF, no byte order mark."""
        spans = (
            span for one in self.diagnostics for span in (one.primary, *(each.span for each in one.secondary))
        )
        files = sorted({span.file for span in spans} & self.workspace.files.keys())
        return {
            path: self.workspace.files[path].decode("utf-8-sig", "replace").replace("\r\n", "\n")
            for path in files
        }


def compile(  # what it does
    workspace: Workspace,
    *,
    diff_rules: DiffRules = dict,
    parsed: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> Compilation:
    """Compile a workspace: the compositions of all its agents, or all mistakes of all its manifests.

    A stage works on what the earlier ones accepted; what they refused is not reported again. ``diff_rules`` gives the
    codes and names that the workspace's ``rules`` may hold beside those of warnings, with the levels each may have.
    ``parsed`` is the data of files, by path, that somebody parsed before; it saves time and changes nothing.
    """
    sources = parse(workspace, parsed)
    manifests = check(sources)
    report = Report()
    lock_version = _lock_version(manifests, report)
    links = link(_with_built_in(manifests, lock_version))
    shop = _Workshop(links)
    drafts = [shop.draft(agent) for agent in links.agents.values() if not agent.abstract]
    guarded = guard(
        links,
        {one.agent.name: one.tools for one in drafts},
        unsound={one.agent.name for one in drafts if one.unsound},
    )
    found = (
        *report.diagnostics,
        *workspace.diagnostics,
        *sources.diagnostics,
        *manifests.diagnostics,
        *links.diagnostics,
        *(diagnostic for one in drafts for diagnostic in one.diagnostics),
        *guarded.diagnostics,
        *unextended(links),
        *shop.typesetter.unread(),
        *reported(misnomer for one in drafts if not one.unsound for misnomer in one.misnomers),
        *unused_variables(links, shop.typesetter),
    )
    diagnostics = ruled(found, manifests, diff_rules)
    agents = {
        one.agent.name: Composed(
            agent=one.agent, tools=one.tools, layout=one.layout, guards=guarded.agents[one.agent.name]
        )
        for one in drafts
    }
    failed = any(diagnostic.level is Level.ERROR for diagnostic in diagnostics)
    return Compilation(
        workspace=workspace,
        manifests=manifests,
        links=links,
        agents=agents,
        # All or nothing: one error anywhere, and nothing is frozen.
        lock=None if failed else freeze_lock(links, agents.values(), shop.typesetter, lock_version),
        diagnostics=diagnostics,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """One agent before it is guarded, with what was wrong so far."""

    agent: LinkedAgent
    tools: tuple[MintedTool, ...]
    layout: Layout
    misnomers: tuple[Misnomer, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def unsound(self) -> bool:
        """Whether something is missing that the author wanted, so that its absence says nothing."""
        return bool(self.agent.poisoned) or any(one.level is Level.ERROR for one in self.diagnostics)


class _Workshop:
    """The stages of one agent, with what agents share: texts and schemas are looked at once a compile."""

    def __init__(self, links: Links) -> None:
        self.typesetter = Typesetter(links)
        self._links = links
        self._prose = Prose(links)
        self._examined: profiles.Seen = {}

    def draft(self, agent: LinkedAgent) -> _Draft:
        """One agent through select, mint, fit and layout."""
        selected = select(agent, self._links)
        minted = mint(agent, selected.tools, self._links)
        fitted = fit(agent, minted.tools, self._links.agents, self._examined)
        laid_out = layout(agent, self.typesetter)
        return _Draft(
            agent=agent,
            tools=fitted.tools,
            layout=laid_out,
            misnomers=self._prose.misnomers(agent, laid_out, fitted.tools),
            diagnostics=(
                *selected.diagnostics,
                *minted.diagnostics,
                *fitted.diagnostics,
                *laid_out.diagnostics,
            ),
        )


def _lock_version(manifests: Manifests, report: Report) -> int:
    """The lock version to write: the workspace's, or the newest; one that cannot be written is refused (L30)."""
    workspace = manifests.workspace
    wanted = None if workspace is None else workspace.body.lock_version
    if workspace is None or wanted is None or wanted in LOCK_VERSIONS:
        return LOCK_VERSION if wanted is None else wanted
    known = " and ".join(str(version) for version in sorted(LOCK_VERSIONS))
    report.add(
        codes.LOCK_VERSION_NOT_WRITTEN.at(
            workspace.span("lock_version"),
            f"this symc cannot write lock version {wanted}; it writes {known}",
            hint="install a newer symc" if wanted > LOCK_VERSION else "run `symc compile --upgrade-lock`",
            subject=workspace.name,
        )
    )
    return LOCK_VERSION


def _with_built_in(manifests: Manifests, lock_version: int) -> Manifests:
    return replace(manifests, extensions={**manifests.extensions, **built_in(lock_version).extensions})
