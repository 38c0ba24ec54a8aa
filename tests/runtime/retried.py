"""A tool of someone's own over what symc brings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symc.std.retry import retry

__all__ = ["find", "retry"]


async def find(arguments: Mapping[str, Any]) -> str:
    """What was asked for."""
    return str(arguments)
