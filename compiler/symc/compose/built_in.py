"""The built-in extension ``std``: its manifest is part of a lock version, as the template language is."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from symc.diagnostics.record import BUILT_IN
from symc.manifest.check import check
from symc.manifest.checked import Manifests
from symc.source import Workspace, parse

# Read with the package, as a module is: a compile itself reads nothing.
_TEXTS: Final = {1: resources.files("symc.std").joinpath("std.yaml").read_bytes()}

LOCK_VERSIONS: Final = frozenset(_TEXTS)
"""The lock versions that this release can write."""

_PATH: Final = f"{BUILT_IN}std.yaml"
"""What stands for its path: it lies in no workspace."""


@cache
def built_in(lock_version: int) -> Manifests:
    """The built-in manifests of one of ``LOCK_VERSIONS``."""
    manifests = check(parse(Workspace.of({_PATH: _TEXTS[lock_version]})), built_in=True)
    assert not manifests.diagnostics, manifests.diagnostics
    return manifests
