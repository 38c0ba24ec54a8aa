"""The table of codes: one module per hundred, one ``Code`` per mistake, never reused."""

from __future__ import annotations

from symc.diagnostics.codes import (
    composition,
    internal,
    locking,
    pins,
    policies,
    reading,
    references,
    running,
    shape,
)
from symc.diagnostics.record import Code

_MODULES = (reading, shape, references, composition, policies, pins, locking, running, internal)

TABLE: tuple[Code, ...] = tuple(
    sorted(
        (row for module in _MODULES for row in vars(module).values() if isinstance(row, Code)),
        key=lambda row: row.code,
    )
)
"""Every code, ordered by number."""


def find(code_or_name: str) -> Code | None:
    """The row with this code (``SYM301``, any case) or this name (``tool-name-collision``), else None."""
    wanted = code_or_name.strip()
    for row in TABLE:
        if row.code == wanted.upper() or row.name == wanted.lower():
            return row
    return None
