"""Changes of a layout, fragment by fragment: moved, edited, added, removed — and what that does to the cached prefix."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from symc.diagnostics.renderers.excerpt import visible
from symc.rendering import joined, piece
from symc.reordering import moves
from symc.sheets import CUT_SHORT, Entry, plain

Recorded = tuple[str, str, str | None]
"""A place of a recorded layout: id, facts, text (None for a slot)."""


def layout_changes(recorded: Sequence[Recorded], now: Sequence[Entry]) -> list[str]:
    """What happened between a recorded layout and the present one; empty when nothing did."""
    lines = list(_changes(recorded, now))
    if not lines:
        return []
    broken = _broken_share(recorded, now)
    if broken:
        lines += ["", f"{broken:.0%} of the cached prefix is invalidated"]
    return lines


def _changes(recorded: Sequence[Recorded], now: Sequence[Entry]) -> Iterator[str]:
    old = {key: (facts, text) for key, facts, text in recorded}
    new = {entry.id: entry for entry in now}
    order_before, order_now = [key for key, _, _ in recorded], [entry.id for entry in now]
    for move in moves(order_before, order_now):
        past = f", past {', '.join(move.past)}" if move.past else ""
        yield f"moved    {move.item}: from place {move.before + 1} to place {move.after + 1}{past}"
    for place, entry in enumerate(now, 1):
        if entry.id not in old:
            yield f"added    {entry.id}: place {place} ({entry.facts})"
    for place, key in enumerate(order_before, 1):
        if key not in new:
            yield f"removed  {key}: it was at place {place} ({old[key][0]})"
    for entry in now:
        if entry.id in old:
            yield from _edited(entry, *old[entry.id])


def _edited(entry: Entry, facts: str, text: str | None) -> Iterator[str]:
    if entry.text != text:
        yield f"edited   {entry.id}:"
        yield from _text_diff(text, entry.text)
    elif entry.facts != facts:
        yield f"changed  {entry.id}:"
        yield f"  - {facts}"
        yield f"  + {entry.facts}"


def _text_diff(old: str | None, new: str | None) -> Iterator[str]:
    if old is None or new is None:
        yield "  it became a slot" if new is None else "  it was a slot and is a text now"
        return
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=1, lineterm=""))[2:]
    for line in lines:
        if not line.startswith("@@"):
            yield "  " + line[:1] + " " + shown(line[1:])


def shown(line: str) -> str:
    """A line with what cannot be seen made visible, trailing blanks too: two lines that differ must not look the same."""
    escaped = visible(line)
    bare = escaped.rstrip(" ")
    return bare + "·" * (len(escaped) - len(bare))


def _broken_share(recorded: Sequence[Recorded], now: Sequence[Entry]) -> float:
    """The share of the recorded prompt behind the first character that differs: caches are exact byte prefixes."""
    before = joined(_piece(*one) for one in recorded if one[2] is not None)
    after = plain(now)
    if not before:
        return 0.0
    pairs = enumerate(zip(before, after, strict=False))
    kept = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    return 1 - kept / len(before)


def _piece(key: str, facts: str, text: str | None) -> str:
    """A recorded fragment as the model read it: its facts name its tier, and whether it was cut."""
    return piece(key, text or "", tier=facts.split(" · ")[1], truncated=CUT_SHORT in facts)
