"""``symc run``: an agent from the lock, for one prompt or for a talk (docs/contracts.md §2)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from symc.cli.asked import at_most_one
from symc.cli.frame import ExitCode
from symc.cli.loaded import CouldNotError, load_lock, refuse, require_known
from symc.cli.locked import lock_option
from symc.cli.project import counted
from symc.cli.reporting import Reporter

if TYPE_CHECKING:
    from symc import Agent, AgentResult, Message, ToolCall
    from symc.contracts import PolicyRequest
    from symc.runtime import LoadedLock
    from symc.runtime.model import ModelProvider

_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_SHOWN = 100  # characters of a call's arguments and of an error


@click.command("run")
@click.argument("agent")
@click.argument("prompt", required=False)
@lock_option
@click.option(
    "--provider",
    type=click.Choice([*_KEYS, "scripted"]),
    help="Who answers; default: the lock's provider, or `scripted` where its key is not set.",
)
@click.option("--model", help="Another model than the lock's.")
@click.option("--stream", is_flag=True, help="Show the answer as it is written.")
@click.option(
    "--ask", is_flag=True, help="Put the questions of `ask` policies to you; without it they are refused."
)
@click.option("--slot", "slots", multiple=True, metavar="ID=TEXT", help="Text for a prompt slot; repeatable.")
@click.option("--expect", metavar="DIGEST", help="Digest of the agent, from `symc digest AGENT`.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Working folder of servers; default: the folder of the lock.",
)
@click.option("--quiet", "-q", is_flag=True, help="The answer and errors only.")
@click.option("--verbose", "-v", is_flag=True, help="Also the lines that `audit` layers log, on stderr.")
def command(
    agent: str,
    prompt: str | None,
    lock: Path,
    provider: str | None,
    model: str | None,
    stream: bool,
    ask: bool,
    slots: tuple[str, ...],
    expect: str | None,
    root: Path | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run AGENT from the lock with PROMPT, or talk with it, line by line, when there is none.

    The answer goes to stdout; calls, refusals and notices go to stderr. The folder of the lock is put on the import path.
    The scripted provider asks no model: it calls the tools that the prompt names, a line each, `NAME {"argument": …}`.
    """
    from symc import SymfonicError
    from symc.runtime import DiagnosedError

    at_most_one({"quiet": quiet, "verbose": verbose}, "one says less, the other more")
    reporter = Reporter(quiet=quiet, verbose=verbose)
    loaded = load_lock(lock, reporter)
    require_known(agent, loaded, lock)
    state = {"slots": dict(_slot(text) for text in slots)} if slots else None
    try:
        answering = _provider(loaded, agent, provider, model, reporter)
        with _audited(reporter), asyncio.Runner() as runner:
            opening = loaded.open(
                agent,
                provider=answering,
                model=model,
                expect=expect,
                root=root,
                approver=_asks if ask else None,
            )
            opened = runner.run(opening.__aenter__())
            talk = _Talk(opened, runner, reporter, state, stream)
            try:
                talk.say(prompt) if prompt is not None else talk.go_on()
            finally:
                runner.run(opening.__aexit__(None, None, None))
    except DiagnosedError as error:
        refuse(error, f"cannot run {agent}", reporter, ExitCode.COULD_NOT)
    except SymfonicError as error:
        raise CouldNotError(str(error)) from None


