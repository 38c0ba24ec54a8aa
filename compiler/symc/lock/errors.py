"""The one exception of the lock package."""

from __future__ import annotations

from symc.diagnostics import Diagnostic


class LockError(Exception):
    """A lock that cannot be used, or not as it was asked; ``diagnostics`` say why and where, in report order.

    The spans name the lock by the file name it was read under, and places in it by line and column.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(one.message for one in diagnostics))
        self.diagnostics = diagnostics
