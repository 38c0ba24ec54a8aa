"""Surfaces: what of an agent a test can hold fast — its prompt, its tools, its policies — and what changed in one."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension

from symc import sheets
from symc.composition import DELEGATE_INPUT, Composition
from symc.composition.graph import elements
from symc.contracts.frozen import thaw
from symc.diagnostics.suggest import suggestion
from symc.testing.changes import layout_changes, shown


class PageExtension(SingleFileSnapshotExtension):
    """One ``.md`` file a snapshot, written in binary: what is in it is what was compiled, to the byte."""

    file_extension = "md"

    def serialize(self, data: Any, **_options: Any) -> bytes:
        """The page of a surface, as UTF-8."""
        return str(data.page).encode("utf-8", "surrogatepass")


class RenderedExtension(SingleFileSnapshotExtension):
    """One ``.txt`` file a snapshot: exactly the bytes a model receives."""

    file_extension = "txt"

    def serialize(self, data: Any, **_options: Any) -> bytes:
        """The text, as UTF-8."""
        return str(data).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Surface:
    """A page that compares with a snapshot (and with another surface), and can say what changed."""

    agent: str
    page: str
    kind: ClassVar[str] = "surface"
    extension: ClassVar[type[SingleFileSnapshotExtension]] = PageExtension

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SnapshotAssertion):
            # The extension belongs to what is compared; the user's own `snapshot` fixture stays as it is.
            return other(extension_class=self.extension)._assert(self)  # __eq__ would come back here
        return type(other) is type(self) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((type(self), self.agent, self.page))

    def __str__(self) -> str:
        return self.page

    def explain(self, other: object) -> list[str]:
        """What differs from ``other``, a snapshot or a surface, as the lines of a failing assertion."""
        title = f'the {self.kind} of agent "{self.agent}" is not its snapshot'
        recorded = _recorded(other)
        if recorded is None:
            if isinstance(other, SnapshotAssertion):
                return [f"{title}: there is none yet", "run pytest --snapshot-update to write it"]
            return [f"{title.removesuffix(' is not its snapshot')} is not a {type(other).__name__}"]
        return [
            title,
            *self.changes(recorded),
            "",
            "run pytest --snapshot-update if the change is meant",
        ]

    def changes(self, recorded: str) -> list[str]:
        """The lines that changed since ``recorded``, with a little context."""
        return _line_diff(recorded, str(self))


@dataclass(frozen=True, eq=False)
class Rendered(Surface):
    """Exactly the bytes a model receives."""

    kind: ClassVar[str] = "rendered prompt"
    extension: ClassVar[type[SingleFileSnapshotExtension]] = RenderedExtension


@dataclass(frozen=True, eq=False)
class PromptLayout(Surface):
    """The prompt of one agent: ``entries`` in order, ``rendered`` the bytes its model receives."""

    entries: tuple[sheets.Entry, ...] = field(default=())
    kind: ClassVar[str] = "prompt layout"

    @classmethod
    def of(cls, composition: Composition) -> PromptLayout:
        """The layout of a composition."""
        found = sheets.entries(composition)
        return cls(composition.name, sheets.as_markdown(composition.name, found), found)

    @property
    def rendered(self) -> Rendered:
        """The exact static bytes, comparable with a snapshot of their own."""
        return Rendered(self.agent, sheets.plain(self.entries))

    def changes(self, recorded: str) -> list[str]:
        """What happened to each fragment: moved, edited, added, removed."""
        return layout_changes(sheets.read_markdown(recorded), self.entries) or _line_diff(recorded, self.page)


@dataclass(frozen=True, eq=False)
class ToolSurface(Surface):
    """The tools of one agent, as its model sees them."""

    kind: ClassVar[str] = "tool surface"

    @classmethod
    def of(cls, composition: Composition) -> ToolSurface:
        """The exposed tools, each with description, origin, chain and schemas."""
        lines = [f"# Tools of {composition.name}"]
        for name, tool in composition.agent.tools.items():
            if not tool.exposed:
                continue
            chain = "".join(f" + {layer.name}" for layer in tool.chain)
            lines += ["", f"## {name}", "", f"`{tool.extension}/{tool.raw}`{chain}", "", tool.description, ""]
            lines += _json_block("input", tool.input_schema)
            if tool.output_schema is not None:
                lines += ["", *_json_block("output", tool.output_schema)]
            if tool.annotations:
                lines += ["", *_json_block("annotations", tool.annotations)]
        for edge in composition.agent.delegates.values():
            lines += ["", f"## {edge.tool}", "", f"asks the agent `{edge.agent}`", "", edge.description, ""]
            lines += _json_block("input", DELEGATE_INPUT)
        return cls(composition.name, "\n".join(lines) + "\n")


@dataclass(frozen=True, eq=False)
class PolicyGraph(Surface):
    """What contributes, derives, grants and guards in one agent, one edge a line."""

    kind: ClassVar[str] = "policy graph"

    @classmethod
    def of(cls, composition: Composition) -> PolicyGraph:
        """The edges of the graph, grouped by what they say."""
        _, edges = elements(composition)
        by_kind: dict[str, list[str]] = {}
        for edge in edges:
            by_kind.setdefault(edge.kind, []).append(f"- `{edge.source}` → `{edge.target}`")
        lines = [f"# Policy graph of {composition.name}"]
        for kind, rows in sorted(by_kind.items()):
            lines += ["", f"## {kind}", "", *sorted(rows)]
        return cls(composition.name, "\n".join(lines) + "\n")


def composition_of(compilation: Any, agent: str) -> Composition:
    """The composition of ``agent``; an unknown name fails the test with the nearest one."""
    compositions: Mapping[str, Composition] = compilation.compositions
    if agent not in compositions:
        hint = suggestion(agent, compositions)
        pytest.fail(f'the workspace has no agent "{agent}"' + (f"; {hint}" if hint else ""), pytrace=False)
    return compositions[agent]


def _recorded(other: object) -> str | None:
    """What a surface was compared with, as text; None where there is nothing."""
    if isinstance(other, Surface):
        return str(other)
    if not isinstance(other, SnapshotAssertion) or not other.num_executions:
        return None
    data = other.executions[other.num_executions - 1].recalled_data
    return data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else None


def _json_block(title: str, value: Any) -> list[str]:
    return [
        f"{title}:",
        "",
        "```json",
        json.dumps(thaw(value), indent=2, sort_keys=True, ensure_ascii=False),
        "```",
    ]


def _line_diff(old: str, new: str) -> list[str]:
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), "snapshot", "now", n=2, lineterm="")
    return [line[:1] + shown(line[1:]) for line in lines]
