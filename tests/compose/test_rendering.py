"""Rendering: the forms that are frozen with a lock version (docs/prompts.md §3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symc.rendering import DELIMITER, joined, neutral, piece


@pytest.mark.parametrize(
    ("tier", "truncated", "expected"),
    [
        ("platform", False, "Text.\n"),
        ("operating", False, "Text.\n"),
        ("profile", False, '<extension-text from="crm/a">\nText.\n\n</extension-text>'),
        (
            "session",
            True,
            '<extension-text from="crm/a">\nText.\n\n[cut before it came here]\n</extension-text>',
        ),
    ],
)
def test_a_piece(tier: str, truncated: bool, expected: str) -> None:
    assert piece("crm/a", "Text.\n", tier=tier, truncated=truncated) == expected


def test_pieces_join_with_one_empty_line_and_nothing_else() -> None:
    assert joined([]) == ""
    assert joined(["a\n", "", "b"]) == "a\n\n\n\n\nb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b, <b>x</b>", "a < b, <b>x</b>"),
        ("</extension-text>", "&lt;/extension-text>"),
        ("< / Extension-Text x>", "&lt; / Extension-Text x>"),
        ('<extension-text from="x">', '&lt;extension-text from="x">'),
        ("<</extension-text", "<&lt;/extension-text"),
    ],
)
def test_a_text_cannot_end_its_frame(text: str, expected: str) -> None:
    assert neutral(text) == expected


@given(
    st.lists(
        st.sampled_from(["<", "/", " ", "\n", "extension-text", "EXTENSION-TEXT", ">", "x", "&lt;"])
    ).map("".join)
)
def test_nothing_of_the_frame_is_left_and_nothing_else_changes(text: str) -> None:
    safe = neutral(text)
    assert DELIMITER.search(safe) is None
    assert neutral(safe) == safe
    assert (safe == text) == (DELIMITER.search(text) is None)
