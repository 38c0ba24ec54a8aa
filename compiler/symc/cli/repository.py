"""The git repository around a lock: commits and the files in them, read without touching the working tree."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


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
        if self._git("rev-parse", "--git-dir").returncode != 0:
            raise GitError("this is no git repository, so there is no base", "name OLD: symc diff OLD [NEW]")
        hint = "in CI, check out with fetch-depth: 0; or name another base: symc diff --base origin/main"
        commit = self.commit(base)
        if commit is None:
            raise GitError(f'there is no commit "{base}" here to find the base with', hint)
        found = self._git("merge-base", "HEAD", commit)
        if found.returncode != 0:
            raise GitError(f'HEAD and "{base}" share no commit that is here', hint)
        return found.stdout.decode().strip()

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
