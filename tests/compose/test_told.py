"""What an author is told: places, words and next steps, where several would be thinkable (docs/diagnostics.md §2)."""

from __future__ import annotations

from symc.compose import compile
from symc.diagnostics import Diagnostic
from symc.source import Workspace

CRM = """\
kind: extension
name: crm
version: "1.0"
tools:
  - {name: find, invoke: "m:find"}
  - {name: list, invoke: "m:list"}
tool_extensions:
  - {name: memo, kind: wrapper, factory: "m:memo"}
"""


def _told(**files: str) -> tuple[Diagnostic, ...]:
    return compile(
        Workspace.of({f"{name}.yaml": text.encode() for name, text in {"crm": CRM, **files}.items()})
    ).diagnostics


def _desk(*lines: str) -> str:
    return "\n".join(["kind: agent", "name: desk", "extensions: [crm]", *lines, ""])


def _places(found: Diagnostic) -> list[tuple[int, int]]:
    spans = [found.primary, *(one.span for one in found.secondary)]
    return list(dict.fromkeys((span.start.line, span.start.column) for span in spans))


def test_names_that_collide_by_as_are_marked_there_and_get_another_as() -> None:
    (found,) = _told(desk=_desk("tools:", "  - {tool: crm/find, as: look}", "  - {tool: crm/list, as: look}"))
    assert found.name == "tool-name-collision"
    assert _places(found) == [(5, 26), (6, 26)]
    assert found.hint is not None
    assert found.hint.text == "give one of them another `as`, such as: crm_look"


def test_variants_that_collide_by_as_are_marked_there() -> None:
    (found,) = _told(
        desk=_desk(
            "tools: ['crm/*']",
            "variants:",
            "  crm/find: [{chain: [memo], as: look}]",
            "  crm/list: [{chain: [memo], as: look}]",
        )
    )
    assert _places(found) == [(6, 34), (7, 34)]
    assert found.hint is not None
    assert "another `as`" in found.hint.text


def test_an_as_that_takes_a_tools_name_is_what_must_change() -> None:
    (found,) = _told(desk=_desk("tools: [crm/find, {tool: crm/list, as: find}]"))
    assert (4, 40) in _places(found)
    assert found.hint is not None
    assert "another `as`" in found.hint.text
    assert "prefix" not in found.hint.text


def test_an_as_that_takes_a_delegates_name_is_what_must_change() -> None:
    (found,) = _told(
        desk=_desk("tools: [{tool: crm/list, as: ask_help}]", "delegates: [help]"),
        help="kind: agent\nname: help\n",
    )
    assert _places(found) == [(4, 30), (5, 13)]
    assert found.hint is not None
    assert found.hint.text.startswith("give the tool another `as`")


def test_a_misspelt_may_exceed_is_shown_by_what_it_fails_to_allow() -> None:
    helper = "kind: agent\nname: help\nextensions: [crm]\ntools: [crm/find]\n"
    (found,) = _told(desk=_desk("delegates:", "  - {agent: help, may_exceed: [crm/fnd]}"), help=helper)
    assert found.name == "privilege-widening"
    assert [(one.span.start.line, one.label) for one in found.secondary if one.span.file == "desk.yaml"] == [
        (5, '"help" reaches nothing of this name')
    ]


def test_may_exceed_is_not_idle_where_a_delegate_further_down_is_not_known() -> None:
    found = _told(
        desk=_desk("delegates:", "  - {agent: help, may_exceed: [crm/find]}"),
        help="kind: agent\nname: help\ndelegates: [{agent: deep, may_exceed: [crm/find]}]\n",
        deep="kind: agent\nname: deep\nextensions: [crm]\ntools: [crm/find]\nzzz: 1\n",
    )
    assert [one.name for one in found] == ["unknown-key"]


def test_an_unknown_key_of_a_config_is_told_with_those_that_are_known() -> None:
    (found,) = _told(
        desk=_desk("tools: [crm/find]", "variants:", "  crm/find: [{use: cache, config: {lifetime: 5}}]")
    )
    assert found.name == "variant-config"
    assert _places(found)[0] == (6, 36)
    assert found.message == 'the config of "cache" has no key "lifetime"'
    assert found.notes == ("known here: ttl, max_entries",)


def test_an_item_that_is_indented_too_far_is_not_repeated() -> None:
    """It may be an argument that nobody should see."""
    server = "kind: extension\nname: files\nmcp:\n  command:\n    - run\n      - --token=hunter2hunter2\n"
    found = _told(files=server)
    assert "folded-item" in [one.name for one in found]
    assert not any("hunter2" in f"{one.message} {one.hint} {one.notes} {one.secondary}" for one in found)


def test_everything_that_is_indented_too_far_is_told_and_mended() -> None:
    written = _desk("tools:", "  - crm/find", "     - crm/list", "   - crm/other")
    found = _told(desk=written)
    assert [(one.name, one.primary.start.line) for one in found] == [("folded-item", 6), ("folded-item", 7)]
    lines = written.split("\n")
    for one in found:
        assert one.hint is not None
        edit = one.hint.edit
        assert edit is not None
        line = lines[edit.span.start.line - 1]
        lines[edit.span.start.line - 1] = edit.replacement + line[edit.span.end.column - 1 :]
    assert [one.message for one in _told(desk="\n".join(lines))] == ['"crm" has no tool "other"']
