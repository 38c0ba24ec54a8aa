"""The frame around every command: lazy loading, options they share, exit codes, and what happens on a bug."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from typing import NoReturn

import click

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("symc.cli.init", "Start a workspace, or take over the servers of an existing MCP config."),
    "compile": ("symc.cli.compile", "Compile the workspace into symc.lock."),
    "show": ("symc.cli.show", "Show an agent's prompt, tools or coverage."),
    "diff": ("symc.cli.diff", "Say what a change means: may an agent now do more?"),
    "why": ("symc.cli.why", "Say who brought an item, what selected it and what guards it."),
    "graph": ("symc.cli.graph", "Draw an agent's policy graph."),
    "policy": ("symc.cli.policy", "Test which rule decides a call, without running anything."),
    "pin": ("symc.cli.pin", "Pin the tools of MCP servers, or check that they still say the same."),
    "digest": ("symc.cli.digest", "Print the composition digests to pin outside."),
    "verify": ("symc.cli.verify", "Load, bind, connect and compare; no model is called."),
    "run": ("symc.cli.run", "Run an agent from the lock."),
    "worker": ("symc.cli.worker", "Start a worker of an execution backend."),
    "explain": ("symc.cli.explain", "Explain a diagnostic code or diff rule."),
    "schema": ("symc.cli.schema", "Write the JSON Schemas of manifests and lock."),
}
"""Command name → the module that holds it (as attribute ``command``) and its one-line help."""


_SHORTEST_SECRET = 4  # replacing every "1" in a text would hide more than it protects


class ExitCode(IntEnum):
    """What the process says to a script (docs/diagnostics.md §3)."""

    OK = 0
    NOT_SO = 1
    COULD_NOT = 2
    BUG = 101
    INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; its help comes from the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table: as a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of this command."""
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        command = import_module(row[0]).command
        if not isinstance(command, click.Command):  # pragma: no cover - a slip in the table
            raise TypeError(row[0])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that these arguments start with; an unknown one gets a did-you-mean."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from symc.diagnostics.suggest import did_you_mean

            nearest = did_you_mean(args[0], COMMANDS)
            hint = f' — did you mean "symc {nearest}"?' if nearest else "; see symc --help"
            ctx.fail(f'no command "{args[0]}"{hint}')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from symc._version import VERSION

        click.echo(f"symc {VERSION}")
        ctx.exit()


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine; 1 what was to be verified is not so; 2 could not do it; 101 a bug in symc.",
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version)
def root() -> None:
    """Compile LLM agents: manifests in, one reviewed and hashed lockfile out."""


def run(arguments: Sequence[str]) -> NoReturn:
    """Run one command and leave the process with its exit code; a bug is told without a traceback."""
    try:
        code = root.main(args=list(arguments), prog_name="symc", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        code = exit_.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.COULD_NOT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; writing again at exit would raise once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.OK
    except Exception as error:  # the last line of defence: a bug is reported as one
        code = _bug(error, arguments)
    sys.exit(code if isinstance(code, int) else ExitCode.OK)


def _bug(error: Exception, arguments: Sequence[str]) -> ExitCode:
    if os.environ.get("SYMC_TRACEBACK") == "1":
        click.echo(_traceback(error), err=True, nl=False)
    else:
        command = shlex.join(["symc", *arguments])
        click.echo(
            "internal error[SYM901 bug]: symc met a case it does not handle; nothing was written\n"
            f"  help: please report it with the output of: SYMC_TRACEBACK=1 {command}",
            err=True,
        )
    return ExitCode.BUG


def _traceback(error: Exception) -> str:
    """Where it happened, for a report that anyone may read: no value of the environment, nothing like a credential."""
    import traceback

    from symc.diagnostics.renderers.withheld import seems_to_hold_credential

    text = "".join(traceback.format_exception(error))
    for name, value in sorted(os.environ.items(), key=lambda item: -len(item[1])):
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"${{env:{name}}}")
    lines = text.split("\n")
    # Indented are files and lines of code; what is not is what the exceptions say.
    return "\n".join(
        "[withheld: it looks like a credential]"
        if not line.startswith(" ") and seems_to_hold_credential("", lines, number)
        else line
        for number, line in enumerate(lines, 1)
    )
