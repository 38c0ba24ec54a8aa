"""Loading and opening: what is verified, bound and refused, each refusal with what differs and the next step."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from symc import ConfigurationError, ToolCall
from symc.composition import Tool
from symc.contracts import PolicyRequest
from symc.contracts.frozen import FrozenDict
from symc.diagnostics.codes import running
from symc.lock import digest_lines
from symc.runtime import DiagnosedError, LoadedLock, load
from symc.runtime.composed import account
from symc.runtime.providers import MockModelProvider
from symc.runtime.targets import TargetError, decider, found, invocation
from tests.runtime import shop
from tests.runtime.workbench import (
    SHOP,
    Document,
    agent,
    called,
    extension,
    locked,
    play,
    ran,
    tool,
    write_lock,
)

TEXT = {"type": "string"}
ROOT = Path(__file__).parents[2]
CONTRIBUTED = "tests.runtime.contributed"


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    shop.log.clear()


def simple(invoke: str = f"{SHOP}:echo", **more: Any) -> tuple[Document, Document]:
    return extension("crm", tools=[tool("find", invoke=invoke, key=TEXT)]), agent("desk", "crm/find", **more)


def names(caught: pytest.ExceptionInfo[DiagnosedError]) -> list[str]:
    return [one.name for one in caught.value.diagnostics]


def edited(path: Path, edit: Callable[[Any], None]) -> LoadedLock:
    """The lock after someone edited its JSON by hand."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    edit(tree)
    path.write_text(json.dumps(tree, indent=2), encoding="utf-8")
    return load(path)


# load


def test_a_lock_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DiagnosedError) as caught:
        load(tmp_path / "symc.lock")
    assert names(caught) == ["lock-missing"]
    assert "run: symc compile" in str(caught.value)
    assert isinstance(caught.value, ConfigurationError)


SPOILT: list[tuple[Callable[[str], str], str, str]] = [
    (lambda text: text.replace('"lock_version": 1', '"lock_version": 9'), "lock-version-newer", "reads it"),
    (lambda text: "<<<<<<< HEAD\n" + text, "lock-conflict", "symc compile"),
    (lambda text: text[:-20], "lock-unreadable", "symc compile"),
    (lambda text: text.replace('"agents"', '"agent"', 1), "lock-structure", "symc compile"),
]


@pytest.mark.parametrize(("spoil", "code", "step"), SPOILT)
def test_a_lock_that_cannot_be_read(
    spoil: Callable[[str], str], code: str, step: str, tmp_path: Path
) -> None:
    path = write_lock(tmp_path, *simple())
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DiagnosedError) as caught:
        load(path)
    assert names(caught) == [code]
    assert step in str(caught.value)


def test_expect_of_the_whole_lock(tmp_path: Path) -> None:
    path = write_lock(tmp_path, *simple())
    whole = digest_lines(load(path).lock)[0].split()[0]
    assert load(path, expect=whole).agents == ("desk",)
    with pytest.raises(DiagnosedError) as caught:
        load(path, expect="sha256:" + "0" * 64)
    assert names(caught) == ["lock-expectation"]
    assert whole in str(caught.value)


def test_P_34_load_imports_nothing(tmp_path: Path) -> None:
    """[P34] Nor does it look at what no agent asks for."""
    assert locked(tmp_path, *simple("tests.runtime.nowhere:gone")).agents == ("desk",)


# open: the lock


def test_an_edited_lock_is_refused(tmp_path: Path) -> None:
    def edit(tree: Any) -> None:
        tree["extensions"]["crm"]["tools"]["find"]["description"] = ["Deletes everything."]

    with pytest.raises(DiagnosedError) as caught:
        ran(edited(write_lock(tmp_path, *simple()), edit), "desk")
    assert names(caught) == ["lock-digest"]
    assert 'tool "crm/find"' in str(caught.value)


def test_a_rule_taken_off_a_tool_is_refused(tmp_path: Path) -> None:
    deny = {"policy_id": "never", "deny": {"tools": ["crm/find"]}}
    crm, desk = simple(policies=[deny])

    def edit(tree: Any) -> None:
        del tree["agents"]["desk"]["tools"]["find"]["guarded_by"]

    with pytest.raises(DiagnosedError) as caught:
        ran(edited(write_lock(tmp_path, crm, desk), edit), "desk")
    assert names(caught) == ["lock-derived"]


