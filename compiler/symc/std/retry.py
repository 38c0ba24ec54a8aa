"""``retry``: a call that fails is made again, a few times, with growing pauses (docs/extending.md)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError

__all__ = ["retry"]


def retry(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that calls up to `attempts` times while the tool fails; the last error is the call's.

    The second call comes after `wait` seconds, each later one after twice the time before. What a gate refuses is
    refused: it is not asked again. A tool that acts may have acted before it failed, and acts again.
    """
    attempts = AsyncRetrying(
        retry=retry_if_exception(is_failure),
        stop=stop_after_attempt(config.get("attempts", 3)),
        wait=wait_exponential(multiplier=config.get("wait", 0.1)),
        reraise=True,
    )

    @functools.wraps(func)
    async def retried(**arguments: Any) -> str:
        return await attempts.copy()(functools.partial(func, **arguments))

    return retried


def is_failure(error: BaseException) -> bool:
    """Whether the tool failed; a gate that refuses, and a cancellation, are none of its failures."""
    if isinstance(error, RefusedError):
        return error.reason is Reason.TOOL_ERROR
    return isinstance(error, Exception)
