"""The git repository around a lock: commits and the files in them, read without touching the working tree."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_USUAL_BASES: Final = ("origin/main", "origin/master")
"""Where a repository branches off, if it does not say so by ``origin/HEAD``."""


class GitError(Exception):
    """Git could not say; the message does, in one line, and ``hint`` the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Repository:
    """Git, asked in ``folder``; nothing is ever checked out, fetched or written."""

    folder: Path

    def commit(self, ref: str) -> str | None:
        """The commit that a name of a branch, a tag or an expression like ``HEAD~1`` leads to; None when none does."""
        if ref.startswith("-"):
            return None
        found = self._git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return found.stdout.decode().strip() if found.returncode == 0 else None

    def merge_base(self, base: str) -> str:
        """The newest commit that HEAD and ``base`` share; raises ``GitError`` when there is none to be found."""
        if not self.is_there():
            raise GitError("this is no git repository, so there is no base", "name OLD: symc diff OLD [NEW]")
        if self.commit("HEAD") is None:
            raise GitError(
                "this repository has no commit yet, so there is no base",
                "commit the lock first; the next change can then be compared",
            )
        commit = self.commit(base)
        if commit is None:
            raise GitError(
                f'there is no commit "{base}" here to find the base with', self._instead_of(base, found=False)
            )
        found = self._git("merge-base", "HEAD", commit)
        if found.returncode != 0:
            raise GitError(
                f'HEAD and "{base}" share no commit that is here', self._instead_of(base, found=True)
            )
        return found.stdout.decode().strip()

    def _instead_of(self, base: str, *, found: bool) -> str:
        """The next step where a base leads nowhere: true for this clone, whatever it has."""
        if self.is_shallow():
            return "the clone is shallow: in CI, check out with fetch-depth: 0"
        if found:
            return f"compare with that commit itself: symc diff {base}"
        nearest = next((one for one in _USUAL_BASES if one != base and self.commit(one) is not None), None)
        if nearest is not None:
            return f"name another base: symc diff --base {nearest}; or compare with the last commit: symc diff HEAD"
        return "compare with the last commit: symc diff HEAD"

    def is_there(self) -> bool:
        """Whether the folder is in a repository at all."""
        return self._git("rev-parse", "--git-dir").returncode == 0

    def is_shallow(self) -> bool:
        """Whether the clone lacks older commits."""
        return self._git("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def show(self, commit: str, name: str) -> bytes | None:
        """The bytes of a file of this folder in a commit; None when the commit does not have it."""
        found = self._git("show", f"{commit}:./{name}")
        return found.stdout if found.returncode == 0 else None

    def branches(self) -> list[str]:
        """The names of branches and tags, to find what was meant."""
        found = self._git(
            "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"
        )
        return found.stdout.decode("utf-8", "replace").split()

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603  # no shell, and a ref never starts with a dash
                ["git", *arguments],  # noqa: S607  # whichever git the user has
                cwd=self.folder,
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise GitError(
                "git is not installed", "install git, or compare two files: symc diff OLD NEW"
            ) from None
        except OSError as error:
            raise GitError(f"git cannot be asked: {(error.strerror or 'it failed').lower()}") from None
