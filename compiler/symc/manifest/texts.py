"""Texts a model reads: nothing hidden in them, none of the delimiters that frame an extension's text (docs/prompts.md §3)."""

from __future__ import annotations

import re
from collections.abc import Callable

from symc import hidden
from symc.diagnostics import Code, Span
from symc.diagnostics.codes import shape as codes
from symc.manifest.keys import Path
from symc.manifest.submission import Submission

# However it is spelt: the frame is for a model, which reads tags as people do.
_DELIMITER = re.compile(r"<\s*/?\s*extension-text", re.IGNORECASE)

Locate = Callable[[int, int], Span]
"""The place of a line and column of a text, both counted from 0."""


def framed_text(
    submission: Submission, path: Path, text: str, what: str, locate: Locate | None = None
) -> None:
    """Check text that may stand inside the frame of an extension's text; ``locate`` says where it stands if not in the manifest."""
    find = locate or _in_manifest(submission, path)
    _no_hidden(submission, path, text, what, find, codes.HIDDEN_TEXT)
    if "<" in text and (found := _DELIMITER.search(text)):
        submission.refuse(
            codes.WRAPPER_DELIMITER,
            path,
            f'{what} holds "{found[0]}", which frames the text of an extension',
            span=find(*_line_and_column(text, found.start())),
            hint="word it without the tag",
        )


def plain_text(
    submission: Submission,
    path: Path,
    text: str,
    what: str,
    locate: Locate | None = None,
    *,
    code: Code = codes.HIDDEN_TEXT,
) -> None:
    """Check any other text that a person or a model reads."""
    _no_hidden(submission, path, text, what, locate or _in_manifest(submission, path), code)


def _in_manifest(submission: Submission, path: Path) -> Locate:
    return lambda line, column: submission.document.text_span(submission.place(path), line, column)


def _no_hidden(submission: Submission, path: Path, text: str, what: str, find: Locate, code: Code) -> None:
    for run in hidden.scan(text):
        submission.refuse(
            code,
            path,
            f"{what} holds {run.description}",
            span=find(*_line_and_column(text, run.offset)),
            hint="remove what cannot be seen; emoji and flags are fine",
        )


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset)
    return line, offset - (text.rfind("\n", 0, offset) + 1)
