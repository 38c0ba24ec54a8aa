"""Variables of templates: plain words with scalars, or lists of scalars (docs/manifests.md §6)."""

from __future__ import annotations

from symc.contracts.names import EXTENSION_NAME
from symc.diagnostics import Hint
from symc.diagnostics.codes import shape as codes
from symc.manifest import words
from symc.manifest.keys import Path
from symc.manifest.model import Vars
from symc.manifest.submission import Submission
from symc.manifest.texts import framed_text
from symc.rendering import printed


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
            path = ("vars", key) if index is None else ("vars", key, index)
            if isinstance(item, str):
                framed_text(submission, path, item, f'the value of "{key}"')
            else:
                _as_written(submission, path, key, item)


def _as_written(submission: Submission, path: Path, key: str, value: float) -> None:
    """A number or truth value is put into a prompt as the lock spells it; so it must be written."""
    written, meant = submission.raw(path), printed(value)
    if written == meant or written.startswith("*"):  # an alias says nothing of how the value is written
        return
    kind = "truth value" if isinstance(value, bool) else "number"
    submission.refuse(
        codes.NOT_QUOTED,
        path,
        f'the value of "{key}" is written {written}, and the {kind} would be put into a prompt as {meant}',
        hint=Hint(f'quote it: "{written}"; or write {meant}', submission.replacement(path, f'"{written}"')),
    )


def _is_word(text: str) -> bool:
    return text.isascii() and text.isidentifier()
