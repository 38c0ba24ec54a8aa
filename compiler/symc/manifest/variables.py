"""Variables of templates: plain words with scalars, or lists of scalars (docs/manifests.md §6)."""

from __future__ import annotations

from symc.contracts.names import EXTENSION_NAME
from symc.diagnostics.codes import shape as codes
from symc.manifest import words
from symc.manifest.model import Vars
from symc.manifest.submission import Submission
from symc.manifest.texts import framed_text


def check_vars(submission: Submission, variables: Vars, *, qualified: bool) -> None:
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
        # Values are of the right type: the models say which there are.
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if isinstance(item, str):
                path = ("vars", key) if index is None else ("vars", key, index)
                framed_text(submission, path, item, f'the value of "{key}"')


def _is_word(text: str) -> bool:
    return text.isascii() and text.isidentifier()
