"""What the renderers make of foreign text and of very many changes (docs/diff.md §3)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from symc.cli.acceptances import read_acceptances
from symc.diagnostics import Position, Span
from symc.diff import Axis, Change, Comparison, Direction, Verdict, wording
from symc.diff.accepting import Acceptance, accepted, active
from symc.diff.renderers import accept, github, markdown, text
from symc.diff.renderers import json as json_format
from symc.diff.renderers.lines import line_diff
from symc.diff.rules import TABLE
from symc.hidden import scan

NASTY = (
    "```\n````\n`@octocat` @octocat/team <script>alert(1)</script> <!-- symc:diff -->\n"
    "::error::pwned\n  ::set-output name=x::y\n##[error]pwned\n${{ secrets.TOKEN }} #1 ~~~\n"
    "a\u202eb\u200bc\u2028d\x1b[31m\r\n</details> [link](https://evil.example) | * _x_ \\` \\"
)
FORMATS: dict[str, ModuleType] = {"text": text, "markdown": markdown, "json": json_format, "github": github}


def change(rule: str = "SYD101", number: int = 0, **fields: Any) -> Change:
    row = next(one for one in TABLE if one.code == rule)
    return replace(
        Change(
            rule=row.code,
            name=row.name,
            axis=row.axis,
            level=row.level,
            subject=f"os/tool_{number}",
            before=None,
            after={"desk": "os/*"},
            witness=f"desk may now call os/tool_{number} (was: not among its tools)",
            touches=("desk",),
            locations=(Span("manifests/desk.yaml", Position(3, 9), Position(3, 12)),),
            fingerprint=f"sha256:{number:064x}",
            direction=Direction.UP,
        ),
        **fields,
    )


def comparison(*changes: Change, witness: str = "desk may now call os/tool_0") -> Comparison:
    return Comparison(verdict=Verdict.WIDENING, witness=witness, changes=changes)


NASTY_CHANGE = change(
    subject=NASTY,
    before=NASTY,
    after=NASTY + "\nmore",
    witness=NASTY,
    touches=(NASTY, "two"),
    locations=(Span(NASTY),),
    accepted=NASTY,
)
NASTY_VALUE = change(
    "SYD117", before={"command": [NASTY]}, after={"command": [NASTY, NASTY]}, subject="x", accepted=""
)
NASTIES = comparison(NASTY_CHANGE, NASTY_VALUE, witness=NASTY)


def rendered(form: str, one: Comparison) -> str:
    render = FORMATS[form].render
    return str(render(one))


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_hidden_is_passed_on(form: str) -> None:
    for page in (rendered(form, NASTIES), str(FORMATS[form].could_not(NASTY))):
        assert scan(page.replace("\n", "")) == ()
        assert "\r" not in page


@pytest.mark.parametrize("form", FORMATS)
def test_no_line_of_a_log_is_a_command_of_somebody_else(form: str) -> None:
    for page in (rendered(form, NASTIES), str(FORMATS[form].could_not(NASTY))):
        assert "##[" not in page
        commands = [line for line in page.splitlines() if line.lstrip().startswith("::")]
        if form != "github":
            assert commands == []
        assert all(re.match(r"::(error|warning|notice) (file=|title=)", line) for line in commands)


def test_github_writes_one_line_for_each_change() -> None:
    lines = rendered("github", NASTIES).splitlines()
    assert len(lines) == 1 + 2
    for line in lines[1:]:
        _, properties, message = re.fullmatch(r"::(\w+) ((?:[^:]|:(?!:))*?)::(.*)", line).groups()  # type: ignore[union-attr]
        assert all(re.fullmatch(r"(file|line|col|title)=[^,:]*", one) for one in properties.split(","))
        assert "\n" not in message


def tokens(page: str) -> list[Token]:
    found: list[Token] = []
    for token in MarkdownIt("commonmark", {"html": True}).parse(page):
        found.append(token)
        found.extend(token.children or ())
    return found


def test_markdown_keeps_foreign_text_in_code() -> None:
    page = rendered("markdown", NASTIES)
    found = tokens(page)
    html = {token.content.strip() for token in found if token.type.startswith("html")}
    assert html == {markdown.MARKER}
    loose = " ".join(token.content for token in found if token.type == "text")
    for word in ("@", "octocat", "script", "secrets", "evil", "#1", "::", "~~~", "pwned"):
        assert word not in loose
    assert "link_open" not in {token.type for token in found}
    # It is there, in code.
    code = " ".join(token.content for token in found if token.type in ("code_inline", "fence"))
    assert "@octocat" in code
    assert "${{ secrets.TOKEN }}" in code
    assert "<U+202E>" in code


def test_markdown_of_a_nasty_error_is_code() -> None:
    found = tokens(markdown.could_not(NASTY))
    assert "@octocat" not in " ".join(token.content for token in found if token.type == "text")


def test_json_is_ascii_and_complete() -> None:
    page = rendered("json", NASTIES)
    assert page.isascii()
    document = json.loads(page)
    assert set(document) == {"format", "verdict", "witness", "remote_text_changed", "changes", "digests"}
    assert document["changes"][0]["before"] == NASTY
    assert set(document["changes"][0]) >= {
        "rule", "name", "axis", "level", "subject", "before", "after", "witness", "locations", "fingerprint",
    }  # fmt: skip
    assert document["changes"][0]["locations"] == [{"file": NASTY, "line": None, "column": None}]


def test_stanzas_read_back_as_what_they_accept() -> None:
    page = accept.render(NASTIES.changes, head=True).replace('""', '"x"')
    read = read_acceptances("symc.accept.yaml", page.encode())
    assert read.diagnostics == ()
    assert [(one.fingerprint, one.rule) for one in read.stanzas] == [
        (one.fingerprint, one.name) for one in NASTIES.changes
    ]


# Very many


MANY = comparison(
    *(
        change("SYD107", number, before={"tools": ["x" * 200]}, after={"tools": ["y" * 200]})
        for number in range(1500)
    ),
    *(
        change("SYD203", number, before="old\n" * 30, after="new\n" * 30, witness="")
        for number in range(1500)
    ),
    *(change("SYD301", number, direction=Direction.SAME) for number in range(2000)),
)


def test_markdown_of_5000_changes_stays_below_the_limit_and_leads_with_authority() -> None:
    page = rendered("markdown", MANY)
    assert len(page) < markdown.LONGEST
    assert page.startswith(f"{markdown.MARKER}\n## symc: WIDENING\n")
    rows = [line for line in page.splitlines() if line.startswith("- ")]
    assert "pattern-weakened" in rows[0]
    assert page.index("<details>") > page.index(rows[4])
    left_out = re.search(r"Left out for length: the details of (\d+) changes and (\d+) changes whole", page)
    assert left_out is not None
    assert int(left_out[2]) == 5000 - len(rows)
    assert page.count("<details>") == page.count("</details>") == 1
    # Every fence that is opened is closed: what follows is no code.
    assert [token.type for token in tokens(page)][-1] == "paragraph_close"


def test_markdown_drops_details_before_rows() -> None:
    some = replace(MANY, changes=MANY.changes[:300])
    page = rendered("markdown", some)
    assert len(page) < markdown.LONGEST
    assert len([line for line in page.splitlines() if line.startswith("- ")]) == 300
    assert re.search(r"Left out for length: the details of \d+ changes\.", page)


def test_markdown_of_one_endless_line() -> None:
    page = rendered("markdown", comparison(change("SYD203", before="x" * 10**6, after="y" * 10**6)))
    assert len(page) < markdown.LONGEST


def test_github_shows_nine_of_a_level_and_counts_the_rest() -> None:
    lines = rendered("github", MANY).splitlines()
    for command, count in (("error", 1500), ("warning", 1500), ("notice", 2000)):
        found = [line for line in lines if line.startswith(f"::{command} ")]
        assert len(found) == 10
        assert f"{count - 9} more" in found[-1]


def test_what_was_accepted_is_a_notice() -> None:
    """docs/diff.md §4: it still shows, and nobody has to do anything about it."""
    yes = change(accepted="they asked for it (payments team)")
    no = change(number=1)
    lines = github.render(comparison(yes, no)).splitlines()
    assert [line.partition(" ")[0] for line in lines[1:]] == ["::error", "::notice"]
    assert "os/tool_1" in lines[1]
    assert "accepted: they asked for it (payments team)" in lines[2]
    many = [change(number=number, accepted="yes (me)") for number in range(12)]
    assert "::error" not in github.render(comparison(*many))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ("b: 2", "b: 3")),
        (
            {"when": {"properties": {"n": {"type": "integer", "minimum": 1}}}},
            {"when": {"properties": {"n": {"type": "integer", "minimum": 2}}}},
            ("when.properties.n.minimum: 1", "when.properties.n.minimum: 2"),
        ),
        ({"when": {"n": {"minimum": 1}}}, {}, ("when: {n: {minimum: 1}}", "")),
        ({"a": {"b": 1}}, {"a": [1, {"c": None}]}, ("a: {b: 1}", "a: [1, {c: null}]")),
        ({"digest": "x", "a": 1}, {"digest": "y", "a": 1}, ("", "")),
        (None, {"tools": ["os/*"], "when": {"n": True}}, ("", "tools: [os/*], when: {n: true}")),
        (3, None, ("3", "")),
    ],
)
def test_two_sides_show_what_differs_by_its_path(before: Any, after: Any, expected: tuple[str, str]) -> None:
    assert wording.values(change(before=before, after=after)) == expected


def test_ten_of_a_level_are_all_shown() -> None:
    lines = rendered("github", comparison(*(change(number=number) for number in range(10)))).splitlines()
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert not any("more of this level" in line for line in lines)


# The words


def test_text_leads_with_the_verdict_then_by_axis() -> None:
    page = rendered(
        "text",
        comparison(
            change(),
            change(
                "SYD203",
                before="a\nb\nc\nd\ne",
                after="a\nb\nX\nd\ne",
                witness="",
                subject="crm/tone",
                direction=Direction.SAME,
            ),
            change("SYD301", direction=Direction.SAME, witness="", after={"name": "tool_0"}),
        ),
    )
    assert page.splitlines() == [
        "WIDENING — desk may now call os/tool_0",
        "",
        "AUTHORITY: what an agent may do",
        "  error grant-widened: grant of os/tool_0 added (manifests/desk.yaml:3)",
        "        desk may now call os/tool_0 (was: not among its tools)",
        "        + desk: os/*",
        "",
        "BEHAVIOUR: what the model reads",
        "  warn  fragment-text-changed: fragment crm/tone changed (manifests/desk.yaml:3)",
        "        in desk",
        "        … 1 line unchanged",
        "        | b",
        "        - c",
        "        + X",
        "        | d",
        "        … 1 line unchanged",
        "",
        "INTERFACE: what callers depend on",
        "  info  tool-added: tool os/tool_0 added (manifests/desk.yaml:3)",
        "        in desk",
        "        + name: tool_0",
    ]


def test_the_headline_tells_remote_texts_and_what_is_unknown() -> None:
    one = comparison(
        change("SYD117", direction=Direction.UNKNOWN), change("SYD211", remote=True, direction=Direction.SAME)
    )
    for form in ("text", "markdown", "github"):
        assert "1 change of unknown effect; 1 remote text changed" in rendered(form, one)
    unknown = replace(one, verdict=Verdict.UNKNOWN, witness="files mcp.command is now x")
    assert rendered("text", unknown).splitlines()[:2] == [
        "UNKNOWN — files mcp.command is now x",
        "1 remote text changed",
    ]


def test_a_weaker_rule_without_effect_is_in_the_headline() -> None:
    weaker = change("SYD107", direction=Direction.SAME, witness="")
    one = Comparison(verdict=Verdict.SAME, changes=(weaker,))
    assert rendered("text", one).startswith("SAME AUTHORITY today — and a rule is weaker than before\n")
    assert "A rule is weaker than before" in rendered("markdown", one)


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_no_changes_are_said(form: str) -> None:
    assert "no changes" in rendered(form, Comparison())


def test_long_texts_are_cut_and_say_so() -> None:
    edited = change("SYD203", before="a\n" * 90, after="b\n" * 90, witness="")
    added = change("SYD201", before=None, after="line\n" * 90, witness="")
    assert "… 140 more lines" in rendered("text", comparison(edited))
    page = rendered("markdown", comparison(edited, added))
    assert "… 120 more lines" in page
    assert "… 30 more lines" in page
    assert len([token for token in tokens(page) if token.type == "fence"]) == 2


def test_a_text_that_came_is_shown_line_by_line() -> None:
    added = change(
        "SYD201", before=None, after="One.\n\nTwo.", witness="", subject="desk/a", direction=Direction.SAME
    )
    assert rendered("text", comparison(added)).splitlines()[-4:] == [
        "        in desk",
        "        + One.",
        "        +",
        "        + Two.",
    ]


def test_numbers_of_changes_in_words() -> None:
    for rule, number, expected in (
        ("SYD301", 1, "1 tool added"),
        ("SYD301", 2, "2 tools added"),
        ("SYD113", 2, "2 delegations added"),
        ("SYD101", 2, "2 grants added"),
        ("SYD310", 1, "1 × hooks reordered"),
        ("SYD211", 3, "3 descriptions changed"),
        ("SYD304", 2, "2 × parameters changed incompatibly"),
        ("SYD403", 1, "1 os/tool_0 changed"),
        ("SYD301", 0, "0 tools added"),
    ):
        assert wording.counted(change(rule), number) == expected


def test_colour_only_where_it_is_wanted() -> None:
    assert "\x1b[" in text.render(NASTIES, color=True)
    assert "\x1b[" not in text.render(NASTIES)


def test_a_last_line_end_is_shown_only_where_it_differs() -> None:
    assert list(line_diff("a\n", "b\n")) == [("-", "a"), ("+", "b")]
    assert list(line_diff("a\n", "a")) == [("|", "a"), ("-", "")]
    assert list(line_diff(None, "a\n")) == [("+", "a")]
    assert list(line_diff("a", None)) == [("-", "a")]


def test_line_diff_of_very_long_texts_is_bounded() -> None:
    before, after = ("\n".join(f"{word} {number}" for number in range(4000)) for word in ("a", "b"))
    assert len(list(line_diff(before, after))) == 8000


# Acceptances


def stanza(fingerprint: str, rule: str = "grant-widened") -> Acceptance:
    return Acceptance(fingerprint=fingerprint, rule=rule, reason="Wanted.", by="owners", span=Span("a.yaml"))


def test_an_acceptance_is_about_its_rule_and_fingerprint() -> None:
    one = change()
    for rule, expected in (("grant-widened", True), ("SYD101", True), ("deny-removed", False)):
        found, unused = accepted(comparison(one), [stanza(one.fingerprint, rule)])
        assert bool(found.changes[0].accepted) == expected
        assert bool(unused) != expected
    assert accepted(comparison(one), [stanza("sha256:0")])[0].changes[0].accepted == ""


def test_accepting_does_not_change_the_verdict() -> None:
    one = change()
    assert accepted(comparison(one), [stanza(one.fingerprint)])[0].verdict is Verdict.WIDENING


def test_what_is_merged_is_not_active() -> None:
    a, b = stanza("a"), stanza("b")
    assert active([a, b], [a]) == (b,)
    assert active([a, a], [a]) == (a,)
    assert active([], [a]) == ()


def test_axes_have_an_order() -> None:
    assert list(Axis) == [Axis.AUTHORITY, Axis.BEHAVIOUR, Axis.INTERFACE, Axis.NEUTRAL]
