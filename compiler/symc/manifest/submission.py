"""A document on its way to become a manifest: where its parts stand, and the mistakes found in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from symc import hidden
from symc.diagnostics import Code, Diagnostic, Edit, Hint, LabelledSpan, Report, Span
from symc.manifest.keys import Path
from symc.source import Document
from symc.source.findings import AT_MOST, TOO_MANY

_ASCII = bytes(range(128))
_KEYWORD = re.compile(rb"\$[A-Za-z]")
_LONGEST_MESSAGE = 400


@dataclass(slots=True)
class Submission:
    """One document with the diagnostics of the check stage.

    Key paths are those of the model; ``place`` maps them to what was written, which may be shorter (``crm`` for
    ``{use: crm}``). ``spoilt`` holds the entries whose shape was refused, as path prefixes: nothing else is said of them.
    ``drops_out``: what it needs was refused when it was read, so there is nothing more to say.
    ``shows_all``: no text of the document holds a hidden character; ``has_plain_schemas``: no key of it holds a ``$``.
    Most documents tell both as a whole, and need no search through their parts.
    """

    document: Document
    built_in: bool = False
    report: Report = field(default_factory=Report)
    spoilt: set[Path] = field(default_factory=set)
    drops_out: bool = False
    shows_all: bool = field(init=False)
    has_plain_schemas: bool = field(init=False)

    def __post_init__(self) -> None:
        # What is not in the file, and not spelt with an escape, is in no text of it. Hidden characters are looked for
        # among the few distinct ones beyond ASCII; only emoji that are joined from several need a look at the whole.
        text = self.document.text
        distinct = "" if text.isascii() else " ".join(set(text.translate(None, _ASCII).decode()))
        self.shows_all = b"\\" not in text and not (
            hidden.scan(f" {distinct}") and hidden.scan(text.decode())
        )
        self.has_plain_schemas = not (b"$" in text and _KEYWORD.search(text)) and b"\\" not in text

    @property
    def data(self) -> dict[str, Any]:
        """The document as written."""
        return self.document.data

    @property
    def is_refused(self) -> bool:
        """True when the document becomes no manifest."""
        return self.drops_out or self.report.failed

    @property
    def file(self) -> str:
        """Path of the document, relative to the workspace."""
        return self.document.path

    def place(self, path: Path) -> Path:
        """The longest way into the document along ``path``; steps that lead nowhere are passed over."""
        here: Any = self.document.data
        written: list[str | int] = []
        for step in path:
            if isinstance(here, dict):
                if step not in here:
                    continue
            elif not (isinstance(here, list) and isinstance(step, int) and step < len(here)):
                continue
            here = here[step]
            written.append(step)
        return tuple(written)

    def value(self, path: Path) -> Any:
        """What is written at ``path``."""
        here: Any = self.document.data
        for step in self.place(path):
            here = here[step]
        return here

    def span(self, path: Path) -> Span:
        """Where the value at ``path`` was written."""
        return self.document.span(*self.place(path))

    def key_span(self, path: Path) -> Span:
        """Where the key at the end of ``path`` was written."""
        return self.document.key_span(*self.place(path))

    def raw(self, path: Path) -> str:
        """The scalar at ``path``, exactly as it stands in the file."""
        return self.document.raw(*self.place(path))

    def replacement(self, path: Path, text: str) -> Edit | None:
        """An edit that writes ``text`` in place of the scalar at ``path``; None where that is not certain to work."""
        place = self.place(path)
        span = self.document.span(*place)
        length = span.end.column - span.start.column
        # Not what is quoted or repeated by an alias; nor what has an anchor, which the edit would remove.
        if not self.document.is_plain(*place) or len(self.document.raw(*place)) != length:
            return None
        return Edit(span, text)

    def refuse(
        self,
        code: Code,
        path: Path,
        message: str,
        *,
        at_key: bool = False,
        span: Span | None = None,
        secondary: tuple[LabelledSpan, ...] = (),
        notes: tuple[str, ...] = (),
        hint: Hint | str | None = None,
    ) -> None:
        """Take one mistake at ``path`` (at its key with ``at_key``, or at ``span``), unless its entry is spoilt already."""
        if self._is_spoilt(path):
            return
        if len(self.report.found) >= AT_MOST:
            return
        if len(self.report.found) == AT_MOST - 1:
            notes = (*notes, TOO_MANY)
        where = span or (self.key_span(path) if at_key else self.span(path))
        self.report.add(
            code.at(
                where, visible(message), secondary=secondary, notes=notes, hint=hint, subject=self.subject
            )
        )

    def take(self, path: Path, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Take what another check found at ``path``."""
        if not self._is_spoilt(path):
            self.report.extend(diagnostics)

    def _is_spoilt(self, path: Path) -> bool:
        return bool(self.spoilt) and any(path[: len(prefix)] == prefix for prefix in self.spoilt)

    @property
    def subject(self) -> str:
        """The manifest's name as written, empty if there is none."""
        name = self.document.data.get("name")
        return name if isinstance(name, str) else ""

    def also(self, path: Path, label: str) -> tuple[LabelledSpan, ...]:
        """The other side of a conflict: the key at ``path``, with what it says."""
        return (LabelledSpan(self.key_span(path), label),)


def visible(text: str) -> str:
    """The text with its hidden characters written as code points, and cut where a message would end."""
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[:_LONGEST_MESSAGE]}…"
    for run in reversed(hidden.scan(text)):
        points = "".join(f"<U+{point:04X}>" for point in run.code_points)
        text = text[: run.offset] + points + text[run.offset + len(run.code_points) :]
    return text
