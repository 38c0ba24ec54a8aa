"""References: every name a manifest refers to, resolved or refused where it was written (docs/manifests.md §2–4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symc.compose.knots import Knot, knots, untied
from symc.compose.requirement import Requirement
from symc.diagnostics import Code, Edit, Hint, LabelledSpan, Report, Span
from symc.diagnostics.codes import references as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest.checked import Checked, Manifests

BUILT_IN = "std"
"""The extension that every agent has without naming it."""

Graph = Mapping[str, tuple[str, ...]]

_SHOWN_STEPS = 10


@dataclass(slots=True)
class References:
    """The resolved references of a workspace, by the name of the document that holds them; free of cycles.

    ``missing`` gives, for each document, what it refers to and does not get: names that were refused, do not exist, or
    stand in a cycle. All of that is reported; what follows from it must not be. ``unfounded`` are the agents that
    extend one of those.
    """

    requires: Graph = field(default_factory=dict)
    uses: Graph = field(default_factory=dict)
    extends: Graph = field(default_factory=dict)
    missing: dict[str, set[str]] = field(default_factory=dict)
    unfounded: set[str] = field(default_factory=set)


def resolved(manifests: Manifests, report: Report) -> References:
    """The references of all manifests."""
    found = References()
    names = _Names(manifests, found, report)
    users: dict[str, Checked[Any]] = {**manifests.agents}
    if manifests.workspace is not None:
        users[manifests.workspace.name] = manifests.workspace
    found.uses = {name: names.extensions(document, "extensions") for name, document in users.items()}
    requires = {name: names.extensions(doc, "requires") for name, doc in manifests.extensions.items()}
    extends = {name: names.agents(doc, "extends") for name, doc in manifests.agents.items()}
    for document in manifests.agents.values():
        names.agents(document, "delegates")
    found.requires = _without_knots(
        requires, manifests.extensions, "requires", codes.REQUIRES_CYCLE, found, report
    )
    found.extends = _without_knots(extends, manifests.agents, "extends", codes.EXTENDS_CYCLE, found, report)
    return found


def refuse_knot(
    knot: Knot, code: Code, kind: str, does: tuple[str, str], spans: list[Span], report: Report
) -> None:
    """Report one cycle at the first of its references; ``spans`` are the places of its steps.

    ``does`` is what ``kind`` do to each other: of one, and of several.
    """
    name = knot.path[0]
    if len(knot.steps) == 1:
        hint = "remove this reference"
        report.add(code.at(spans[0], f'{kind} "{name}" {does[0]} itself', hint=hint, subject=name))
        return
    report.add(
        code.at(
            spans[0],
            f"{kind}s {does[1]} each other: {knot}",
            secondary=tuple(
                LabelledSpan(span, f"{name} → {other}")
                for span, (name, other) in list(zip(spans, knot.steps, strict=True))[1:_SHOWN_STEPS]
            ),
            hint="remove one of these references",
            subject=name,
        )
    )


@dataclass(slots=True)
class _Names:
    """What may be referred to, and the report of what may not."""

    manifests: Manifests
    found: References
    report: Report

    def extensions(self, document: Checked[Any], section: str) -> tuple[str, ...]:
        """The extensions that ``requires`` or ``extensions`` of a document name, each once."""
        found: dict[str, None] = {}
        for index, text in _texts(document, section):
            requirement = Requirement.parse(text)
            name = requirement.name
            extension = None if name == BUILT_IN else self.manifests.extensions.get(name)
            if extension is None:
                self._refuse_name(document, section, index, text, name)
                continue
            found[name] = None
            self._check_version(document, section, index, requirement, extension)
        return tuple(found)

    def agents(self, document: Checked[Any], section: str) -> tuple[str, ...]:
        """The agents that ``extends`` or ``delegates`` of a document name, each once."""
        found: dict[str, None] = {}
        for index, name in _texts(document, section):
            agent = self.manifests.agents.get(name)
            if agent is None:
                self._refuse_name(document, section, index, name, name)
                continue
            found[name] = None
            if section == "delegates" and agent.body.abstract:
                self.report.add(
                    codes.DELEGATE_ABSTRACT.at(
                        _span(document, section, index),
                        f'"{name}" is abstract: it is a base for others and cannot be called',
                        secondary=(LabelledSpan(agent.span("abstract"), "abstract here"),),
                        hint="delegate to an agent that extends it",
                        subject=document.name,
                    )
                )
        return tuple(found)

    def _refuse_name(self, document: Checked[Any], section: str, index: int, text: str, name: str) -> None:
        self.found.missing.setdefault(document.name, set()).add(name)
        if section == "extends":
            self.found.unfounded.add(document.name)
        if name in self.manifests.poisoned:
            return  # refused itself: references to it are not reported again
        wants_agent = section in ("extends", "delegates")
        known: Mapping[str, Any] = self.manifests.agents if wants_agent else self.manifests.extensions
        kind = "agent" if wants_agent else "extension"
        span = _span(document, section, index)
        nearest = did_you_mean(name, (other for other in known if other != BUILT_IN))
        refused = None if nearest else did_you_mean(name, self.manifests.poisoned)
        secondary: tuple[LabelledSpan, ...] = ()
        message = f'the workspace has no {kind} "{name}"'
        if name == BUILT_IN:
            message = f'"{BUILT_IN}" is built in and cannot be named here'
            hint = Hint(f'remove it: every agent has "{BUILT_IN}" without naming it')
        elif (other := self._of_any_kind(name)) is not None:
            hint = Hint(f"name an {kind}")
            article = "the" if other.body.kind == "workspace" else "an"
            message = f'"{name}" is {article} {other.body.kind}, and an {kind} is due here'
            secondary = (LabelledSpan(other.span("kind"), f'"{name}" is declared here'),)
        elif nearest is not None:
            edit = _renamed(document, section, index, nearest + text[len(name) :])
            hint = Hint(f'did you mean "{nearest}"?', edit)
        elif refused is not None:
            hint = Hint(f'did you mean "{refused}"?')  # of which little is known, not even its kind
        else:
            hint = Hint("add its manifest, or remove the name")
        code = codes.AGENT_UNKNOWN if wants_agent else codes.EXTENSION_UNKNOWN
        self.report.add(code.at(span, message, secondary=secondary, hint=hint, subject=document.name))

    def _of_any_kind(self, name: str) -> Checked[Any] | None:
        workspace = self.manifests.workspace
        if workspace is not None and workspace.name == name:
            return workspace
        return self.manifests.agents.get(name) or self.manifests.extensions.get(name)

    def _check_version(
        self,
        document: Checked[Any],
        section: str,
        index: int,
        requirement: Requirement,
        extension: Checked[Any],
    ) -> None:
        if not requirement.specifier:
            return
        version = extension.body.version
        if version is None:
            self.report.add(
                codes.VERSION_ABSENT.at(
                    _span(document, section, index),
                    f'"{requirement}" asks a version of "{requirement.name}", which states none',
                    secondary=(LabelledSpan(extension.span("name"), "no `version` beside the name"),),
                    hint=f'add `version` to "{requirement.name}", or write the name alone',
                    subject=document.name,
                )
            )
        elif not requirement.admits(version):
            self.report.add(
                codes.REQUIREMENT_NOT_MET.at(
                    _span(document, section, index),
                    f'"{requirement}" is not met: the workspace has {requirement.name} {version}',
                    secondary=(LabelledSpan(extension.span("version"), f"the one version is {version}"),),
                    hint="change the specifier, or the extension",
                    subject=document.name,
                )
            )


def _texts(document: Checked[Any], section: str) -> Iterator[tuple[int, str]]:
    for index, row in enumerate(getattr(document.body, section)):
        if section == "extensions":
            yield index, row.use
        elif section == "delegates":
            yield index, row.agent
        else:
            yield index, row


_LONG_FORM = {"extensions": "use", "delegates": "agent"}


def _span(document: Checked[Any], section: str, index: int) -> Span:
    return document.span(*_path(document, section, index))


def _path(document: Checked[Any], section: str, index: int) -> tuple[str | int, ...]:
    """The name's own place: the item, or its key where the item is written out."""
    written = document.document.data[section][index]
    if isinstance(written, dict):
        return (section, index, _LONG_FORM[section])
    return (section, index)


def _renamed(document: Checked[Any], section: str, index: int, text: str) -> Edit | None:
    path = _path(document, section, index)
    return Edit(document.span(*path), text) if document.document.is_plain(*path) else None


def _without_knots(
    references: Graph,
    documents: Mapping[str, Checked[Any]],
    section: str,
    code: Code,
    found: References,
    report: Report,
) -> Graph:
    tied = knots(references)
    for knot in tied:
        spans = []
        for name, other in knot.steps:
            document = documents[name]
            index = next(i for i, text in _texts(document, section) if Requirement.parse(text).name == other)
            spans.append(_span(document, section, index))
        requires = section == "requires"
        kind = "extension" if requires else "agent"
        does = ("requires", "require") if requires else ("extends", "extend")
        refuse_knot(knot, code, kind, does, spans, report)
        for name in knot.members:
            found.missing.setdefault(name, set()).update(knot.members)
        if section == "extends":
            found.unfounded |= knot.members
    return untied(references, tied)
