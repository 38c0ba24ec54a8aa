"""The extension contribution contract (docs/contracts.md §1): one test or more per rule, named by its id.

Rules of which a part only shows when something is composed or run (X-03, X-10, X-11, X-13, X-18, X-20) have that part
tested with the composer and the runtime; here stands what the contract itself promises.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import gc
import inspect
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symc.contracts import (
    ALLOW,
    ASK,
    DENY,
    ConfiguredExtensionFactory,
    ExtensionContractError,
    ExtensionContribution,
    ExtensionFactory,
    ExtensionKind,
    ExtensionProvider,
    FrozenDict,
    LayerCallable,
    LifecycleContribution,
    LifecyclePhase,
    PolicyContribution,
    PolicyRequest,
    PolicyVerdict,
    PrivilegeWideningError,
    PromptFragment,
    ToolContribution,
    combine,
    contribution_of,
    tool,
)
from symc.contracts.verdict import settle
from symc.contracts.vocabulary import ACTIONS


async def answer(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments))


async def no_objection(request: PolicyRequest) -> PolicyVerdict:
    return ALLOW


def nothing() -> None:
    return None


def a_tool(name: str = "search", extension: str = "crm", **more: Any) -> ToolContribution:
    return ToolContribution(name=name, extension=extension, invoke=answer, **more)


def a_fragment(fragment_id: str = "etiquette", extension: str = "crm", **more: Any) -> PromptFragment:
    return PromptFragment(fragment_id=fragment_id, text="Be kind.", extension=extension, **more)


def a_policy(policy_id: str = "pii", extension: str = "crm", **more: Any) -> PolicyContribution:
    return PolicyContribution(policy_id=policy_id, extension=extension, decide=no_objection, **more)


def a_hook(hook_id: str = "open-pool", extension: str = "crm", **more: Any) -> LifecycleContribution:
    return LifecycleContribution(
        **{
            "hook_id": hook_id,
            "extension": extension,
            "phase": LifecyclePhase.INSTALL,
            "run": nothing,
            **more,
        }
    )


def a_bundle(extension: str = "crm") -> ExtensionContribution:
    return ExtensionContribution.build(
        extension,
        tools=[a_tool(extension=extension)],
        prompts=[a_fragment(extension=extension)],
        policies=[a_policy(extension=extension)],
        lifecycle=[a_hook(extension=extension)],
    )


MEMBERS: dict[str, Callable[..., Any]] = {
    "tools": a_tool,
    "prompts": a_fragment,
    "policies": a_policy,
    "lifecycle": a_hook,
}


class Plugin:
    """A provider that inherits from nothing."""

    def __init__(self, name: str = "crm", bundle: ExtensionContribution | None = None) -> None:
        self.name = name
        self.bundle = bundle if bundle is not None else a_bundle(name)

    def contribute(self) -> ExtensionContribution:
        return self.bundle


def refusal(member: Any, key: str = "tools") -> ExtensionContractError:
    """The error with which a bundle `crm` refuses one member."""
    with pytest.raises(ExtensionContractError) as caught:
        ExtensionContribution.build("crm", **{key: [member]}).validate()
    return caught.value


# ---- X-01 … X-06: the bundle ----


def test_X_01_a_server_and_a_plugin_enter_by_one_contract() -> None:
    """[X-01] Tools of an MCP server carry its raw names in the same value, through the same door."""
    server = ExtensionContribution.build(
        "files",
        tools=[a_tool("fs/read.file", "files", origin="server-filesystem"), a_tool("write-file", "files")],
    )
    for provider in (Plugin("files", server), Plugin("crm")):
        bundle = contribution_of(provider)
        assert type(bundle) is ExtensionContribution
        assert {type(member) for member in bundle.tools} == {ToolContribution}


def test_X_02_four_kinds_and_no_fifth() -> None:
    """[X-02] The bundle's fields are its name and the four kinds."""
    assert [field.name for field in dataclasses.fields(ExtensionContribution)] == ["extension", *MEMBERS]
    a_bundle().validate()


def test_X_02_a_fifth_key_is_an_error() -> None:
    """[X-02]"""
    with pytest.raises(TypeError):
        ExtensionContribution.build("crm", middlewares=[])  # type: ignore[call-arg]
    with pytest.raises((AttributeError, TypeError)):
        a_bundle().middlewares = ()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("key", "kind"), [(a, b) for a, b in product(MEMBERS, MEMBERS) if a != b])
def test_X_02_a_member_under_another_kind_is_refused(key: str, kind: str) -> None:
    """[X-02] There are four lists, each of its own kind."""
    error = refusal(MEMBERS[kind](), key)
    assert error.extension == "crm"
    assert error.member == f"{key}[0]"


