"""``audit``: one structured log line for each call (docs/extending.md)."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Mapping
from typing import Any

import structlog

from symc.contracts import LayerCallable
from symc.runtime.gates import RefusedError
from symc.runtime.layers import given
from symc.runtime.sites import current_site
from symc.std.logs import AUDIT

__all__ = ["audit"]


def audit(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer that logs who called what, through which layers, how it ended and how long it took, as one JSON line.

    Values of arguments are logged only for the names in `arguments`; answers and the texts of errors never are.
    """
    site = current_site()
    level = logging.getLevelNamesMapping()[config.get("level", "info").upper()]
    shown = frozenset(config.get("arguments", ()))
    log = structlog.wrap_logger(
        logging.getLogger(AUDIT),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.add_log_level,
            structlog.processors.JSONRenderer(sort_keys=True, ensure_ascii=False),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        agent=site.agent,
        opened=site.opened,
        composition=site.digest,
        tool=site.tool,
        extension=site.extension,
        raw=site.raw,
        chain=list(site.chain),
    )

    @functools.wraps(func)
    async def audited(**arguments: Any) -> str:
        start = time.perf_counter()
        said: dict[str, Any] = {"outcome": "failed"}
        try:
            answer = await func(**arguments)
        except RefusedError as refused:
            said = {"outcome": "refused", "reason": str(refused.reason)}
            raise
        except asyncio.CancelledError:
            said = {"outcome": "cancelled"}
            raise
        except Exception as error:
            said = {"outcome": "failed", "error": type(error).__name__}
            raise
        else:
            said = {"outcome": "answered", "characters": len(answer)}
            return answer
        finally:
            values = {key: value for key, value in given(arguments).items() if key in shown}
            if values:
                said["arguments"] = values
            log.log(level, "tool call", seconds=round(time.perf_counter() - start, 6), **said)

    return audited
