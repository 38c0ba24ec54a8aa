"""``timeout``: a call that takes too long is cancelled, and is an error (docs/extending.md)."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import Any

from symc.contracts import LayerCallable

__all__ = ["timeout"]


def timeout(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that gives a call `seconds`; TimeoutError after them.

    The call is cancelled as asyncio cancels: code that blocks its loop is not stopped by it. A backend's `timeout` is.
    """
    seconds = config.get("seconds", 30)

    @functools.wraps(func)
    async def limited(**arguments: Any) -> str:
        try:
            async with asyncio.timeout(seconds) as limit:
                return await func(**arguments)
        except TimeoutError as error:
            if not limit.expired():  # the tool's own
                raise
            raise TimeoutError(f"no answer within {seconds:g} s") from error

    return limited
