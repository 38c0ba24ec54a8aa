"""Policies of a lock at run time: what each stops, in variants, inside layers, and through delegation (docs/policies.md)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from symc import ToolCall
from symc.authority import decide, request_for
from symc.contracts import PolicyRequest
from symc.runtime import LoadedLock
from symc.runtime.providers import MockModelProvider
from tests.runtime import shop
from tests.runtime.workbench import SHOP, Document, agent, called, extension, locked, ran, tool

TEXT = {"type": "string"}
AMOUNT = {"type": "integer", "default": 1}
MUCH = {"properties": {"amount": {"type": "integer", "minimum": 100}}, "required": ["amount"]}
PARAMS = {
    "type": "object",
    "properties": {"params": {"type": "array", "items": {"$ref": "symc:input"}}},
    "required": ["params"],
}

LAYERS = [
    {
        "name": "memo",
        "kind": "wrapper",
        "factory": f"{SHOP}:memo",
        "reserved_params": {"exp": {"type": "number"}},
    },
    {"name": "noted", "kind": "wrapper", "factory": f"{SHOP}:noted"},
    {"name": "bulk", "kind": "transformer", "factory": f"{SHOP}:bulk", "input_schema": PARAMS},
    {"name": "far", "kind": "backend", "factory": f"{SHOP}:somewhere"},
]

CHAINS: list[list[str]] = [["memo", "noted"], ["bulk", "noted"], ["memo", "bulk"], ["far"]]


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    shop.log.clear()


def pay(**more: Any) -> Document:
    return extension("pay", tools=[tool("refund", key=TEXT, amount=AMOUNT)], tool_extensions=LAYERS, **more)


def lock_of(folder: Path, *policies: Any, **more: Any) -> LoadedLock:
    return locked(
        folder, pay(policies=list(policies)), agent("desk", "pay/*", variants={"pay/*": CHAINS}, **more)
    )


def deny(policy_id: str = "much", way: str = "deny", **rule: Any) -> Document:
    return {"policy_id": policy_id, way: {"tools": ["pay/refund"], "reason": "Too much.", **rule}}


class Person:
    """Answers every question the same, and remembers what was asked."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: list[PolicyRequest] = []

    async def __call__(self, request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        self.asked.append(request)
        return self.answer


def arguments_of(name: str, amount: int) -> dict[str, Any]:
    one = {"key": "a", "amount": amount}
    return {"params": [one]} if "bulk" in name else one


NAMES = ["refund", "refund_memo", "refund_memo_noted", "refund_bulk", "refund_bulk_noted", "refund_memo_bulk", "refund_far"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_P_11_a_deny_with_a_condition_on_the_base_holds_in_every_variant(name: str, tmp_path: Path) -> None:
    """[P11][V32] However the arguments reach the base."""
    few, many = called(
        lock_of(tmp_path, deny(when=MUCH)),
        "desk",
        (name, arguments_of(name, 99)),
        (name, arguments_of(name, 100)),
    )
    assert few.error is None
    said = f"{many.result}{many.error}"
    assert "policy_denied: pay/much: Too much." in said
    assert len(shop.log) - sum("noted" in line for line in shop.log) == 1, "the base ran once"


def test_V_32_three_inner_calls_are_three_decisions(tmp_path: Path) -> None:
    """[V32]"""
    three = [{"key": key, "amount": amount} for key, amount in (("a", 1), ("b", 100), ("c", 2))]
    (call,) = called(lock_of(tmp_path, deny(when=MUCH)), "desk", ("refund_bulk", {"params": three}))
    assert call.result is not None
    assert call.result.split("\n") == [
        '{"amount": 1, "key": "a"}',
        "not executed: policy_denied: pay/much: Too much.",
        '{"amount": 2, "key": "c"}',
    ]


def test_V_32_an_answer_kept_by_a_layer_is_no_way_around(tmp_path: Path) -> None:
    """[V32] What was allowed is kept for those arguments alone."""
    kept, other = called(
        lock_of(tmp_path, deny(when=MUCH)),
        "desk",
        ("refund_memo", {"key": "a", "amount": 1}),
        ("refund_memo", {"key": "a", "amount": 100, "exp": 9}),
    )
    assert (kept.reason, other.reason) == (None, "policy_denied")


@pytest.mark.parametrize("name", NAMES)
def test_P_11_a_deny_without_condition_stands_before_every_variant(name: str, tmp_path: Path) -> None:
    """[P11]"""
    (call,) = called(lock_of(tmp_path, deny()), "desk", (name, arguments_of(name, 1)))
    assert call.error == "not executed: policy_denied: pay/much: Too much."
    assert shop.log == []


def test_P_10_a_rule_about_a_variant_leaves_its_base_alone(tmp_path: Path) -> None:
    """[P10] It holds for the variant and what is stacked on it, with the arguments of that variant."""
    rule = deny(tools=[{"variant": "pay/refund", "chain": ["memo"]}])
    calls = called(lock_of(tmp_path, rule), "desk", *[(name, arguments_of(name, 1)) for name in NAMES])
    refused = [call.name for call in calls if "policy_denied" in f"{call.result}{call.error}"]
    assert refused == ["refund_memo", "refund_memo_noted", "refund_memo_bulk"]


def test_P_10_a_condition_on_a_variant_sees_that_variants_arguments(tmp_path: Path) -> None:
    """[P10][V32]"""
    when = {"properties": {"exp": {"type": "number", "minimum": 5}}, "required": ["exp"]}
    rule = deny(tools=[{"variant": "pay/refund", "chain": ["memo"]}], when=when)
    calls = called(
        lock_of(tmp_path, rule),
        "desk",
        ("refund_memo", {"key": "a", "exp": 5}),
        ("refund_memo_noted", {"key": "a", "exp": 5}),
        ("refund_memo", {"key": "a", "exp": 4}),
    )
    assert [call.reason for call in calls] == ["policy_denied", "policy_denied", None]


@pytest.mark.parametrize(("answer", "reason"), [(True, None), (False, "approval_refused")])
@pytest.mark.parametrize("name", ["refund", "refund_memo_noted", "refund_far"])
def test_F_47_one_question_for_one_call(name: str, answer: bool, reason: str | None, tmp_path: Path) -> None:
    """[F-47][P11] However many layers the call comes through."""
    person = Person(answer)
    (call,) = called(
        lock_of(tmp_path, deny(way="ask")), "desk", (name, arguments_of(name, 1)), approver=person
    )
    assert call.reason == reason
    assert [request.tool for request in person.asked] == [name]


def test_P_1_nobody_is_asked_about_what_is_denied(tmp_path: Path) -> None:
    """[P1] Also where the denial is of the base, and the question of all that is derived from it."""
    person = Person(True)
    lock = lock_of(tmp_path, deny(when=MUCH), deny("careful", way="ask"))
    (call,) = called(lock, "desk", ("refund_memo_noted", {"key": "a", "amount": 100}), approver=person)
    assert call.reason == "policy_denied"
    assert person.asked == []


def test_a_question_of_each_inner_call_of_a_transformer(tmp_path: Path) -> None:
    """What a person said yes to was a list; each call in it is another request."""
    person = Person(True)
    params = {"params": [{"key": "a"}, {"key": "b"}]}
    called(lock_of(tmp_path, deny(way="ask")), "desk", ("refund_bulk", params), approver=person)
    assert [(one.tool, one.origin) for one in person.asked] == [
        ("refund_bulk", "model"),
        ("refund", "bulk"),
        ("refund", "bulk"),
    ]


@pytest.mark.parametrize(
    ("target", "reason"), [("allows", None), ("denies", "policy_denied"), ("breaks", "policy_error")]
)
def test_X_18_a_policy_in_code_is_wired(target: str, reason: str | None, tmp_path: Path) -> None:
    """[X-16][X-18] It is asked about each gate that a call passes."""
    policy = {"policy_id": "code", "actions": ["tool_call"], "decide": f"{SHOP}:{target}"}
    (call,) = called(lock_of(tmp_path, policy), "desk", ("refund_memo_noted", {"key": "a"}))
    assert call.reason == reason
    if reason is None:
        asked = [line for line in shop.log if line.startswith("asked")]
        assert asked == ["asked refund_memo_noted", "asked refund_memo", "asked refund"]


def test_F_17_a_lock_without_model_calls_calls_no_model(tmp_path: Path) -> None:
    """[F-17] The facade's baseline does not widen it. (Only an edited lock lacks the grant; its digests are anew.)"""
    from dataclasses import replace

    from symc.contracts import ContractViolationError
    from symc.lock import dumps
    from symc.runtime import load

    lock = lock_of(tmp_path).lock
    desk = replace(lock.agents["desk"], grants=("tool_call",))
    (tmp_path / "symc.lock").write_text(
        dumps(replace(lock, agents={"desk": desk}, stored=None)), encoding="utf-8"
    )
    with pytest.raises(ContractViolationError, match="model_call is not among the grants"):
        ran(load(tmp_path / "symc.lock"), "desk")


# the decision function and the runtime are of one mind


RULES = [
    deny(when=MUCH),
    deny(),
    deny(way="ask", when=MUCH),
    deny(way="ask"),
    deny(tools=["*/ref*"], when=MUCH),
    deny(tools=[{"variant": "pay/refund", "chain": ["memo"]}], when=MUCH),
    deny(tools=[{"variant": "pay/refund", "chain": ["memo", "noted"]}]),
    {"policy_id": "all", "deny": {"when": MUCH}, "actions": ["tool_call"]},
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: json.dumps(rule)[16:70])
def test_what_policy_test_says_happens(rule: Document, tmp_path: Path) -> None:
    """For every tool: denied there is denied here, asked there is asked here; and nothing else is stopped."""
    lock, person = lock_of(tmp_path, rule), Person(True)
    composition = lock.lock.composition("desk")
    requests = [(name, arguments_of(name, amount)) for name, amount in product(NAMES, (1, 100))]
    for name, arguments in requests:
        person.asked.clear()
        (call,) = called(lock, "desk", (name, arguments), approver=person)
        decision = decide(composition, request_for(composition, name, arguments))
        if decision.outcome == "deny":
            assert call.reason == "policy_denied", (name, arguments)
        elif decision.outcome == "ask":
            assert call.reason is None
            assert person.asked[0].tool == name
        elif decision.outcome == "allow":
            assert call.error is None
            assert person.asked == []
            assert "policy_denied" not in f"{call.result}"
        else:  # a layer makes the arguments anew: the rule is asked when it calls
            assert "bulk" in name


# delegation


def family(folder: Path, parent: Document, child: Document, **more: Any) -> LoadedLock:
    documents = [pay(**more), agent("desk", "pay/*", **parent), agent("child", "pay/*", **child)]
    return locked(folder, *documents)


def through(lock: LoadedLock, *made: tuple[str, Mapping[str, Any]], **terms: Any) -> list[str]:
    """The calls that a child makes when it is asked through its parent, answered."""
    answered: list[str] = []

    def last(request: Any) -> str:
        answered.extend(message.text for message in request.messages if message.role == "tool")
        return "from the child"

    childs = MockModelProvider([*(ToolCall(f"c{at}", *call) for at, call in enumerate(made)), last])
    own = MockModelProvider([ToolCall("1", "ask_child", {"message": "go"}), "done"])
    (call,) = ran(lock, "desk", provider={"desk": own, "child": childs}, **terms).tool_calls
    assert call.error is None, call.error
    return answered


def test_P_22_a_parents_rules_hold_in_its_child(tmp_path: Path) -> None:
    """[P22][P11] Deny, ask and decide; also in the child's variants and inside their layers."""
    lock = family(
        tmp_path,
        {"policies": [deny(when=MUCH)], "delegates": ["child"]},
        {"variants": {"pay/*": CHAINS}},
    )
    for name in NAMES:
        few, many = through(lock, (name, arguments_of(name, 1)), (name, arguments_of(name, 100)))
        assert "denied" not in str(few)
        assert "policy_denied: desk/much" in str(many)
    direct = called(lock, "child", ("refund", arguments_of("refund", 100)))
    assert direct[0].error is None, "alone, the child is not under its parent's rules"


def test_P_22_a_rule_of_both_is_asked_once(tmp_path: Path) -> None:
    """[P22]"""
    policy = {"policy_id": "code", "actions": ["tool_call"], "decide": f"{SHOP}:allows"}
    lock = family(tmp_path, {"delegates": ["child"]}, {}, policies=[policy])
    through(lock, ("refund", {"key": "a"}))
    assert shop.log.count("asked refund") == 1


def test_P_22_a_parents_question_reaches_its_approver(tmp_path: Path) -> None:
    """[P22][F-47] The request says who asks, and through whom."""
    person = Person(False)
    lock = family(tmp_path, {"policies": [deny(way="ask")], "delegates": ["child"]}, {})
    (answer,) = through(lock, ("refund", {"key": "a"}), approver=person)
    assert "approval_refused" in str(answer)
    assert [(one.agent, one.origin) for one in person.asked] == [("child", "desk")]


def test_P_23_a_child_has_no_more_than_its_parent_allows(tmp_path: Path) -> None:
    """[P23] (parent ∩ child) ∪ (child ∩ may_exceed), as the decision function says."""
    web = extension("web", tools=[tool("fetch"), tool("post")])
    lock = locked(
        tmp_path,
        web,
        agent("desk", "web/fetch", delegates=[{"agent": "child", "may_exceed": ["web/post"]}]),
        agent("child", "web/*"),
    )
    assert through(lock, ("fetch", {}), ("post", {})) == ["{}", "{}"]
    from dataclasses import replace

    from symc.lock import dumps
    from symc.runtime import load

    desk = lock.lock.agents["desk"]
    edge = replace(desk.delegates["child"], may_exceed=())
    agents = {"child": lock.lock.agents["child"], "desk": replace(desk, delegates={"child": edge})}
    path = tmp_path / "symc.lock"
    path.write_text(dumps(replace(lock.lock, agents=agents, stored=None)), encoding="utf-8")
    fetch, post = through(load(path), ("fetch", {}), ("post", {}))
    assert (fetch, post) == ("{}", 'not executed: not_granted: the effect "tool_call" is not granted')


def test_P_23_a_variant_may_use_what_it_stands_on(tmp_path: Path) -> None:
    """[P23][V32] The parent has the variant alone; the child's base is out of reach, and yet under the child's variant."""
    only = {"pay/refund": [{"chain": ["noted"], "expose": "only"}]}
    lock = family(
        tmp_path,
        {"variants": only, "delegates": [{"agent": "child", "may_exceed": ["pay/*"]}]},
        {"variants": only},
    )
    (answer,) = through(lock, ("refund_noted", {"key": "a"}))
    assert answer == '{"key": "a"}'


def test_P_23_the_name_and_description_of_a_delegate(tmp_path: Path) -> None:
    """[P23]"""
    lock = locked(
        tmp_path, agent("desk", delegates=["back.office-2"]), agent("back.office-2", description="Knows it.")
    )
    provider = MockModelProvider(["done"])
    ran(lock, "desk", provider=provider)
    (spec,) = provider.requests[0].tools
    assert (spec.name, spec.description) == ("ask_back_office_2", "Knows it.")


def test_a_grandchild_is_under_all_above_it(tmp_path: Path) -> None:
    """[P21][P22] Transitively."""
    lock = locked(
        tmp_path,
        pay(),
        agent("desk", "pay/*", policies=[deny(when=MUCH)], delegates=["child"]),
        agent("child", "pay/*", policies=[deny("few", when={"properties": {"amount": {"type": "integer", "maximum": 0}}, "required": ["amount"]})], delegates=["grandchild"]),
        agent("grandchild", "pay/*"),
    )  # fmt: skip
    amounts = (1, 100, 0)
    answers: list[str] = []

    def last(request: Any) -> str:
        answers.extend(message.text for message in request.messages if message.role == "tool")
        return "x"

    provider = {
        "desk": MockModelProvider([ToolCall("1", "ask_child", {"message": "go"}), "done"]),
        "child": MockModelProvider([ToolCall("1", "ask_grandchild", {"message": "go"}), "done"]),
        "grandchild": MockModelProvider(
            [[ToolCall(str(amount), "refund", {"key": "a", "amount": amount}) for amount in amounts], last]
        ),
    }
    ran(lock, "desk", provider=provider)
    assert ["desk/much" in answer for answer in answers] == [False, True, False]
    assert ["child/few" in answer for answer in answers] == [False, False, True]


def test_interleaved_runs_of_a_parent_do_not_mix(tmp_path: Path) -> None:
    """[F-22] A child's runs through its parent and alone, at once."""
    lock = family(tmp_path, {"policies": [deny(when=MUCH)], "delegates": ["child"]}, {})
    refund = ToolCall("1", "refund", {"key": "a", "amount": 100})
    ask = ToolCall("1", "ask_child", {"message": "go"})

    def calling(call: ToolCall) -> Any:
        """A model that makes the call, and then repeats its answer."""

        def script(request: Any) -> Any:
            told = [message.text for message in request.messages if message.role == "tool"]
            return told[0] if told else call

        return script

    async def run() -> None:
        own = MockModelProvider([calling(ask)] * 40)
        childs = MockModelProvider([calling(refund)] * 80)
        async with (
            lock.open("desk", provider={"desk": own, "child": childs}, environ={}) as desk,
            lock.open("child", provider=childs, environ={}) as child,
        ):
            results = await asyncio.gather(*[one.run("go") for one in (desk, child) * 20])
        for at, result in enumerate(results):
            assert ("policy_denied" in result.text) == (at % 2 == 0)

    asyncio.run(run())
