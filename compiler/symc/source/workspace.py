"""A folder → the bytes of its files: the only module of the compiler that touches the world."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from symc.diagnostics import Diagnostic, Report, Span
from symc.diagnostics.codes import reading

ENDINGS: Final = (".yaml", ".yml", ".md", ".txt", ".json")
"""The endings of the files that belong to a workspace."""

MANIFEST_ENDINGS: Final = (".yaml", ".yml")
"""The endings of manifests."""


class WorkspaceError(Exception):
    """The workspace cannot be read at all; ``diagnostic`` says why. Commands exit 2."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class Workspace:
    """The input of a compile: bytes by POSIX path relative to the folder, in code-point order of the path.

    ``diagnostics`` says what of the folder could not be read.
    """

    files: Mapping[str, bytes]
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, files: Mapping[str, bytes], diagnostics: tuple[Diagnostic, ...] = ()) -> Workspace:
        """A workspace of values instead of a folder."""
        return cls(MappingProxyType({path: files[path] for path in sorted(files)}), diagnostics)


LARGEST_FILE: Final = 64 * 2**20
"""Bytes of one file that are read at most."""

MOST_LINKED_FOLDERS: Final = 1_000
"""Folders that are entered through links at most: a few links can spell endlessly many paths."""

_OPEN_FLAGS = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


