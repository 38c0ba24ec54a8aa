"""Did you mean: near names are found, far ones are not, and many names cost little."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.diagnostics.suggest import did_you_mean, suggestion

KEYS = ("name", "kind", "prompts", "tools", "policies", "extensions", "variants", "input_schema")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("tols", "tools"),
        ("toolss", "tools"),
        ("tolos", "tools"),
        ("Tools", "tools"),
        ("POLICIES", "policies"),
        ("polices", "policies"),
        ("promts", "prompts"),
        ("inputSchema", "input_schema"),
        ("extention", "extensions"),
        ("weather", None),
        ("x", None),
        ("", None),
    ],
)
def test_among_few(word: str, meant: str | None) -> None:
    assert did_you_mean(word, KEYS) == meant


def test_never_the_word_itself() -> None:
    assert did_you_mean("tools", ["tools"]) is None
    assert did_you_mean("tools", ["tools", "tool"]) == "tool"


def test_nothing_among_none() -> None:
    assert did_you_mean("tools", []) is None
    assert suggestion("tools", []) == ""


MANY = [f"acme_{number % 97}/tool_number_{number}" for number in range(10_000)]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("acme_5/tool_numbr_5", "acme_5/tool_number_5"),
        ("acme_5/tool_nubmer_5", "acme_5/tool_number_5"),
        ("acme_5/tool_numberr_5", "acme_5/tool_number_5"),
        ("acme-5/tool_number_5", "acme_5/tool_number_5"),
        ("something/else_entirely", None),
    ],
)
def test_one_slip_among_many(word: str, meant: str | None) -> None:
    assert did_you_mean(word, MANY) == meant


def test_the_odd_one_among_many_is_compared_letter_by_letter() -> None:
    assert did_you_mean("serch_documnts_now", [*MANY, "search_documents_now", "search_documents"]) is None
    assert did_you_mean("search_dcumnts_now", [*MANY, "search_documents_now"]) == "search_documents_now"


def test_many_mistakes_among_many_names_end_soon() -> None:
    start = time.process_time()
    for number in range(300):
        did_you_mean(f"acme_{number % 97}/tol_numbr_{number}", MANY)
    assert (
        time.process_time() - start < 10
    )  # about one second on an idle machine; minutes if all were compared


@settings(max_examples=100)
@given(st.text("abc", max_size=4), st.lists(st.text("abc", max_size=4), max_size=8))
def test_the_order_of_names_does_not_matter(word: str, names: list[str]) -> None:
    assert did_you_mean(word, names) == did_you_mean(word, list(reversed(names)))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("tols", 'did you mean "tools"?'),
        (
            "weather",
            'known here: "extensions", "input_schema", "kind", "name", "policies", "prompts", "tools", "variants"',
        ),
    ],
)
def test_sentence(word: str, sentence: str) -> None:
    assert suggestion(word, KEYS) == sentence


def test_a_long_list_is_not_recited() -> None:
    assert suggestion("weather", [*KEYS, "one_more"]) == ""
