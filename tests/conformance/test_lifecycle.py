"""Install and teardown hooks of opened agents (docs/contracts.md X-20)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from symc.runtime import DiagnosedError, LoadedLock
from symc.runtime.lifecycle import TeardownError
from symc.runtime.providers import MockModelProvider
from tests.runtime import shop
from tests.runtime.workbench import SHOP, Document, agent, extension, locked, play


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    shop.log.clear()


def hooked(name: str, *runs: str, **more: Any) -> Document:
    """An extension whose hooks run these functions, in this order; the first word of a name is the phase."""
    hooks = [
        {
            "hook_id": f"h{at}-{run.replace('_', '-')}",
            "phase": "teardown" if "teardown" in run else "install",
            "run": f"{SHOP}:{run}",
        }
        for at, run in enumerate(runs)
    ]
    return extension(name, lifecycle=hooks, **more)


def pair(name: str, **more: Any) -> Document:
    return hooked(name, f"install_{name}", f"teardown_{name}", **more)


async def hold(lock: LoadedLock, name: str = "desk", body: Any = None) -> None:
    async with lock.open(name, provider=MockModelProvider(), environ={}):
        shop.log.append("body")
        if body is not None:
            await body()


def with_extensions(folder: Path, *documents: Document, uses: list[str] | None = None) -> LoadedLock:
    names = uses or [one["name"] for one in documents]
    return locked(folder, *documents, agent("desk", extensions=names))


def test_X_20_installs_in_composed_order_and_tears_down_exactly_reversed(tmp_path: Path) -> None:
    """[X-20] An extension after all it requires, then by name, within one by declaration."""
    lock = with_extensions(
        tmp_path,
        pair("a", requires=["z"]),
        hooked("m", "install_m2", "teardown_m2", "install_m1", "teardown_m1"),
        pair("z"),
    )
    play(hold(lock))
    assert shop.log == [
        "install_m2",
        "install_m1",
        "install_z",
        "install_a",
        "body",
        "teardown_a",
        "teardown_z",
        "teardown_m1",
        "teardown_m2",
    ]


def test_X_20_a_failed_install_unwinds_its_own_extension_first(tmp_path: Path) -> None:
    """[X-20] The unit is the extension: its teardowns, then those of the opened ones, reversed; the next never opens."""
    lock = with_extensions(
        tmp_path,
        pair("a"),
        hooked("b", "install_b", "teardown_b1", "fails_b", "install_never", "teardown_b2"),
        pair("c"),
    )
    with pytest.raises(DiagnosedError) as caught:
        play(hold(lock))
    assert shop.log == ["install_a", "install_b", "fails_b", "teardown_b2", "teardown_b1", "teardown_a"]
    (fault,) = caught.value.diagnostics
    assert fault.name == "hook-failed"
    assert fault.message == 'hook "b/h2-fails-b" raises OSError: fails_b cannot'
    assert isinstance(caught.value.__cause__, OSError)


def test_X_20_a_child_opens_with_its_parent_and_what_both_use_opens_once(tmp_path: Path) -> None:
    """[X-20]"""
    lock = locked(
        tmp_path,
        pair("shared"),
        pair("own"),
        pair("childs"),
        agent("desk", extensions=["shared", "own"], delegates=["child"]),
        agent("child", extensions=["shared", "childs"]),
    )
    play(hold(lock))
    opened = ["childs", "own", "shared"]
    assert shop.log == [
        *(f"install_{name}" for name in opened),
        "body",
        *(f"teardown_{name}" for name in reversed(opened)),
    ]


def test_X_20_every_teardown_is_tried_and_errors_are_collected(tmp_path: Path) -> None:
    """[X-20] The first is the cause."""
    lock = with_extensions(
        tmp_path,
        hooked("a", "fails_teardown_a"),
        pair("b"),
        hooked("c", "fails_teardown_c"),
    )
    with pytest.raises(TeardownError) as caught:
        play(hold(lock))
    assert shop.log == ["install_b", "body", "fails_teardown_c", "teardown_b", "fails_teardown_a"]
    assert [str(error) for error in caught.value.errors] == [
        "fails_teardown_c cannot",
        "fails_teardown_a cannot",
    ]
    assert caught.value.__cause__ is caught.value.errors[0]


def test_X_20_no_teardown_masks_what_the_body_raises(tmp_path: Path) -> None:
    """[X-20] The same object; what closing met stands in its notes."""
    lock = with_extensions(tmp_path, hooked("a", "fails_teardown_a"), pair("b"))
    raised = ValueError("the body's")

    async def body() -> None:
        raise raised

    with pytest.raises(ValueError, match="the body's") as caught:
        play(hold(lock, body=body))
    assert caught.value is raised
    assert shop.log[-2:] == ["teardown_b", "fails_teardown_a"]
    assert raised.__notes__ == [
        'while closing, hook "a/h0-fails-teardown-a" raised OSError: fails_teardown_a cannot'
    ]


@pytest.mark.parametrize("where", ["body", "install"])
def test_X_20_cancellation_unwinds(where: str, tmp_path: Path) -> None:
    """[X-20] In the body, and while a hook runs."""
    slow = hooked("b", "slow_install", "teardown_b") if where == "install" else pair("b")
    lock = with_extensions(tmp_path, pair("a"), slow)

    async def run() -> None:
        task = asyncio.create_task(hold(lock, body=lambda: asyncio.sleep(60)))
        while shop.log[-1:] != [{"body": "body", "install": "slow_install"}[where]]:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    play(run())
    assert shop.log[-2:] == ["teardown_b", "teardown_a"]
    assert len(shop.log) == len(set(shop.log))


def test_X_20_a_second_cancellation_waits_for_the_last_teardown(tmp_path: Path) -> None:
    """[X-20] Closing is not cut short."""
    lock = with_extensions(tmp_path, pair("a"), hooked("b", "slow_teardown_b"))

    async def run() -> None:
        task = asyncio.create_task(hold(lock, body=lambda: asyncio.sleep(60)))
        while "body" not in shop.log:
            await asyncio.sleep(0.001)
        task.cancel()
        while "slow_teardown_b" not in shop.log:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(run())
    assert shop.log[-3:] == ["slow_teardown_b", "slow_teardown_b ends", "teardown_a"]


def test_X_20_two_openings_are_two_lifecycles(tmp_path: Path) -> None:
    """[X-20]"""
    lock = with_extensions(tmp_path, pair("a"))
    play(hold(lock))
    play(hold(lock))
    assert shop.log == ["install_a", "body", "teardown_a"] * 2


def test_verify_runs_no_hook(tmp_path: Path) -> None:
    lock = with_extensions(tmp_path, pair("a"), hooked("b", "fails_b"))
    play(lock.verify(environ={}))
    assert shop.log == []


@pytest.mark.parametrize(
    ("target", "code"),
    [("echo", "target-signature"), ("constant", "target-signature"), ("gone", "target-missing")],
)
def test_a_hook_that_is_none_refuses_before_any_runs(target: str, code: str, tmp_path: Path) -> None:
    hook = {"hook_id": "b", "phase": "teardown", "run": f"{SHOP}:{target}"}
    lock = with_extensions(tmp_path, pair("a"), extension("b", lifecycle=[hook]))
    with pytest.raises(DiagnosedError) as caught:
        play(hold(lock))
    assert [one.name for one in caught.value.diagnostics] == [code]
    assert shop.log == []
