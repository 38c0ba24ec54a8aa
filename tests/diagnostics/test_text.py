"""The text renderer: the layout of docs/diagnostics.md §2, aligned whatever stands in the line."""

from __future__ import annotations

import pytest

from symc.diagnostics import Diagnostic, LabelledSpan, Span
from symc.diagnostics.renderers.excerpt import Excerpt, excerpt, visible
from symc.diagnostics.renderers.text import render
from tests.diagnostics.samples import COLLISION, HERE, NEWS, PROSE, SOURCES, TWO_TOOLS, span


def test_the_layout_of_the_documentation() -> None:
    assert render([TWO_TOOLS], SOURCES) == (
        'error[SYM301 tool-name-collision]: two tools of agent "support" are exposed as "search"\n'
        "  --> manifests/extensions/web.yaml:7:11\n"
        "   7 |   - name: search\n"
        "     |           ^^^^^^ web/search\n"
        "  ::: manifests/extensions/wiki.yaml:4:11\n"
        "   4 |   - name: search\n"
        "     |           ------ wiki/search, both selected by manifests/agents/support.yaml:9\n"
        "  help: give one a prefix: {use: web, prefix: web}\n"
        "  more: symc explain SYM301\n"
    )


def test_without_sources_the_places_and_labels_stay() -> None:
    assert render([TWO_TOOLS], {}) == (
        'error[SYM301 tool-name-collision]: two tools of agent "support" are exposed as "search"\n'
        "  --> manifests/extensions/web.yaml:7:11: web/search\n"
        "  ::: manifests/extensions/wiki.yaml:4:11: wiki/search, both selected by manifests/agents/support.yaml:9\n"
        "  help: give one a prefix: {use: web, prefix: web}\n"
        "  more: symc explain SYM301\n"
    )


def test_notes_of_several_lines_and_a_whole_file() -> None:
    found = PROSE.at(
        Span("a.yaml"),
        "too large",
        secondary=(LabelledSpan(Span("b.yaml"), "its budget"),),
        notes=("fragment  size\nsafety     100",),
    )
    assert render([found], {"a.yaml": "x\n", "b.yaml": "y\n"}) == (
        "warning[SYM330 tool-name-in-prose]: too large\n"
        "  --> a.yaml\n"
        "  ::: b.yaml: its budget\n"
        "  note: fragment  size\n"
        "        safety     100\n"
        "  more: symc explain SYM330\n"
    )


def test_a_mistake_of_no_file_has_no_place() -> None:
    assert render([NEWS.at(Span(""), "all is well")], {}) == (
        "info[SYM399 some-news]: all is well\n  more: symc explain SYM399\n"
    )


def test_nothing_to_say() -> None:
    assert render([], {}) == ""


def _drawn(source: str, place: Span) -> list[str]:
    return render([COLLISION.at(place, "m")], {"a.yaml": source}).split("\n")[2:-2]