def test_X_03_contributing_twice_gives_equal_bundles_and_changes_nothing() -> None:
    """[X-03] An extension declares; reading its declaration has no effect on it."""
    provider = Plugin()
    before = a_bundle()
    assert contribution_of(provider) == contribution_of(provider) == before
    assert provider.bundle == before


@pytest.mark.parametrize("key", MEMBERS)
def test_X_04_a_bundle_and_its_members_are_frozen(key: str) -> None:
    """[X-04] One frozen value."""
    bundle = a_bundle()
    (member,) = getattr(bundle, key)
    for value in (bundle, member):
        for field in dataclasses.fields(value):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field.name, getattr(value, field.name))
    assert hash(bundle) == hash(a_bundle())


@pytest.mark.parametrize("at", range(5))
def test_X_04_one_bad_member_of_five_refuses_the_bundle_and_is_named(at: int) -> None:
    """[X-04] The error names extension and member."""
    tools = [a_tool(f"tool_{index}") for index in range(5)]
    tools[at] = replace(tools[at], description=None)  # type: ignore[arg-type]
    with pytest.raises(ExtensionContractError) as caught:
        contribution_of(Plugin("crm", ExtensionContribution.build("crm", tools=tools)))
    assert caught.value.extension == "crm"
    assert caught.value.member == f'tools[{at}] tool "tool_{at}"'
    assert "crm" in str(caught.value)
    assert f'tool "tool_{at}"' in str(caught.value)


def test_X_04_order_is_kept_as_declared() -> None:
    """[X-04] The bundle is ordered."""
    names = ["zeta", "alpha", "Beta"]
    bundle = ExtensionContribution.build("crm", tools=[a_tool(name) for name in names])
    assert [member.name for member in contribution_of(Plugin("crm", bundle)).tools] == names


def test_X_05_build_freezes_any_sequence_into_a_tuple() -> None:
    """[X-05] And later changes to the sequence are not seen."""
    tools = [a_tool()]
    bundle = ExtensionContribution.build("crm", tools=tools, prompts=iter([a_fragment()]))
    tools.append(a_tool("other"))
    assert bundle.tools == (a_tool(),)
    assert bundle.prompts == (a_fragment(),)
    assert bundle.policies == ()
    assert bundle.lifecycle == ()


def test_X_05_build_does_not_validate_and_validate_does() -> None:
    """[X-05]"""
    bundle = ExtensionContribution.build("", tools=[a_tool(name="")], prompts=["no fragment"])  # type: ignore[list-item]
    with pytest.raises(ExtensionContractError):
        bundle.validate()


def test_X_05_a_bundle_that_build_did_not_make_needs_tuples() -> None:
    """[X-05] A list in a frozen value could change after it was validated."""
    with pytest.raises(ExtensionContractError, match="tuple"):
        ExtensionContribution("crm", tools=[a_tool()]).validate()  # type: ignore[arg-type]


@pytest.mark.parametrize("member", [make() for make in MEMBERS.values()], ids=MEMBERS)
def test_X_06_a_member_has_no_room_for_an_engine(member: Any) -> None:
    """[X-06] Declared fields only, and no subclass that would have more."""
    assert not hasattr(member, "__dict__")
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(member, "engine", object())


def test_X_06_a_subclass_is_refused() -> None:
    """[X-06] A subclass could carry an engine along, or validate itself."""

    class Smuggler(ToolContribution):  # type: ignore[misc]
        engine: object = None

        def validate(self) -> None:
            return None

    error = refusal(Smuggler(name="", extension="other", invoke=answer))
    assert error.member == "tools[0]"


# ---- names and attribution ----


@pytest.mark.parametrize(
    "name",
    ["", "CRM", "1crm", "crm_x", "crm/x", "crm ", "crm\n", ".crm", "crm-", "a..b", "é", "a" * 65, None, 7],
)
def test_X_07_an_ill_formed_extension_name_is_refused(name: Any) -> None:
    """[X-07]"""
    with pytest.raises(ExtensionContractError):
        ExtensionContribution.build(name).validate()
    with pytest.raises(ExtensionContractError):
        contribution_of(Plugin(name, ExtensionContribution.build(name)))


@pytest.mark.parametrize("name", ["a", "crm", "acme.crm-2", "a" * 64])
def test_X_07_a_well_formed_extension_name_is_accepted(name: str) -> None:
    """[X-07]"""
    ExtensionContribution.build(name).validate()


BAD: dict[str, Any] = {
    "tools": a_tool(name=""),
    "prompts": a_fragment(fragment_id=""),
    "policies": a_policy(policy_id=""),
    "lifecycle": a_hook(hook_id=""),
}


@pytest.mark.parametrize("first", range(4))
def test_X_07_members_are_validated_in_the_order_of_the_kinds(first: int) -> None:
    """[X-07] tools, prompts, policies, lifecycle: the first fault is reported."""
    kinds = list(MEMBERS)
    bundle = ExtensionContribution.build("crm", **{kind: [BAD[kind]] for kind in kinds[first:]})
    with pytest.raises(ExtensionContractError) as caught:
        bundle.validate()
    assert caught.value.member.startswith(f"{kinds[first]}[0]")


