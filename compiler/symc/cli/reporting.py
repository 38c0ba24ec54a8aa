"""How a command speaks: diagnostics in the wished format, payload on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from symc.cli.asked import at_most_one
from symc.diagnostics import Diagnostic, Level

FORMATS = ("text", "json", "github", "sarif")
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Where and how a command reports; made from the options every diagnosing command shares.

    ``said`` collects what it wrote to stderr, piece by piece.
    """

    format: str = "text"
    quiet: bool = False
    verbose: bool = False
    max_errors: int = 50
    said: list[str] = field(default_factory=list, compare=False)

    def diagnostics(
        self, found: Sequence[Diagnostic], sources: Mapping[str, str], *, ok: bool, reason: str = ""
    ) -> None:
        """Report ``found``; ``sources`` are the texts of the files they name, for excerpts.

        Text goes to stderr; the machine formats are the payload and go to stdout, complete.
        """
        if self.format == "text":
            shown = [d for d in found if not self.quiet or d.level is Level.ERROR]
            if shown:
                from symc.diagnostics.renderers import text

                self._say(text.render(shown, sources, limit=self.max_errors, color=wants_color(sys.stderr)))
        elif self.format == "json":
            from symc.diagnostics.renderers import json as renderer

            click.echo(renderer.render(found, ok=ok, reason=reason), nl=False)
        elif self.format == "github":
            from symc.diagnostics.renderers import github

            click.echo(github.render(found), nl=False)
        else:
            from symc.diagnostics.renderers import sarif

            click.echo(sarif.render(found, sources), nl=False)

    def verdict(self, line: str) -> None:
        """The one-line verdict: the last line on stderr."""
        if not self.quiet:
            self._say(plain(line))

    def _say(self, text: str) -> None:
        self.said.append(f"{text}\n")
        click.echo(text, err=True)

    def detail(self, line: str) -> None:
        """What only ``--verbose`` shows."""
        if self.verbose:
            click.echo(plain(line), err=True)


def plain(line: str) -> str:
    """A line that names a folder or file, whose name may hold anything, as a terminal can show it."""
    if line.isascii() and line.isprintable():
        return line
    from symc.diagnostics.renderers.excerpt import visible

    return "\n".join(map(visible, line.split("\n")))


def reporting_options(command: _Command) -> _Command:
    """Add ``--format``, ``--quiet``, ``--verbose`` and ``--max-errors``; the command gets a ``reporter``."""
    return _reporting(FORMATS, "Format of the diagnostics.")(command)


def answering_options(command: _Command) -> _Command:
    """The same for a command whose answer is no diagnostics: as ``text`` or as ``json``."""
    return _reporting(("text", "json"), "Format of the answer, and of diagnostics.")(command)


def _reporting(formats: tuple[str, ...], said: str) -> Callable[[_Command], _Command]:
    from functools import wraps

    def added(command: _Command) -> _Command:
        @click.option("--format", "format_", type=click.Choice(formats), default="text", help=said)
        @click.option("--quiet", "-q", is_flag=True, help="Errors only.")
        @click.option("--verbose", "-v", is_flag=True, help="Say what is done.")
        @click.option(
            "--max-errors",
            type=click.IntRange(0),
            default=50,
            show_default=True,
            help="Shown as text; 0 for all.",
        )
        @wraps(command)
        def wrapped(
            *args: Any, format_: str, quiet: bool, verbose: bool, max_errors: int, **kwargs: Any
        ) -> Any:
            at_most_one({"quiet": quiet, "verbose": verbose}, "one says less, the other more")
            reporter = Reporter(format=format_, quiet=quiet, verbose=verbose, max_errors=max_errors)
            return command(*args, reporter=reporter, **kwargs)

        return wrapped  # type: ignore[return-value]  # click's decorators keep the command's role, not its type

    return added


def wants_color(stream: Any) -> bool:
    """``NO_COLOR`` off, ``FORCE_COLOR`` on, otherwise on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()
