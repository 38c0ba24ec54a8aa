"""Second walks over a YAML text, made where the first one saw something: they find what the hot loop keeps no place of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from yaml import YAMLError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    MappingStartEvent,
    ScalarEvent,
    StreamEndEvent,
)

from symc.source.events import ParserEvent, events

_QUESTION_MARK = r"\?(?<=[\s,\[{]\?)[^\s,\]}]"

MAYBE_QUESTION_MARK = re.compile(_QUESTION_MARK.encode())
"""Text that may be ``{ ?key: value }``: a key "?key" in YAML 1.2, a key "key" to both parsers. Seldom there at all."""


def question_marks(text: bytes) -> Iterator[int]:
    """The offset of each question mark that a parser took for a sign of its own, and YAML 1.2 for text."""
    maybe = {found.start() for found in re.finditer(_QUESTION_MARK, text.decode())}
    with events(text) as next_event, suppress(YAMLError):
        while not isinstance(event := next_event(), (DocumentEndEvent, StreamEndEvent)):
            if event.start_mark.index - 1 in maybe:
                yield event.start_mark.index - 1


def duplicate_keys(text: bytes) -> Iterator[tuple[str, ParserEvent, ParserEvent]]:
    """Every key that stands again in its mapping, with its first event and this one."""
    around: list[tuple[dict[str, ParserEvent] | None, bool]] = []
    seen: dict[str, ParserEvent] | None = None  # of the open mapping; None in a list
    key_due = False
    named: dict[str, str] = {}  # anchored scalars: an alias may stand for a key
    with events(text) as next_event, suppress(YAMLError):
        while not isinstance(event := next_event(), (DocumentEndEvent, StreamEndEvent)):
            if isinstance(event, CollectionEndEvent):
                seen, key_due = around.pop()
            elif isinstance(event, CollectionStartEvent):
                around.append((seen, not key_due))
                seen = {} if isinstance(event, MappingStartEvent) else None
                key_due = True
            elif isinstance(event, (ScalarEvent, AliasEvent)):
                if isinstance(event, AliasEvent):
                    value = named.get(str(event.anchor))
                else:
                    value = event.value
                    if event.anchor is not None:
                        named[event.anchor] = value
                if seen is not None and key_due and value is not None and not _is_merge_key(event):
                    if value in seen:
                        yield value, seen[value], event
                    seen.setdefault(value, event)
                key_due = not key_due


def _is_merge_key(event: ParserEvent) -> bool:
    return isinstance(event, ScalarEvent) and event.value == "<<" and not event.style