@pytest.mark.parametrize("key", MEMBERS)
def test_X_07_a_members_own_fault_comes_before_its_attribution(key: str) -> None:
    """[X-07]"""
    error = refusal(replace(BAD[key], extension="billing"), key)
    assert not isinstance(error, PrivilegeWideningError)
    assert "name" in error.fault


@pytest.mark.parametrize("key", MEMBERS)
def test_X_07_an_earlier_members_attribution_comes_before_a_later_ones_fault(key: str) -> None:
    """[X-07] Member by member, not check by check."""
    bundle = ExtensionContribution.build("crm", **{key: [MEMBERS[key](extension="billing"), BAD[key]]})
    with pytest.raises(PrivilegeWideningError):
        bundle.validate()


@pytest.mark.parametrize("key", MEMBERS)
def test_X_07_a_missing_extension_is_the_members_own_fault(key: str) -> None:
    """[X-07] It claims nobody's name; it names none."""
    error = refusal(MEMBERS[key](extension=""), key)
    assert not isinstance(error, PrivilegeWideningError)
    assert "`extension` is empty" in error.fault


@pytest.mark.parametrize("key", MEMBERS)
def test_X_08_a_member_of_another_extension_is_widening(key: str) -> None:
    """[X-08][AS-INT-5] No one contributes on another's behalf."""
    error = refusal(MEMBERS[key](extension="billing"), key)
    assert isinstance(error, PrivilegeWideningError)
    assert error.extension == "crm"
    assert error.member.startswith(f"{key}[0] ")
    assert "billing" in str(error)


@pytest.mark.parametrize("key", MEMBERS)
def test_X_08_replace_is_an_entry_too(key: str) -> None:
    """[X-08][AS-INT-5] A validated bundle does not stay valid through `dataclasses.replace`."""
    bundle = a_bundle()
    bundle.validate()
    (member,) = getattr(bundle, key)
    with pytest.raises(PrivilegeWideningError):
        replace(bundle, extension="billing").validate()
    changes: dict[str, Any] = {key: (replace(member, extension="billing"),)}
    with pytest.raises(PrivilegeWideningError):
        replace(bundle, **changes).validate()
    with pytest.raises(PrivilegeWideningError):
        contribution_of(Plugin("crm", replace(bundle, **changes)))


# ---- the provider ----


def test_X_09_the_protocol_is_structural_and_checkable_at_run_time() -> None:
    """[X-09] Two members, no inheritance."""

    class Nameless:
        def contribute(self) -> None:
            return None

    class Mute:
        name = "crm"

    assert isinstance(Plugin(), ExtensionProvider)
    assert not isinstance(Nameless(), ExtensionProvider)
    assert not isinstance(Mute(), ExtensionProvider)
    assert ExtensionProvider not in Plugin.__mro__


def test_X_09_a_good_provider_answers_its_bundle() -> None:
    """[X-09]"""
    assert contribution_of(Plugin()) == a_bundle()


class _Answers:
    def __init__(self, contribute: object, name: object = "crm") -> None:
        self.name = name
        self.contribute = contribute


class _AsyncCall:
    async def __call__(self) -> ExtensionContribution:
        return a_bundle()


async def _async_contribute() -> ExtensionContribution:
    return a_bundle()


