"""Compose: typed manifests → compositions; one module per stage, :mod:`symc.compose.pipeline` reads aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.compose.pipeline import Compilation, compile  # what it does

__all__ = ["Compilation", "compile"]


def __getattr__(name: str) -> Any:
    # A stage can be imported without all the others.
    if name in __all__:
        from symc.compose import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
