"""Rendering: prompt fragments → the bytes a model reads, frozen per lock version (docs/prompts.md §3).

The compiler and the runtime call the same functions: what was reviewed and what is sent cannot come apart. Standard
library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final

from symc.canonical import number
from symc.contracts.vocabulary import is_learned

CUT: Final = "[cut before it came here]"
"""The last line of a text that was truncated before it reached a manifest."""

SEPARATOR: Final = "\n\n"
"""What stands between two fragments: one empty line."""

DELIMITER: Final = re.compile(r"<\s*+(?:/\s*+)?extension-text", re.IGNORECASE)
"""The frame's own tags, however they are spelt: a model reads tags as people do. Refused in static text."""


def piece(fragment: str, text: str, *, tier: str, truncated: bool = False) -> str:
    """One fragment as the model reads it: authored text as it is, learned text inside a frame that names its origin.

    ``fragment`` is its id, ``owner/fragment_id``.
    """
    if not is_learned(tier):
        return text
    cut = f"\n{CUT}" if truncated else ""
    return f'<extension-text from="{fragment}">\n{text}{cut}\n</extension-text>'


def joined(pieces: Iterable[str]) -> str:
    """The prompt of these fragments, in their order."""
    return SEPARATOR.join(pieces)


def printed(value: Any) -> str:
    """A value as a template writes it: text as it is, numbers and truth values as the lock spells them (RFC 8785)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    # A constant of a template may be a number that no manifest holds.
    return number(value) if isinstance(value, float) and isfinite(value) else str(value)


def neutral(text: str) -> str:
    """Text of a slot with the frame's tags disarmed (``<`` becomes ``&lt;``), so that it cannot end its frame."""
    return DELIMITER.sub(lambda tag: "&lt;" + tag[0][1:], text)