def _sync_answer_of_a_coroutine() -> object:
    return _async_contribute()


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(object(), id="neither member"),
        pytest.param(_Answers(a_bundle()), id="contribute is not callable"),
        pytest.param(_Answers(a_bundle, name=None), id="name is no string"),
        pytest.param(_Answers(a_bundle, name="Not A Name"), id="ill-formed name"),
        pytest.param(_Answers(_async_contribute), id="coroutine function"),
        pytest.param(_Answers(functools.partial(_async_contribute)), id="partial of a coroutine function"),
        pytest.param(_Answers(_AsyncCall()), id="object with an async call"),
        pytest.param(_Answers(_sync_answer_of_a_coroutine), id="answers a coroutine"),
        pytest.param(_Answers(lambda: None), id="answers None"),
        pytest.param(_Answers(lambda: {"extension": "crm"}), id="answers a dict"),
        pytest.param(_Answers(lambda: 1 / 0), id="raises"),
    ],
)
def test_X_09_what_is_no_provider_is_refused(provider: object) -> None:
    """[X-09] And a coroutine it made is closed: nothing warns that it was never awaited."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ExtensionContractError):
            contribution_of(provider)
        gc.collect()


def test_X_09_a_coroutine_answered_is_closed() -> None:
    """[X-09]"""
    coroutine = _async_contribute()
    with pytest.raises(ExtensionContractError, match="awaitable"):
        contribution_of(_Answers(lambda: coroutine))
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_X_09_any_awaitable_is_refused() -> None:
    """[X-09]"""

    class Later:
        def __await__(self) -> Any:
            yield

    with pytest.raises(ExtensionContractError, match="awaitable"):
        contribution_of(_Answers(Later))


def test_X_09_the_provider_has_the_name_of_its_bundle() -> None:
    """[X-09]"""
    with pytest.raises(ExtensionContractError) as caught:
        contribution_of(Plugin("crm", a_bundle("billing")))
    assert "crm" in str(caught.value)
    assert "billing" in str(caught.value)


def test_X_09_a_failing_contribute_keeps_its_cause() -> None:
    """[X-09]"""
    with pytest.raises(ExtensionContractError) as caught:
        contribution_of(_Answers(lambda: 1 / 0))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_X_09_a_contribute_that_refuses_itself_is_heard_as_it_is() -> None:
    """[X-09] Its own `ExtensionContractError` is not wrapped in another."""
    own = ExtensionContractError("the licence is missing", "crm")

    def contribute() -> ExtensionContribution:
        raise own

    with pytest.raises(ExtensionContractError) as caught:
        contribution_of(_Answers(contribute))
    assert caught.value is own


# ---- X-10, X-11 ----


def test_X_10_a_bundle_depends_on_no_other() -> None:
    """[X-10] What one provider answers is the same whoever else is asked."""
    alone = contribution_of(Plugin("crm"))
    contribution_of(Plugin("billing"))
    assert contribution_of(Plugin("crm")) == alone
    assert {member.extension for key in MEMBERS for member in getattr(alone, key)} == {"crm"}


def test_X_11_a_provider_that_would_discover_while_composing_is_refused() -> None:
    """[X-11] `contribute` cannot await, so nothing is discovered during composition."""
    with pytest.raises(ExtensionContractError, match="discover before composing"):
        contribution_of(_Answers(_async_contribute))


# ---- tools ----


def test_X_12_the_fields_and_their_defaults() -> None:
    """[X-12]"""
    one = ToolContribution("search", "crm", answer)
    assert (one.description, one.input_schema, one.origin) == ("", {}, "")
    positional = ToolContribution("search", "crm", answer, "Find.", {"type": "object"}, "acme")
    assert (positional.description, positional.origin) == ("Find.", "acme")
    ExtensionContribution.build("crm", tools=[one, replace(positional, name="find")]).validate()


class _AsyncTool:
    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        return "ok"

    async def method(self, arguments: Mapping[str, Any]) -> str:
        return "ok"


async def _configured(config: str, arguments: Mapping[str, Any]) -> str:
    return config


@pytest.mark.parametrize(
    "invoke",
    [answer, _AsyncTool(), _AsyncTool().method, functools.partial(_configured, "x")],
    ids=["function", "object", "method", "partial"],
)
def test_X_12_an_async_invoke_is_accepted(invoke: Any) -> None:
    """[X-12]"""
    ExtensionContribution.build("crm", tools=[ToolContribution("search", "crm", invoke)]).validate()


def _sync(arguments: Mapping[str, Any]) -> str:
    return "ok"


def _sync_answer_of_an_awaitable(arguments: Mapping[str, Any]) -> object:
    return answer(arguments)


async def _generator(arguments: Mapping[str, Any]) -> Any:
    yield "ok"


async def _takes_nothing() -> str:
    return "ok"


async def _takes_two(first: object, second: object) -> str:
    return "ok"


@pytest.mark.parametrize(
    "invoke",
    [
        _sync,
        _sync_answer_of_an_awaitable,
        _generator,
        _AsyncTool,
        _takes_nothing,
        _takes_two,
        "crm:search",
        None,
    ],
    ids=[
        "sync",
        "sync, answers an awaitable",
        "generator",
        "class",
        "no parameter",
        "two parameters",
        "string",
        "None",
    ],
)
def test_X_12_an_invoke_that_is_not_async_over_one_mapping_is_refused(invoke: Any) -> None:
    """[X-12] A sync `invoke` is refused when it is declared, not when it is called."""
    error = refusal(ToolContribution("search", "crm", invoke))
    assert "`invoke`" in error.fault
    assert 'tool "search"' in error.member


def test_X_12_a_refusal_does_not_show_defaults() -> None:
    """[X-12] A default may be a secret."""

    async def invoke(*, token: str = "s3cr3t") -> str:
        return token

    fault = refusal(ToolContribution("search", "crm", invoke)).fault  # type: ignore[arg-type]
    assert "token" in fault
    assert "s3cr3t" not in fault


SCHEMA = {"type": "object", "properties": {"key": {"enum": ["a", "b"]}}, "required": ["key"]}


@pytest.mark.parametrize("key", ["input_schema", "output_schema", "annotations"])
def test_X_12_schemas_are_deep_frozen(key: str) -> None:
    """[X-12] The declaration keeps nothing of the caller's that could change."""
    given: dict[str, Any] = {
        "type": "object",
        "properties": {"key": {"enum": ["a", "b"]}},
        "required": ["key"],
    }
    changes: dict[str, Any] = {key: given}
    frozen = getattr(a_tool(**changes), key)
    given["properties"]["key"]["enum"].append("c")
    given["required"].clear()
    assert frozen == SCHEMA
    with pytest.raises(TypeError):
        frozen.update(x=1)
    with pytest.raises(TypeError):
        frozen["properties"].clear()
    with pytest.raises(TypeError):
        frozen["properties"]["key"]["enum"] = []
    assert isinstance(frozen["properties"]["key"]["enum"], tuple)
    assert json.dumps(frozen) == json.dumps(SCHEMA)


