"""``symc pin``: ask the MCP servers of a workspace for their tools, and commit to what they say — or compare (P30, P31)."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symc.cli.frame import ExitCode
from symc.cli.project import counted, prefix_of, workspace_option
from symc.cli.reporting import Reporter, reporting_options
from symc.diagnostics import Diagnostic, Level, Span

if TYPE_CHECKING:
    from symc.manifest.checked import Checked
    from symc.manifest.model import Extension
    from symc.source import Document, Pin, Sources, Workspace


@click.command("pin")
@click.argument("extensions", nargs=-1)
@workspace_option
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 when a server says something else than its pin."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds for each server.",
)
@reporting_options
@click.pass_context
def command(
    context: click.Context,
    extensions: tuple[str, ...],
    folder: Path,
    check: bool,
    timeout: float,
    reporter: Reporter,
) -> None:
    """Start the servers of EXTENSIONS (default: all), read all their tools and write their pins.

    A server that fails leaves its pin untouched; the others are pinned all the same.
    """
    _require_sdk()
    desk = _Desk.opened(folder, reporter)
    servers = desk.servers(extensions)
    for server in servers:
        _ask(server, desk, timeout, compare=check)
    context.exit(desk.leave(compared=check))


def _require_sdk() -> None:
    try:
        import symc.pins.discover  # noqa: F401  # whether it can be imported is the question
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f'"{error.name}" is not installed; symc pin needs its extra: pip install "symc[pins]"'
        ) from None


@dataclass(slots=True)
class _Desk:
    """One run of the command: the workspace as read, what was found so far, and how the run will end."""

    folder: Path
    workspace: Workspace
    sources: Sources
    reporter: Reporter
    found: list[Diagnostic] = field(default_factory=list)
    answered: int = 0
    failed: int = 0

    @classmethod
    def opened(cls, folder: Path, reporter: Reporter) -> _Desk:
        """Read the workspace; one that cannot be read ends the command here."""
        from symc.source import WorkspaceError, parse, read

        try:
            workspace = read(folder)
        except WorkspaceError as error:
            reporter.diagnostics([error.diagnostic], {}, ok=False, reason=error.diagnostic.message)
            raise click.exceptions.Exit(ExitCode.COULD_NOT) from None
        return cls(folder, workspace, parse(workspace), reporter)

    def servers(self, names: Sequence[str]) -> list[Checked[Extension]]:
        """The extensions to pin, by name; mistakes in their manifests are found here, and they drop out."""
        from symc.manifest.check import check

        sources = self._without_pins()
        manifests = check(sources)
        written = {document.path: str(document.data.get("name")) for document in _of_servers(sources)}
        self._require(names, written.values(), manifests.extensions)
        wanted = {path for path, name in written.items() if not names or name in names}
        if not names:
            wanted |= sources.refused
        faults = [
            fault
            for fault in (*sources.diagnostics, *manifests.diagnostics)
            if fault.primary.file in wanted and fault.level is Level.ERROR
        ]
        self.found += faults
        spoilt = {fault.primary.file for fault in faults}
        self.failed += len(spoilt & written.keys())
        return [
            extension
            for _, extension in sorted(manifests.extensions.items())
            if extension.path in wanted - spoilt
        ]

    def _without_pins(self) -> Sources:
        """The workspace as if every server had been pinned without tools: a damaged pin must not prevent its renewal."""
        from symc.source import Workspace, parse

        files = {path: text for path, text in self.workspace.files.items() if not path.endswith(".json")}
        pins = {
            pin_path(document.path, document.data.get("pin"))
            for document in _of_servers(parse(Workspace.of(files)))
        }
        return parse(Workspace.of(files | dict.fromkeys(pins, b'{"tools": []}')))

    def _require(self, names: Sequence[str], servers: Any, extensions: Mapping[str, Any]) -> None:
        from symc.diagnostics.suggest import suggestion

        for name in names:
            if name in servers:
                continue
            if name in extensions:
                raise click.UsageError(f'extension "{name}" has no MCP server to pin')
            raise click.UsageError(
                f'no extension "{name}" with an MCP server; {suggestion(name, servers)}'.rstrip("; ")
            )

    def say(self, line: str) -> None:
        """Progress, on stderr."""
        if not self.reporter.quiet:
            click.echo(line, err=True)

    def leave(self, *, compared: bool) -> ExitCode:
        """Report everything and say how it went."""
        prefix = prefix_of(self.folder)
        found = sorted((fault.relocated(prefix) for fault in self.found), key=lambda fault: fault.sort_key)
        if not self.answered and not found:
            verdict = "no extension has an MCP server; nothing to pin"
        elif compared:
            verdict = f"{counted(self.answered, 'server')} compared with {'its pin' if self.answered == 1 else 'their pins'}"
            if not self.failed:
                verdict += f": {counted(len(found), 'difference')}" if found else ": nothing has changed"
        else:
            verdict = f"{counted(self.answered, 'server')} pinned"
        if self.failed:
            verdict += f", {self.failed} failed"
        texts = {
            prefix + path: text.decode("utf-8", "replace") for path, text in self.workspace.files.items()
        }
        self.reporter.diagnostics(found, texts, ok=not found, reason=verdict if found else "")
        self.reporter.verdict(verdict)
        if self.failed:
            return ExitCode.COULD_NOT
        return ExitCode.NOT_SO if found else ExitCode.OK


def _ask(server: Checked[Extension], desk: _Desk, timeout: float, *, compare: bool) -> None:
    """Ask one server and write its pin, or compare it with its pin."""
    from symc.pins.discover import DiscoveryError, discover
    from symc.pins.file import text_of, write
    from symc.pins.launch import Launch
    from symc.pins.model import tools_of

    mcp = server.body.mcp
    assert mcp is not None
    launch = Launch(command=mcp.command or (), env=mcp.env, url=mcp.url or "", headers=mcp.headers)
    desk.say(f"{server.name}: {'starting' if launch.command else 'connecting to'} {launch.shown}")
    try:
        answer = discover(
            launch,
            environ=os.environ,
            cwd=desk.folder.resolve().parent,
            timeout=timeout,
            progress=lambda step: desk.say(f"{server.name}: {step}"),
        )
    except DiscoveryError as error:
        desk.failed += 1
        desk.found.append(error.diagnostic(server.span("mcp"), server.name))
        return
    path = pin_path(server.path, server.body.pin)
    tools, faults = tools_of(answer, lambda _: Span(path), server.name)
    if faults:
        desk.failed += 1
        desk.found += faults
    elif compare:
        desk.answered += 1
        desk.found += _compared(server, desk.sources.pins.get(path), path, answer)
    else:
        target = desk.folder / path
        if not target.resolve().is_relative_to(desk.folder.resolve()):
            desk.failed += 1
            desk.found.append(_escape(path))
            return
        changed = write(target, text_of(answer))
        desk.answered += 1
        state = "written" if changed else "is up to date"
        desk.say(f"{server.name}: {counted(len(tools), 'tool')}, {target} {state}")


def pin_path(manifest: str, pin: object) -> str:
    """The pin of a server, relative to the workspace: as its manifest says, else beside it under the manifest's name."""
    if not isinstance(pin, str):
        return f"{posixpath.splitext(manifest)[0]}.pin.json"
    return posixpath.normpath(posixpath.join(posixpath.dirname(manifest), pin))


