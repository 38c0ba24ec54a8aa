"""Variables of templates: plain words with scalars, or lists of scalars (docs/manifests.md §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symc.contracts.names import EXTENSION_NAME
from symc.diagnostics.codes import shape as codes
from symc.manifest import words
from symc.manifest.submission import Submission
from symc.manifest.texts import framed_text


def check_vars(submission: Submission, variables: Mapping[str, Any], *, qualified: bool) -> None:
    """Check names and values; with ``qualified`` a name may be ``extension.name``."""
    for key, value in variables.items():
        owner, dot, name = key.rpartition(".")
        known = _is_word(name) and (not dot or (qualified and EXTENSION_NAME.accepts(owner)))
        if not known:
            form = "a word of letters, digits and `_`" + (", or extension.word" if qualified else "")
            submission.refuse(
                codes.INVALID_VARIABLE,
                ("vars", key),
                f"the variable {words.shown(key)} is not {form}",
                at_key=True,
            )
        if isinstance(value, list):
            for index, item in enumerate(value):
                _value(submission, key, index, item)
        else:
            _value(submission, key, None, value)


def _value(submission: Submission, key: str, index: int | None, value: Any) -> None:
    path = ("vars", key) if index is None else ("vars", key, index)
    if isinstance(value, str):
        framed_text(submission, path, value, f'the value of "{key}"')
    elif value is None or isinstance(value, list | dict):
        submission.refuse(
            codes.INVALID_VARIABLE,
            path,
            f'the variable "{key}" holds text, a number, true or false, or a list of these',
        )


def _is_word(text: str) -> bool:
    return text.isascii() and text.isidentifier()
