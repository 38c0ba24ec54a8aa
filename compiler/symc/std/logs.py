"""Where log lines go: the logger that ``audit`` writes to, and the stderr of a worker."""

from __future__ import annotations

import logging
import sys
from typing import Final

__all__ = ["AUDIT", "log_to_stderr"]

AUDIT: Final = "symc.audit"
"""The name of the standard logger that gets the lines of ``audit``; where they go is the operator's choice."""


def log_to_stderr() -> None:
    """Write what this process logs to stderr: warnings of anyone, and every line of ``audit``."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger(AUDIT).setLevel(logging.DEBUG)
