"""A worker's side of a backend: inner callables run elsewhere, under the same lock and the same rules (V32, V33)."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from symc import ToolCall
from symc.contracts import PolicyRequest
from symc.runtime import DiagnosedError, LoadedLock, load
from symc.runtime.gates import RefusedError
from symc.runtime.layers import given
from symc.runtime.lifecycle import TeardownError
from symc.runtime.providers import MockModelProvider
from symc.runtime.sites import current_site
from symc.runtime.workshop import Passage, Workshop
from tests.runtime import shop
from tests.runtime.workbench import SHOP, agent, called, extension, locked, play, ran, tool

TEXT = {"type": "string"}
AMOUNT = {"type": "integer", "default": 1}
MUCH = {"properties": {"amount": {"type": "integer", "minimum": 100}}, "required": ["amount"]}

workshops: list[Workshop] = []
"""The one workshop of each test, made with the first call."""

sent: list[str] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    for each in (shop.log, workshops, sent):
        each.clear()


def remote(func: Callable[..., Awaitable[str]], name: str, description: str) -> Callable[..., Awaitable[str]]:
    """A backend that sends its calls as JSON to a workshop of its own, in this process."""
    site = current_site()

    @functools.wraps(func)
    async def call(**arguments: Any) -> str:
        errand = json.dumps({"arguments": given(arguments), "passage": Passage.taken().to_json()})
        sent.append(errand)
        if not workshops:
            workshops.append(Workshop(load(site.lock), environ={}))
        received = json.loads(errand)
        # Another process knows nothing of this run: a fresh context.
        return await asyncio.create_task(
            workshops[0].call(
                received["arguments"],
                opened=site.opened,
                digest=site.digest,
                agent=site.agent,
                tool=site.tool,
                depth=site.depth,
                passage=Passage.from_json(received["passage"]),
            ),
            context=_empty_context(),
        )

    return call


def _empty_context() -> Any:
    import contextvars

    return contextvars.Context()


def lock_of(folder: Path, *policies: Any, hooks: Any = (), more: Any = (), **desk: Any) -> LoadedLock:
    layers = [
        {"name": "far", "kind": "backend", "factory": "tests.runtime.test_workshop:remote"},
        {"name": "noted", "kind": "wrapper", "factory": f"{SHOP}:noted"},
    ]
    pay = extension(
        "pay",
        tools=[tool("refund", key=TEXT, amount=AMOUNT), tool("fail", f"{SHOP}:fail")],
        tool_extensions=layers,
        policies=list(policies),
        lifecycle=list(hooks),
    )
    rows = {"variants": {"pay/*": [["noted", "far", "noted"]]}, **desk}
    return locked(folder, pay, *more, agent("desk", "pay/*", **rows))


def closed() -> None:
    for workshop in workshops:
        play(workshop.close())


def test_V_33_the_inner_callable_runs_with_every_layer_inside_the_backend(tmp_path: Path) -> None:
    """[V33] And with none of those outside it."""
    lock = lock_of(tmp_path)
    (call,) = called(lock, "desk", ("refund_noted_far_noted", {"key": "a"}))
    assert call.result == '{"key": "a"}'
    assert shop.log == ["refund_noted_far_noted ['key']", "refund_noted ['key']", 'echo {"key": "a"}']
    assert json.loads(sent[0]) == {"arguments": {"key": "a"}, "passage": {"through": []}}


def test_V_32_rules_hold_in_the_worker(tmp_path: Path) -> None:
    """[V32] The calling side's gate is bypassed here, as by code that reaches the queue: the worker's own refuses."""
    lock = lock_of(
        tmp_path,
        {"policy_id": "much", "deny": {"tools": ["pay/refund"], "when": MUCH}},
        {"policy_id": "code", "actions": ["tool_call"], "decide": f"{SHOP}:allows"},
    )

    async def run() -> None:
        async with Workshop(lock, environ={}) as workshop:
            place = {"opened": "desk", "digest": lock.lock.composition("desk").digest, "agent": "desk"}
            where: Any = {**place, "tool": "refund_noted_far", "depth": 1, "passage": Passage()}
            assert await workshop.call({"key": "a", "amount": 99}, **where) == '{"amount": 99, "key": "a"}'
            for arguments, reason in (
                ({"key": "a", "amount": 100}, "policy_denied"),
                ({"key": 7}, "invalid_arguments"),
            ):
                with pytest.raises(RefusedError) as caught:
                    await workshop.call(arguments, **where)
                assert caught.value.reason == reason
        assert shop.log.count("asked refund_noted") == 2
        assert shop.log.count("asked refund") == 1

    play(run())


def test_V_33_only_the_owning_extension_is_opened_once(tmp_path: Path) -> None:
    """[V33] Its hooks, once a workshop; another extension's hooks are not even imported."""
    hooks = [
        {"hook_id": f"h-{phase}", "phase": phase, "run": f"{SHOP}:{phase}_pay"}
        for phase in ("install", "teardown")
    ]
    other = extension(
        "other", lifecycle=[{"hook_id": "h", "phase": "install", "run": f"{SHOP}:install_other"}]
    )
    lock = lock_of(tmp_path, hooks=hooks, more=[other], extensions=["pay", "other"])
    called(lock, "desk", *[("refund_noted_far", {"key": key}) for key in "abc"])
    calling = [line for line in shop.log if "install" in line or "teardown" in line]
    assert calling == ["install_other", "install_pay", "install_pay", "teardown_pay"]
    closed()
    assert shop.log[-1] == "teardown_pay"


