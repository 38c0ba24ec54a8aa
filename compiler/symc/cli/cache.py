"""``.symc_cache/`` beside the lock: what an earlier compile found out, for a later one to be faster (docs/performance.md).

It is never trusted for correctness: an entry counts only whole, with its checksum, and as written by the very code that
reads it; what it says is keyed by the bytes it was made from. Everything else is no entry, and no error.

Looked at before anything else is imported: no typing, no pathlib, no json, which cost as much as hashing 500 files.
"""

from __future__ import annotations

import hashlib
import os

from symc._version import VERSION

NAME = ".symc_cache"
_LARGEST = 512 * 2**20
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Cache:
    """The entries beside one lock; safe to delete at any moment, and to share between compiles that overlap."""

    def __init__(self, lock: str) -> None:
        self.folder = os.path.join(os.path.dirname(lock), NAME)

    def get(self, name: str) -> bytes | None:
        """What was put under this name by this very symc; None for whatever is not exactly that."""
        path = os.path.join(self.folder, name)
        try:
            # A link leads out of what the workspace's owner sees; a pipe would make us wait.
            if os.path.islink(self.folder) or not os.path.isfile(path):
                return None
            with open(path, "rb") as file:
                head, _, body = file.read(_LARGEST).partition(b"\n")
        except OSError:
            return None
        return body if head == _head(name, body) else None

    def put(self, name: str, value: bytes) -> None:
        """Keep a value in one step; where nothing can be written, nothing is."""
        path = os.path.join(self.folder, name)
        temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            if os.path.islink(self.folder):
                return
            if not os.path.isdir(self.folder):
                os.mkdir(self.folder)
                with open(os.path.join(self.folder, ".gitignore"), "xb") as file:
                    file.write(b"*\n")
            try:
                with open(temporary, "xb") as file:
                    file.write(_head(name, value) + b"\n")
                    file.write(value)
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)
        except OSError:
            pass  # a cache that cannot be kept costs time, and nothing else


def _head(name: str, body: bytes) -> bytes:
    """The first line of an entry: who wrote it, what it is, and the checksum of the rest."""
    return f"symc {VERSION} {_code()} {name} sha256:{hashlib.sha256(body).hexdigest()}".encode()


def _code() -> str:
    """What tells two states of a checkout apart that bear one version: the latest change of any module."""
    latest = 0
    folders = [_PACKAGE]
    while folders:
        with os.scandir(folders.pop()) as found:
            for entry in found:
                if entry.name.endswith((".py", ".json", ".yaml")):
                    latest = max(latest, entry.stat().st_mtime_ns)
                elif not entry.name.startswith("__") and entry.is_dir():
                    folders.append(entry.path)
    return f"{latest:x}"