def test_X_12_defaults_are_not_shared() -> None:
    """[X-12]"""
    first, second = a_tool("first"), a_tool("second")
    assert first.input_schema is not second.input_schema
    assert isinstance(first.input_schema, FrozenDict)


@pytest.mark.parametrize(
    "schema",
    [None, "object", [], {"a": object()}, {1: "a"}, {"a": float("nan")}, {"a": {"b", "c"}}, {"a": b"x"}],
)
def test_X_12_a_schema_that_is_no_json_object_is_refused(schema: Any) -> None:
    """[X-12]"""
    assert "`input_schema`" in refusal(a_tool(input_schema=schema)).fault


@pytest.mark.parametrize("name", ["", "a b", "a" * 129, "検索", "a\n", None])
def test_X_12_an_ill_formed_tool_name_is_refused(name: Any) -> None:
    """[X-12] docs/manifests.md §2."""
    assert refusal(a_tool(name=name)).member.startswith("tools[0]")


@pytest.mark.parametrize(("key", "value"), [("description", None), ("description", 3), ("origin", None)])
def test_X_12_texts_are_strings(key: str, value: Any) -> None:
    """[X-12]"""
    assert f"`{key}`" in refusal(a_tool(**{key: value})).fault


def test_X_13_invoke_is_captured_at_declaration() -> None:
    """[X-13] What is behind a name may change; the declared tool keeps what it was declared with."""

    async def first(key: str) -> str:
        return f"first {key}"

    async def second(key: str) -> str:
        return f"second {key}"

    module = {"search": first}
    declared = tool(extension="crm")(module["search"])
    module["search"] = second
    with pytest.raises(dataclasses.FrozenInstanceError):
        declared.invoke = second  # type: ignore[misc, assignment]
    assert asyncio.run(_run(declared.invoke({"key": "x"}))) == "first x"


async def _run(awaitable: Awaitable[str]) -> str:
    return await awaitable


# ---- fragments ----


def test_X_14_the_fields_and_their_defaults() -> None:
    """[X-14]"""
    one = PromptFragment("etiquette", "Be kind.", "crm")
    assert (one.layer, one.tier, one.scope, one.order, one.truncated) == (
        "l1",
        "session",
        "deployment",
        100,
        False,
    )
    ExtensionContribution.build("crm", prompts=[one]).validate()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("layer", "L1"),
        ("layer", "l3"),
        ("layer", None),
        ("tier", "Session"),
        ("tier", "system"),
        ("tier", ["session"]),
        ("scope", "DEPLOYMENT"),
        ("scope", "global"),
        ("truncated", 1),
        ("truncated", "false"),
        ("text", None),
        ("text", b"Be kind."),
        ("fragment_id", "Etiquette"),
        ("fragment_id", "a/b"),
    ],
)
def test_X_14_the_vocabulary_is_closed_and_case_sensitive(key: str, value: Any) -> None:
    """[X-14]"""
    error = refusal(replace(a_fragment(), **{key: value}), "prompts")
    assert not isinstance(error, PrivilegeWideningError)
    assert error.member.startswith("prompts[0] fragment ")


@pytest.mark.parametrize("order", [0, 1, 100, 9999])
def test_X_14_an_order_in_range_is_accepted(order: int) -> None:
    """[X-14]"""
    ExtensionContribution.build("crm", prompts=[a_fragment(order=order)]).validate()


@pytest.mark.parametrize("order", [-1, 10_000, True, False, 1.0, "100", None])
def test_X_14_any_other_order_is_refused(order: Any) -> None:
    """[X-14] A bool is no order, although Python counts it as an int."""
    assert "`order`" in refusal(a_fragment(order=order), "prompts").fault


