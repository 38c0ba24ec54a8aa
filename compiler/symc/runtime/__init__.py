"""The runtime: what loads a lock and runs an agent (docs/contracts.md §2 and §3).

    from symc.runtime import load

    async with load("symc.lock").open("support", provider=...) as agent: ...

Its modules are imported one by one; this package imports none of them before it is asked, so that `symc.Agent` costs its
own chain only (F-02).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symc.runtime.diagnosed import DiagnosedError
    from symc.runtime.loading import LoadedLock, load

__all__ = ["DiagnosedError", "LoadedLock", "load"]

_HOMES = {
    "DiagnosedError": "symc.runtime.diagnosed",
    "LoadedLock": "symc.runtime.loading",
    "load": "symc.runtime.loading",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
