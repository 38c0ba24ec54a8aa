"""The built-in extension ``std``: its manifest is part of a lock version, as the template language is."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from symc.manifest.check import check
from symc.manifest.checked import Manifests
from symc.source import Workspace, parse

# Read with the package, as a module is: a compile itself reads nothing.
_TEXTS: Final = {1: resources.files("symc.std").joinpath("std.yaml").read_bytes()}

_PATH: Final = "symc:std.yaml"
"""What stands for its path: it lies in no workspace."""


@cache
def built_in(lock_version: int) -> Manifests:
    """The built-in manifests of a lock version; of an unknown one, the newest."""
    text = _TEXTS.get(lock_version, _TEXTS[max(_TEXTS)])
    manifests = check(parse(Workspace.of({_PATH: text})), built_in=True)
    assert not manifests.diagnostics, manifests.diagnostics
    return manifests