@dataclass(slots=True)
class _Talk:
    """What is said to one opened agent, and shown of it."""

    agent: Agent
    runner: asyncio.Runner
    reporter: Reporter
    state: Mapping[str, Any] | None
    stream: bool
    history: list[Message] = field(default_factory=list)

    def go_on(self) -> None:
        """Take prompts line by line until there are no more."""
        at_terminal = sys.stdin.isatty()
        if at_terminal and not self.reporter.quiet:
            click.echo("an empty line or Ctrl-D ends the talk", err=True)
        for line in _typed() if at_terminal else _piped():
            try:
                self.say(line)
            except CouldNotError as error:  # the next prompt may do better
                error.show()

    def say(self, prompt: str) -> None:
        """Run one prompt and show its answer; what was said before goes along."""
        try:
            result = self.runner.run(self._streamed(prompt) if self.stream else self._whole(prompt))
        except (KeyboardInterrupt, click.exceptions.Exit):
            raise
        except Exception as error:
            from symc import ConfigurationError

            if isinstance(error, ConfigurationError):
                raise
            raise CouldNotError(f"the run failed: {type(error).__name__}: {error}") from None
        self.history += result.messages
        calls = f", {counted(len(result.tool_calls), 'tool call')}" if result.tool_calls else ""
        ended = "" if result.stop_reason == "end_turn" else f" — ended by {result.stop_reason}"
        self.reporter.verdict(f"{counted(result.model_rounds, 'model round')}{calls}{ended}")

    async def _whole(self, prompt: str) -> AgentResult[Any]:
        result = await self.agent.run(prompt, history=self.history, state=self.state)
        for call in result.tool_calls:
            self._show(call)
        click.echo(result.text)
        return result

    async def _streamed(self, prompt: str) -> AgentResult[Any]:
        wrote = False
        async for event in self.agent.stream(prompt, history=self.history, state=self.state):
            if event.kind == "text_delta":
                click.echo(event.text, nl=False)
                wrote = True
            elif event.kind == "tool_call" and wrote:
                click.echo()
                wrote = False
            elif event.kind == "tool_result" and event.tool_call is not None:
                self._show(event.tool_call)
            elif event.error is not None:
                raise event.error
            elif event.result is not None:
                click.echo()
                return event.result
        raise asyncio.CancelledError

    def _show(self, call: ToolCall) -> None:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        said = f"failed: {_short(call.error)}" if call.error is not None else "done"
        self.reporter.verdict(f"  {call.name} {_short(arguments)}  {said}")


def _piped() -> Iterator[str]:
    """The lines of a pipe or file: nobody is there to be prompted."""
    # One at a time, for a question of `--ask` reads from the same input.
    for line in iter(sys.stdin.readline, ""):
        if not line.strip():
            return
        yield line.rstrip("\r\n")


def _typed() -> Iterator[str]:
    while True:
        try:
            line = click.prompt("", prompt_suffix="> ", default="", show_default=False, err=True)
        except click.Abort:
            return
        if not line.strip():
            return
        yield line


def _audited(reporter: Reporter) -> AbstractContextManager[None]:
    """The lines of `audit` layers, where they are asked for."""
    from symc.std.logs import shown_on_stderr

    return shown_on_stderr() if reporter.verbose else nullcontext()


async def _asks(request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
    """Put a question to the person at the terminal; the end of the input is no yes."""
    arguments = json.dumps(request.arguments, ensure_ascii=False)
    click.echo(f"{request.agent} wants to call {request.tool or request.effect} {arguments}", err=True)
    try:
        return click.confirm(f"  {'; '.join(reasons) or 'a policy asks'} — allow it once?", err=True)
    except click.Abort:
        return False


def _slot(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f'--slot "{text}" has no "="; write OWNER/ID=TEXT')
    return key, value


def _provider(
    loaded: LoadedLock, agent: str, name: str | None, model: str | None, reporter: Reporter
) -> ModelProvider | dict[str, ModelProvider]:
    """The provider of this name; without one that of the lock, where its key is set."""
    from symc.runtime import providers

    wanted = name or loaded.lock.agents[agent].provider
    if name is None and wanted == "none":
        wanted = next((vendor for vendor, key in _KEYS.items() if os.environ.get(key)), "scripted")
    if name is None and not os.environ.get(_KEYS.get(wanted, "")):
        missing = f"{_KEYS[wanted]} is" if wanted in _KEYS else f"{' and '.join(_KEYS.values())} are"
        reporter.verdict(f"{missing} not set: the scripted provider stands in, no model is asked")
        wanted = "scripted"
    if wanted == "scripted":
        return {each: providers.ScriptedProvider(loaded.lock.agents[each].provider) for each in loaded.agents}
    named = model or loaded.lock.agents[agent].model
    if not named:
        raise click.UsageError(f'the manifest of "{agent}" names no model; pass --model')
    if wanted == "anthropic":
        return providers.AnthropicProvider(named)
    return providers.OpenAIProvider(named)


def _short(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