def test_an_edit_of_another_agent_is_that_agents_affair(tmp_path: Path) -> None:
    def edit(tree: Any) -> None:
        tree["agents"]["other"]["description"] = ["Edited."]

    path = write_lock(tmp_path, *simple(), agent("other"))
    assert ran(edited(path, edit), "desk").text == "done"
    with pytest.raises(DiagnosedError):
        ran(load(path), "other")


def test_an_agent_that_the_lock_does_not_hold(tmp_path: Path) -> None:
    with pytest.raises(DiagnosedError, match='did you mean "desk"') as caught:
        ran(locked(tmp_path, *simple()), "dask")
    assert names(caught) == ["lock-agent-unknown"]


def test_expect_of_one_agent(tmp_path: Path) -> None:
    lock = locked(tmp_path, *simple())
    digest = lock.lock.composition("desk").digest
    assert ran(lock, "desk", expect=digest).text == "done"
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", expect=digest_lines(lock.lock)[0].split()[0])
    assert names(caught) == ["lock-expectation"]


# open: the environment and the provider


def test_every_variable_that_is_missing_is_named_before_anything_starts(tmp_path: Path) -> None:
    pin = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    served = [
        {
            "kind": "extension",
            "name": name,
            "mcp": {"command": ["never-started"], "env": {"A": f"${{env:{variable}}}"}},
        }
        for name, variable in (("one", "FIRST"), ("two", "SECOND"))
    ]
    lock = locked(
        tmp_path, *served, agent("desk", "one/t", {"tool": "two/t", "as": "u"}), pins={"one": pin, "two": pin}
    )
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", environ={"HOME": "/nowhere"})
    assert names(caught) == ["env-missing", "env-missing"]
    assert "FIRST is not set" in str(caught.value)
    assert "SECOND is not set" in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "vendor", "fine"),
    [
        ("none", "mock", True),
        ("none", "", True),
        ("anthropic", "anthropic", True),
        ("anthropic", "mock", False),
        ("openai", "", False),
    ],
)
def test_F_46_the_provider_is_the_locks(wanted: str, vendor: str, fine: bool, tmp_path: Path) -> None:
    """[F-46] Before the first provider call."""
    lock = locked(tmp_path, *simple(provider=wanted))
    provider = MockModelProvider(["done"], vendor=vendor)
    if fine:
        assert ran(lock, "desk", provider=provider).text == "done"
        return
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk", provider=provider)
    assert names(caught) == ["provider-mismatch"]
    assert f"pass a provider of {wanted}, or" in str(caught.value)
    assert f'the provider "{wanted}"' in str(caught.value)
    assert provider.requests == []


def test_a_provider_for_each_agent_by_name(tmp_path: Path) -> None:
    crm, desk = simple(delegates=["child"])
    lock = locked(tmp_path, crm, desk, agent("child"))
    own = MockModelProvider([ToolCall("1", "ask_child", {"message": "hello"}), "done"])
    childs = MockModelProvider(["from the child"])
    result = ran(lock, "desk", provider={"desk": own, "child": childs})
    assert result.tool_calls[0].result == "from the child"
    assert childs.requests[0].messages[0].text == "hello"
    with pytest.raises(DiagnosedError, match='no provider was passed for agent "child"'):
        ran(lock, "desk", provider={"desk": own})


def test_the_model_is_the_locks_or_the_operators(tmp_path: Path) -> None:
    lock = locked(tmp_path, *simple(model="small"))
    for given, used in ((None, "small"), ("large", "large")):
        provider = MockModelProvider(["done"])
        ran(lock, "desk", provider=provider, model=given)
        assert provider.requests[0].model is not None
        assert provider.requests[0].model.name == used


def test_F_38_the_budget_of_rounds_is_the_locks(tmp_path: Path) -> None:
    """[F-38]"""
    lock = locked(tmp_path, *simple(limits={"max_model_rounds": 2}))
    call = ToolCall("1", "find", {"key": "a"})
    result = ran(lock, "desk", call, call, call)
    assert (result.stop_reason, result.model_rounds) == ("tool_limit", 2)
    assert result.tool_calls[1].error == "not executed: limit"


