"""An MCP server: how it is reached, and that no secret stands in the manifest (docs/manifests.md §3, docs/policies.md §7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from symc.diagnostics import Hint
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.codes.pins import SECRET_LITERAL
from symc.manifest.keys import Path
from symc.manifest.model import Server
from symc.manifest.submission import Submission
from symc.pins.launch import REFERENCE, SHELL_REFERENCE
from symc.pins.secrets import literals, looks_like_secret


def check_server(submission: Submission, server: Server) -> None:
    """Check ``mcp``; messages never repeat a value of ``env``, ``headers`` or a URL's user-info."""
    _one_transport(submission, server)
    if server.command == ():
        submission.refuse(
            codes.EMPTY_LIST,
            ("mcp", "command"),
            "the server's `command` is empty",
            hint="name the program to start",
        )
    if server.url is not None:
        _url(submission, server.url)
    suspects = {("mcp", *path): reason for path, reason in _literals(server)}
    for path, text in _texts(server):
        _references(submission, path, text)
        if _shell_reference(submission, path, text, suspected=path in suspects):
            suspects.pop(path, None)
    _secrets(submission, suspects)


def whole_references(submission: Submission, path: Path, value: object) -> None:
    """Refuse, in the config of a tool extension, a reference that is not a whole string (docs/manifests.md §3)."""
    if isinstance(value, dict):
        for key, item in value.items():
            whole_references(submission, (*path, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            whole_references(submission, (*path, index), item)
    elif isinstance(value, str) and "${env:" in value and not REFERENCE.fullmatch(value):
        submission.refuse(
            codes.INVALID_ENV_REFERENCE,
            path,
            "in a config, a reference to the environment is a whole string: ${env:NAME}",
            hint="put the whole value in the variable",
        )


def _one_transport(submission: Submission, server: Server) -> None:
    if server.command is not None and server.url is not None:
        submission.refuse(
            codes.EXACTLY_ONE,
            ("mcp", "url"),
            "the server has `command` and `url`",
            at_key=True,
            secondary=submission.also(("mcp", "command"), "`command` is given here"),
            hint="keep `command` to start it, or `url` to reach it",
        )
        return
    if server.command is None and server.url is None:
        submission.refuse(
            codes.EXACTLY_ONE,
            ("mcp",),
            "the server has neither `command` nor `url`",
            at_key=True,
            hint="add `command: [program, argument]`, or `url: https://…`",
        )
        return
    for key, partner, there in (("env", "command", server.command), ("headers", "url", server.url)):
        if there is None and getattr(server, key):
            submission.refuse(
                codes.IDLE_KEY,
                ("mcp", key),
                f"`{key}` belongs to a server with `{partner}`, and this one has none",
                at_key=True,
                hint="a server that is started takes `env`, one that is reached by URL `headers`",
            )


def _url(submission: Submission, url: str) -> None:
    try:
        parts = urlsplit(REFERENCE.sub("x", url))
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", url)
    except ValueError:
        sound = False
    # A URL that is one reference is not known before the run.
    if not sound and not REFERENCE.match(url):
        submission.refuse(
            codes.INVALID_URL,
            ("mcp", "url"),
            "the server's `url` is no http or https address",
            hint="write the whole address: https://example.test/mcp",
        )


def _references(submission: Submission, path: Path, text: str) -> None:
    """Refuse a reference to the environment that is not written ``${env:NAME}``."""
    if "${env:" in text and text.count("${env:") != len(REFERENCE.findall(text)):
        submission.refuse(
            codes.INVALID_ENV_REFERENCE,
            path,
            "a reference to the environment is not written as ${env:NAME}",
            hint="NAME starts with a letter or `_` and goes on in letters, digits and `_`",
        )


def _shell_reference(submission: Submission, path: Path, text: str, *, suspected: bool) -> bool:
    """Refuse ``$NAME`` and ``${NAME}`` where a variable was meant: as a whole value, or where a credential is due.

    Anywhere else they are text, perhaps for a shell that the command starts.
    """
    whole = SHELL_REFERENCE.fullmatch(text) is not None and path[1] != "command"
    if not whole and not (suspected and SHELL_REFERENCE.search(text)):
        return False
    written = SHELL_REFERENCE.sub(_written, text)
    if not whole and looks_like_secret(written, path[-1] if isinstance(path[-1], str) else ""):
        return False  # more than the reference is wrong with it
    found = SHELL_REFERENCE.search(text)
    shown = found[0] if found else ""
    submission.refuse(
        codes.INVALID_ENV_REFERENCE,
        path,
        f'"{shown}" is text: no shell reads it, and a variable of the environment is written otherwise',
        hint=Hint(
            f"write {SHELL_REFERENCE.sub(_written, shown)}", submission.replacement(path, f'"{written}"')
        ),
    )
    return True


def _written(found: re.Match[str]) -> str:
    return f"${{env:{found[1] or found[2]}}}"


def _literals(server: Server) -> Iterator[tuple[Path, str]]:
    return literals(server.command or (), server.env, server.url or "", server.headers)


def _secrets(submission: Submission, suspects: Mapping[Path, str]) -> None:
    for path, reason in suspects.items():
        variable = re.sub(r"\W", "_", str(path[-1])).upper() if isinstance(path[-1], str) else "NAME"
        what = f"`{path[-1]}`" if isinstance(path[-1], str) else f"item {path[-1] + 1} of `command`"
        submission.refuse(
            SECRET_LITERAL,
            path,
            f"the value of {what} looks like {reason}",
            hint=f"set it in the environment and write ${{env:{variable}}}; if it was committed, revoke it",
        )


def _texts(server: Server) -> Iterator[tuple[Path, str]]:
    for index, argument in enumerate(server.command or ()):
        yield ("mcp", "command", index), argument
    if server.url is not None:
        yield ("mcp", "url"), server.url
    for section, values in (("env", server.env), ("headers", server.headers)):
        for key, value in values.items():
            yield ("mcp", section, key), value
