"""The sides of a comparison: a file, a commit, standard input, or the working tree compiled (docs/diff.md)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from symc.cli.beside import read_beside
from symc.cli.project import LOCK_NAME, Project, beside, compile_project
from symc.cli.reporting import Reporter
from symc.cli.repository import GitError, Repository

if TYPE_CHECKING:
    from symc.composition import Lock
    from symc.diagnostics import Diagnostic

ACCEPT_NAME: Final = "symc.accept.yaml"


class CouldNotCompareError(Exception):
    """A side cannot be read; the message says why in one line, ``diagnostics`` in full."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        diagnostics: tuple[Diagnostic, ...] = (),
        sources: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.diagnostics = diagnostics
        self.sources = sources or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One opened side: its lock, the bytes of its acceptances, and, of a working tree, what it was compiled from.

    ``acceptances`` is None where there is no such file; ``knows_acceptances`` is False for a side whose history is not
    known, so that it cannot be said which acceptances are merged.
    """

    said: str
    lock: Lock = field(repr=False)
    acceptances: bytes | None = None
    knows_acceptances: bool = True
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """Opens sides for the workspace folder of a command."""

    folder: Path
    base: str
    reporter: Reporter

    def old(self, word: str | None) -> Side:
        """The old side: what the user named, else the merge-base with the base branch."""
        if word is not None:
            return self._named(word)
        repository = self._repository()
        try:
            commit = repository.merge_base(self.base)
        except GitError as error:
            raise CouldNotCompareError(str(error), error.hint) from None
        return self._commit(f"the merge-base with {self.base} ({commit[:12]})", commit)

    def new(self, word: str | None) -> Side:
        """The new side: what the user named, else the working tree, compiled."""
        return self._working_tree() if word is None else self._named(word)

    def _working_tree(self) -> Side:
        try:
            project = compile_project(self.folder, self.reporter)
        except click.exceptions.Exit:  # the reason is said already
            raise CouldNotCompareError(f'the workspace folder "{self.folder}" cannot be read') from None
        if not project.ok or project.compilation.lock is None:
            errors = tuple(project.diagnostics)
            raise CouldNotCompareError(
                f"the working tree does not compile: {project.counts()}", "", errors, project.sources
            )
        return Side(
            said="the working tree",
            lock=project.compilation.lock,
            acceptances=_acceptances(self._beside()),
            project=project,
        )

    def _named(self, word: str) -> Side:
        if word == "-":
            return Side(
                said="standard input", lock=_loaded(sys.stdin.buffer.read(), "-"), knows_acceptances=False
            )
        path = Path(word)
        there = path.exists() and not path.is_dir()
        commit = self._commit_of(word)
        if there and commit is not None:
            raise CouldNotCompareError(
                f'"{word}" is a file and a commit', f"write ./{word} for the file, or refs/heads/{word}"
            )
        if there:
            return self._file(path)
        if commit is not None:
            return self._commit(word, commit)
        raise self._nothing_of(word, path)

    def _commit_of(self, word: str) -> str | None:
        try:
            return self._repository().commit(word)
        except GitError:
            return None

    def _nothing_of(self, word: str, path: Path) -> CouldNotCompareError:
        """What is wrong with a word that names no side, and the next step."""
        from symc.diagnostics.suggest import did_you_mean

        if path.is_dir():
            return CouldNotCompareError(
                f'"{word}" is a folder, and a side is a lock or a commit',
                f"a workspace folder is compiled as the new side: symc diff HEAD -w {word}",
            )
        message, hint = f'"{word}" is neither a file nor a commit of this repository', ""
        if word.endswith((".lock", ".json")) or word.startswith(("/", "./", "../", "~")):
            message = f'there is no file "{word}"'  # no branch is called so
            hint = "write a lock with symc compile, or name a commit: symc diff HEAD"
        near = {one: path.with_name(one).as_posix() for one in _locks_in(path.parent)}
        try:
            repository = self._repository()
            if repository.is_there():
                branches = repository.branches()
                near |= {one.partition("/")[2]: one for one in branches} | {one: one for one in branches}
                shallow = "the clone is shallow: in CI, check out with fetch-depth: 0"
                hint = hint or (
                    shallow if repository.is_shallow() else "git log lists the commits that are here"
                )
            else:
                hint = hint or "this is no git repository: compare two locks: symc diff OLD NEW"
        except GitError as error:
            hint = hint or f"{error}: {error.hint}"
        # The branch of another clone is here under the name of its remote.
        nearest = word if word in near else did_you_mean(path.name, near) or did_you_mean(word, near)
        return CouldNotCompareError(message, f'did you mean "{near[nearest]}"?' if nearest else hint)

    def _file(self, path: Path) -> Side:
        from symc.lock import LockError, file

        try:
            lock = file.load(path)
        except LockError as error:
            raise _refused(error) from None
        return Side(
            said=path.as_posix(),
            lock=lock,
            acceptances=_acceptances(path.parent),
            knows_acceptances=False,
        )

    def _commit(self, said: str, commit: str) -> Side:
        repository = self._repository()
        content = repository.show(commit, LOCK_NAME)
        if content is None:
            where = (self._beside() / LOCK_NAME).as_posix()
            raise CouldNotCompareError(
                f"{said} has no {where}",
                "commit a lock first: symc compile; the next change can then be compared",
            )
        return Side(
            said=said,
            lock=_loaded(content, f"{said}:{LOCK_NAME}"),
            acceptances=repository.show(commit, ACCEPT_NAME),
        )

    def _repository(self) -> Repository:
        return Repository(self._beside())

    def _beside(self) -> Path:
        """The folder that holds the workspace folder, the lock and the acceptances."""
        return beside(self.folder).parent


def _locks_in(folder: Path) -> list[str]:
    try:
        return sorted(one.name for one in folder.iterdir() if one.suffix in (".lock", ".json"))
    except OSError:
        return []


def _loaded(content: bytes, name: str) -> Lock:
    from symc.lock import LockError, loads

    try:
        return loads(content, file=name)
    except LockError as error:
        raise _refused(error) from None


def _refused(error: Exception) -> CouldNotCompareError:
    diagnostics: tuple[Diagnostic, ...] = getattr(error, "diagnostics", ())
    return CouldNotCompareError(diagnostics[0].message, "", diagnostics)


def _acceptances(folder: Path) -> bytes | None:
    path = folder / ACCEPT_NAME
    try:
        return read_beside(path)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise CouldNotCompareError(f"{path}: {reason}") from None