# open: grants


def test_F_17_the_operator_can_only_take_away(tmp_path: Path) -> None:
    """[F-17][P2] The intersection of the lock's grants and the operator's; absent, the lock's."""
    lock = locked(tmp_path, *simple())
    for grants, reason in (
        (None, None),
        (["tool_call"], None),
        ([], "not_granted"),
        (["delegate"], "not_granted"),
    ):
        (call,) = called(lock, "desk", ("find", {"key": "a"}), grants=grants)
        assert call.reason == reason
    with pytest.raises(ConfigurationError, match='"tool_cal" is no effect'):
        ran(lock, "desk", grants=["tool_cal"])


def test_F_17_an_operator_grants_nothing_that_the_lock_does_not(tmp_path: Path) -> None:
    """[F-17]"""
    lock = locked(tmp_path, extension("x"), agent("desk", extensions=["x"]))

    async def opened() -> Mapping[str, Any]:
        async with lock.open(
            "desk", provider=MockModelProvider(), grants=["tool_call", "memory_read"], environ={}
        ) as one:
            return one.composition_manifest

    assert play(opened())["grants"] == ("model_call",)


# open: targets


TARGETS = [
    ("tests.runtime.nowhere:find", "target-missing", 'there is no module "tests.runtime.nowhere"'),
    ("nopackage.tools:find", "target-missing", 'there is no module "nopackage"'),
    ("tests.runtime.broken:find", "target-broken", 'importing "tests.runtime.broken" raises RuntimeError: no database'),
    (f"{SHOP}:ecko", "target-missing", f'"{SHOP}" has no "ecko"'),
    (f"{SHOP}:echo.more", "target-missing", 'has no "more"'),
    (f"{SHOP}:constant", "target-signature", "is a int, not a function"),
    (f"{SHOP}:not_async", "target-signature", "is not async"),
    (f"{SHOP}:two_arguments", "target-signature", "has the parameters (key, more); it must take the mapping of its arguments"),
    (f"{SHOP}:declared", "declaration-differs", "declares another name and description and input_schema than the lock"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "code", "said"), TARGETS)
def test_a_target_that_is_not_what_the_lock_needs(target: str, code: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosedError) as caught:
        ran(locked(tmp_path, *simple(target)), "desk")
    (fault,) = caught.value.diagnostics
    assert fault.name == code
    assert said in fault.message
    assert fault.subject == "crm/find"
    assert fault.hint is not None
    assert fault.primary.start.line > 1, "where the lock names it"


@pytest.mark.parametrize(
    ("target", "module", "package", "extra"),
    [
        ("symc.std.audit:audit", "symc.std.audit", "structlog", "runtime"),
        ("symc.std.retry:retry", "symc.std.retry", "tenacity", "runtime"),
        ("symc.std.cache:cache", "symc.std.cache", "cachetools", "runtime"),
        ("symc.std.celery:celery", "symc.std.celery_app", "celery", "celery"),
        # Code of someone's own that uses the module meets the same lack.
        ("tests.runtime.retried:find", "symc.std.retry", "tenacity", "runtime"),
    ],
)
def test_a_module_of_symc_that_lacks_a_package_names_the_extra(
    target: str, module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (target.partition(":")[0], module):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TargetError) as caught:
        found(target)
    assert caught.value.code is running.TARGET_MISSING
    assert str(caught.value) == f'"{module}" needs "{package}", which is not installed'
    assert caught.value.hint == f'pip install "symc[{extra}]"'


def test_a_module_of_others_that_lacks_a_package_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "functools", None)
    monkeypatch.delitem(sys.modules, SHOP)
    with pytest.raises(TargetError) as caught:
        found(f"{SHOP}:echo")
    assert caught.value.code is running.TARGET_BROKEN


