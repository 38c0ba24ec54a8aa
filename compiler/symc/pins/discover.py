"""Asking a live server which tools it has, once (docs/policies.md P30): one conversation under one total timeout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import anyio

from symc.canonical import canonical_bytes
from symc.diagnostics.codes import pins as codes
from symc.pins.conversation import TIMEOUT, Conversation, DiscoveryError, Progress
from symc.pins.launch import Launch, MissingVariableError

__all__ = ["TIMEOUT", "DiscoveryError", "discover"]

_SHORTEST_SECRET: Final = 8


def discover(
    launch: Launch,
    *,
    environ: Mapping[str, str],
    cwd: Path,
    timeout: float = TIMEOUT,
    progress: Progress = lambda _: None,
) -> dict[str, Any]:
    """The raw tools of a server, all pages, as ``{"tools": […]}`` in the server's order.

    References are resolved in ``environ`` here and nowhere else; a stdio server runs in ``cwd`` and sees the few
    variables of ``environ`` that the SDK passes on, and its own ``env``. ``progress`` hears each step. Raises
    ``DiscoveryError`` for everything that goes wrong; afterwards no process of the server is left.
    """
    try:
        resolved = launch.resolve(environ)
    except MissingVariableError as error:
        names = ", ".join(error.names)
        verb, them = ("is", "it") if len(error.names) == 1 else ("are", "them")
        raise DiscoveryError(
            codes.ENV_MISSING, f"needs {names}, which {verb} not set", hint=f"set {them} and run again"
        ) from None
    conversation = Conversation(resolved, environ, cwd, progress)
    try:
        answer = {"tools": anyio.run(_ask, conversation, timeout)}
    except BaseException as raised:
        failure = conversation.failure(raised)
        if failure is None:
            raise
        said = tuple(launch.redact(note, environ) for note in failure.notes)
        raise DiscoveryError(failure.code, launch.redact(str(failure), environ), said, failure.hint) from None
    _refuse_secrets(answer["tools"], launch, environ)
    return answer


async def _ask(conversation: Conversation, timeout: float) -> list[Any]:
    """The tools of the server; raises what went wrong, possibly in a group with what that brought about."""
    try:
        with anyio.fail_after(timeout):
            async with conversation.held() as (session, recorder):
                return await conversation.tools(session, recorder)
    except TimeoutError:
        raise conversation.silent(timeout) from None


def _refuse_secrets(tools: list[Any], launch: Launch, environ: Mapping[str, str]) -> None:
    """A pin is committed: the value of a variable must not come back in it (docs/policies.md §7)."""
    text = canonical_bytes(tools).decode()
    for name in launch.variables:
        # As JSON spells it; a short value is found in any text.
        value = canonical_bytes(environ[name]).decode()[1:-1]
        if len(value) >= _SHORTEST_SECRET and value in text:
            raise DiscoveryError(
                codes.PIN_HOLDS_SECRET,
                f"repeats the value of {name} in what it says of its tools",
                hint="tell its author; if the value is no secret, write it into the manifest instead of the reference",
            )
