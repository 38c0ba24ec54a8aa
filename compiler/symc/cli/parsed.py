"""Parsed files, kept in the cache: the same bytes need not be parsed twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from symc.cli.cache import Cache
from symc.cli.replay import fingerprint
from symc.manifest.checked import Checked, Manifests
from symc.source import Workspace

_ENTRY: Final = "parsed"
_MOST_MISSED: Final = 50
"""One file in so many may be missing before all are written again: writing costs as much as parsing these."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What of one workspace was parsed before.

    ``data`` is the data of files by their path, ``hashes`` the SHA-256 of every file by its path.
    """

    cache: Cache
    hashes: Mapping[str, str]
    data: Mapping[str, dict[str, Any]]

    @classmethod
    def beside(cls, lock: Path, workspace: Workspace) -> Parsed:
        """What the cache beside the lock knows of these files."""
        cache = Cache(str(lock))
        hashes = {path: hashlib.sha256(content).hexdigest() for path, content in workspace.files.items()}
        try:
            kept = json.loads(cache.get(_ENTRY) or b"{}")
        except (ValueError, RecursionError):
            kept = {}
        found = {path: kept.get(digest) for path, digest in hashes.items()} if isinstance(kept, dict) else {}
        return cls(cache, hashes, {path: data for path, data in found.items() if isinstance(data, dict)})

    @property
    def fingerprint(self) -> str:
        """One hash for all files."""
        return fingerprint(self.hashes)

    def keep(self, manifests: Manifests) -> None:
        """Put aside the data of every manifest that was accepted, unless nearly all of it is there."""
        from pydantic_core import to_json

        accepted: list[Checked[Any]] = [*manifests.agents.values(), *manifests.extensions.values()]
        if manifests.workspace is not None:
            accepted.append(manifests.workspace)
        documents = [one.document for one in accepted]
        missed = sum(document.path not in self.data for document in documents)
        if missed * _MOST_MISSED > len(documents):
            data = {self.hashes[document.path]: document.data for document in documents}
            self.cache.put(_ENTRY, to_json(data))