# What the first parameter of a tool whose schema has the property `title` may be, or what the refusal says of it.
PARAMETERS: list[tuple[str, str | None]] = [
    ("arguments", None),
    ("arguments: Mapping[str, Any]", None),
    ("arguments: dict[str, str]", None),
    ("arguments: 'Mapping[str, Any]'", None),
    ("arguments: 'SeenByTypeCheckersOnly'", None),
    ("arguments: Arguments", None),
    ("arguments: Optional[Mapping[str, Any]] = None", None),
    ("arguments: Any", None),
    ("arguments: object", None),
    ("arguments: Collection[str]", None),
    ("title: Mapping[str, Any]", None),
    ("*arguments", None),
    ("title", 'title"'),
    ("title: Any", 'title"'),
    ("title: object", 'title"'),
    ("key: int", 'key: int"'),
    ("key: str", 'key: str"'),
    ("key: 'str'", 'key: str"'),
    ("key: float", 'key: float"'),
    ("key: bool", 'key: bool"'),
    ("key: bytes", 'key: bytes"'),
    ("key: list[str]", 'key: list[str]"'),
    ("key: Sequence[str]", "key: "),
    ("key: str | None = None", 'key: str | None"'),
    ("key: Optional[int] = None", "key: "),
    ("key: Annotated[str, 'x']", "key: "),
    ("key: Literal['a']", "key: "),
    ("key: Isbn", "key: "),
    ("key: None", "key: None"),
    ("key: str, more: int = 3", 'key: str"'),
    ("key: str, /", 'key: str"'),
]


@pytest.mark.parametrize(("parameters", "refused"), PARAMETERS)
def test_the_parameter_of_a_tool_can_be_the_mapping_of_its_arguments(
    parameters: str, refused: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "books_of_test.py").write_text(
        "from collections.abc import Collection, Mapping, Sequence\n"
        "from typing import Annotated, Any, Literal, NewType, Optional, TypedDict\n"
        "Isbn = NewType('Isbn', str)\n"
        "class Arguments(TypedDict):\n    title: str\n"
        f"async def find({parameters}) -> str:\n    return 'found'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "books_of_test", raising=False)
    declared = Tool(name="find", input_schema=FrozenDict({"properties": {"title": {}}}))
    if refused is None:
        assert invocation("books_of_test:find", declared).__name__ == "find"
        return
    with pytest.raises(TargetError) as caught:
        invocation("books_of_test:find", declared)
    assert caught.value.code is running.TARGET_SIGNATURE
    assert f'has the parameter "{refused}' in str(caught.value)
    assert "@symc.contracts.tool" in caught.value.hint


def test_the_parameter_of_a_policy_can_be_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def over_names(tool: str) -> None:
        """Takes the name of a tool."""

    async def over_requests(request: PolicyRequest) -> None:
        """Takes what it is asked."""

    monkeypatch.setattr(shop, "over_names", over_names, raising=False)
    monkeypatch.setattr(shop, "over_requests", over_requests, raising=False)
    assert decider(f"{SHOP}:over_requests") is over_requests
    with pytest.raises(TargetError, match="it must take the request"):
        decider(f"{SHOP}:over_names")


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    tools = [
        tool("a", invoke=f"{SHOP}:gone"),
        tool("b", invoke=f"{SHOP}:not_async"),
        tool("c"),
    ]
    policies = [{"policy_id": "p", "decide": f"{SHOP}:not_async"}]
    lock = locked(tmp_path, extension("crm", tools=tools, policies=policies), agent("desk", "crm/*"))
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk")
    assert sorted((one.subject, one.name) for one in caught.value.diagnostics) == [
        ("crm/a", "target-missing"),
        ("crm/b", "target-signature"),
        ("crm/p", "target-signature"),
    ]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("tests.runtime.broken", 'importing "tests.runtime.broken" raises RuntimeError: no database'),
        ("nopackage.tools", 'there is no module "nopackage"'),
    ],
)
def test_a_module_that_fails_is_told_once_with_all_that_need_it(
    module: str, said: str, tmp_path: Path
) -> None:
    tools = [tool("a", invoke=f"{module}:a"), tool("b", invoke=f"{module}:b"), tool("c")]
    policies = [{"policy_id": "p", "decide": f"{module}:p"}]
    lock = locked(tmp_path, extension("crm", tools=tools, policies=policies), agent("desk", "crm/*"))
    with pytest.raises(DiagnosedError) as caught:
        ran(lock, "desk")
    (fault,) = caught.value.diagnostics
    assert fault.message == said
    assert {one.label for one in fault.secondary} == {
        'tool "crm/a" needs it',
        'tool "crm/b" needs it',
        'policy "crm/p" needs it',
    }
    assert len({one.span for one in fault.secondary}) == 3
    assert fault.primary in {one.span for one in fault.secondary}