@pytest.mark.parametrize(
    ("source", "place", "drawn"),
    [
        # several lines: to the end of the first
        ("tools:\n  - a\n", span("a.yaml", 1, 1, 6, 2), ["   1 | tools:", "     | ^^^^^^"]),
        # nothing marked: one caret, also behind the last character
        ("a: \n", span("a.yaml", 1, 3, 3), ["   1 | a:", "     |   ^"]),
        ("a:", span("a.yaml", 1, 9, 9), ["   1 | a:", "     |   ^"]),
        # line ends of a checkout on Windows
        ("a: b\r\nc: d\r\n", span("a.yaml", 1, 4, 5), ["   1 | a: b", "     |    ^"]),
        # an empty line, a line that is not there
        ("\n\n", span("a.yaml", 2, 1, 1), ["   2 |", "     | ^"]),
        ("a\n", span("a.yaml", 9, 1, 2), []),
        # the gutter grows with the number
        ("\n" * 12344 + "a: b", span("a.yaml", 12345, 4, 5), ["12345 | a: b", "      |    ^"]),
        # wide and combining characters, tabs
        ("日本: x", span("a.yaml", 1, 5, 6), ["   1 | 日本: x", "     |       ^"]),
        ("x: 日本", span("a.yaml", 1, 4, 6), ["   1 | x: 日本", "     |    ^^^^"]),
        ("e\u0301: x", span("a.yaml", 1, 5, 6), ["   1 | e\u0301: x", "     |    ^"]),
        ("a\tb", span("a.yaml", 1, 3, 4), ["   1 | a    b", "     |      ^"]),
        # hidden characters are spelled out and marked in full
        ("a\u200bb", span("a.yaml", 1, 2, 3), ["   1 | a<U+200B>b", "     |  ^^^^^^^^"]),
        ("\x1b[31mred", span("a.yaml", 1, 6, 9), ["   1 | <U+001B>[31mred", "     |             ^^^"]),
    ],
)
def test_marks_stand_under_what_they_mark(source: str, place: Span, drawn: list[str]) -> None:
    assert _drawn(source, place) == drawn


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2, Excerpt("x" * 120 + "…", 0, 1)),
        (500, 503, Excerpt("…" + "x" * 120 + "…", 41, 3)),
        (1000, 1001, Excerpt("…" + "x" * 120, 120, 1)),
        (1, 1001, Excerpt("x" * 120 + "…", 0, 120)),
    ],
)
def test_of_a_very_long_line_a_window_is_left(start: int, end: int, expected: Excerpt) -> None:
    assert excerpt("x" * 1000, start, end) == expected


def test_a_message_stays_on_its_line_and_cannot_paint() -> None:
    found = COLLISION.at(HERE, 'no tool "a\nb\x1b[2K\u202e"')
    assert render([found], {}).split("\n")[0] == (
        'error[SYM301 tool-name-collision]: no tool "a\\nb<U+001B>[2K<U+202E>"'
    )


def test_visible_keeps_emoji() -> None:
    assert visible("ok \U0001f468\u200d\U0001f469 no\u200d") == "ok \U0001f468\u200d\U0001f469 no<U+200D>"


def _numbered(*levels: str) -> list[Diagnostic]:
    codes = {"e": COLLISION, "w": PROSE, "i": NEWS}
    return [codes[level].at(Span("a"), f"message {at}") for at, level in enumerate(levels)]


@pytest.mark.parametrize(
    ("levels", "limit", "shown", "more"),
    [
        ("eee", 0, [0, 1, 2], ""),
        ("eee", 3, [0, 1, 2], ""),
        ("eee", 2, [0, 1], "+1 more"),
        # an error is never behind "+N more" because of warnings before it
        ("wiwe", 1, [3], "+3 more"),
        ("wiwe", 3, [0, 2, 3], "+1 more"),
    ],
)
def test_at_most_so_many(levels: str, limit: int, shown: list[int], more: str) -> None:
    text = render(_numbered(*levels), {}, limit=limit)
    assert [at for at in range(len(levels)) if f"message {at}\n" in text] == shown
    assert (f"\n\n{more} (--max-errors 0 shows all)\n" in text) if more else ("more (" not in text)


def test_fifty_unless_told_otherwise() -> None:
    assert "+10 more" in render(_numbered(*"e" * 60), {})


def test_colour_only_when_told_and_the_same_text() -> None:
    coloured = render([TWO_TOOLS], SOURCES, color=True)
    for style in ("1;31", "1;34", "36", "1", "0"):
        coloured = coloured.replace(f"\x1b[{style}m", "")
    assert coloured == render([TWO_TOOLS], SOURCES)
    assert "\x1b" in render([TWO_TOOLS], SOURCES, color=True)
    assert "\x1b" not in render([TWO_TOOLS], SOURCES)


def test_no_excerpt_shows_a_credential() -> None:
    """docs/policies.md §7: neither the diagnostic about it nor another one on its line."""
    from symc.compose import compile
    from symc.source import Workspace

    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    manifest = f"kind: extension\nname: x\nmcp: {{command: [run], env: {{TOKEN: {token}}}}}\n"
    compilation = compile(Workspace.of({"x.yaml": manifest.encode()}))
    assert {d.name for d in compilation.diagnostics} == {"secret-literal", "pin-missing"}
    page = render(compilation.diagnostics, compilation.texts)
    assert token not in page
    assert "x.yaml:3:" in page
