"""The lock as a file: read it whole, replace it in one step (docs/lockfile.md §5)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from symc.composition import Lock
from symc.diagnostics import Code, Hint, Span
from symc.diagnostics.codes import locking
from symc.lock.errors import LockError
from symc.lock.reading import loads

LARGEST: Final = 512 * 2**20
"""Bytes of a lock that are read at most: a workspace of ten thousand manifests has a tenth of it."""

_PIECE: Final = 2**20
_READ: Final = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_CREATE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


def load(path: Path, *, inside: bool = False) -> Lock:
    """The lock in this file, as :func:`symc.lock.loads` gives it; raises ``LockError``.

    A link may lead anywhere, as those of a deployment do; of a target outside that is no lock, nothing is told.
    ``inside`` refuses a link out of the repository, as `write` does.
    """
    outside = leads_out(path)
    try:
        if not (outside and inside):
            return loads(read(path), file=path.as_posix())
    except LockError:
        if not outside:
            raise
    said = "it is a link that leads out of the repository" + ("" if inside else ", and to no lock")
    raise _refusal(locking.LOCK_UNREADABLE, path, said, "remove the link, and run: symc compile")


def read(path: Path) -> bytes:
    """The bytes of the lock; raises ``LockError`` for no file, no regular file, one too large, one that may not be read."""
    try:
        found = _regular_bytes(path)
    except FileNotFoundError:
        raise _refusal(locking.LOCK_MISSING, path, "there is no lock", "run: symc compile") from None
    except OSError as error:
        raise _refusal(locking.LOCK_UNREADABLE, path, _said(error), "run: symc compile") from None
    return found


def write(path: Path, text: str | bytes) -> bool:
    """Make the lock hold this text; True when the file was changed, False when it held the text already.

    The old lock stands, whole, until the new one does. A link is written through to its target inside the repository
    (docs/policies.md §8). Raises ``LockError`` when it cannot be done; then nothing has changed.
    """
    new = text.encode() if isinstance(text, str) else text
    try:
        target = _target(path)
        if holds(target, new):
            return False
        _replace(target, new)
    except OSError as error:
        hint = "make room, or allow writing there, and run: symc compile"
        raise _refusal(locking.LOCK_UNWRITABLE, path, _said(error), hint) from None
    return True


def holds(path: Path, content: bytes) -> bool:
    """Whether the file has exactly these bytes; False as well for what cannot be read, which is not what it shall be."""
    try:
        with opened(path) as file:
            if os.fstat(file.fileno()).st_size != len(content):
                return False
            at = 0
            while piece := file.read(_PIECE):  # a large lock need not be there twice
                if not content.startswith(piece, at):
                    return False
                at += len(piece)
            return at == len(content)
    except OSError:
        return False


def leads_out(path: Path) -> bool:
    """Whether this is a link out of the repository that holds it: out of the folder with ``.git``, or out of its own."""
    return path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(_repository(path))


def _regular_bytes(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(LARGEST)


@contextlib.contextmanager
def opened(path: Path, largest: int = LARGEST) -> Iterator[BinaryIO]:
    """The file to read, no larger than ``largest`` bytes; raises ``OSError`` for what is no regular file, or too large."""
    # Opened without blocking and looked at afterwards: a pipe must not make anyone wait, and no other file slips in.
    handle = os.open(path, _READ)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if status.st_size > largest:
            raise OSError(errno.EFBIG, f"it is larger than {largest >> 20} MiB")
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def _target(path: Path) -> Path:
    """The file to replace: the lock, or what its links lead to; raises ``OSError`` for what is not to be replaced."""
    target = path
    if path.is_symlink():
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, "it is a link that leads back to itself")
        if leads_out(path):
            # Nothing of the target is shown.
            raise OSError(errno.EPERM, "it is a link that leads out of the repository")
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file")
    return target


def _repository(path: Path) -> Path:
    """The folder with ``.git`` above the lock, or the lock's own folder."""
    folder = Path(os.path.realpath(path.parent))
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def _replace(target: Path, content: bytes) -> None:
    """L23: a new file beside the target, forced to the disk, takes its place in one step."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(beside, _CREATE, 0o666)  # the umask decides, as for any file
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(FileNotFoundError):
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, where the system knows how; without it, the old lock may come back, whole."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _said(error: OSError) -> str:
    return (error.strerror or "it cannot be used").lower()


def _refusal(code: Code, path: Path, reason: str, hint: str) -> LockError:
    file = path.as_posix()
    return LockError(code.at(Span(file), f"{file}: {reason}", hint=Hint(hint)))
