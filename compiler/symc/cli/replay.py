"""Nothing changed: ``symc compile`` says again what it said, after a look at every byte that this depends on.

It is what a pre-commit hook runs, mostly on what was compiled before. The files and the lock are hashed, nothing is
parsed, and of symc next to nothing is imported. Whatever is in doubt — a link, an option, another lock — is compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys

from symc.cli.cache import Cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENDINGS = (".yaml", ".yml", ".md", ".txt", ".json")
"""Those of :mod:`symc.source.workspace`, which takes too long to import."""

_ENTRY = "compiled"
_PIECE = 2**18


class _DoubtError(Exception):
    """Something in the folder that a compile must look at."""


def replay(arguments: Sequence[str]) -> bool:
    """Answer ``symc compile ARGUMENTS`` from the cache, on stderr; False when only a compile can tell."""
    options = [each for each in arguments if each.startswith("-")]
    folders = [each for each in arguments if not each.startswith("-")] or ["manifests"]
    if len(folders) > 1 or not {"-q", "--quiet"}.issuperset(options) or ".." in folders[0]:
        return False
    folder = os.path.normpath(folders[0])
    try:
        lock = _beside(folder)
        said = (Cache(lock).get(_ENTRY) or b"").split(b"\n", 3)
        if len(said) < 4 or said[0] != _asked(folder, quiet=bool(options)) or not os.path.isfile(lock):
            return False
        if said[1] != fingerprint(_hashes(folder)).encode() or said[2] != _hash_of(lock).encode():
            return False
    except (OSError, _DoubtError):
        return False
    sys.stderr.write(said[3].decode(errors="replace"))
    return True


def remember(folder: str, files: str, lock: bytes, text: str, *, quiet: bool) -> None:
    """Keep what there is to say, ``text``, when files of this fingerprint and a lock of these bytes are met again."""
    # What is said in forced colors depends on more than is asked here; a path with ".." is spelt in more ways than one.
    if os.environ.get("FORCE_COLOR") or ".." in folder:
        return
    written = hashlib.sha256(lock).hexdigest()
    said = b"\n".join((_asked(folder, quiet=quiet), files.encode(), written.encode(), text.encode()))
    Cache(_beside(folder)).put(_ENTRY, said)


def fingerprint(hashes: Mapping[str, str]) -> str:
    """One hash for all files of a workspace: their paths, and the hash of the bytes of each."""
    lines = "".join(f"{hashes[path]} {path}\0" for path in sorted(hashes))
    return hashlib.sha256(os.fsencode(lines)).hexdigest()


def _beside(folder: str) -> str:
    around = os.path.dirname(os.getcwd() if folder == os.curdir else folder)
    return os.path.join(around, "symc.lock")


def _asked(folder: str, *, quiet: bool) -> bytes:
    """One line with what else it depends on: where, about what, and how is it asked."""
    color = (sys.stderr.isatty(), os.environ.get("NO_COLOR"), os.environ.get("FORCE_COLOR"))
    return repr((os.getcwd(), folder, quiet, *color)).encode("utf-8", "backslashreplace")


def _hashes(folder: str) -> dict[str, str]:
    """The hash of each file of a workspace by its path; `_DoubtError` where it is not just folders and files."""
    found: dict[str, str] = {}
    todo = [(folder, "")]
    while todo:
        real, prefix = todo.pop()
        with os.scandir(real) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    continue
                is_named_file = name.endswith(ENDINGS)
                if entry.is_dir(follow_symlinks=False) and not is_named_file:
                    todo.append((entry.path, f"{prefix}{name}/"))
                elif entry.is_file(follow_symlinks=False):
                    if is_named_file:
                        found[prefix + name] = _hash_of(entry.path)
                    elif name.lower().endswith((".yaml", ".yml")):
                        raise _DoubtError
                elif is_named_file or entry.is_symlink():
                    raise _DoubtError
    return found


def _hash_of(path: str) -> str:
    whole = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            whole.update(piece)
    return whole.hexdigest()
