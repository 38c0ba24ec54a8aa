"""Texts of a manifest: nothing hidden in them, none of the delimiters that frame an extension's text (docs/prompts.md §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from symc import hidden
from symc.diagnostics import Code, Level, Span
from symc.diagnostics.codes import shape as codes
from symc.manifest.faults import title
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
            hint=_REMOVE,
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


def every_text(submission: Submission) -> None:
    """Check every text and key of the document: targets, patterns, commands, addresses, configs, all that is no prose.

    The last check of a document. Where another one has refused the same text or key, for whatever reason, nothing more
    is said of it. Messages never repeat a value.
    """
    if submission.shows_all:
        return
    refused = [
        one.primary
        for one in submission.report.diagnostics
        if one.level is Level.ERROR and one.primary.file == submission.file
    ]
    for path, text, at_key in _texts(submission.data, ()):
        if not hidden.scan(text):
            continue
        where = submission.key_span(path) if at_key else submission.span(path)
        if any(where.start <= other.start <= where.end for other in refused):
            continue
        if at_key:
            what = f"a key of {title(path[:-1])}" if len(path) > 1 else "a key"
            for _, said in hidden.told(text):
                submission.refuse(codes.HIDDEN_TEXT, path, f"{what} holds {said}", at_key=True, hint=_REMOVE)
        else:
            plain_text(submission, path, text, title(path))


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str, bool]]:
    """Every text in a value with its path and whether it is a key; what aliases repeat comes once."""
    waiting: list[tuple[Any, Path]] = [(value, path)]
    seen: set[int] = set()
    while waiting:
        node, here = waiting.pop()
        if isinstance(node, str):
            yield here, node, False
        elif isinstance(node, dict | list) and id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, dict):
                yield from (((*here, key), key, True) for key in node)
            items = node.items() if isinstance(node, dict) else enumerate(node)
            waiting += reversed([(item, (*here, step)) for step, item in items])


_REMOVE: Final = "remove what cannot be seen; emoji and flags are fine"


def _place(submission: Submission, path: Path, text: str, offset: int, locate: Locate | None) -> Span:
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    if locate is not None:
        return locate(line, column)
    return submission.document.text_span(submission.place(path), line, column)
