"""Select: agent → its tools (include, exclude, prefix, rename, describe)."""

from __future__ import annotations

from dataclasses import dataclass

from symc.compose.link import Place
from symc.diagnostics import Span
from symc.manifest import model
from symc.manifest.checked import Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedTool:
    """One tool an agent selects, under its exposed base name.

    ``selected_by`` is the row as written; ``prefix`` and ``alias`` are the parts of ``exposed`` (empty where unused);
    ``index`` is the tool's number in its extension, for its place in manifest or pin.
    """

    extension: Checked[model.Extension]
    index: int
    exposed: str
    prefix: str
    alias: str
    description: str | None
    selected_by: str
    place: Place

    @property
    def tool(self) -> model.Tool:
        """The tool as declared or pinned."""
        tool: model.Tool = self.extension.body.tools[self.index]
        return tool

    @property
    def raw(self) -> str:
        """The raw name: what is sent to the server."""
        return self.tool.name

    @property
    def identity(self) -> tuple[str, str]:
        """Extension and raw name: what rules and rows match."""
        return (self.extension.name, self.raw)

    def span(self, *path: str | int) -> Span:
        """Where the tool (or a part of it) was declared."""
        return self.extension.tool_span(self.index, *path)