@pytest.mark.parametrize(
    ("tier", "scope"), list(product(["profile", "session"], ["deployment", "tenant", "profile"]))
)
def test_X_15_the_learned_tiers_are_open_to_extensions(tier: str, scope: str) -> None:
    """[X-15]"""
    ExtensionContribution.build("crm", prompts=[a_fragment(tier=tier, scope=scope)]).validate()


@pytest.mark.parametrize("change", [{"tier": "platform"}, {"tier": "operating"}, {"layer": "l0"}])
def test_X_15_an_authored_tier_or_the_kernel_layer_is_widening(change: dict[str, Any]) -> None:
    """[X-15] At every entry: declared so, or made so by `replace`."""
    assert isinstance(refusal(a_fragment(**change), "prompts"), PrivilegeWideningError)
    bundle = a_bundle()
    bundle.validate()
    changed = replace(bundle, prompts=(replace(bundle.prompts[0], **change),))
    with pytest.raises(PrivilegeWideningError) as caught:
        contribution_of(Plugin("crm", changed))
    assert caught.value.member == 'prompts[0] fragment "etiquette"'


def test_X_15_text_in_the_slot_layer_is_refused() -> None:
    """[X-15] `l2` holds slots only (docs/prompts.md §1), and a fragment has text."""
    assert "slots" in refusal(a_fragment(layer="l2"), "prompts").fault


# ---- policies ----


def test_X_16_no_actions_is_every_action() -> None:
    """[X-16]"""
    everything = a_policy()
    assert everything.actions == frozenset()
    assert all(everything.covers(action) for action in ACTIONS)


@pytest.mark.parametrize("action", ACTIONS)
def test_X_16_a_named_action_keeps_the_policy_off_all_others(action: str) -> None:
    """[X-16]"""
    one = a_policy(actions=frozenset({action}))
    ExtensionContribution.build("crm", policies=[one]).validate()
    assert [other for other in ACTIONS if one.covers(other)] == [action]


@pytest.mark.parametrize(
    "actions",
    [{"tool-call"}, {"TOOL_CALL"}, {"tool_call", "write"}, {""}, {None}, "tool_call", None, [["tool_call"]]],
)
def test_X_16_an_unknown_action_is_an_error(actions: Any) -> None:
    """[X-16] A veto that never fires is a hole."""
    assert "action" in refusal(a_policy(actions=actions), "policies").fault


@pytest.mark.parametrize("word", ["tool-call", "TOOL_CALL", "tool_calls"])
def test_X_16_an_unknown_action_is_answered_with_the_nearest(word: str) -> None:
    """[X-16] P3: with did-you-mean."""
    fault = refusal(a_policy(actions={word}), "policies").fault
    assert f"'{word}'" in fault
    assert "did you mean 'tool_call'?" in fault


def test_X_16_any_set_of_actions_is_frozen() -> None:
    """[X-16]"""
    given = ["tool_call", "delegate"]
    one = a_policy(actions=given)
    given.clear()
    assert one.actions == frozenset({"tool_call", "delegate"})


def _sync_decide(request: PolicyRequest) -> PolicyVerdict:
    return ALLOW


@pytest.mark.parametrize("decide", [_sync_decide, None, "acme:decide", _takes_nothing, _takes_two])
def test_X_16_a_decide_that_is_not_async_over_one_request_is_refused(decide: Any) -> None:
    """[X-16]"""
    assert "`decide`" in refusal(PolicyContribution("pii", "crm", decide), "policies").fault


def test_X_16_a_request_is_frozen_with_its_identity_in_fields() -> None:
    """[X-16] P4: the exposed name, the raw name, the extension and the chain stand apart."""
    arguments = {"ids": [1, 2]}
    request = PolicyRequest(
        agent="support",
        effect="tool_call",
        tool="crm_find_memo",
        raw="find",
        extension="crm",
        chain=("memo",),
        arguments=arguments,
    )
    arguments["ids"].append(3)
    assert request.arguments == {"ids": [1, 2]}
    with pytest.raises(TypeError):
        request.arguments["ids"] = []  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.raw = "other"  # type: ignore[misc]
    assert hash(request) == hash(replace(request))


VERDICTS = st.one_of(
    st.just(ALLOW),
    st.sampled_from(["a", "b", "c", ""]).map(DENY),
    st.sampled_from(["a", "b", "c", ""]).map(ASK),
)


def test_X_17_deny_wins_in_every_order() -> None:
    """[X-17][AS-INT-3] Every other verdict is no objection."""
    for verdicts in permutations([ALLOW, DENY("bulk export"), ASK("sure?"), ALLOW]):
        assert combine(verdicts) == DENY("bulk export")
    for verdicts in permutations([ALLOW, ASK("sure?"), ALLOW]):
        assert combine(verdicts) == ASK("sure?")


def test_X_17_an_allow_is_no_authority() -> None:
    """[X-17][AS-INT-3] Any number of them says no more than none does."""
    assert combine([]) == ALLOW
    assert combine([ALLOW] * 3) == ALLOW
    assert combine([DENY("no"), *[ALLOW] * 100]) == DENY("no")


