"""``proxy``: what the body sends into the network goes through an egress proxy (docs/extending.md)."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final

from symc.contracts import LayerCallable
from symc.runtime.gates import Reason, RefusedError
from symc.runtime.sites import current_site

__all__ = ["proxy"]

_PROXIED: Final = ("http_proxy", "https_proxy", "all_proxy")
_DIRECT: Final = "no_proxy"
_PAUSE: Final = 0.01
"""Seconds between two looks whether the environment is free for another proxy."""

Settings = tuple[tuple[str, str | None], ...]


def proxy(func: LayerCallable, name: str, description: str, config: Mapping[str, Any]) -> LayerCallable:
    """A layer whose calls run with the environment variables that name `url` as the proxy for everything but `no_proxy`.

    The environment belongs to the whole process: while a call runs, all of the process has this proxy, and a call with
    another one waits. Put a backend outside of it, and the process is the call's own. It reaches clients that are made
    during the call and read the environment, as urllib, httpx and requests do, and programs that are started by it. A
    tool of an MCP server runs in the server, which this cannot reach: such a layer refuses to start.
    """
    if current_site().served:
        raise ValueError("the tool runs in its MCP server; set the proxy in the `env` of that server")
    url, direct = config["url"], ",".join(config.get("no_proxy", ()))
    settings: Settings = (*[(key, url) for key in _PROXIED], (_DIRECT, direct or None))

    @functools.wraps(func)
    async def proxied(**arguments: Any) -> str:
        async with _ENVIRONMENT.held(settings):
            return await func(**arguments)

    return proxied


class _Environment:
    """The proxy variables of this process: set while calls run under them, and as they were when none does.

    One for the process, because there is one environment: threads and loops share it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settings: Settings | None = None
        self._calls = 0
        self._before: dict[str, str | None] = {}

    @asynccontextmanager
    async def held(self, settings: Settings) -> AsyncIterator[None]:
        """The variables as these settings want them, while the block lasts; waits for calls under other ones."""
        outer = _current.get()
        if outer not in (None, settings):
            # Waiting for the outer call from inside it would never end.
            raise RefusedError(Reason.TOOL_ERROR, "a call under one proxy cannot use another one")
        while not self._entered(settings):
            await asyncio.sleep(_PAUSE)
        token = _current.set(settings)
        try:
            yield
        finally:
            _current.reset(token)
            self._leave()

    def _entered(self, settings: Settings) -> bool:
        with self._lock:
            if self._calls and self._settings != settings:
                return False
            if not self._calls:
                spelled = [(form, value) for key, value in settings for form in (key, key.upper())]
                self._before = {key: os.environ.get(key) for key, _ in spelled}
                self._settings = settings
                _set(dict(spelled))
            self._calls += 1
            return True

    def _leave(self) -> None:
        with self._lock:
            self._calls -= 1
            if not self._calls:
                _set(self._before)


def _set(variables: Mapping[str, str | None]) -> None:
    for key, value in variables.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value


_ENVIRONMENT: Final = _Environment()
_current: ContextVar[Settings | None] = ContextVar("symc_proxy", default=None)