def test_a_tool_that_no_agent_here_selects_is_not_bound(tmp_path: Path) -> None:
    tools = [tool("find", key=TEXT), tool("gone", invoke=f"{SHOP}:gone")]
    lock = locked(tmp_path, extension("crm", tools=tools), agent("desk", "crm/find"))
    assert ran(lock, "desk").text == "done"


def test_a_declared_tool_is_held_to_the_lock(tmp_path: Path) -> None:
    """A `ToolContribution` as a target says the same as its manifest."""
    declared = {
        "name": "declared",
        "description": "Does declared.",
        "invoke": f"{SHOP}:declared",
        "input_schema": {
            "type": "object",
            "properties": {"key": TEXT},
            "additionalProperties": False,
            "required": ["key"],
        },
    }
    (call,) = called(
        locked(tmp_path, extension("crm", tools=[declared]), agent("desk", "crm/*")),
        "desk",
        ("declared", {"key": "a"}),
    )
    assert call.result == "a"


def test_X_13_a_later_change_does_not_re_point_a_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[X-13] The callable is captured when the agent opens."""

    async def other(arguments: Mapping[str, Any]) -> str:
        return "another tool"

    def swap(_request: Any) -> ToolCall:
        monkeypatch.setattr(shop, "echo", other)
        return ToolCall("1", "find", {"key": "a"})

    (call,) = ran(locked(tmp_path, *simple()), "desk", swap).tool_calls
    assert call.result == '{"key": "a"}'


@pytest.mark.parametrize(
    ("target", "said"), [("fail", "tool_error: LookupError: nothing there"), ("number", "answered a int")]
)
def test_X_12_what_a_tool_does_wrong_is_its_calls_error(target: str, said: str, tmp_path: Path) -> None:
    """[X-12]"""
    (call,) = called(locked(tmp_path, *simple(f"{SHOP}:{target}")), "desk", ("find", {"key": "a"}))
    assert call.reason == "tool_error"
    assert call.error is not None
    assert said in call.error


# open: implementations


def implemented(target: str) -> tuple[Document, Document]:
    return (
        extension(
            "crm",
            implementation=f"{CONTRIBUTED}:{target}",
            tools=[tool("find", key=TEXT)],
            prompts=[{"fragment_id": "tone", "text": "Be kind.\n"}],
            policies=[
                {"policy_id": "watch", "actions": ["tool_call"], "decide": f"{SHOP}:allows"},
                {"policy_id": "rule", "deny": {"tools": ["crm/find"], "when": False}},
            ],
            lifecycle=[{"hook_id": "start", "phase": "install", "run": f"{SHOP}:install_crm"}],
        ),
        agent("desk", "crm/find"),
    )


def test_X_09_an_implementation_that_agrees_opens(tmp_path: Path) -> None:
    """[X-09]"""
    assert ran(locked(tmp_path, *implemented("agrees")), "desk").text == "done"


DIFFERENCES = [
    ("other_name", ['its name is "srm", in the lock "crm"']),
    ("other_description", ['tool "find": another description']),
    ("other_schema", ['tool "find": another input_schema']),
    ("other_tool", ['tool "fetch" is in the code and not in the lock', 'tool "find" is in the lock and not in the code']),
    ("no_tool", ['tool "find" is in the lock and not in the code']),
    ("other_text", ['fragment "tone": another text']),
    ("other_order", ['fragment "tone": another tier', 'fragment "tone": another order']),
    ("other_actions", ['policy "watch": another actions']),
    ("other_phase", ['hook "start": another phase']),
    ("widening", []),
    ("no_provider", []),
]  # fmt: skip


@pytest.mark.parametrize(("target", "differences"), DIFFERENCES)
def test_a_provider_that_contributes_something_else_is_refused(
    target: str, differences: list[str], tmp_path: Path
) -> None:
    """[X-08][X-15] The lock's reload is an entry like any other."""
    with pytest.raises(DiagnosedError) as caught:
        ran(locked(tmp_path, *implemented(target)), "desk")
    (fault,) = caught.value.diagnostics
    assert fault.name == "declaration-differs"
    assert list(fault.notes) == differences
    assert shop.log == []


