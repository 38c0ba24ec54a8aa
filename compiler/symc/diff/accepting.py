"""Acceptances: which changes somebody said yes to, and which of the yeses are about nothing (docs/diff.md §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from symc.diagnostics import Span
from symc.diff.model import Change, Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """One stanza: the exact change that is accepted, by the name or code of its rule, why, and by whom."""

    fingerprint: str
    rule: str
    reason: str
    by: str
    span: Span

    def accepts(self, change: Change) -> bool:
        """Whether it is about this change, and no other."""
        return self.fingerprint == change.fingerprint and self.rule in (change.rule, change.name)


def active(new: Iterable[Acceptance], old: Iterable[Acceptance]) -> tuple[Acceptance, ...]:
    """The stanzas of the new side that the old side does not have; what is merged accepts nothing any more.

    A stanza that stands twice, and once on the old side, is active once: the same change came again.
    """
    merged = Counter(one.fingerprint for one in old)
    found = []
    for one in new:
        if merged[one.fingerprint]:
            merged[one.fingerprint] -= 1
        else:
            found.append(one)
    return tuple(found)


def accepted(
    comparison: Comparison, acceptances: Iterable[Acceptance]
) -> tuple[Comparison, tuple[Acceptance, ...]]:
    """The comparison with each accepted change marked, and the acceptances that accept nothing.

    The verdict stays what it is: a yes does not make a widening smaller.
    """
    waiting: dict[str, list[Acceptance]] = {}
    for one in acceptances:
        waiting.setdefault(one.fingerprint, []).append(one)
    changes = []
    for change in comparison.changes:
        found = next((one for one in waiting.get(change.fingerprint, ()) if one.accepts(change)), None)
        if found is None:
            changes.append(change)
        else:
            waiting[change.fingerprint].remove(found)
            changes.append(replace(change, accepted=f"{found.reason} ({found.by})"))
    unused = tuple(one for group in waiting.values() for one in group)
    return replace(comparison, changes=tuple(changes)), unused
