"""The result of the check stage: typed manifests that still know where each of their parts was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from symc.diagnostics import Diagnostic, Position, Span
from symc.manifest.model import Agent, Extension, Workspace
from symc.source import Document, Pin

Body_co = TypeVar("Body_co", bound=Workspace | Agent | Extension, covariant=True)

# A pinned tool's fields stand under MCP's own names in its pin file.
_PIN_KEYS = {"input_schema": "inputSchema", "output_schema": "outputSchema"}


@dataclass(frozen=True, slots=True)
class Checked(Generic[Body_co]):
    """A manifest that passed the check stage, with the document it came from.

    ``files`` gives, by the index of a fragment that was read from a file, the path of that file; ``pin`` is the pin of an MCP extension.
    """

    document: Document
    body: Body_co
    pin: Pin | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The manifest's name: the owner of everything in it."""
        return self.body.name

    @property
    def path(self) -> str:
        """The manifest's path, relative to the workspace."""
        return self.document.path

    def span(self, *path: str | int) -> Span:
        """Where the value at this key path was written."""
        return self.document.span(*path)

    def key_span(self, *path: str | int) -> Span:
        """Where the key at the end of this path was written."""
        return self.document.key_span(*path)

    def tool_span(self, index: int, *path: str | int) -> Span:
        """Where tool number ``index`` (or a part of it) was written: in the manifest, or in its pin."""
        if self.pin is None:
            return self.document.span("tools", index, *path)
        head = tuple(_PIN_KEYS.get(str(p), p) for p in path[:1])
        return self.pin.span("tools", index, *head, *path[1:])

    def text_span(self, fragment: int, line: int, column: int) -> Span:
        """The place of a 0-based line and column of fragment number ``fragment``, in the manifest or its file."""
        file = self.files.get(str(fragment))
        if file is None:
            return self.document.text_span(("prompts", fragment, "text"), line, column)
        place = Position(line + 1, column + 1)
        return Span(file, place, place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """All manifests of a workspace that were accepted, and the names of those that were not.

    ``poisoned`` holds the names of refused documents: references to them are neither resolved nor reported again.
    ``workspace_refused``: there is a workspace manifest, and what it gives to every agent is not known.
    """

    workspace: Checked[Workspace] | None = None
    agents: Mapping[str, Checked[Agent]] = field(default_factory=dict)
    extensions: Mapping[str, Checked[Extension]] = field(default_factory=dict)
    poisoned: frozenset[str] = frozenset()
    workspace_refused: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
