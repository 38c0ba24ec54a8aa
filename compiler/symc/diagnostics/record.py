"""The diagnostic record: what is wrong, where, and the next step — as data, without prose layout.

Source: docs/diagnostics.md §1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final


class Level(StrEnum):
    """How much a diagnostic weighs; the words are those of the workspace manifest's ``rules``."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"


BUILT_IN: Final = "symc:"
"""What the names of symc's own manifests begin with: ``symc:std.yaml``."""


LONGEST: Final = 1_000
"""Characters of one sentence of a diagnostic: what a person reads of a value, however long it is."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: 1-based line and column, counted in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one file, ``end`` exclusive; ``file`` is a POSIX path relative to the workspace."""

    file: str
    start: Position = Position(1, 1)
    end: Position = Position(1, 1)

    def below(self, prefix: str) -> Span:
        """The same place with ``prefix`` (``"manifests/"``) before the file, unless that is one of symc's own."""
        return self if self.file.startswith(BUILT_IN) else replace(self, file=prefix + self.file)

    @property
    def is_whole_file(self) -> bool:
        """True when the span names the file and no place in it."""
        return self.start == self.end == Position(1, 1)


@dataclass(frozen=True, slots=True, order=True)
class LabelledSpan:
    """A second place that takes part in the mistake, with what stands there."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of one stretch of a file's text that resolves the mistake when applied."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Hint:
    """The next step; an ``edit``, where present, makes the mistake go away."""

    text: str
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake with one cause (docs/diagnostics.md §1); compared by value, ordered by place and code."""

    code: str
    name: str
    level: Level
    message: str
    primary: Span
    secondary: tuple[LabelledSpan, ...] = ()
    notes: tuple[str, ...] = ()
    hint: Hint | None = None
    subject: str = ""

    @property
    def sort_key(self) -> tuple[str, Position, str, str, str]:
        """Report order: file, place, code; subject and message only make the order total."""
        return (self.primary.file, self.primary.start, self.code, self.subject, self.message)

    def relocated(self, prefix: str) -> Diagnostic:
        """The same diagnostic with ``prefix`` (``"manifests/"``) before every file that it names."""
        hint = self.hint
        if hint is not None and hint.edit is not None:
            hint = replace(hint, edit=replace(hint.edit, span=hint.edit.span.below(prefix)))
        return replace(
            self,
            primary=self.primary.below(prefix),
            secondary=tuple(replace(one, span=one.span.below(prefix)) for one in self.secondary),
            hint=hint,
        )


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table of codes: ``symc explain``, the docs pages and SARIF rules are made from it.

    ``example`` is a short manifest excerpt (or command) that earns the code; ``remedy`` is the next step in one sentence.
    """

    code: str
    name: str
    purpose: str
    example: str
    remedy: str
    level: Level = Level.ERROR

    def at(
        self,
        primary: Span,
        message: str,
        *,
        secondary: tuple[LabelledSpan, ...] = (),
        notes: tuple[str, ...] = (),
        hint: Hint | str | None = None,
        subject: str = "",
    ) -> Diagnostic:
        """A diagnostic of this code at ``primary``; ``message`` has no trailing full stop.

        What is quoted may be of any length: of a sentence beyond ``LONGEST`` the middle is left out.
        """
        if isinstance(hint, str):
            hint = Hint(hint)
        if hint is not None and len(hint.text) > LONGEST:
            hint = replace(hint, text=_shortened(hint.text))
        if any(len(one.label) > LONGEST for one in secondary):
            secondary = tuple(replace(one, label=_shortened(one.label)) for one in secondary)
        message, subject = _shortened(message), _shortened(subject)
        return Diagnostic(self.code, self.name, self.level, message, primary, secondary, notes, hint, subject)


def _shortened(sentence: str) -> str:
    if len(sentence) <= LONGEST:
        return sentence
    half = LONGEST // 2
    return f"{sentence[:half]} … {sentence[-half:]}"


@dataclass(slots=True)
class Report:
    """Collects the diagnostics of one stage: collect first, report later (never raise on the first)."""

    found: list[Diagnostic] = field(default_factory=list)

    def add(self, diagnostic: Diagnostic) -> None:
        """Take one diagnostic."""
        self.found.append(diagnostic)

    def extend(self, diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> None:
        """Take several."""
        self.found.extend(diagnostics)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All that was collected, in report order, equal ones once."""
        unique = dict.fromkeys(self.found)
        return tuple(sorted(unique, key=lambda d: d.sort_key))

    @property
    def failed(self) -> bool:
        """True when an error is among them."""
        return any(d.level is Level.ERROR for d in self.found)
