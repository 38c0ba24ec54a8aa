"""Positions: where in the manifests an item of the lock was written, for a side that was just compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from symc.cli.project import Project
from symc.diagnostics import Position, Span

if TYPE_CHECKING:
    from symc.compose.freeze import Composed
    from symc.diff import Item
    from symc.diff.model import Locate


def positions(project: Project) -> Locate:
    """Find where an item was written, in paths as the user would type them; None for what the manifests do not hold."""
    finder = _Finder(project)

    def locate(item: Item) -> Span | None:
        span = finder.find(item)
        return None if span is None else span.below(project.prefix)

    return locate


class _Finder:
    """One lookup for each kind of item; a kind that has none is placed at its document."""

    def __init__(self, project: Project) -> None:
        manifests = project.compilation.manifests
        self._agents = project.compilation.agents
        self._documents: dict[str, Any] = {**manifests.extensions, **manifests.agents}
        if manifests.workspace is not None:
            self._documents[manifests.workspace.name] = manifests.workspace
        self._kinds: dict[str, Callable[[Item], Span | None]] = {
            "fragment": self._fragment,
            "policy": lambda item: self._listed(item, "policies", "policy_id"),
            "hook": lambda item: self._listed(item, "lifecycle", "hook_id"),
            "layer": lambda item: self._listed(item, "tool_extensions", "name"),
            "tool": self._tool,
            "selection": self._selection,
            "grant": lambda item: self._placed(item, "grants"),
            "delegate": self._delegate,
            "limit": lambda item: self._key(item, "limits", item.name),
            "model": lambda item: self._key(item, "model"),
            "vars": lambda item: self._key(item, "vars"),
            "server": lambda item: self._key(item, "mcp", item.name),
            "implementation": lambda item: self._key(item, "implementation"),
        }

    def find(self, item: Item) -> Span | None:
        """The place of the item, else the document of its owner, else None."""
        document = self._documents.get(item.owner)
        if document is None:
            return None
        special = self._kinds.get(item.kind)
        found = special(item) if special is not None else None
        return found if found is not None else Span(document.path)

    def _key(self, item: Item, *path: str) -> Span | None:
        document = self._documents[item.owner]
        return document.span(*path) if _holds(document.document.data, path) else None

    def _listed(self, item: Item, section: str, key: str) -> Span | None:
        document = self._documents[item.owner]
        for number, one in enumerate(document.document.data.get(section) or ()):
            if isinstance(one, Mapping) and one.get(key) == item.name:
                span: Span = document.span(section, number, key)
                return span
        return None

    def _fragment(self, item: Item) -> Span | None:
        document = self._documents[item.owner]
        if item.name == "instructions" and "instructions" in document.document.data:
            return self._in_text(document, ("instructions",), item)
        for number, one in enumerate(document.document.data.get("prompts") or ()):
            if one.get("fragment_id") != item.name:
                continue
            file = document.files.get(str(number))
            if file is not None:
                place = Position((item.line or 0) + 1, 1)
                return Span(file, place, place)
            if "text" not in one:
                span: Span = document.span("prompts", number, "fragment_id")
                return span
            return self._in_text(document, ("prompts", number, "text"), item)
        return None

    def _in_text(self, document: Any, path: tuple[str | int, ...], item: Item) -> Span:
        """The line of the text that differs first, where it stands in the manifest as such."""
        span: Span = (
            document.span(*path) if item.line is None else document.document.text_span(path, item.line, 0)
        )
        return span

    def _tool(self, item: Item) -> Span | None:
        document = self._documents[item.owner]
        for number, tool in enumerate(document.body.tools):
            if tool.name == item.name:
                span: Span = document.tool_span(number, "name")
                return span
        return None

    def _selection(self, item: Item) -> Span | None:
        composed = self._composed(item)
        tools: Iterable[Any] = () if composed is None else composed.tools
        return next((tool.place.span() for tool in tools if tool.name == item.name), None)

    def _delegate(self, item: Item) -> Span | None:
        composed = self._composed(item)
        rows: Iterable[Any] = () if composed is None else composed.agent.delegates
        return next((place.span() for row, place in rows if row.agent == item.name), None)

    def _placed(self, item: Item, attribute: str) -> Span | None:
        composed = self._composed(item)
        rows: Iterable[Any] = () if composed is None else getattr(composed.agent, attribute)
        return next((place.span() for name, place in rows if name == item.name), None)

    def _composed(self, item: Item) -> Composed | None:
        return self._agents.get(item.owner)


def _holds(data: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(data, Mapping) or key not in data:
            return False
        data = data[key]
    return True
