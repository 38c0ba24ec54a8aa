"""Files that stand beside the lock and are committed with it: whoever writes a branch chooses what they are."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from symc.lock.file import leads_out

LARGEST: Final = 64 * 2**20
"""Bytes that are read at most, as of a file of the workspace."""

_FLAGS: Final = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def read_beside(path: Path) -> bytes | None:
    """The bytes of the file, None where there is none; raises ``OSError`` for what is not to be read.

    That is a link out of the repository, of whose target nothing is shown (docs/policies.md §8), a pipe, a device, a
    folder, and a file of more than `LARGEST` bytes.
    """
    if not os.path.lexists(path):
        return None
    if leads_out(path):
        raise OSError(errno.EPERM, "it is a link that leads out of the repository")
    handle = os.open(path, _FLAGS)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if status.st_size > LARGEST:
            raise OSError(errno.EFBIG, "it is larger than 64 MiB")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(LARGEST)
    finally:
        os.close(handle)
