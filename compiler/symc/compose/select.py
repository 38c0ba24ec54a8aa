"""Select: agent → its tools (include, exclude, prefix, rename, describe; docs/manifests.md §4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from symc.compose.link import BUILT_IN, LinkedAgent, Links, Place, ToolRow
from symc.contracts.patterns import ToolPattern
from symc.diagnostics import Diagnostic, Edit, Hint, LabelledSpan, Report, Span
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import model
from symc.manifest.checked import Checked

Identity = tuple[str, str]
"""Extension and raw name: what rules and rows match."""


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
    identity: Identity = field(init=False)
    """Extension and raw name: what rules and rows match."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", (self.extension.name, self.tool.name))

    @property
    def tool(self) -> model.Tool:
        """The tool as declared or pinned."""
        tool: model.Tool = self.extension.body.tools[self.index]
        return tool

    @property
    def raw(self) -> str:
        """The raw name: what is sent to the server."""
        return self.identity[1]

    def span(self, *path: str | int) -> Span:
        """Where the tool (or a part of it) was declared."""
        return self.extension.tool_span(self.index, *path)


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools of one agent, ordered by exposed name and identity, with what was wrong."""

    tools: tuple[SelectedTool, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def select(agent: LinkedAgent, links: Links) -> Selection:
    """The tools ``agent`` selects: least authority, no row no tool.

    Rows merge by raw identity, whatever their order: an object row speaks for its tool before a literal one, a literal
    one before a pattern.
    """
    report = Report()
    offer = _Offer(agent, links, report)
    rows: dict[Identity, ToolRow] = {}
    for row in sorted(agent.tools, key=_precedence):
        for identity in offer.chosen(row):
            first = rows.setdefault(identity, row)
            if first is not row and row.is_object:
                report.add(_second_row(identity, first, row))
    excluded = {identity for text, place in agent.exclude for identity in offer.excluded(text, place, rows)}
    tools = sorted(
        (offer.selected(identity, row) for identity, row in rows.items() if identity not in excluded),
        key=lambda tool: (tool.exposed, tool.identity),
    )
    return Selection(tuple(tools), report.diagnostics)


_pattern = lru_cache(maxsize=4096)(ToolPattern.parse)


def _precedence(row: ToolRow) -> tuple[int, str]:
    if row.is_object:
        return (0, row.pattern)
    return (1 if _pattern(row.pattern).literal else 2, row.pattern)


class _Offer:
    """The tools one agent may select from: those of its closure. Extensions are looked into only where a row asks."""

    def __init__(self, agent: LinkedAgent, links: Links, report: Report) -> None:
        self._agent = agent
        self._links = links
        self._report = report
        self._closure = frozenset(agent.closure)
        self._numbers: dict[str, dict[str, int]] = {}

    def chosen(self, row: ToolRow) -> list[Identity]:
        """The tools a row selects; a row that selects nothing is reported."""
        pattern = _pattern(row.pattern)
        place, at = row.place, (("tool",) if row.is_object else ())
        found = self._matching(pattern)
        if not found and not self._agent.poisoned:
            self._report.add(self._nothing(pattern, row.pattern, place, at))
        return found

    def excluded(self, text: str, place: Place, rows: dict[Identity, ToolRow]) -> list[Identity]:
        """The tools that one item of ``exclude`` keeps from the agent, selected or not."""
        pattern = _pattern(text)
        found = self._matching(pattern)
        if not found:
            if self._agent.poisoned:
                return found
            if pattern.literal:
                self._report.add(self._nothing(pattern, text, place, ()))
            elif meant := self._called(pattern, rows):
                self._report.add(self._exposed_name(text, place, meant, rows))
            else:
                self._report.add(
                    codes.EXCLUDE_MATCHES_NOTHING.at(
                        place.span(),
                        f'"{text}" excludes nothing: no tool of the extensions used here matches it',
                        hint="correct the pattern, or remove it",
                        subject=place.owner,
                    )
                )
        elif pattern.literal and (row := rows.get(found[0])) is not None and _names(row, found[0]):
            self._report.add(
                codes.SELECTED_AND_EXCLUDED.at(
                    place.span(),
                    f'"{text}" is selected by name and excluded by name',
                    secondary=(LabelledSpan(row.place.span(), "selected here"),),
                    hint="remove one of the two",
                    subject=place.owner,
                )
            )
        return found

    def selected(self, identity: Identity, row: ToolRow) -> SelectedTool:
        """The tool as its row exposes it: ``as`` is the final base name, otherwise the prefix goes before the raw one."""
        extension, raw = identity
        return SelectedTool(
            extension=self._links.extensions[extension],
            index=self._tools(extension)[raw],
            exposed=self._name(identity, row),
            prefix=self._prefix(extension, row),
            alias=row.alias,
            description=row.description,
            selected_by=row.pattern,
            place=row.place,
        )

    def _prefix(self, extension: str, row: ToolRow) -> str:
        use = self._agent.uses.get(extension)
        return "" if row.alias or use is None else use.prefix

    def _name(self, identity: Identity, row: ToolRow) -> str:
        extension, raw = identity
        prefix = self._prefix(extension, row)
        return row.alias or (f"{prefix}_{raw}" if prefix else raw)

    def _called(self, pattern: ToolPattern, rows: dict[Identity, ToolRow]) -> list[Identity]:
        """The selected tools that a pattern would match if it went by the names they get here."""
        return sorted(
            identity
            for identity, row in rows.items()
            if pattern.matches(identity[0], self._name(identity, row))
        )

    def _exposed_name(
        self, text: str, place: Place, meant: list[Identity], rows: dict[Identity, ToolRow]
    ) -> Diagnostic:
        """An ``exclude`` by the name that a tool gets would keep nothing away."""
        extension, raw = meant[0]
        row = rows[meant[0]]
        written = f"{extension}/{raw}"
        return codes.TOOL_UNKNOWN.at(
            place.span(),
            f'"{text}" excludes nothing: "{self._name(meant[0], row)}" is what this agent calls {written}',
            secondary=(LabelledSpan(row.place.span(), "selected here"),),
            notes=("patterns go by raw names, before any prefix and `as`",),
            hint=self._rename(written, place, ())
            if len(meant) == 1
            else Hint(f"write {', '.join(f'{one}/{name}' for one, name in meant[:6])}"),
            subject=place.owner,
        )

    def _matching(self, pattern: ToolPattern) -> list[Identity]:
        if pattern.extension is None:
            extensions: tuple[str, ...] = self._agent.closure
        else:
            extensions = (pattern.extension,) if pattern.extension in self._closure else ()
        if pattern.literal:
            return [(name, pattern.name) for name in extensions if pattern.name in self._tools(name)]
        return [
            (extension, name)
            for extension in extensions
            for name in self._tools(extension)
            if pattern.name == "*" or pattern.matches(extension, name)
        ]

    def _tools(self, extension: str) -> dict[str, int]:
        """Raw names of an extension's tools, each with its number."""
        found = self._numbers.get(extension)
        if found is None:
            tools = self._links.extensions[extension].body.tools
            found = self._numbers[extension] = {tool.name: index for index, tool in enumerate(tools)}
        return found

    def _nothing(self, pattern: ToolPattern, text: str, place: Place, at: tuple[str, ...]) -> Diagnostic:
        """Why an item of ``tools`` or ``exclude`` matches no tool of the agent, in the words of its own case."""
        name = pattern.extension
        if name is not None and name not in self._closure:
            return self._unused(name, text, place, at)
        secondary: tuple[LabelledSpan, ...] = ()
        if name is not None:
            document = self._links.extensions[name]
            secondary = (LabelledSpan(document.span("name"), _counted(len(document.body.tools))),)
        if not pattern.literal:
            whose = f'of "{name}"' if name is not None else "of the extensions used here"
            return codes.ROW_SELECTS_NOTHING.at(
                place.span(*at),
                f'"{text}" selects nothing: no tool {whose} matches it',
                secondary=secondary,
                hint="correct the pattern, or remove the row",
                subject=place.owner,
            )
        nearest = did_you_mean(pattern.name, self._tools(str(name)))
        return codes.TOOL_UNKNOWN.at(
            place.span(*at),
            f'"{name}" has no tool "{pattern.name}"',
            secondary=secondary,
            hint=self._rename(f"{name}/{nearest}", place, at) if nearest else "name one of its tools",
            subject=place.owner,
        )

    def _unused(self, name: str, text: str, place: Place, at: tuple[str, ...]) -> Diagnostic:
        """The extension part of a row is known to the workspace and not to the agent, or to nobody."""
        who = (
            f'agent "{place.owner}"' if place.owner == self._agent.name else "an agent that inherits this row"
        )
        document = self._links.extensions.get(name)
        if document is not None and name != BUILT_IN:
            return codes.TOOL_OF_UNUSED_EXTENSION.at(
                place.span(*at),
                f'{who} does not use "{name}", so "{text}" selects nothing',
                secondary=(LabelledSpan(document.span("name"), "the extension"),),
                hint=f"add {name} to `extensions`",
                subject=place.owner,
            )
        nearest = did_you_mean(name, self._closure)
        rest = text[len(name) :]
        return codes.TOOL_UNKNOWN.at(
            place.span(*at),
            f'{who} uses no extension "{name}"',
            hint=self._rename(nearest + rest, place, at) if nearest else "name an extension it uses",
            subject=place.owner,
        )

    def _rename(self, text: str, place: Place, at: tuple[str, ...]) -> Hint:
        path = (*place.path, *at)
        plain = place.manifest.document.is_plain(*path)
        return Hint(f'did you mean "{text}"?', Edit(place.manifest.span(*path), text) if plain else None)


def _names(row: ToolRow, identity: Identity) -> bool:
    """Whether the row names the tool, rather than matching it."""
    return row.pattern == "/".join(identity)


def _counted(tools: int) -> str:
    return "brings no tools" if tools == 0 else f"brings {tools} tool{'s' if tools > 1 else ''}"


def _second_row(identity: Identity, first: ToolRow, second: ToolRow) -> Diagnostic:
    return codes.TOOL_ROW_TWICE.at(
        second.place.span(),
        f'two rows say how "{"/".join(identity)}" is exposed; a tool has one exposure',
        secondary=(LabelledSpan(first.place.span(), "the other row"),),
        hint="merge them into one row; a second name for a tool is a variant with `as`",
        subject=second.place.owner,
    )
