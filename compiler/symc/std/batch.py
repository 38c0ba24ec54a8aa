"""``batch``: several calls of a tool as one (docs/extending.md)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError

__all__ = ["batch"]


def batch(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer whose `calls` are made `concurrency` at a time, and answered in their order.

    One that fails or is refused is an entry with an `error`; the others go on. Each passes the gate of the tool inside.
    """
    concurrency = config.get("concurrency", 4)

    async def batched(calls: Sequence[Mapping[str, Any]]) -> str:
        free = asyncio.Semaphore(concurrency)

        async def entry(arguments: Mapping[str, Any]) -> dict[str, str]:
            async with free:
                try:
                    return {"result": await func(**arguments)}
                except RefusedError as refused:
                    return {"error": str(refused)}
                except Exception as error:
                    return {"error": f"{Reason.TOOL_ERROR}: {type(error).__name__}: {error}"}

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(entry(arguments)) for arguments in calls]
        return json.dumps({"results": [task.result() for task in tasks]}, ensure_ascii=False)

    return batched