# the account


def test_F_23_the_account_is_the_locks(tmp_path: Path) -> None:
    """[F-23] Without a payload; different when the operator allows less."""
    crm, desk = simple(instructions="A secret instruction.")
    lock = locked(tmp_path, crm, desk)

    async def manifest(**terms: Any) -> Mapping[str, Any]:
        async with lock.open("desk", provider=MockModelProvider(), environ={}, **terms) as one:
            assert one.capabilities == ("desk",)
            return one.composition_manifest

    found = play(manifest())
    assert found == account(lock.lock.composition("desk"))
    assert found["digest"] == lock.lock.composition("desk").digest
    written = json.dumps(found)
    assert "secret" not in written
    assert "Does find" not in written
    assert play(manifest(grants=[])) != found


def test_F_15_other_capabilities_attach_beside_it(tmp_path: Path) -> None:
    """[F-15][F-23] Its account is then a part of the whole one."""
    from symc.runtime.capabilities import CapabilityContribution

    class Watcher:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def event_sink(self, event: Any) -> None:
            self.seen.append(event.kind)

        def contribute(self, request: Any) -> CapabilityContribution:
            return CapabilityContribution("watcher")

    lock, watcher = locked(tmp_path, *simple()), Watcher()

    async def run() -> Mapping[str, Any]:
        async with lock.open(
            "desk", provider=MockModelProvider(["done"]), capabilities=[watcher], environ={}
        ) as one:
            await one.run("go")
            return one.composition_manifest

    found = play(run())
    assert found["composition"] == account(lock.lock.composition("desk"))
    assert found["capabilities"] == ("desk", "watcher")
    assert watcher.seen == ["text_delta", "done"]


def test_the_digest_is_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """[L12]"""
    lock = locked(tmp_path, *simple())
    with caplog.at_level("INFO", logger="symc.runtime"):
        ran(lock, "desk")
    assert [record.getMessage() for record in caplog.records] == ["agent opened", "agent closes"]
    digests = {getattr(record, "composition", None) for record in caplog.records}
    assert digests == {lock.lock.composition("desk").digest}


def test_F_31_a_run_after_the_block_is_refused(tmp_path: Path) -> None:
    """[F-31]"""
    from symc import ContractViolationError

    async def run() -> None:
        async with locked(tmp_path, *simple()).open(
            "desk", provider=MockModelProvider(["x"]), environ={}
        ) as one:
            pass
        with pytest.raises(ContractViolationError, match="closed"):
            await one.run("go")

    play(run())


def test_F_02_running_pulls_none_of_the_compilers_libraries(tmp_path: Path) -> None:
    """[F-02][QUI-1] Load, open, a variant, a call under a rule: in a fresh interpreter."""
    rule = {"policy_id": "p", "deny": {"tools": ["crm/find"], "when": {"required": ["no"]}}}
    memo = {"name": "noted", "kind": "wrapper", "factory": f"{SHOP}:noted"}
    crm = extension("crm", tools=[tool("find", key=TEXT)], tool_extensions=[memo], policies=[rule])
    path = write_lock(tmp_path, crm, agent("desk", "crm/*", variants={"crm/*": ["noted"]}))
    program = f"""
import asyncio, json, sys
from symc import ToolCall
from symc.runtime import load
from symc.runtime.providers import MockModelProvider

async def run():
    provider = MockModelProvider([ToolCall("1", "find_noted", {{"key": "a"}}), "done"])
    async with load({str(path)!r}).open("desk", provider=provider) as agent:
        return (await agent.run("go")).tool_calls[0].result

assert asyncio.run(run()) == '{{"key": "a"}}'
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(json.loads(done.stdout))
    heavy = {
        "yaml",
        "jinja2",
        "networkx",
        "click",
        "jsonschema",
        "mcp",
        "pydantic",
        "anthropic",
        "openai",
        "anyio",
    }
    assert loaded & heavy == set()
    assert "jsonschema_rs" in loaded
