"""What a stale lock is told: in which ways the lock is not what the manifests compile to (docs/lockfile.md §5, L20–L22)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from symc.cli.frame import ExitCode
from symc.cli.positions import positions
from symc.cli.project import Project

if TYPE_CHECKING:
    from symc.diagnostics import Diagnostic
    from symc.diff import Change, Comparison

_COULD_NOT: Final = frozenset({"lock-version-newer", "lock-version-unknown"})


@dataclass(frozen=True, slots=True)
class Stale:
    """Why a lock is not current: what is reported, and with which exit code the command ends."""

    diagnostic: Diagnostic
    exit_code: ExitCode


def staleness(project: Project, path: Path) -> Stale | None:
    """How the lock at ``path`` differs from what the project compiles to; None when its bytes are the same.

    Nothing is written or touched, and no cache is read (L22). The project compiled without errors.
    """
    from symc.diagnostics import Span
    from symc.diagnostics.codes import locking
    from symc.lock import LockError, encoded, file, verify

    assert project.compilation.lock is not None
    try:
        if file.holds(path, encoded(project.compilation.lock)):
            return None
        lock = file.load(path, inside=True)
        comparison = _compared(project, lock)
        if all(change.name == "provenance-only" for change in comparison.changes):
            verify(lock)  # where the manifests say nothing else, somebody wrote into the lock
    except LockError as error:
        diagnostic = error.diagnostics[0]
        # A lock of another version is not judged; everything else is a lock that says nothing of these manifests.
        code = ExitCode.COULD_NOT if diagnostic.name in _COULD_NOT else ExitCode.NOT_SO
        return Stale(diagnostic, code)
    message = f"{path} is out of date: {summary(comparison)} — {comparison.verdict}. Run: symc compile"
    diagnostic = locking.LOCK_STALE.at(
        Span(path.as_posix()), message
    )  # L21: the sentence holds the next step
    return Stale(diagnostic, ExitCode.NOT_SO)


def describe_change(project: Project, path: Path) -> str:
    """What writing the lock of the project to ``path`` changes, as text; what stands there may be anything."""
    from symc.diff.renderers import text
    from symc.lock import LockError, encoded, file

    assert project.compilation.lock is not None
    try:
        if file.holds(path, encoded(project.compilation.lock)):
            return "no changes\n"
        return text.render(_compared(project, file.load(path, inside=True)))
    except LockError as error:
        return text.could_not(error.diagnostics[0].message)


def summary(comparison: Comparison) -> str:
    """The changes in one line: one of them in words and with its place, the others counted by kind (L21)."""
    from symc.diff import wording

    if not comparison.changes:
        return "the same content in other bytes"
    told = _told(comparison)
    parts = [_in_words(told)]
    counts: dict[str, list[Change]] = {}
    for change in comparison.changes:
        if change is not told and not _is_echo(change, comparison):
            counts.setdefault(change.rule, []).append(change)
    parts += [wording.counted(changes[0], len(changes)) for changes in counts.values()]
    return "; ".join(wording.visible(part) for part in parts)


def _told(comparison: Comparison) -> Change:
    """The change that is told in words: an edit of a text, where an author looks first; else the gravest."""
    edits = [change for change in comparison.changes if change.name == "fragment-text-changed"]
    return (edits or list(comparison.changes))[0]


def _in_words(change: Change) -> str:
    from symc.diff import wording

    agents = tuple(dict.fromkeys(name.partition(":")[0] for name in change.touches))
    who = f"{wording.listed(agents)}: " if agents and not change.subject.startswith(agents[0]) else ""
    at = wording.where(change)
    return f"{who}{wording.sentence(change)}{f' ({at})' if at else ''}"


def _is_echo(change: Change, comparison: Comparison) -> bool:
    """Whether another change says the same from another side, so that the line need not."""
    if change.name in ("cache-prefix-broken", "provenance-only", "version-without-effect"):
        return any(other.name != change.name for other in comparison.changes)
    # A tool that is added is a grant, too; the verdict says that.
    if change.name in ("grant-widened", "grant-narrowed", "wildcard-captured"):
        return any(other.name in ("tool-added", "tool-removed") for other in comparison.changes)
    return False


def _compared(project: Project, lock: object) -> Comparison:
    from symc.composition import Lock
    from symc.diff import compare

    assert isinstance(lock, Lock)
    new = project.compilation.lock
    assert new is not None
    return compare(lock, new, levels=levels(project), locate=positions(project))


def levels(project: Project) -> dict[str, str]:
    """The levels that the workspace manifest gives to rules, by code or name."""
    workspace = project.compilation.manifests.workspace
    return {} if workspace is None else dict(workspace.body.rules)
