"""``output_schema``: a tool that says what its answers look like, and is held to it (docs/extending.md)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from symc.contracts import LayerCallable

__all__ = ["output_schema"]


def output_schema(
    func: LayerCallable, name: str, description: str, config: Mapping[str, Any]
) -> LayerCallable:
    """A layer that passes answers on as they are.

    Its `schema` stands in the lock as the variant's output schema, so the gate of the variant holds every answer to it:
    one that is not JSON, or not of that form, is the call's error.
    """

    @functools.wraps(func)
    async def held(**arguments: Any) -> str:
        return await func(**arguments)

    return held
