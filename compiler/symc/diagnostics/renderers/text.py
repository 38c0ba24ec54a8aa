"""Text: what a person reads in a terminal, with excerpts and carets.

Source: docs/diagnostics.md §2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symc.diagnostics.record import Diagnostic, LabelledSpan, Level, Span
from symc.diagnostics.renderers.excerpt import excerpt, visible
from symc.diagnostics.renderers.withheld import found_by_check, seems_to_hold_credential

_GUTTER = 4
_WORDS = {Level.ERROR: "error", Level.WARN: "warning", Level.INFO: "info"}
_WEIGHT = {Level.ERROR: 0, Level.WARN: 1, Level.INFO: 2}

# SGR parameters of the terminal
_STYLES = {Level.ERROR: "1;31", Level.WARN: "1;33", Level.INFO: "1;36"}
_BOLD, _BLUE, _CYAN = "1", "1;34", "36"


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    *,
    limit: int = 50,
    color: bool = False,
) -> str:
    """The diagnostics as paragraphs, at most ``limit`` of them (0 for all) and then how many more there are.

    When not all are shown, errors are shown before warnings; the order among the shown ones stays.
    """
    shown = _most_important(diagnostics, limit)
    writer = _Writer(sources, color, found_by_check(diagnostics))
    paragraphs = ["\n".join(writer.paragraph(diagnostic)) for diagnostic in shown]
    rest = len(diagnostics) - len(shown)
    if rest:
        paragraphs.append(f"+{rest} more (--max-errors 0 shows all)")
    return "\n\n".join(paragraphs) + "\n" if paragraphs else ""


def _most_important(diagnostics: Sequence[Diagnostic], limit: int) -> Sequence[Diagnostic]:
    if not limit or len(diagnostics) <= limit:
        return diagnostics
    by_weight = sorted(range(len(diagnostics)), key=lambda at: _WEIGHT[diagnostics[at].level])
    return [diagnostics[at] for at in sorted(by_weight[:limit])]


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes paragraphs; each source is split into lines once, however many diagnostics are about it."""

    sources: Mapping[str, str]
    color: bool
    unquotable: frozenset[tuple[str, int]] = frozenset()
    split: dict[str, list[str]] = field(default_factory=dict)

    def paragraph(self, diagnostic: Diagnostic) -> Iterator[str]:
        """The lines of one diagnostic, in the layout of docs/diagnostics.md §2."""
        style = _STYLES[diagnostic.level]
        head = f"{_WORDS[diagnostic.level]}[{diagnostic.code} {diagnostic.name}]"
        yield self._paint(head, style) + self._paint(f": {visible(diagnostic.message)}", _BOLD)
        # A secondary label over the primary span itself is the primary's label.
        own = next((second for second in diagnostic.secondary if second.span == diagnostic.primary), None)
        primary = own or LabelledSpan(diagnostic.primary, "")
        others = [second for second in diagnostic.secondary if second is not own]
        gutter = max(_GUTTER, *(len(str(place.span.start.line)) for place in (primary, *others)))
        if primary.span.file:
            yield from self._place(primary, "-->", "^", style, gutter)
        for second in others:
            yield from self._place(second, ":::", "-", _BLUE, gutter)
        for note in diagnostic.notes:
            first, *further = note.split("\n")
            yield f"  {self._paint('note:', _BOLD)} {visible(first)}"
            yield from (f"        {visible(line)}".rstrip() for line in further)
        if diagnostic.hint is not None:
            yield f"  {self._paint('help:', _CYAN)} {visible(diagnostic.hint.text)}"
        yield f"  {self._paint('more:', _CYAN)} symc explain {diagnostic.code}"

    def _place(self, place: LabelledSpan, arrow: str, mark: str, style: str, gutter: int) -> Iterator[str]:
        """The location, and under it the line with its marks where the source has that line."""
        span, label = place.span, visible(place.label)
        where = f"  {self._paint(arrow, _BLUE)} {visible(span.file)}"
        if not span.is_whole_file:
            where += f":{span.start.line}:{span.start.column}"
        line = None if span.is_whole_file else self._line(span)
        if line is None:
            yield f"{where}: {label}" if label else where
            return
        yield where
        end = span.end.column if span.end.line == span.start.line else len(line) + 1
        shown = excerpt(line, span.start.column, end)
        marks = self._paint(f"{mark * shown.mark_width} {label}".rstrip(), style)
        yield f"{self._gutter(str(span.start.line), gutter)} {shown.line}".rstrip()
        yield f"{self._gutter('', gutter)} {' ' * shown.mark_offset}{marks}"

    def _gutter(self, number: str, width: int) -> str:
        return self._paint(f"{number:>{width}} |", _BLUE)

    def _line(self, span: Span) -> str | None:
        file, number = span.file, span.start.line
        if (file, number) in self.unquotable:
            return None
        if file not in self.split:
            self.split[file] = self.sources[file].split("\n") if file in self.sources else []
        lines = self.split[file]
        if number > len(lines) or seems_to_hold_credential(file, lines, number, span.start.column):
            return None
        return lines[number - 1].removesuffix("\r")

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color else text
