"""Accept: the stanzas that accept what nobody has accepted yet, to be filled in by whoever does (docs/diff.md §4)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from symc.diff import wording
from symc.diff.model import Change

HEAD = "accept:"
"""The first line of a file of acceptances; stanzas follow."""


def render(changes: Sequence[Change], *, head: bool) -> str:
    """A stanza for each change, ready to be appended to the file; ``head``: the file has no such line yet."""
    return "".join(f"{line}\n" for line in _lines(changes, head))


def could_not(reason: str) -> str:
    """What is said instead when a side could not be read: a comment, which accepts nothing."""
    return f"# could not compare: {wording.visible(reason)}\n"


def _lines(changes: Sequence[Change], head: bool) -> Iterator[str]:
    if not changes:
        yield "# nothing to accept"
        return
    if head:
        yield HEAD
    for change in changes:
        said = change.witness or wording.sentence(change)
        yield f"  # {wording.visible(said)}"
        yield f"  - fingerprint: {change.fingerprint}"
        yield f"    rule: {change.name}"
        yield f"    reason: {json.dumps('')}"
        yield f"    by: {json.dumps('')}"
