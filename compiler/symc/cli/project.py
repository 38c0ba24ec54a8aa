"""The project a command works on: the workspace folder, its compilation, and the lock beside it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symc.cli.frame import ExitCode
from symc.cli.reporting import Reporter
from symc.diagnostics import Diagnostic, Level

if TYPE_CHECKING:
    from symc.compose import Compilation

DEFAULT_FOLDER = "manifests"
LOCK_NAME = "symc.lock"
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One compiled workspace as a command sees it; paths in diagnostics are as the user would type them."""

    folder: Path
    prefix: str
    compilation: Compilation
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str | None = None
    """The hash of all files, where the cache took part."""

    @property
    def lock_path(self) -> Path:
        """``symc.lock`` beside the workspace folder."""
        return beside(self.folder)

    @property
    def ok(self) -> bool:
        """True when no error was found."""
        return not any(d.level is Level.ERROR for d in self.diagnostics)

    def counts(self) -> str:
        """``3 agents, 41 fragments, 2 errors``: what the last line on stderr says."""
        manifests = self.compilation.manifests
        agents = sum(not agent.body.abstract for agent in manifests.agents.values())
        parts = [counted(agents, "agent"), counted(len(manifests.extensions), "extension")]
        for level, word in ((Level.ERROR, "error"), (Level.WARN, "warning")):
            found = sum(d.level is level for d in self.diagnostics)
            if found:
                parts.append(counted(found, word))
        return ", ".join(parts)


def workspace_option(command: _Command) -> _Command:
    """Add ``--workspace DIR`` for commands whose argument is something else."""
    return click.option(
        "--workspace",
        "-w",
        "folder",
        type=click.Path(path_type=Path),
        default=DEFAULT_FOLDER,
        show_default=True,
        help="Folder of manifests.",
    )(command)


def beside(folder: Path) -> Path:
    """The lock of a workspace folder: in the folder that holds it."""
    return folder.resolve().parent / LOCK_NAME if folder.name in ("", "..") else folder.parent / LOCK_NAME


def compile_project(folder: Path, reporter: Reporter, *, cached: bool = False) -> Project:
    """Read and compile ``folder``; nothing is reported yet. ``cached``: files that were parsed before need not be again.

    A folder that cannot be read at all is reported here, and ends the command with exit code 2.
    """
    from symc.cli.parsed import Parsed
    from symc.compose import compile as compile_workspace
    from symc.source import WorkspaceError, read

    prefix = prefix_of(folder)
    with uncollected():
        try:
            workspace = read(folder)
        except WorkspaceError as error:
            fault = error.diagnostic
            reporter.diagnostics([fault], {}, ok=False, reason=fault.message)
            raise click.exceptions.Exit(ExitCode.COULD_NOT) from None
        parsed = Parsed.beside(beside(folder), workspace) if cached else None
        compilation = compile_workspace(
            workspace, diff_rules=_diff_rules, parsed={} if parsed is None else parsed.data
        )
        if parsed is not None:
            parsed.keep(compilation.manifests)
    reporter.detail(f"read {counted(len(workspace.files), 'file')} below {folder}")
    return Project(
        folder=folder,
        prefix=prefix,
        compilation=compilation,
        diagnostics=tuple(d.relocated(prefix) for d in compilation.diagnostics),
        sources={prefix + path: text for path, text in compilation.texts.items()},
        fingerprint=None if parsed is None else parsed.fingerprint,
    )


def _diff_rules() -> Mapping[str, tuple[str, ...]]:
    """Imported when a workspace sets levels: most do not."""
    from symc.diff.reference import levels

    return levels()


def require_lock(project: Project, reporter: Reporter, consequence: str) -> None:
    """Report the diagnostics of a compile; with an error among them the command ends here with exit code 1."""
    if project.ok:
        reporter.diagnostics(project.diagnostics, project.sources, ok=True)
        return
    line = f"{project.counts()} — {consequence}"
    reporter.diagnostics(project.diagnostics, project.sources, ok=False, reason=line)
    reporter.verdict(line)
    raise click.exceptions.Exit(ExitCode.NOT_SO)


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the cyclic garbage collector off: a compile makes many values and no garbage worth looking for."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What was loaded lives until the process ends; freezing it keeps later collections short.
            gc.freeze()
            gc.enable()


def prefix_of(folder: Path) -> str:
    """The folder as the user would type it, with a slash: what stands before every path in a message."""
    try:
        relative = os.path.relpath(folder)
    except ValueError:  # another drive
        relative = str(folder)
    if relative.startswith(os.pardir + os.sep):
        relative = str(folder)
    return "" if relative == os.curdir else Path(relative).as_posix() + "/"


def counted(number: int, noun: str) -> str:
    """``1 agent``, ``3 agents``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
