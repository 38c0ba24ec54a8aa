"""Prose: tools that prompts and descriptions mention by a name they do not have here (docs/prompts.md §3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from symc.compose.layout import Layout
from symc.compose.link import BUILT_IN, LinkedAgent, Links, OwnedPrompt
from symc.compose.mint import MintedTool
from symc.compose.select import Identity
from symc.diagnostics import Diagnostic, Edit, Hint, Position, Span
from symc.diagnostics.codes import composition as codes

# A word in backticks, or a bare word with an underscore that is no part of a path, a file name or a longer word.
_WORD: Final = re.compile(
    r"`(?P<quoted>[A-Za-z0-9_.\-/]{1,160})`"
    r"|(?<![\w./\\{-])(?P<bare>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?![\w/\\-]|\.\w)"
)
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_TAG: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_NAMED_AGENTS = 3


@dataclass(frozen=True, slots=True)
class Misnomer:
    """A mention of a tool by a name it does not have in an agent; ``here`` is the name it has, empty if it has none."""

    span: Span
    word: str
    here: str
    agent: str
    owner: str
    editable: bool


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int
    column: int


class Prose:
    """Reads the texts of one workspace, each once; what it remembers only saves time."""

    __slots__ = ("_owners", "_words")

    def __init__(self, links: Links) -> None:
        self._owners: dict[str, list[str]] = {}
        for name, extension in links.extensions.items():
            if name != BUILT_IN:
                for tool in extension.body.tools:
                    self._owners.setdefault(tool.name, []).append(name)
        self._words: dict[tuple[str, bool], tuple[_Word, ...]] = {}

    def misnomers(
        self, agent: LinkedAgent, laid_out: Layout, tools: Sequence[MintedTool]
    ) -> tuple[Misnomer, ...]:
        """Every mention in the agent's prompt and in the descriptions of its tools."""
        exposed = {tool.name for tool in tools if tool.exposed}
        names = _Names(tools)
        found: list[Misnomer] = []

        def take(
            words: Iterable[_Word], place: Callable[[int, int], Span], owner: str, editable: bool
        ) -> None:
            for word in words:
                if word.text not in exposed:
                    span = _widened(place(word.line, word.column), word.text)
                    here = names.of(self._identities(word.text))
                    found.append(Misnomer(span, word.text, here, agent.name, owner, editable))

        for fragment in laid_out.fragments:
            source = fragment.source
            words = self._words_of(source.prompt.text or "", source.prompt.template)
            if words:
                take(words, _in_fragment(source), source.owner, source.owner_class != "extension")
        for tool in tools:
            words = self._words_of(tool.description, False)
            if words and tool.exposed and not _inherited(tool):
                take(words, _in_description(tool), tool.base.extension.name, False)
        return tuple(found)

    def _words_of(self, text: str, template: bool) -> tuple[_Word, ...]:
        """The words of a text that name a tool of the workspace, each once, at its first place."""
        key = (text, template)
        words = self._words.get(key)
        if words is None and not self._may_name_tools(text):
            words = self._words[key] = ()
        elif words is None:
            # Tags keep their length, so that what stands after them keeps its place.
            prose = _TAG.sub(lambda tag: re.sub(r"[^\n]", " ", tag[0]), text) if template else text
            found: dict[str, _Word] = {}
            for match in _WORD.finditer(prose):
                word = match["quoted"] or match["bare"]
                if word not in found and self._identities(word):
                    start = match.start("quoted" if match["quoted"] else "bare")
                    line = prose.count("\n", 0, start)
                    found[word] = _Word(word, line, start - (prose.rfind("\n", 0, start) + 1))
            words = self._words[key] = tuple(found.values())
        return words

    def _may_name_tools(self, text: str) -> bool:
        """A quick look at the words with an underscore; most texts have none that is a tool."""
        return "`" in text or (
            "_" in text
            and any(
                word in self._owners
                for written in text.split()
                if "_" in written
                for word in _ASCII_WORD.findall(written)
            )
        )

    def _identities(self, word: str) -> list[Identity]:
        """The tools of the workspace that a word may mean: by raw name, or as extension/tool."""
        owners = self._owners.get(word)
        if owners is not None:
            return [(owner, word) for owner in owners]
        owner, _, name = word.partition("/")
        return [(owner, name)] if owner in self._owners.get(name, ()) else []


class _Names:
    """The names that tools have in one agent: the plainest exposure of each."""

    __slots__ = ("_by_identity", "_tools")

    def __init__(self, tools: Sequence[MintedTool]) -> None:
        self._tools = tools
        self._by_identity: dict[Identity, tuple[int, str]] | None = None

    def of(self, identities: Iterable[Identity]) -> str:
        """The name under which the agent has one of these tools, empty if it has none."""
        if self._by_identity is None:
            self._by_identity = {}
            for tool in self._tools:
                if tool.exposed:
                    entry = (len(tool.chain), tool.name)
                    known = self._by_identity.get(tool.base.identity, entry)
                    self._by_identity[tool.base.identity] = min(known, entry)
        found = [self._by_identity[identity] for identity in identities if identity in self._by_identity]
        return min(found)[1] if found else ""


def reported(misnomers: Iterable[Misnomer]) -> tuple[Diagnostic, ...]:
    """One warning for each word at its place, naming the agents where it is wrong."""
    grouped: dict[tuple[Span, str, str], list[Misnomer]] = {}
    for each in misnomers:
        grouped.setdefault((each.span, each.word, each.here), []).append(each)
    found = []
    for (span, word, here), group in grouped.items():
        agents = sorted({each.agent for each in group})
        where = ", ".join(f'"{name}"' for name in agents[:_NAMED_AGENTS])
        if len(agents) > _NAMED_AGENTS:
            where += f" and {len(agents) - _NAMED_AGENTS} more"
        where = f"agent{'s' if len(agents) > 1 else ''} {where}"
        if here:
            sentence = f'the tool "{word}" is called "{here}" in {where}'
            exact = group[0].editable and span.start != span.end and "/" not in word
            hint = Hint(f'write "{here}"', Edit(span, here) if exact else None)
        else:
            sentence = f'the text names the tool "{word}", which {where} {"do" if len(agents) > 1 else "does"} not have'
            hint = Hint("select the tool, or leave its name out")
        found.append(codes.TOOL_NAME_IN_PROSE.at(span, sentence, hint=hint, subject=group[0].owner))
    return tuple(found)


def _inherited(tool: MintedTool) -> bool:
    """Whether a variant only repeats its tool's description."""
    return bool(tool.chain) and tool.description == (tool.base.description or tool.base.tool.description)


def _in_fragment(source: OwnedPrompt) -> Callable[[int, int], Span]:
    manifest, path = source.place.manifest, source.place.path
    if path[0] == "prompts":
        return lambda line, column: manifest.text_span(int(path[1]), line, column)
    return lambda line, column: manifest.document.text_span(path, line, column)


def _in_description(tool: MintedTool) -> Callable[[int, int], Span]:
    base = tool.base
    if tool.chain:
        return lambda _line, _column: tool.place.span()
    if base.description is not None:
        path = (*base.place.path, "description")
        return lambda line, column: base.place.manifest.document.text_span(path, line, column)
    if base.extension.pin is not None:
        return lambda _line, _column: base.span("description")
    path = ("tools", base.index, "description")
    return lambda line, column: base.extension.document.text_span(path, line, column)


def _widened(span: Span, word: str) -> Span:
    """From the place where a word starts to where it ends; a span that is wider already stays."""
    if span.start != span.end:
        return span
    return Span(span.file, span.start, Position(span.start.line, span.start.column + len(word)))
