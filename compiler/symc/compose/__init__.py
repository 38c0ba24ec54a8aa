"""Compose: typed manifests → compositions; one module per stage, :mod:`symc.compose.pipeline` reads aloud."""

from symc.compose.pipeline import Compilation, compile  # noqa: A004  # the stage's own word

__all__ = ["Compilation", "compile"]
