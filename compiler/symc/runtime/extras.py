"""Extras: which of symc's own parts need a package more, and the command that installs it."""

from __future__ import annotations

from types import TracebackType
from typing import Final

__all__ = ["extra_for", "installing", "needed_by"]

_CELERY: Final = frozenset({"amqp", "billiard", "celery", "kombu", "redis", "vine"})


def extra_for(package: str) -> str:
    """The extra of symc that brings this package to those who run agents."""
    return "celery" if package.partition(".")[0] in _CELERY else "runtime"


def installing(error: ModuleNotFoundError) -> str:
    """The command that installs what one of symc's own modules did not find."""
    return f'pip install "symc[{extra_for(error.name or "")}]"'


def needed_by(error: ModuleNotFoundError) -> str | None:
    """The module of symc whose own import failed for a package of others; None where it is another's import.

    To be asked where the error was caught: the frame that did so asked for a module by name, and needs none itself.
    Whoever imports `symc.std.retry` in code of their own meets the same lack as the lock that names it.
    """
    caught = error.__traceback__
    module = _raised_in(caught.tb_next if caught else None)
    package = (error.name or "").partition(".")[0]
    return module if module.startswith("symc.") and package not in ("", "symc") else None


def _raised_in(trace: TracebackType | None) -> str:
    """The module whose code asked for the import: the innermost frame that is not the machinery's."""
    module = ""
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in ("importlib", "_frozen_importlib", "_frozen_importlib_external"):
            module = name
        trace = trace.tb_next
    return module