def _of_servers(sources: Sources) -> list[Document]:
    """The manifests of extensions with an MCP server."""
    return [
        document
        for document in sources.documents
        if document.data.get("kind") == "extension" and "mcp" in document.data
    ]


def _compared(
    server: Checked[Extension], pin: Pin | None, path: str, answer: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    from symc.diagnostics.codes.shape import PIN_MISSING
    from symc.pins.drift import diagnostics, drift
    from symc.pins.model import tools_of

    if pin is None:
        message = (
            f'the server of "{server.name}" has no pin to compare with: there is no readable file "{path}"'
        )
        hint = f"run `symc pin {server.name}`"
        yield PIN_MISSING.at(server.span("mcp"), message, hint=hint, subject=server.name)
        return
    pinned, faults = tools_of(pin.data, lambda inner: pin.span(*inner), server.name)
    yield from faults
    if faults:
        return
    indices = {tool.name: tool.index for tool in pinned}

    def locate(tool: str, field: str) -> Span:
        if tool not in indices:
            return Span(path)
        return pin.span("tools", indices[tool], *((field,) if field else ("name",)))

    yield from diagnostics(drift([tool.raw for tool in pinned], answer["tools"]), server.name, locate)


def _escape(path: str) -> Diagnostic:
    from symc.diagnostics.codes.reading import PATH_ESCAPE

    return PATH_ESCAPE.at(Span(path), f'the pin "{path}" leads out of the workspace', hint="remove the link")
