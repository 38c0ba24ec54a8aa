"""The call that a witness names: true of both sides, and such as the tool takes (docs/diff.md §1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.authority import Decision, decide, request_for
from symc.diff import Comparison, compare
from tests.diff.pairs import lock, server
from tests.policies.workspaces import Document, agent, ask, deny, extension

Schema = dict[str, Any]
PAY = {
    "n": {"type": "integer", "minimum": 0, "maximum": 500},
    "to": {"type": "string"},
    "tags": {"type": "array", "items": {"type": "string"}},
}


def on(name: str, **schema: Any) -> Schema:
    return {"properties": {name: schema}, "required": [name]}


def ruled(*policies: Document, **more: Any) -> tuple[Document, ...]:
    return (extension("os", {"pay": PAY}), agent("desk", ["os/pay"], policies=list(policies), **more))


def compared(old: tuple[Document, ...], new: tuple[Document, ...]) -> Comparison:
    return compare(lock(*old), lock(*new))


@pytest.mark.parametrize(
    ("old", "new", "call"),
    [
        (on("n", minimum=10), on("n", minimum=400), "n: 10"),
        (on("n", type="integer", minimum=10), on("n", type="integer", minimum=1000), "n: 10"),
        (on("n", exclusiveMinimum=10), on("n", exclusiveMinimum=400), "n: 400"),
        (on("n", maximum=400), on("n", maximum=10), "n: 400"),
        (on("n", type="integer"), on("n", type="integer", minimum=10), "n: 9"),
        (None, on("n", minimum=10), "n: 9"),
        (on("n", minimum=10), on("n", maximum=10), "n: 11"),
        (on("to", enum=["a", "b"]), on("to", enum=["a"]), 'to: "b"'),
        (on("to", const="a"), on("to", const="b"), 'to: "a"'),
        (on("to", minLength=3), on("to", minLength=9), 'to: "xxx"'),
        (on("to"), {"required": ["to", "n"]}, 'to: "x"'),
        (on("tags", minItems=1), on("tags", minItems=3), 'tags: ["x"]'),
        ({"anyOf": [on("n", minimum=9), on("to", const="a")]}, on("n", minimum=9), 'to: "a"'),
        ({"not": on("n", maximum=9)}, {"not": on("n", maximum=99)}, "n: 99"),
    ],
)
def test_a_weaker_condition_names_a_call(old: Schema | None, new: Schema, call: str) -> None:
    """And the way back names one that is no longer let through."""
    before, after = (
        ruled(deny("d", "os/pay", when=when)) if when else ruled(deny("d", "os/pay")) for when in (old, new)
    )
    found = compared(before, after)
    assert found.verdict.widens
    assert found.witness == f"desk may now call os/pay with {call} (was: denied by desk/d)"
    back = next(one for one in compared(after, before).changes if one.name == "pattern-strengthened")
    assert back.witness.startswith("desk may no longer call os/pay with ")
    assert back.witness.endswith(" (now: denied by desk/d)")


def test_a_bound_that_moves_up_denies_less() -> None:
    """A bound that moves from 10 to 1000 denies less, and 10 shows it."""
    old, new = (ruled(deny("d", "os/pay", when=on("n", minimum=bound))) for bound in (10, 1000))
    assert str(compared(old, new).verdict) == "WIDENING"
    assert str(compared(new, old).verdict) == "NARROWING"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # No call that the tool takes: it pays 500 at most.
        (on("n", minimum=600), on("n", minimum=900)),
        # No value is made for a pattern.
        (on("to", pattern="^[a-f]{32}$"), on("to", pattern="^[a-e]{32}$")),
    ],
)
def test_without_a_call_the_condition_is_named(old: Schema, new: Schema) -> None:
    found = compared(ruled(deny("d", "os/pay", when=old)), ruled(deny("d", "os/pay", when=new)))
    assert found.verdict.widens
    assert found.witness == "desk may now call os/pay (was: denied under a condition by desk/d)"


def test_numbers_at_the_end_of_what_json_can_say() -> None:
    top = 2**53 - 1
    old, new = (ruled(deny("d", "os/pay", when=on("n", maximum=one))) for one in (top, top - 1))
    assert compared(old, new).verdict.widens


def test_a_question_that_is_left_is_told_where_it_is_asked() -> None:
    low, high = on("n", minimum=10), on("n", minimum=100)
    found = compared(
        ruled(deny("d", "os/pay", when=low), ask("a", "os/pay")),
        ruled(deny("d", "os/pay", when=high), ask("a", "os/pay")),
    )
    assert found.witness == "desk may now call os/pay with n: 10 after a yes (was: denied by desk/d)"
    found = compared(
        ruled(ask("a", "os/pay", when=low)),
        ruled(ask("a", "os/pay", when=high)),
    )
    assert found.witness == "desk may now call os/pay with n: 10 without asking (was: asked by desk/a)"


def test_each_change_quotes_its_own_rule() -> None:
    """Of two rules over one tool that go together, each is told for itself."""
    found = compared(ruled(deny("d", "os/pay"), ask("a", "os/pay")), ruled())
    said = {change.name: change.witness for change in found.changes if change.axis == "authority"}
    assert said == {
        "deny-removed": "desk may now call os/pay (was: denied by desk/d)",
        "approval-removed": "desk may now call os/pay without asking (was: asked by desk/a)",
    }


def test_each_direction_of_a_mixed_change_is_told() -> None:
    old, new = (ruled(deny("d", "os/pay", when=when)) for when in (on("n", minimum=9), on("n", maximum=5)))
    said = {change.name: change.witness for change in compared(old, new).changes}
    assert said["pattern-weakened"] == "desk may now call os/pay with n: 9 (was: denied by desk/d)"
    assert said["pattern-strengthened"] == "desk may no longer call os/pay with n: 5 (now: denied by desk/d)"


def test_another_config_of_a_layer_is_told_as_that() -> None:
    """The variant was there: it is its config that differs."""

    def cached(ttl: int) -> tuple[Document, ...]:
        layers = {"os/pay": [{"use": "cache", "config": {"ttl": ttl}}]}
        return ruled(variants=layers)

    found = compared(cached(300), cached(600))
    assert (str(found.verdict), found.witness) == (
        "MIXED",
        "desk may now call os/pay + cache with another config than before",
    )
    lost = next(change for change in found.changes if change.name == "grant-narrowed")
    assert lost.witness == "desk may no longer call os/pay + cache with the config of before"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"A": "1"}, {"A": "2"}, "files is now started with another value of A"),
        ({"A": "1"}, {"A": "1", "B": "1"}, "files is now started with the additional B"),
        ({"A": "1", "B": "1"}, {}, "files is now started with no A, B"),
        ({"A": "1", "B": "1"}, {"A": "2", "C": "1"},
         "files is now started with another value of A and the additional C and no B"),
    ],
)  # fmt: skip
def test_another_environment_of_a_server_says_what_of_it(
    old: dict[str, str], new: dict[str, str], said: str
) -> None:
    def served(env: dict[str, str]) -> tuple[Document, ...]:
        return (
            server("files", {"read": {}}, mcp={"command": ["run"], "env": env}),
            agent("desk", ["files/read"]),
        )

    assert compared(served(old), served(new)).witness == said


bounds = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "number"]),
        "minimum": st.integers(-2, 12),
        "exclusiveMinimum": st.integers(-2, 12),
        "maximum": st.integers(-2, 12),
        "multipleOf": st.integers(1, 4),
        "enum": st.lists(st.integers(0, 12), min_size=1, max_size=3, unique=True),
    },
)
rules = st.lists(st.tuples(st.sampled_from([ask, deny]), st.none() | bounds.filter(bool)), max_size=2)


def decision(documents: tuple[Document, ...], number: int) -> Decision:
    one = lock(*documents).composition("desk")
    return decide(one, request_for(one, "pay", {"n": number}))


@given(rules, rules)
@settings(max_examples=100, deadline=None)
def test_a_verdict_is_true_of_every_call_and_of_the_one_it_names(old: Any, new: Any) -> None:
    """The law, by trying every number: what is called narrower lets through nothing more, and a named call shows it."""
    before, after = (
        ruled(
            *(
                way(f"r{number}", "os/pay", **({} if when is None else {"when": on("n", **when)}))
                for number, (way, when) in enumerate(found)
            )
        )
        for found in (old, new)
    )
    found = compared(before, after)
    strength = {"deny": 0, "ask": 1, "allow": 2}
    pairs = {
        number: (strength[decision(before, number).outcome], strength[decision(after, number).outcome])
        for number in range(16)
    }
    if not found.verdict.widens:
        assert all(now <= was for was, now in pairs.values())
    if str(found.verdict) in ("WIDENING", "SAME AUTHORITY"):
        assert all(now >= was for was, now in pairs.values())
    _, named, rest = found.witness.partition(" with n: ")
    if named and (number := int(rest.split(" ")[0].partition(".")[0])) in pairs:
        was, now = pairs[number]
        assert now > was if found.verdict.widens else now < was
