"""The whole: what one agent reaches, as a value."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from symc.composition import Agent, Delegate, Lock, Slot
from symc.contracts.frozen import FrozenDict
from symc.lock import digest_lines
from tests.lock.sample import BASE, CRM, LOCK, RESEARCHER, SUPPORT, WORKSPACE

SUPPORT_WHOLE = LOCK.composition("support")


def test_a_composition_holds_what_the_agent_reaches() -> None:
    assert SUPPORT_WHOLE.agent == SUPPORT
    assert list(SUPPORT_WHOLE.extensions) == ["guardrails", "crm", "files", "std"]
    assert SUPPORT_WHOLE.bases == {"base-support": BASE}
    assert SUPPORT_WHOLE.workspace == WORKSPACE
    assert SUPPORT_WHOLE.delegates == {"researcher": LOCK.composition("researcher")}


def test_an_agent_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        LOCK.composition("nobody")


def test_the_layout_has_this_agent_s_texts() -> None:
    texts = {joined: text for joined, _, text in SUPPORT_WHOLE.layout}
    assert tuple(texts) == SUPPORT.prompt
    assert texts["crm/etiquette"] == "Be formal.\n"  # rendered for this agent
    assert texts["base-support/customer"] == ""  # a slot
    assert texts["crm/notes"] == "Older notes"
    plain = replace(SUPPORT, rendered={})
    lock = replace(LOCK, agents={**LOCK.agents, "support": plain})
    texts = {joined: text for joined, _, text in lock.composition("support").layout}
    assert texts["crm/etiquette"] == "Be friendly.\n"  # the default rendering


def test_slots_stand_in_the_layout() -> None:
    assert [joined for joined, part, _ in SUPPORT_WHOLE.layout if isinstance(part, Slot)] == [
        "base-support/customer"
    ]


def test_every_policy_that_applies() -> None:
    assert list(SUPPORT_WHOLE.policies) == [
        "acme/budget",
        "base-support/night",
        "crm/no-bulk-export",
        "guardrails/no-reads",
        "guardrails/pii",
        "support/quiet",
    ]
    assert list(LOCK.composition("researcher").policies) == ["acme/budget"]


def test_without_a_workspace_manifest() -> None:
    lock = Lock(agents={"a": Agent(name="a", source="a.yaml")})
    composition = lock.composition("a")
    assert [author.name for author in composition.authors] == ["a"]
    assert composition.layout == ()
    assert digest_lines(lock)[1].split()[0] == composition.digest


def test_two_parents_share_a_child() -> None:
    def calling(name: str, *children: str) -> Agent:
        return Agent(
            name=name,
            source="a.yaml",
            delegates={child: Delegate(agent=child, tool=f"ask_{child}") for child in children},
        )

    lock = Lock(
        agents={
            "a": calling("a", "b", "c"),
            "b": calling("b", "d"),
            "c": calling("c", "d"),
            "d": calling("d"),
        }
    )
    whole = lock.composition("a")
    assert whole.delegates["b"].delegates["d"] is whole.delegates["c"].delegates["d"]
    before = whole.digest
    assert before == digest_lines(lock)[1].split()[0]
    other = replace(lock, agents={**lock.agents, "d": replace(lock.agents["d"], model="other")})
    assert other.composition("a").digest != before


def test_nothing_changes_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        SUPPORT_WHOLE.agent = RESEARCHER  # type: ignore[misc]
    with pytest.raises(TypeError):
        CRM.tools["lookup_customer"].input_schema["type"] = "array"
    assert isinstance(CRM.tools["lookup_customer"].input_schema["properties"], FrozenDict)