def test_V_33_another_lock_is_refused(tmp_path: Path) -> None:
    """[V33] Both sides run the same lock."""
    lock = lock_of(tmp_path)

    def swap(_request: Any) -> ToolCall:
        lock_of(tmp_path, instructions="Changed.")
        return ToolCall("1", "refund_noted_far", {"key": "a"})

    (call,) = ran(lock, "desk", swap).tool_calls
    assert call.error is not None
    assert "lock-expectation" in call.error
    assert shop.log == []


def test_V_33_what_the_tool_raises_comes_back(tmp_path: Path) -> None:
    """[V33]"""
    (call,) = called(lock_of(tmp_path), "desk", ("fail_noted_far", {}))
    assert call.error == "tool_error: LookupError: nothing there"


def test_F_47_a_yes_goes_along_with_its_call(tmp_path: Path) -> None:
    """[F-47] The worker has nobody to ask; the same call is not asked about twice, and a yes is not used twice."""
    asked: list[str] = []

    async def person(request: PolicyRequest, reasons: tuple[str, ...]) -> bool:
        asked.append(request.tool)
        return True

    lock = lock_of(tmp_path, {"policy_id": "ask", "ask": {"tools": ["pay/refund"]}})
    (call,) = called(lock, "desk", ("refund_noted_far", {"key": "a"}), approver=person)
    assert call.result == '{"key": "a"}'
    assert asked == ["refund_noted_far"]
    approved = json.loads(sent[0])["passage"]["approved"]
    assert approved == {"policies": ["pay/ask"], "arguments": {"key": "a"}}


def test_F_47_without_a_yes_the_worker_refuses(tmp_path: Path) -> None:
    """[F-47]"""
    lock = lock_of(tmp_path, {"policy_id": "ask", "ask": {"tools": ["pay/refund"]}})

    async def run() -> None:
        async with Workshop(lock, environ={}) as workshop:
            for passage in (
                Passage(),
                Passage(approved=(frozenset({"pay/ask"}), {"key": "b"})),
                Passage(approved=(frozenset({"pay/other"}), {"key": "a"})),
            ):
                with pytest.raises(RefusedError, match="approval_required"):
                    await workshop.call(
                        {"key": "a"},
                        opened="desk",
                        digest=lock.lock.composition("desk").digest,
                        agent="desk",
                        tool="refund_noted_far",
                        depth=1,
                        passage=passage,
                    )

    play(run())


def test_P_22_a_callers_rules_go_along(tmp_path: Path) -> None:
    """[P22] A child's tool in a worker, called through its parent."""
    layers = [{"name": "far", "kind": "backend", "factory": "tests.runtime.test_workshop:remote"}]
    pay = extension("pay", tools=[tool("refund", key=TEXT, amount=AMOUNT)], tool_extensions=layers)
    rule = {"policy_id": "much", "deny": {"tools": ["pay/refund"], "when": MUCH}}
    lock = locked(
        tmp_path,
        pay,
        agent("desk", "pay/*", policies=[rule], delegates=["child"]),
        agent("child", "pay/*", variants={"pay/*": ["far"]}),
    )
    digest = lock.lock.composition("desk").digest

    async def run() -> None:
        async with Workshop(lock, environ={}) as workshop:
            where: Any = {
                "opened": "desk",
                "digest": digest,
                "agent": "child",
                "tool": "refund_far",
                "depth": 0,
            }
            much: Mapping[str, Any] = {"key": "a", "amount": 100}
            assert "100" in await workshop.call(much, **where, passage=Passage())
            with pytest.raises(RefusedError, match="desk/much"):
                await workshop.call(much, **where, passage=Passage(through=("desk",)))

    play(run())
    own = MockModelProvider([ToolCall("1", "ask_child", {"message": "go"}), "done"])
    childs = MockModelProvider([ToolCall("1", "refund_far", {"key": "a"}), "done"])
    ran(lock, "desk", provider={"desk": own, "child": childs})
    assert json.loads(sent[0])["passage"] == {"through": ["desk"]}


def test_a_failed_hook_can_be_tried_again(tmp_path: Path) -> None:
    hooks = [{"hook_id": "h", "phase": "install", "run": f"{SHOP}:fails_pay"}]
    lock = lock_of(tmp_path, hooks=hooks)

    async def run() -> None:
        async with Workshop(lock, environ={}) as workshop:
            for _ in range(2):
                with pytest.raises(DiagnosedError, match="fails_pay cannot"):
                    await workshop.call(
                        {"key": "a"},
                        opened="desk",
                        digest=lock.lock.composition("desk").digest,
                        agent="desk",
                        tool="refund_noted_far",
                        depth=1,
                        passage=Passage(),
                    )

    play(run())
    assert shop.log == ["fails_pay", "fails_pay"]


def test_closing_tells_what_failed(tmp_path: Path) -> None:
    hooks = [{"hook_id": "h", "phase": "teardown", "run": f"{SHOP}:fails_pay"}]
    lock = lock_of(tmp_path, hooks=hooks)
    with pytest.raises(TeardownError):
        called(lock, "desk", ("refund_noted_far", {"key": "a"}))
    with pytest.raises(TeardownError):
        closed()


def test_a_site_is_known_while_a_factory_runs_and_not_later() -> None:
    with pytest.raises(LookupError):
        current_site()


@pytest.mark.parametrize("passage", [{}, {"through": ["a"], "approved": {"policies": []}}, {"through": None}])
def test_a_passage_is_read_whole_or_not_at_all(passage: Any) -> None:
    with pytest.raises((KeyError, TypeError)):
        Passage.from_json(passage)