def test_X_17_all_reasons_of_the_strongest_are_kept() -> None:
    """[X-17] Whoever is refused learns every reason, in one order."""
    verdict = combine([DENY("b"), ASK("c"), DENY("a"), DENY("b")])
    assert verdict.denies
    assert verdict.reasons == ("a", "b")


@given(st.lists(VERDICTS, max_size=6), st.randoms())
def test_X_17_combining_is_commutative(verdicts: list[PolicyVerdict], random: Any) -> None:
    """[X-17][AS-INT-3]"""
    shuffled = list(verdicts)
    random.shuffle(shuffled)
    assert combine(shuffled) == combine(verdicts)


@given(VERDICTS, VERDICTS, VERDICTS)
def test_X_17_combining_is_associative(a: PolicyVerdict, b: PolicyVerdict, c: PolicyVerdict) -> None:
    """[X-17][AS-INT-3]"""
    assert combine([combine([a, b]), c]) == combine([a, combine([b, c])]) == combine([a, b, c])


@given(st.lists(VERDICTS, max_size=6))
def test_X_17_combining_is_idempotent(verdicts: list[PolicyVerdict]) -> None:
    """[X-17][AS-INT-3]"""
    assert combine([*verdicts, *verdicts]) == combine(verdicts)
    assert combine([combine(verdicts)]) == combine(verdicts)


@given(st.lists(VERDICTS, max_size=6), VERDICTS)
def test_X_17_adding_a_policy_never_weakens(verdicts: list[PolicyVerdict], one: PolicyVerdict) -> None:
    """[X-17][AS-INT-3] Deny stays deny, and ask does not become no objection."""
    strength = ["allow", "ask", "deny"]
    before, after = combine(verdicts), combine([*verdicts, one])
    assert strength.index(after.decision) >= strength.index(before.decision)


@pytest.mark.parametrize(
    ("verdict", "denies", "asks", "reason"),
    [
        (ALLOW, False, False, ""),
        (DENY("no"), True, False, "no"),
        (ASK("sure?"), False, True, "sure?"),
        (DENY(""), True, False, ""),
    ],
)
def test_X_17_what_a_verdict_says(verdict: PolicyVerdict, denies: bool, asks: bool, reason: str) -> None:
    """[X-17]"""
    assert (verdict.denies, verdict.asks, verdict.reason) == (denies, asks, reason)


@pytest.mark.parametrize("verdict", [ALLOW, DENY("no"), ASK("sure?")])
def test_X_17_a_verdict_is_neither_true_nor_false(verdict: PolicyVerdict) -> None:
    """[X-17] `if verdict:` would read a denial as a yes."""
    with pytest.raises(TypeError):
        bool(verdict)


class _LooksLike:
    decision = "allow"
    reasons = ()


@pytest.mark.parametrize(
    "answer", [None, True, False, "allow", 1, {}, RuntimeError("x"), _LooksLike(), PolicyVerdict]
)
def test_X_18_anything_but_a_verdict_denies(answer: object) -> None:
    """[X-18] With reason `policy_error` and the policy's id."""
    verdict = settle(answer, "pii")
    assert verdict.denies
    assert "policy_error" in verdict.reason
    assert "pii" in verdict.reason
    with pytest.raises(TypeError):
        combine([answer])  # type: ignore[list-item]


@pytest.mark.parametrize("verdict", [ALLOW, DENY("no"), ASK("sure?")])
def test_X_18_a_verdict_is_taken_as_it_is(verdict: PolicyVerdict) -> None:
    """[X-18]"""
    assert settle(verdict, "pii") is verdict


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: PolicyVerdict("maybe"), ValueError),  # type: ignore[arg-type]
        (lambda: PolicyVerdict(["deny"]), ValueError),  # type: ignore[arg-type]
        (lambda: DENY(None), TypeError),  # type: ignore[arg-type]
        (lambda: ASK(3), TypeError),  # type: ignore[arg-type]
        (lambda: PolicyVerdict("deny", "why"), TypeError),  # type: ignore[arg-type]
    ],
)
def test_X_18_there_is_no_fourth_verdict(make: Callable[[], object], error: type[Exception]) -> None:
    """[X-18] A nonsense verdict cannot be made, so it raises inside the policy, and denies."""
    with pytest.raises(error):
        make()


# ---- lifecycle ----


async def _async_hook() -> None:
    return None


@pytest.mark.parametrize("run", [nothing, _async_hook, _AsyncTool().__init__, lambda: None])  # type: ignore[misc]
def test_X_19_a_hook_is_sync_or_async_without_argument(run: Any) -> None:
    """[X-19]"""
    ExtensionContribution.build("crm", lifecycle=[a_hook(run=run)]).validate()


