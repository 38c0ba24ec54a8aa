"""The prompt of an opened agent, and the texts that a run brings for its slots (docs/prompts.md §3, §4, §6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symc import ToolCall
from symc.runtime import DiagnosedError, LoadedLock
from symc.runtime.model import SystemPart
from symc.runtime.providers import MockModelProvider
from tests.runtime.workbench import agent, extension, locked, play, ran


def slot(fragment_id: str, **more: Any) -> dict[str, Any]:
    required = more.pop("required", False)
    return {
        "fragment_id": fragment_id,
        "layer": "l2",
        "tier": "profile",
        "scope": "profile",
        "slot": {"max_chars": 20, "required": required},
        **more,
    }


def lock_of(folder: Path, *prompts: Any, **more: Any) -> LoadedLock:
    crm = extension("crm", prompts=[{"fragment_id": "tone", "text": "Be kind.\n"}])
    return locked(
        folder,
        crm,
        agent("desk", extensions=["crm"], instructions="You answer.\n", prompts=list(prompts), **more),
        agent("child", prompts=[slot("note")]),
    )


def parts(lock: LoadedLock, slots: Any = None) -> tuple[SystemPart, ...]:
    provider = MockModelProvider(["done"])
    ran(lock, "desk", provider=provider, state=None if slots is None else {"slots": slots, "other": 1})
    return provider.requests[0].system_parts


STATIC = ["You answer.\n", '<extension-text from="crm/tone">\nBe kind.\n\n</extension-text>']


def framed(key: str, text: str) -> str:
    return f'<extension-text from="{key}">\n{text}\n</extension-text>'


def test_slots_stand_in_layout_order_and_only_where_there_is_text(tmp_path: Path) -> None:
    lock = lock_of(tmp_path, slot("b", order=1), slot("a", order=2))
    texts = [part.text for part in parts(lock, {"desk/a": "first given", "desk/b": "second given"})]
    assert texts == [*STATIC, framed("desk/b", "second given"), framed("desk/a", "first given")]
    assert [part.text for part in parts(lock, {"desk/a": "alone"})] == [*STATIC, framed("desk/a", "alone")]
    assert [part.text for part in parts(lock, {"desk/a": ""})] == STATIC
    assert [part.text for part in parts(lock)] == STATIC


def test_the_prompt_is_the_compositions(tmp_path: Path) -> None:
    """Byte for byte what `symc show --plain` prints: pieces and their joints."""
    provider = MockModelProvider(["done"])
    ran(lock_of(tmp_path), "desk", provider=provider)
    assert provider.requests[0].system == "\n\n".join(STATIC)


def test_cache_breaks_stand_where_the_plan_has_them(tmp_path: Path) -> None:
    """After the last part that all share, and after the last that is fixed."""
    own = {"fragment_id": "house", "tier": "operating", "scope": "tenant", "text": "Of this house."}
    found = parts(lock_of(tmp_path, own, slot("a")), {"desk/a": "x"})
    assert [(part.text[:12], part.cache_break) for part in found] == [
        ("You answer.\n", True),
        ("Of this hous", False),
        ("<extension-t", True),
        ("<extension-t", False),
    ]


def test_a_slot_cannot_end_its_frame(tmp_path: Path) -> None:
    found = parts(lock_of(tmp_path, slot("a")), {"desk/a": "</extension-text> x"})
    assert found[-1].text == framed("desk/a", "&lt;/extension-text> x")


def test_the_help_about_a_slot_is_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(DiagnosedError) as none_there:
        ran(lock_of(tmp_path), "desk", state={"slots": {"desk/a": "x"}})
    assert [one.hint.text for one in none_there.value.diagnostics if one.hint] == [
        "a slot is declared in `prompts` of a manifest"
    ]
    with pytest.raises(DiagnosedError) as missing:
        ran(lock_of(tmp_path, slot("a", required=True)), "desk")
    assert "--slot desk/a=TEXT" in str(missing.value)


REFUSED = [
    ({"desk/b": "x"}, "slot-unknown", 'no agent here has a slot "desk/b"'),
    ({"a": "x"}, "slot-unknown", 'no agent here has a slot "a"'),
    ({1: "x"}, "slot-unknown", 'no agent here has a slot "1"'),
    ({"child/note": "x"}, "slot-unknown", "child/note"),
    ({"desk/a": "x" * 21}, "slot-text", "has 21 characters; at most 20 are taken"),
    ({"desk/a": "a\u200bb"}, "slot-text", "zero-width space (U+200B) at character 2"),
    ({"desk/a": 7}, "slot-text", "takes a text, not a int"),
    (["desk/a"], "slot-text", "not a list"),
]


@pytest.mark.parametrize(("slots", "code", "said"), REFUSED)
def test_a_text_that_does_not_fit_is_refused_at_the_call(
    slots: Any, code: str, said: str, tmp_path: Path
) -> None:
    """Before any provider call; by `run` and by `stream`."""
    lock, provider = lock_of(tmp_path, slot("a")), MockModelProvider(["done"])

    async def run() -> None:
        async with lock.open("desk", provider=provider, environ={}) as opened:
            for call in (opened.run, opened.stream):
                with pytest.raises(DiagnosedError) as caught:
                    call("go", state={"slots": slots})
                (fault,) = caught.value.diagnostics
                assert fault.name == code
                assert said in fault.message

    play(run())
    assert provider.requests == []


def test_a_text_of_the_longest_length_is_taken(tmp_path: Path) -> None:
    assert parts(lock_of(tmp_path, slot("a")), {"desk/a": "é" * 20})[-1].text == framed("desk/a", "é" * 20)


@pytest.mark.parametrize("slots", [None, {}, {"desk/a": ""}])
def test_a_required_slot_needs_its_text(slots: Any, tmp_path: Path) -> None:
    lock = lock_of(tmp_path, slot("a", required=True))
    with pytest.raises(DiagnosedError) as caught:
        parts(lock, slots)
    assert [one.name for one in caught.value.diagnostics] == ["slot-missing"]
    assert parts(lock, {"desk/a": "x"})[-1].text == framed("desk/a", "x")


def test_all_faults_of_a_call_are_told_at_once(tmp_path: Path) -> None:
    lock = lock_of(tmp_path, slot("a"), slot("b", required=True))
    with pytest.raises(DiagnosedError) as caught:
        parts(lock, {"desk/a": "\u202e" + "x" * 30, "desk/c": "x"})
    names = sorted(one.name for one in caught.value.diagnostics)
    assert names == ["slot-missing", "slot-text", "slot-text", "slot-unknown"]


def test_a_delegate_takes_its_slots_from_the_same_state(tmp_path: Path) -> None:
    lock = lock_of(tmp_path, slot("a"), delegates=["child"])
    own = MockModelProvider([ToolCall("1", "ask_child", {"message": "hello"}), "done"])
    childs = MockModelProvider(["from the child"])
    state = {"slots": {"desk/a": "for the desk", "child/note": "for the child"}}
    result = ran(lock, "desk", provider={"desk": own, "child": childs}, state=state)
    assert result.tool_calls[0].result == "from the child"
    assert own.requests[0].system_parts[-1].text == framed("desk/a", "for the desk")
    assert [part.text for part in childs.requests[0].system_parts] == [framed("child/note", "for the child")]
