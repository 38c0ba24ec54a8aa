"""Check: documents → typed manifests. Pure; every mistake of every document in one run (docs/manifests.md)."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from symc.contracts.names import EXTENSION_NAME, RESERVED_NAMES
from symc.diagnostics import Diagnostic, Hint, LabelledSpan, Report, Span
from symc.diagnostics.codes import reading
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import words
from symc.manifest.checked import Checked, Manifests
from symc.manifest.fragments import check_fragments
from symc.manifest.model import Agent, Extension, Workspace
from symc.manifest.pinned import pinned
from symc.manifest.selection import check_selection, check_uses
from symc.manifest.server import check_server
from symc.manifest.shape import MODELS, Body, shaped
from symc.manifest.submission import Submission
from symc.manifest.texts import every_text, plain_text
from symc.manifest.toolbox import check_hooks, check_package, check_tool_extensions, check_tools
from symc.manifest.variables import check_vars
from symc.manifest.vetoes import check_policies
from symc.source import Document, Sources
from symc.source.findings import AT_MOST
from symc.source.indentation import folded_items


def check(sources: Sources, *, built_in: bool = False) -> Manifests:
    """All manifests of a workspace, typed; a refused document drops out and its name is poisoned.

    ``built_in`` is for symc's own manifests: they may bear the names that are reserved.
    """
    report = Report()
    files = [_file(document, sources, report, built_in=built_in) for document in sources.documents]
    refused = _one_namespace(files, report)
    accepted = [file.checked for file in files if file.checked is not None and file.name not in refused]
    workspaces = [one for one in accepted if isinstance(one.body, Workspace)]
    return Manifests(
        workspace=workspaces[0] if len(workspaces) == 1 else None,
        agents={one.name: one for one in accepted if isinstance(one.body, Agent)},
        extensions={one.name: one for one in accepted if isinstance(one.body, Extension)},
        poisoned=frozenset(
            refused
            | {file.name for file in files if file.checked is None and file.name}
            | (_meant_names(sources, files, refused) - {one.name for one in accepted})
        ),
        workspace_refused=not workspaces
        and (
            any(file.is_workspace for file in files)
            or any(_is_workspace(claim.kind, claim.path) for claim in sources.claims)
        ),
        diagnostics=report.diagnostics,
    )


def _meant_names(sources: Sources, files: Iterable[_File], taken: Collection[str]) -> set[str]:
    """The names under which others may know the manifests whose own name is not known, or cannot be theirs.

    Most are named as their file; a name that breaks the rules of names is known by what it should have been.
    """
    unnamed = [file for file in files if not EXTENSION_NAME.accepts(file.name) or file.name in taken]
    return {
        *(_stem(file.document.path) for file in unnamed),
        *(meant for file in unnamed if (meant := words.spelt(file.name, EXTENSION_NAME))),
        *(name for claim in sources.claims for name in (_stem(claim.path), claim.name) if name),
    }


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _is_workspace(kind: str, path: str) -> bool:
    """Whether a document of which little is known is the workspace: as it says, or by the name of its file."""
    return kind == "workspace" or (kind not in MODELS and _stem(path) == "workspace")


@dataclass(frozen=True, slots=True)
class _File:
    """What the check made of one document; ``checked`` is None when it was refused."""

    document: Document
    kind: str
    name: str
    checked: Checked[Any] | None

    @property
    def name_span(self) -> Span:
        """Where the name was written; the kind, where the name is the default."""
        return self.document.span("name" if "name" in self.document.data else "kind")

    @property
    def is_workspace(self) -> bool:
        """Whether this is a workspace manifest, or was meant to be one."""
        if self.kind:
            return _is_workspace(self.kind, self.document.path)
        said = [value for key, value in self.document.data.items() if did_you_mean(key, ["kind"])]
        meant = next((text for text in said if isinstance(text, str)), "")
        own = self.document.data.get("kind")
        if not meant and isinstance(own, str):
            meant = did_you_mean(own, MODELS) or ""
        return _is_workspace(meant, self.document.path)


def _file(document: Document, sources: Sources, report: Report, *, built_in: bool) -> _File:
    submission = Submission(document, built_in=built_in)
    _line_up(submission)
    kind = _kind(submission)
    name = submission.subject or ("workspace" if kind == "workspace" else "")
    checked = _checked(submission, kind, sources) if kind else None
    if kind:
        every_text(submission)
    report.extend(submission.report.diagnostics)
    return _File(document, kind, name, None if submission.is_refused else checked)


def _line_up(submission: Submission) -> None:
    folded = tuple(islice(folded_items(submission.document), AT_MOST))
    for path, stray, edit in folded:
        submission.refuse(
            reading.FOLDED_ITEM,
            path,
            f"{stray.message}, so it is read as the end of that one's text",
            span=stray.entry.span(submission.file),
            secondary=(LabelledSpan(stray.model.span(submission.file), "the item that it runs into"),),
            hint=Hint(stray.hint, edit),
        )
    submission.spoilt.update(path for path, _, _ in folded)


def _kind(submission: Submission) -> str:
    """The kind of the document, empty when it is refused."""
    kind = submission.data.get("kind")
    if isinstance(kind, str) and kind in MODELS:
        return kind
    known = ", ".join(MODELS)
    if "kind" not in submission.data:
        nearest = next((key for key in submission.data if did_you_mean(key, ["kind"])), None)
        submission.refuse(
            codes.KIND_MISSING,
            (nearest,) if nearest else (),
            "this manifest does not say its kind",
            at_key=nearest is not None,
            hint=f"did you write `{nearest}` for `kind`?" if nearest else f"add `kind:` with one of {known}",
        )
        return ""
    nearest = did_you_mean(kind, MODELS) if isinstance(kind, str) else None
    submission.refuse(
        codes.KIND_UNKNOWN,
        ("kind",),
        f"{words.shown(kind) if isinstance(kind, str) else 'this'} is no kind of manifest; the kinds are {known}",
        hint=Hint(f"did you mean {nearest}?", submission.replacement(("kind",), nearest))
        if nearest
        else None,
    )
    return ""


def _checked(submission: Submission, kind: str, sources: Sources) -> Checked[Any] | None:
    body = shaped(submission, kind)
    if body is None:
        return None
    _name(submission, body)
    check_vars(submission, body.vars, qualified=kind != "extension")
    prompts, files = check_fragments(submission, body.prompts, sources, contributed=kind == "extension")
    policies = check_policies(submission, body.policies)
    pin = None
    if isinstance(body, Extension):
        plain_text(submission, ("description",), body.description, "the description")
        check_package(submission, body)
        check_tools(submission, body.tools)
        check_hooks(submission, body.lifecycle)
        check_tool_extensions(submission, body.tool_extensions)
        if body.mcp is not None:
            check_server(submission, body.mcp)
            tools, pin = pinned(submission, body, sources)
            body = body.model_copy(update={"tools": tools})
    else:
        check_uses(submission, body.extensions)
    if isinstance(body, Agent):
        plain_text(submission, ("description",), body.description, "the description")
        if body.instructions is not None:
            plain_text(submission, ("instructions",), body.instructions, "the text")
        check_selection(submission, body)
    body = body.model_copy(update={"prompts": prompts, "policies": policies})
    return Checked(document=submission.document, body=body, pin=pin, files=files)


def _name(submission: Submission, body: Body) -> None:
    words.name(submission, ("name",), body.name, EXTENSION_NAME, submission.data["kind"])
    if body.name in RESERVED_NAMES and not submission.built_in:
        submission.refuse(
            codes.RESERVED_NAME,
            ("name",),
            f'"{body.name}" is a name of symc\'s own',
            hint="choose another name",
        )


def _one_namespace(files: Iterable[_File], report: Report) -> set[str]:
    """Names given to several documents: each is said with both places, and none of the documents stands."""
    taken: dict[str, _File] = {}
    refused: set[str] = set()
    workspace: _File | None = None
    for file in files:
        if file.kind == "workspace":
            if workspace is not None:
                report.add(_second_workspace(workspace, file))
                refused |= {workspace.name, file.name}
                continue
            workspace = file
        if not file.name:
            continue
        first = taken.setdefault(file.name, file)
        if first is not file:
            refused.add(file.name)
            report.add(
                codes.DUPLICATE_NAME.at(
                    file.name_span,
                    f'"{file.name}" is the name of two manifests; all of a workspace share one namespace',
                    secondary=(
                        LabelledSpan(first.name_span, f"the {first.kind or 'manifest'} of this name"),
                    ),
                    hint="rename one of the two",
                    subject=file.name,
                )
            )
    return refused


def _second_workspace(first: _File, second: _File) -> Diagnostic:
    return codes.SEVERAL_WORKSPACES.at(
        second.document.span("kind"),
        "a second manifest is `kind: workspace`",
        secondary=(LabelledSpan(first.document.span("kind"), "the first one"),),
        hint="merge the two",
        subject=second.name,
    )
