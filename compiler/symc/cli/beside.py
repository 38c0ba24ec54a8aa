"""Files that stand beside the lock and are committed with it: whoever writes a branch chooses what they are."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from symc.lock.file import leads_out, opened

LARGEST: Final = 64 * 2**20
"""Bytes that are read at most, as of a file of the workspace."""


def read_beside(path: Path) -> bytes | None:
    """The bytes of the file, None where there is none; raises ``OSError`` for what is not to be read.

    That is a link out of the repository, of whose target nothing is shown (docs/policies.md §8), a pipe, a device, a
    folder, and a file of more than `LARGEST` bytes.
    """
    if not os.path.lexists(path):
        return None
    if leads_out(path):
        raise OSError(errno.EPERM, "it is a link that leads out of the repository")
    with opened(path, LARGEST) as file:
        return file.read(LARGEST)
