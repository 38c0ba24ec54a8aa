"""``.symc_cache/`` beside the lock: what an earlier compile found out, for a later one to be faster (docs/performance.md).

It is never trusted for correctness: an entry counts only whole, with its checksum, and as written by the very code that
reads it, in the very file it was written to; what it says is keyed by the bytes it was made from. A checksum is no proof
of who wrote: what came with a commit or an archive is therefore told by its file, which has another number and time than
the one that its first line names. Everything else is no entry, and no error.

Looked at before anything else is imported: no typing, no pathlib, no json, which cost as much as hashing 500 files.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time

from symc._version import VERSION

NAME = ".symc_cache"
_LARGEST = 512 * 2**20
_LONGEST_HEAD = 500
_READ = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")
)
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
            if os.path.islink(self.folder):
                return None
            with open(os.open(path, _READ), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                    return None
                written, _, checksum = file.readline(_LONGEST_HEAD).rpartition(b" ")
                if written != _head(name, status):
                    return None
                body = file.read(_LARGEST)
        except OSError:
            return None
        return body if checksum == _checksum(body) else None

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
                    # What the file system made of now: it may count in steps of a second.
                    now = time.time_ns()
                    os.utime(temporary, ns=(now, now))
                    status = os.fstat(file.fileno())
                    file.write(_head(name, status) + b" " + _checksum(value))
                    file.write(value)
                os.utime(temporary, ns=(status.st_mtime_ns, status.st_mtime_ns))
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)
        except OSError:
            pass  # a cache that cannot be kept costs time, and nothing else


def _head(name: str, status: os.stat_result) -> bytes:
    """What an entry begins with: who wrote it, what it is, and which file of this machine it was written to."""
    file = f"{status.st_dev:x}:{status.st_ino:x}:{status.st_mtime_ns:x}"
    return f"symc {VERSION} {_code()} {name} {file}".encode()


def _checksum(body: bytes) -> bytes:
    return b"sha256:%s\n" % hashlib.sha256(body).hexdigest().encode()


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
