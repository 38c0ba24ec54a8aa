"""The places of a YAML text (docs/manifests.md §1): one walk over the parser's events."""

from __future__ import annotations

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

_ITEM, _KEY_DUE, _KEY_READ = range(3)


def yaml_places(text: bytes, until: str | int | None = None) -> Places:
    """The places of the first document of ``text``; of a text that breaks off, those before the break.

    With ``until``, a key of the outermost mapping, those behind its value may be missing.
    """
    decoded = text.decode()
    table = PlaceTable()
    whole = True
    try:
        whole = _walk(text, decoded, table, until)
    except YAMLError:
        table.close_all(len(decoded))
    return Places(decoded, table, whole=whole)


def _walk(text: bytes, decoded: str, table: PlaceTable, until: str | int | None) -> bool:
    """Fill the table; False when it ended after the value of ``until``."""
    state = _ITEM
    stack: list[
        tuple[int, bool]
    ] = []  # the state around each open collection, and whether it is in flow style
    named: dict[str, str] = {}  # anchored scalars: an alias may stand for a key
    skipped = 0  # depth inside a key that is no scalar: such a document is refused, its keys have no path
    is_last = False  # the latest key of the outermost mapping is `until`
    with events(text) as next_event:
        while not isinstance(event := next_event(), (DocumentEndEvent, StreamEndEvent)):
            if skipped or (state == _KEY_DUE and isinstance(event, CollectionStartEvent)):
                skipped += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
                if not skipped:
                    table.key("", *_extent(event))
                    state = _KEY_READ
            elif isinstance(event, CollectionEndEvent):
                state, in_flow = stack.pop()
                table.close(_extent(event)[1] if in_flow else None)
            elif isinstance(event, (ScalarEvent, AliasEvent)):
                start, end = _extent(event)
                if event.anchor is not None and isinstance(event, ScalarEvent):
                    named[event.anchor] = event.value
                if state == _KEY_DUE:
                    key = event.value if isinstance(event, ScalarEvent) else named.get(str(event.anchor), "")
                    if len(stack) == 1:
                        if is_last:
                            table.close(None)
                            return False
                        is_last = key == until
                    table.key(key, start, end)
                    state = _KEY_READ
                    continue
                if isinstance(event, ScalarEvent) and event.style in ("|", ">"):
                    end = _block_end(decoded, start, end)
                table.value(start, end)
                state = _ITEM if state == _ITEM else _KEY_DUE
            elif isinstance(event, CollectionStartEvent):
                table.open(_extent(event)[0])
                stack.append((_ITEM if state == _ITEM else _KEY_DUE, bool(event.flow_style)))
                state = _KEY_DUE if isinstance(event, MappingStartEvent) else _ITEM
    return True


def _extent(event: ParserEvent) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def _block_end(text: str, start: int, end: int) -> int:
    """The end of a block scalar without the line breaks at its end, unless ``+`` makes them text."""
    written = text[start:end]
    header = written.split("\n", 1)[0]
    return end if "+" in header.split("#", 1)[0] else start + len(written.rstrip("\n"))
