"""GitHub: workflow commands that become annotations on the lines of a pull request.

Source: docs/diagnostics.md §3. Nothing that a manifest says can end a command or start another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symc.diagnostics.record import Diagnostic, Level, Span
from symc.diagnostics.renderers.excerpt import visible

_COMMANDS = {Level.ERROR: "error", Level.WARN: "warning", Level.INFO: "notice"}


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """One command a line: ``::error file=…,line=…,endLine=…,col=…,title=…::message``."""
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties = [*_place(diagnostic.primary), ("title", f"{diagnostic.code} {diagnostic.name}")]
    written = ",".join(f"{key}={_property(value)}" for key, value in properties)
    message = _message("\n".join(_lines(diagnostic)))
    return f"::{_COMMANDS[diagnostic.level]} {written}::{message}"


def _place(span: Span) -> Iterator[tuple[str, str]]:
    if not span.file:
        return
    yield "file", span.file
    if span.is_whole_file:
        return
    # Our end is exclusive, GitHub's lines are inclusive: an end at column 1 is the end of the line before.
    end = span.end.line - (span.end.column == 1 and span.end.line > span.start.line)
    yield "line", str(span.start.line)
    yield "endLine", str(end)
    yield "col", str(span.start.column)


def _lines(diagnostic: Diagnostic) -> Iterator[str]:
    yield visible(diagnostic.message)
    for second in diagnostic.secondary:
        place = (
            second.span.file if second.span.is_whole_file else f"{second.span.file}:{second.span.start.line}"
        )
        yield visible(f"{place}: {second.label}")
    for note in diagnostic.notes:
        yield from map(visible, note.split("\n"))
    if diagnostic.hint is not None:
        yield f"help: {visible(diagnostic.hint.text)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