def read(folder: Path) -> Workspace:
    """The files of ``folder``: every .yaml .yml .md .txt .json below it, without names that start with a dot.

    Links are followed inside the folder only; of what lies outside, nothing is read and nothing is shown. A pipe, a
    device, a folder with the name of a file, a link that loops, breaks or leads out is a diagnostic of the workspace
    (docs/policies.md §8). Raises `WorkspaceError` when the folder does not exist, when there is no manifest in it, or
    when something in it may not be read.
    """
    root = os.path.realpath(folder)
    if not os.path.isdir(root):  # noqa: PTH112  # a path of this module is a string: it may hold undecodable names
        said = "does not exist" if not os.path.lexists(folder) else "is not a folder"
        raise WorkspaceError(
            reading.NO_WORKSPACE.at(
                Span("."),
                f'the workspace folder "{folder}" {said}',
                hint="name the folder that holds the manifests, or run: symc init",
            )
        )
    workspace = _Walk(root).workspace()
    if not workspace.diagnostics and not any(path.endswith(MANIFEST_ENDINGS) for path in workspace.files):
        # Another folder was meant: an empty lock in the place of a full one would let everybody believe in it.
        raise WorkspaceError(
            reading.NO_WORKSPACE.at(
                Span("."),
                f'there is no manifest in the workspace folder "{folder}"',
                hint="name the folder that holds the manifests, or run: symc init",
            )
        )
    return workspace


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to visit: where it really is, the path that it has in the workspace, and the real folders around it."""

    real: str
    prefix: str
    around: tuple[str, ...] = ()
    linked: bool = False


class _Walk:
    """One visit of every folder below the root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._files: dict[str, bytes] = {}
        self._report = Report()
        self._todo = [_Folder(root, "")]
        self._linked = 0

    def workspace(self) -> Workspace:
        """What was found, once every folder is visited."""
        while self._todo:
            self._visit(self._todo.pop())
        return Workspace.of(self._files, self._report.diagnostics)

    def _visit(self, folder: _Folder) -> None:
        try:
            with os.scandir(folder.real) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise _unreadable(folder.prefix.rstrip("/") or ".", error) from error
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = folder.prefix + entry.name
            try:
                self._entry(entry, path, folder)
            except OSError as error:
                raise _unreadable(_printable(path), error) from error

    def _entry(self, entry: os.DirEntry[str], path: str, folder: _Folder) -> None:
        has_file_name = entry.name.endswith(ENDINGS)
        if entry.is_symlink():
            real = self._followed(entry.path, path, has_file_name=has_file_name)
            if real is None:
                return
            mode = os.lstat(real).st_mode
            is_folder, is_file = stat.S_ISDIR(mode), stat.S_ISREG(mode)
        else:
            real = entry.path
            is_folder, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
        if not (has_file_name or is_folder):
            if is_file and entry.name.lower().endswith(MANIFEST_ENDINGS):
                # Passed over without a word, its policies would be, too.
                self._report.add(
                    reading.FILE_NAME.at(
                        Span(_printable(path)),
                        f'the ending of "{_printable(entry.name)}" is not in small letters',
                        hint=f'rename it: "{_printable(_in_small_letters(entry.name))}"',
                    )
                )
            return
        if not _is_portable(path):
            self._report.add(
                reading.FILE_NAME.at(
                    Span(_printable(path)),
                    f'the name "{_printable(entry.name)}" is not portable',
                    hint="use UTF-8 without control characters, backslashes and colons",
                )
            )
        elif has_file_name and not is_file:
            kind = "a folder" if is_folder else "no regular file"
            self._report.add(
                reading.NOT_A_FILE.at(
                    Span(path), f'"{path}" is {kind} with the name of a file', hint="rename or remove it"
                )
            )
        elif is_folder:
            self._enter(real, path, folder, linked=folder.linked or entry.is_symlink())
        else:
            self._take(real, path)

    def _followed(self, link: str, path: str, *, has_file_name: bool) -> str | None:
        """What a link leads to, if that is inside; reports the link if it matters where it leads."""
        try:
            real = os.path.realpath(link, strict=True)
        except OSError as error:
            real = os.path.realpath(link)
            if self._is_inside(real):  # of a target outside, not even this is told
                if error.errno == errno.ELOOP:
                    said = f'the link "{path}" leads back to itself'
                    self._report.add(reading.LINK_LOOP.at(Span(path), said, hint="remove the link"))
                elif error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    raise
                elif has_file_name:
                    said = f'the link "{path}" points at nothing'
                    self._report.add(reading.BROKEN_LINK.at(Span(path), said, hint="remove the link"))
                return None
        if self._is_inside(real):
            return real
        if has_file_name or os.path.isdir(real):  # noqa: PTH112
            self._report.add(
                reading.PATH_ESCAPE.at(
                    Span(path),
                    f'the link "{path}" leads out of the workspace',
                    hint="copy what it points at into the workspace",
                )
            )
        return None

    def _is_inside(self, real: str) -> bool:
        # With the separator: a sibling folder whose name begins with ours is outside.
        return real == self._root or real.startswith(os.path.join(self._root, ""))  # noqa: PTH118

    def _enter(self, real: str, path: str, folder: _Folder, *, linked: bool) -> None:
        around = (*folder.around, folder.real)
        if linked:
            self._linked += 1
            if real in around:
                self._report.add(
                    reading.LINK_LOOP.at(
                        Span(path),
                        f'the link "{path}" leads back to a folder that holds it',
                        hint="remove the link",
                    )
                )
                return
            if self._linked > MOST_LINKED_FOLDERS:
                if self._linked == MOST_LINKED_FOLDERS + 1:
                    self._report.add(
                        reading.TOO_MANY_LINKS.at(
                            Span(path),
                            f"more than {MOST_LINKED_FOLDERS} folders are reached through links",
                            hint="remove the links to folders",
                        )
                    )
                return
        self._todo.append(_Folder(real, path + "/", around, linked))

    def _take(self, real: str, path: str) -> None:
        descriptor = os.open(real, _OPEN_FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):  # it was one a moment ago
                raise OSError(errno.EINVAL, "not a regular file")
            if status.st_size > LARGEST_FILE:
                said = f'"{path}" is larger than 64 MiB'
                hint = "split it, or move it out of the workspace"
                self._report.add(reading.FILE_TOO_LARGE.at(Span(path), said, hint=hint))
                return
            self._files[path] = os.read(descriptor, status.st_size)
        finally:
            os.close(descriptor)


def _in_small_letters(name: str) -> str:
    stem, _, ending = name.rpartition(".")
    return f"{stem}.{ending.lower()}"


def _is_portable(path: str) -> bool:
    # The colon is a drive or a stream elsewhere, and marks symc's own files here.
    return "\\" not in path and ":" not in path and path.isprintable()


def _printable(path: str) -> str:
    """A path for a message: bytes that are no UTF-8 and control characters as escapes."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def _unreadable(path: str, error: OSError) -> WorkspaceError:
    said = (error.strerror or "input/output error").lower()
    return WorkspaceError(
        reading.UNREADABLE_FILE.at(
            Span(path), f'"{path}" cannot be read: {said}', hint="change its permissions"
        )
    )
