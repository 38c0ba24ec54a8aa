"""Did you mean: the nearest legal name to one that is unknown.

Source: docs/diagnostics.md §2 (rule 3).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

_LIKENESS = 0.7
"""Below this ratio two names have no more in common than two words of one language."""

_COMPARED = 200
"""So many names are compared letter by letter; among more, only a single slip is looked for."""

_LISTED = 8
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_-/."


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that ``word`` was probably meant to be, or None when none is near.

    Depends on the set of candidates alone, not on their order. Bounded: hundreds of mistakes among ten thousand names
    cost about a second, and one costs nothing that is felt.
    """
    slack = max(1, len(word) // 3)
    shortest, longest = len(word) - slack, len(word) + slack
    near = [name for name in candidates if shortest <= len(name) <= longest]
    if len(near) > _COMPARED:
        slips = set(_slips(word))
        near = [name for name in near if name in slips] or [name for name in near if name[:3] == word[:3]]
        if len(near) > _COMPARED:
            return None
    folded = word.casefold()
    same = [name for name in near if name.casefold() == folded and name != word]
    if same:
        return min(same)
    others = [name for name in near if name != word]
    best = difflib.get_close_matches(word, others, n=1, cutoff=_LIKENESS)
    return best[0] if best else None


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """The sentence for a hint: ``did you mean "tools"?``, else what is legal when that is little, else empty."""
    names = sorted(set(candidates))
    nearest = did_you_mean(word, names)
    if nearest is not None:
        return f'did you mean "{nearest}"?'
    if 0 < len(names) <= _LISTED:
        return "known here: " + ", ".join(f'"{name}"' for name in names)
    return ""


def _slips(word: str) -> Iterator[str]:
    """Every word that is one slip away: a letter left out, doubled, exchanged, or swapped with its neighbour."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _ALPHABET:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
