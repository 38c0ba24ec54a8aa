"""Paths in a manifest: relative to it, `/` only, inside the workspace (docs/policies.md §8)."""

from __future__ import annotations

import posixpath

from symc.diagnostics import Hint
from symc.diagnostics.codes import reading
from symc.diagnostics.codes import shape as codes
from symc.manifest import words
from symc.manifest.keys import Path
from symc.manifest.submission import Submission


def resolved(submission: Submission, path: Path, file: str) -> str | None:
    """The workspace path of the file that is named at ``path``; None when it was refused.

    Nothing is looked at: whether there is such a file is said by what was read. Of a file outside nothing is shown.
    """
    if "\\" in file:
        slashed = file.replace("\\", "/")
        submission.refuse(
            codes.PATH_SEPARATOR,
            path,
            f"the path {words.shown(file)} has a backslash",
            hint=Hint(f"write {slashed}", submission.replacement(path, slashed)),
        )
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(submission.file), file))
    if file.startswith("/") or found == ".." or found.startswith("../"):
        submission.refuse(
            reading.PATH_ESCAPE,
            path,
            f"the path {words.shown(file)} leads out of the workspace",
            hint="keep the file in the workspace folder and name it relative to this manifest",
        )
        return None
    return found


def relative(path: str, manifest: str) -> str:
    """The workspace path as one writes it in ``manifest``."""
    # Not `posixpath.relpath`: it asks for the working folder.
    parts, base = path.split("/"), manifest.split("/")[:-1]
    while parts and base and parts[0] == base[0]:
        parts, base = parts[1:], base[1:]
    return "/".join([".."] * len(base) + parts)