def test_X_19_a_hook_that_shows_no_signature_is_accepted() -> None:
    """[X-19] As some callables written in C do not; nothing can be said against them."""

    class Opaque:
        __signature__ = "none"

        def __call__(self) -> None:
            return None

    with pytest.raises(TypeError):
        inspect.signature(Opaque())
    ExtensionContribution.build("crm", lifecycle=[a_hook(run=Opaque())]).validate()


@pytest.mark.parametrize("run", [answer, lambda one: None, "acme:open", None])
def test_X_19_a_hook_that_takes_an_argument_or_is_not_callable_is_refused(run: Any) -> None:
    """[X-19]"""
    assert "`run`" in refusal(a_hook(run=run), "lifecycle").fault


@pytest.mark.parametrize("phase", ["Install", "setup", "", None, 1])
def test_X_19_an_unknown_phase_is_refused(phase: Any) -> None:
    """[X-19]"""
    assert "phase" in refusal(a_hook(phase=phase), "lifecycle").fault


def test_X_19_the_phase_may_be_the_manifests_word() -> None:
    """[X-19]"""
    assert a_hook(phase="teardown").phase is LifecyclePhase.TEARDOWN


def test_X_20_the_phases_are_install_and_teardown_and_hooks_keep_their_order() -> None:
    """[X-20] Within one extension hooks run by declaration; the bundle keeps it."""
    assert [phase.value for phase in LifecyclePhase] == ["install", "teardown"]
    hooks = [a_hook("zeta"), a_hook("alpha"), a_hook("mid", phase=LifecyclePhase.TEARDOWN)]
    bundle = contribution_of(Plugin("crm", ExtensionContribution.build("crm", lifecycle=hooks)))
    assert bundle.lifecycle == tuple(hooks)


# ---- X-21 ----


@pytest.mark.parametrize("key", MEMBERS)
def test_X_21_a_duplicate_id_shows_both_places(key: str) -> None:
    """[X-21]"""
    make = MEMBERS[key]
    bundle = ExtensionContribution.build("crm", **{key: [make("same"), make("other"), make("same")]})
    with pytest.raises(ExtensionContractError) as caught:
        bundle.validate()
    assert f"{key}[0]" in str(caught.value)
    assert f"{key}[2]" in str(caught.value)
    assert '"same"' in str(caught.value)


def test_X_21_names_are_unique_per_kind_only() -> None:
    """[X-21] A tool and a policy of one name are two things; so are tools that differ in case at a server."""
    ExtensionContribution.build(
        "crm",
        tools=[a_tool("same"), a_tool("Same")],
        prompts=[a_fragment("same")],
        policies=[a_policy("same")],
        lifecycle=[a_hook("same")],
    ).validate()


# ---- ExtensionKind ----


@pytest.mark.parametrize(
    (
        "kind",
        "multiple",
        "preserves_schema",
        "declares_schema",
        "relocates_execution",
        "preserves_output_shape",
    ),
    [
        ("wrapper", True, True, False, False, True),
        ("transformer", True, False, True, False, False),
        ("backend", False, False, False, True, True),
    ],
)
def test_extension_kinds_have_the_properties_of_their_table(
    kind: str,
    multiple: bool,
    preserves_schema: bool,
    declares_schema: bool,
    relocates_execution: bool,
    preserves_output_shape: bool,
) -> None:
    """docs/variants.md §1."""
    member = ExtensionKind(kind)
    assert (
        member.multiple,
        member.preserves_schema,
        member.declares_schema,
        member.relocates_execution,
        member.preserves_output_shape,
    ) == (multiple, preserves_schema, declares_schema, relocates_execution, preserves_output_shape)
    assert member.name == kind.upper()


def test_a_factory_is_any_callable_of_that_shape() -> None:
    """docs/variants.md §5: nothing to inherit; the type checker holds the annotations below."""

    def plain(func: LayerCallable, name: str, description: str) -> LayerCallable:
        async def layer(**arguments: Any) -> str:
            return f"{name}: {await func(**arguments)}"

        return layer

    def configured(
        func: LayerCallable, name: str, description: str, config: Mapping[str, Any]
    ) -> LayerCallable:
        return plain(func, f"{name}{config['mark']}", description)

    async def base(key: str) -> str:
        return key

    factory: ExtensionFactory = plain
    with_config: ConfiguredExtensionFactory = configured
    assert asyncio.run(_run(factory(base, "search_memo", "")(key="x"))) == "search_memo: x"
    assert (
        asyncio.run(_run(with_config(base, "search_memo", "", {"mark": "!"})(key="x"))) == "search_memo!: x"
    )


def test_there_are_three_extension_kinds() -> None:
    """docs/variants.md §1."""
    assert [kind.value for kind in ExtensionKind] == ["wrapper", "transformer", "backend"]
