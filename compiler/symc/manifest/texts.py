"""Texts a model reads: nothing hidden in them, none of the delimiters that frame an extension's text (docs/prompts.md §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc import hidden
from symc.diagnostics import Code, Span
from symc.diagnostics.codes import shape as codes
from symc.manifest.keys import Path
from symc.manifest.submission import Submission
from symc.rendering import DELIMITER

Locate = Callable[[int, int], Span]
"""The place of a line and column of a text, both counted from 0."""


def plain_text(
    submission: Submission,
    path: Path,
    text: str,
    what: str,
    locate: Locate | None = None,
    *,
    code: Code = codes.HIDDEN_TEXT,
) -> None:
    """Check a text for what cannot be seen in it; ``locate`` says where it stands, if not in the manifest."""
    if submission.shows_all and locate is None:
        return
    for run, said in hidden.told(text):
        submission.refuse(
            code,
            path,
            f"{what} holds {said}",
            span=_place(submission, path, text, run.offset, locate),
            hint="remove what cannot be seen; emoji and flags are fine",
        )


def framed_text(
    submission: Submission, path: Path, text: str, what: str, locate: Locate | None = None
) -> None:
    """The same for a text that may stand inside the frame of an extension's text: it must not end the frame."""
    plain_text(submission, path, text, what, locate)
    if "<" in text and (found := DELIMITER.search(text)):
        submission.refuse(
            codes.WRAPPER_DELIMITER,
            path,
            f'{what} holds "{found[0]}", which frames the text of an extension',
            span=_place(submission, path, text, found.start(), locate),
            hint="word it without the tag",
        )


def json_texts(submission: Submission, path: Path, value: Any, what: str, *, code: Code) -> None:
    """Check every text in a value of the author's, keys included."""
    if submission.shows_all:
        return
    if isinstance(value, str):
        plain_text(submission, path, value, what, code=code)
    elif isinstance(value, dict):
        for key, item in value.items():
            for _, said in hidden.told(key):
                submission.refuse(code, (*path, key), f"a key of {what} holds {said}", at_key=True)
            json_texts(submission, (*path, key), item, what, code=code)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            json_texts(submission, (*path, index), item, what, code=code)


def _place(submission: Submission, path: Path, text: str, offset: int, locate: Locate | None) -> Span:
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    if locate is not None:
        return locate(line, column)
    return submission.document.text_span(submission.place(path), line, column)
