"""From a scalar's text back to where each of its characters is written."""

from __future__ import annotations


def trace(raw: str, text: str) -> list[int] | None:
    """For each offset of ``text``, and its end, the offset in ``raw`` where it is written; None if it is not there."""
    del raw, text
    return None
