"""The places of a YAML text (docs/manifests.md §1): one walk over the parser's events."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from symc.source.places import Places, PlaceTable

_FLUSH_LEFT = re.compile(r"^[^\s#]", re.MULTILINE)
_CONTENT = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)
_ITEM, _KEY_DUE, _KEY_READ = range(3)


def yaml_places(text: bytes) -> Places:
    """The places of the first document of ``text``; of a text that breaks off, those before the break."""
    whole = text.decode()
    table = PlaceTable()
    try:
        _walk(text, whole, 0, table)
    except YAMLError:
        table.close_all(len(whole))
    return Places(whole, table)


def section_places(text: bytes, keys: Sequence[str], key: str | int) -> Places | None:
    """The places in the value of one key of the outermost mapping, for a fraction of the work; None for an unusual text.

    ``keys`` are all keys of that mapping, in file order.
    """
    whole = text.decode()
    starts = [found.start() for found in _FLUSH_LEFT.finditer(whole)]
    if key not in keys or len(starts) != len(keys) or "&" in whole:
        return None
    # Where the text begins with a key that is flush left, all keys are; as many such lines as keys are the keys' lines.
    begins_so = not _CONTENT.search(whole, 0, starts[0])
    if not begins_so or not all(map(whole.startswith, (f"{name}:" for name in keys), starts)):
        return None
    at = keys.index(str(key))
    start, end = (*starts, len(whole))[at : at + 2]
    table = PlaceTable()
    try:
        _walk(whole[start:end].encode(), whole, start, table)
    except YAMLError:
        return None
    return Places(whole, table, whole=False)


def _walk(text: bytes, whole: str, offset: int, table: PlaceTable) -> None:
    """Fill the table; ``text`` is what stands at ``offset`` of the ``whole``."""
    state = _ITEM
    stack: list[
        tuple[int, bool]
    ] = []  # the state around each open collection, and whether it is in flow style
    named: dict[str, str] = {}  # anchored scalars: an alias may stand for a key
    skipped = 0  # depth inside a key that is no scalar: such a document is refused, its keys have no path
    with events(text) as next_event:
        while not isinstance(event := next_event(), (DocumentEndEvent, StreamEndEvent)):
            if skipped or (state == _KEY_DUE and isinstance(event, CollectionStartEvent)):
                skipped += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
                if not skipped:
                    table.key("", *_extent(event, offset))
                    state = _KEY_READ
            elif isinstance(event, CollectionEndEvent):
                state, in_flow = stack.pop()
                table.close(_extent(event, offset)[1] if in_flow else None)
            elif isinstance(event, (ScalarEvent, AliasEvent)):
                start, end = _extent(event, offset)
                if event.anchor is not None and isinstance(event, ScalarEvent):
                    named[event.anchor] = event.value
                if state == _KEY_DUE:
                    key = event.value if isinstance(event, ScalarEvent) else named.get(str(event.anchor), "")
                    table.key(key, start, end)
                    state = _KEY_READ
                    continue
                if isinstance(event, ScalarEvent) and event.style in ("|", ">"):
                    end = _block_end(whole, start, end)
                table.value(start, end)
                state = _ITEM if state == _ITEM else _KEY_DUE
            elif isinstance(event, CollectionStartEvent):
                table.open(_extent(event, offset)[0])
                stack.append((_ITEM if state == _ITEM else _KEY_DUE, bool(event.flow_style)))
                state = _KEY_DUE if isinstance(event, MappingStartEvent) else _ITEM


def _extent(event: ParserEvent, offset: int) -> tuple[int, int]:
    return event.start_mark.index + offset, event.end_mark.index + offset


def _block_end(text: str, start: int, end: int) -> int:
    """The end of a block scalar without the line breaks at its end, unless ``+`` makes them text."""
    written = text[start:end]
    header = written.split("\n", 1)[0]
    return end if "+" in header.split("#", 1)[0] else start + len(written.rstrip("\n"))
