"""What was said before, checked and made ready to be said again (docs/contracts.md F-32, F-37)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from symc.contracts.errors import ConfigurationError
from symc.runtime.messages import Message, Role

__all__ = ["replayable"]


def replayable(history: Iterable[Message]) -> tuple[Message, ...]:
    """The messages as they go before a prompt: texts and calls kept, attachments dropped.

    `ConfigurationError` for anything but messages, and for a tool call without exactly one answer after it: providers
    refuse such a conversation as a whole, with an index and no name.
    """
    if isinstance(history, str | bytes) or not isinstance(history, Iterable):
        raise ConfigurationError(f"history is a sequence of messages, not a {type(history).__name__}")
    messages = tuple(history)
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        if not isinstance(message, Message):
            raise ConfigurationError(f"history[{place}] is a {type(message).__name__}, not a Message")
        if message.role not in get_args(Role):
            raise ConfigurationError(f"history[{place}] has the role {message.role!r}")
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                raise ConfigurationError(
                    f'history[{place}] answers the tool call "{message.tool_call_id}", which is not waiting for one'
                )
            waiting.remove(message.tool_call_id)
        elif waiting:
            break
        else:
            waiting = {call.id for call in message.tool_calls}
    if waiting:
        raise ConfigurationError(f'the tool call "{min(waiting)}" in the history has no answer')
    return tuple(replace(message, attachments=(), native=None) for message in messages)
