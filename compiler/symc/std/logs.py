"""Where log lines go: the logger that ``audit`` writes to, and the stderr of a worker."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["AUDIT", "log_to_stderr", "shown_on_stderr"]

AUDIT: Final = "symc.audit"
"""The name of the standard logger that gets the lines of ``audit``; where they go is the operator's choice."""


def log_to_stderr() -> None:
    """Write what this process logs to stderr: warnings of anyone, and every line of ``audit``."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger(AUDIT).setLevel(logging.DEBUG)


@contextmanager
def shown_on_stderr() -> Iterator[None]:
    """Write every line of ``audit`` to stderr meanwhile, and nowhere else."""
    logger = logging.getLogger(AUDIT)
    handler = logging.StreamHandler(sys.stderr)
    before = (logger.level, logger.propagate)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.setLevel(before[0])
        logger.propagate = before[1]
        logger.removeHandler(handler)
