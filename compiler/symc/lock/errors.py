"""The one exception of the lock package."""

from __future__ import annotations

from symc.diagnostics import Diagnostic

RECOMPILE = "run: symc compile"


def look_first(file: str) -> str:
    """The next step where the lock is not what was compiled: who compiles at once overwrites what shows the change."""
    return f"look first, with: git diff {file} — then restore it; if the manifests changed on purpose, {RECOMPILE}"


class LockError(Exception):
    """A lock that cannot be used, or not as it was asked; ``diagnostics`` say why and where, in report order.

    The spans name the lock by the file name it was read under, and places in it by line and column.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(one.message for one in diagnostics))
        self.diagnostics = diagnostics
