"""The providers against a local server that speaks their vendors' wire formats: what is sent, and how it is read.

docs/contracts.md §3; docs/prompts.md §6 for the cache breakpoints.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import pydantic
import pytest

from symc import Agent, AgentEvent, AgentResult, Attachment, ConfigurationError, Message, TokenUsage
from symc.contracts import freeze
from symc.runtime.capabilities import CapabilityContribution, ContributionRequest, Stage, StageView
from symc.runtime.model import ModelConfig, SystemPart
from symc.runtime.providers import AnthropicProvider, OpenAIProvider
from symc.runtime.toolset import ToolBinding
from tests.runtime.vendors import Answer, Vendors, vendors

T = TypeVar("T")

BOTH = pytest.mark.parametrize("vendor", ["anthropic", "openai"])
HOW = pytest.mark.parametrize("streamed", [False, True], ids=["run", "stream"])

MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-5"}

LAYOUT = (
    SystemPart("You are {{ careful }}.\n"),
    SystemPart("Ends here.", cache_break=True),
    SystemPart("  kept \u00e9e\u0301 \u200d\r\n", cache_break=True),
    SystemPart("this turn only"),
)
TEXT = "You are {{ careful }}.\n\n\nEnds here.\n\n  kept \u00e9e\u0301 \u200d\r\n\n\nthis turn only"

SCHEMA = freeze(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Arguments",
        "properties": {
            "when": {"type": "string", "format": "date-time", "title": "When"},
            "of": {"type": "array", "items": {"$ref": "#/$defs/one"}, "maxItems": 3, "default": []},
        },
        "required": ["when"],
        "$defs": {"one": {"enum": ["a", 1, None]}},
        "additionalProperties": {"type": "string", "pattern": "^x"},
    }
)


class Layout:
    """A capability that answers a layout, as a composition from a lock does."""

    def __init__(self, *parts: SystemPart) -> None:
        self._parts = parts

    def contribute(self, request: ContributionRequest) -> CapabilityContribution:
        return CapabilityContribution(
            "layout", (Stage.PROMPT_ASSEMBLY,), {Stage.PROMPT_ASSEMBLY: self._assemble}
        )

    def _assemble(self, view: StageView) -> tuple[SystemPart, ...]:
        return self._parts


async def _echo(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments)


async def _boom(arguments: Mapping[str, Any]) -> str:
    raise ValueError("out of ink")


TOOLS = (
    ToolBinding(name="zeta", invoke=_echo, description="Last.", input_schema=SCHEMA),
    ToolBinding(name="alpha", invoke=_boom, description=""),
)


def provider_of(vendor: str, server: Vendors, **given: Any) -> AnthropicProvider | OpenAIProvider:
    model = given.pop("model", MODELS[vendor])
    if vendor == "anthropic":
        return AnthropicProvider(model, api_key="key", base_url=server.url, **given)
    return OpenAIProvider(model, api_key="key", base_url=f"{server.url}/v1", **given)


async def ask(
    agent: Agent, streamed: bool, prompt: str = "go", **named: Any
) -> tuple[AgentResult[Any], list[AgentEvent]]:
    if not streamed:
        return await agent.run(prompt, **named), []
    events = [event async for event in agent.stream(prompt, **named)]
    result = events[-1].result
    assert result is not None, events[-1]
    return result, events


def system_of(body: Mapping[str, Any]) -> str | None:
    if "system" in body:
        return "".join(block["text"] for block in body["system"])
    said = [message["content"] for message in body["messages"] if message["role"] in ("system", "developer")]
    assert len(said) <= 1
    return said[0] if said else None


def tools_of(body: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        (tool["name"], tool["description"], tool["input_schema"])
        if "input_schema" in tool
        else (tool["function"]["name"], tool["function"]["description"], tool["function"]["parameters"])
        for tool in body.get("tools", [])
    ]


def play(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@BOTH
@HOW
def test_the_request_is_what_the_lock_says(vendor: str, streamed: bool) -> None:
    """System text byte-equal to the joined layout; tools by name, with the locked schemas, untouched."""

    async def use() -> None:
        async with vendors(Answer(["hi"])) as server:
            await ask(
                Agent(provider_of(vendor, server), tools=TOOLS, capabilities=[Layout(*LAYOUT)]), streamed
            )
            (body,) = server.requests
        assert system_of(body) == TEXT
        assert tools_of(body) == [
            ("alpha", "", {"type": "object", "properties": {}}),
            ("zeta", "Last.", json.loads(json.dumps(SCHEMA))),
        ]
        assert not any(tool.get("strict") or tool.get("function", {}).get("strict") for tool in body["tools"])

    play(use())


@HOW
def test_cache_breakpoints_stand_where_the_plan_has_them(streamed: bool) -> None:
    """After the tools, after the deployment prefix, after the last static fragment; never inside a fragment."""

    async def use() -> None:
        async with vendors(Answer(["hi"])) as server:
            await ask(
                Agent(provider_of("anthropic", server), tools=TOOLS, capabilities=[Layout(*LAYOUT)]), streamed
            )
            (body,) = server.requests
        assert [(block["text"], "cache_control" in block) for block in body["system"]] == [
            ("You are {{ careful }}.\n\n\nEnds here.", True),
            ("\n\n  kept \u00e9e\u0301 \u200d\r\n", True),
            ("\n\nthis turn only", False),
        ]
        assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
        assert "cache_control" not in json.dumps(body["messages"])

    play(use())


def test_a_prefix_is_the_same_whatever_follows() -> None:
    """The cached bytes do not depend on the part that differs each turn."""

    async def use() -> None:
        async with vendors(Answer(["a"]), Answer(["b"])) as server:
            for layout in (LAYOUT, LAYOUT[:3]):
                await Agent(provider_of("anthropic", server), capabilities=[Layout(*layout)]).run("x")
            one, other = (body["system"] for body in server.requests)
        assert one[:2] == other

    play(use())


@pytest.mark.parametrize(
    ("instructions", "system"), [(None, None), ("", None), ("Be brief.\n", "Be brief.\n")]
)
@BOTH
def test_instructions_without_a_layout_ask_for_no_cache(
    vendor: str, instructions: str | None, system: str | None
) -> None:
    """[F-12]"""

    async def use() -> None:
        async with vendors(Answer(["hi"])) as server:
            await Agent(provider_of(vendor, server), instructions=instructions, tools=TOOLS).run("x")
            (body,) = server.requests
        assert system_of(body) == system
        assert "cache_control" not in json.dumps(body)

    play(use())


@BOTH
@HOW
def test_a_turn_with_tools(vendor: str, streamed: bool) -> None:
    """Calls, answers and errors go back as they are; usage is summed."""
    arguments = '{"when": "2026-01-01T00:00:00Z", "of": ["a"]}'

    async def use() -> None:
        script = (
            Answer(["let ", "me see"], [("t1", "zeta", arguments), ("t2", "alpha", "{}")]),
            Answer(["that ", "is it"]),
        )
        async with vendors(*script) as server:
            result, events = await ask(Agent(provider_of(vendor, server), tools=TOOLS), streamed)
            first, second = server.requests
        assert result.text == "that is it"
        assert [
            (call.id, call.result and json.loads(call.result), call.reason) for call in result.tool_calls
        ] == [
            ("t1", json.loads(arguments), None),
            ("t2", None, "tool_error"),
        ]
        if streamed:
            said = "".join(event.text or "" for event in events if event.kind == "text_delta")
            assert said == "let me seethat is it"
            assert len([event for event in events if event.kind == "text_delta"]) == 4
        # Anthropic counts cached tokens beside the input, OpenAI within it; both are what the model layer reports.
        assert result.usage == (
            TokenUsage(32, 14, 6, 4) if vendor == "anthropic" else TokenUsage(22, 14, 6, 0)
        )
        assert second["messages"][: len(first["messages"])] == first["messages"]
        told = json.dumps(second["messages"][len(first["messages"]) :])
        assert "let me see" in told
        assert "tool_error: ValueError: out of ink" in told
        if vendor == "anthropic":
            errors = [block["is_error"] for block in second["messages"][-1]["content"]]
            assert errors == [False, True]

    play(use())


@pytest.mark.parametrize("arguments", ['{"when": ', "[1]", '"x"'])
@pytest.mark.parametrize(("vendor", "streamed"), [("anthropic", True), ("openai", True), ("openai", False)])
def test_arguments_that_are_no_json_object_are_not_executed(
    vendor: str, streamed: bool, arguments: str
) -> None:
    async def use() -> None:
        async with vendors(Answer([], [("t1", "zeta", arguments)]), Answer(["sorry"])) as server:
            result, _ = await ask(Agent(provider_of(vendor, server), tools=TOOLS), streamed)
        assert result.tool_calls[0].reason == "invalid_arguments"
        assert result.text == "sorry"

    play(use())


@BOTH
def test_F_36_ids_are_distinct_on_the_wire(vendor: str) -> None:
    """[F-36] A vendor that repeats an id gets calls and answers back that fit each other."""

    async def use() -> None:
        script = (Answer(["a"], [("t", "alpha", "{}"), ("t", "alpha", "{}")], thinking="hm"), Answer(["b"]))
        async with vendors(*script) as server:
            result = await Agent(provider_of(vendor, server), tools=TOOLS).run("x")
            _, second = server.requests
        _, asked, *answered = second["messages"]
        if vendor == "anthropic":
            calls = [block["id"] for block in asked["content"] if block["type"] == "tool_use"]
            answers = [block["tool_use_id"] for block in answered[0]["content"]]
        else:
            calls = [call["id"] for call in asked["tool_calls"]]
            answers = [message["tool_call_id"] for message in answered]
        assert calls == answers == [call.id for call in result.tool_calls] == ["t", "t_2"]

    play(use())


@HOW
def test_signed_reasoning_goes_back_within_the_turn(streamed: bool) -> None:
    """It is shown as `thinking`, is no part of the answer, and later turns do not carry it."""

    async def use() -> None:
        script = (Answer(["a"], [("t", "alpha", "{}")], thinking="hm"), Answer(["b"]), Answer(["c"]))
        async with vendors(*script) as server:
            agent = Agent(provider_of("anthropic", server), tools=TOOLS)
            result, events = await ask(agent, streamed)
            await agent.run("more", history=result.messages)
            _, second, third = server.requests
        assert second["messages"][1]["content"][0] == {
            "type": "thinking",
            "thinking": "hm",
            "signature": "sig",
        }
        assert [event.text for event in events if event.kind == "thinking"] == (["hm"] if streamed else [])
        assert "hm" not in (result.text, *(message.text for message in result.messages))
        assert "thinking" not in json.dumps(third["messages"])

    play(use())


@BOTH
def test_F_37_history_reaches_the_wire_as_it_was(vendor: str) -> None:
    """[F-37]"""
    odd = " e\u0301 \U0001f600\t\r\n."

    async def use() -> None:
        script = (Answer([odd], [("t", "alpha", "{}")]), Answer(["b"]), Answer(["c"]))
        async with vendors(*script) as server:
            agent = Agent(provider_of(vendor, server), tools=TOOLS)
            first = await agent.run("sum" + odd)
            await agent.run("more", history=first.messages)
            _, before, after = server.requests
        assert after["messages"][: len(before["messages"])] == before["messages"]
        texts = json.dumps(after["messages"], ensure_ascii=False)
        assert json.dumps("sum" + odd, ensure_ascii=False) in texts
        assert json.dumps(odd, ensure_ascii=False) in texts

    play(use())


@BOTH
@HOW
def test_F_42_an_error_of_the_vendor_is_its_librarys(vendor: str, streamed: bool) -> None:
    """[F-42] Unwrapped, and not retried: the request was refused."""
    from pydantic_ai.exceptions import ModelHTTPError

    async def use() -> None:
        async with vendors(Answer(status=400)) as server:
            agent = Agent(provider_of(vendor, server))
            if streamed:
                (event,) = [event async for event in agent.stream("x")]
                assert isinstance(event.error, ModelHTTPError)
            else:
                with pytest.raises(ModelHTTPError):
                    await agent.run("x")
            assert len(server.requests) == 1

    play(use())


@BOTH
def test_F_45_an_abandoned_stream_closes_its_connection(vendor: str) -> None:
    """[F-45] The server sees the client go; no task is left."""

    async def use() -> None:
        async with vendors(Answer(["one", "two"], hang=True)) as server:
            stream = Agent(provider_of(vendor, server)).stream("x")
            async for event in stream:
                assert event.text == "one"
                break
            await stream.aclose()
            await asyncio.wait_for(server.left.wait(), 5)
            assert server.open_connections == 0
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(use())


class City(pydantic.BaseModel):
    name: str
    people: int = pydantic.Field(default=0, ge=0)


@BOTH
@HOW
def test_F_44_structured_output_is_asked_for_natively(vendor: str, streamed: bool) -> None:
    """[F-44] The tools and the system text stay what they are."""

    async def use() -> None:
        async with vendors(Answer(['{"name": "Ulm",', ' "people": 3}'])) as server:
            agent = Agent(provider_of(vendor, server), tools=TOOLS, capabilities=[Layout(*LAYOUT)])
            result, _ = await ask(agent, streamed, output_type=City)
            (body,) = server.requests
        assert result.output == City(name="Ulm", people=3)
        asked = (
            body["output_config"]["format"]["schema"]
            if vendor == "anthropic"
            else body["response_format"]["json_schema"]["schema"]
        )
        assert set(asked["properties"]) == {"name", "people"}
        assert system_of(body) == TEXT
        assert len(body["tools"]) == 2

    play(use())


def test_F_46_a_model_without_structured_output() -> None:
    """[F-46] Said at the call."""

    async def use() -> None:
        async with vendors() as server:
            agent = Agent(provider_of("anthropic", server, model="claude-3-haiku-20240307"))
            with pytest.raises(ConfigurationError, match="claude-3-haiku"):
                await agent.run("x", output_type=City)
            assert server.requests == []

    play(use())


PICTURE = Attachment("image", "base64", "aGk=")
LINK = Attachment("image", "url", "https://example.com/a.png")
PAPER = Attachment("document", "base64", "aGk=", filename="a.pdf")
PAPER_LINK = Attachment("document", "url", "https://example.com/a.pdf")


@pytest.mark.parametrize(
    ("vendor", "attachment", "sent"),
    [
        (
            "anthropic",
            PICTURE,
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ),
        ("anthropic", LINK, {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
        (
            "anthropic",
            PAPER,
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
            },
        ),
        (
            "anthropic",
            PAPER_LINK,
            {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        ),
        ("openai", PICTURE, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}),
        ("openai", LINK, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}),
    ],
)
def test_F_40_attachments_on_the_wire(vendor: str, attachment: Attachment, sent: dict[str, Any]) -> None:
    """[F-40] URLs are for the vendor to fetch; this process fetches nothing."""

    async def use() -> None:
        async with vendors(Answer(["a photo"])) as server:
            await Agent(provider_of(vendor, server)).run("what is it?", attachments=[attachment])
            (body,) = server.requests
        content = body["messages"][-1]["content"]
        assert sent in [{key: part[key] for key in sent} for part in content if part["type"] == sent["type"]]
        assert [part["text"] for part in content if part["type"] == "text"] == ["what is it?"]

    play(use())


@pytest.mark.parametrize(
    ("vendor", "attachment"),
    [
        ("openai", PAPER_LINK),
        ("anthropic", Attachment("document", "url", "https://example.com/a.txt", "text/plain")),
    ],
)
def test_F_46_an_attachment_the_vendor_does_not_fetch(vendor: str, attachment: Attachment) -> None:
    """[F-46] Refused, rather than fetched from here."""

    async def use() -> None:
        async with vendors() as server:
            with pytest.raises(ConfigurationError, match="base64"):
                Agent(provider_of(vendor, server)).stream("x", attachments=[attachment])
            assert server.requests == []

    play(use())


def test_the_agents_model_and_settings_win() -> None:
    async def use() -> None:
        async with vendors(Answer(["a"]), Answer(["b"])) as server:
            provider = provider_of("openai", server, model="gpt-4o", settings={"seed": 1, "top_p": 0.5})
            await Agent(provider).run("x")
            config = ModelConfig("gpt-4o-mini", temperature=0.25, max_tokens=77, settings={"seed": 2})
            await Agent(provider, model=config).run("x")
            first, second = server.requests
        assert (first["model"], first["seed"], first["top_p"], "temperature" in first) == (
            "gpt-4o",
            1,
            0.5,
            False,
        )
        assert (second["model"], second["seed"], second["top_p"]) == ("gpt-4o-mini", 2, 0.5)
        assert (second["temperature"], second["max_completion_tokens"]) == (0.25, 77)

    play(use())


@BOTH
def test_one_provider_serves_one_loop_after_another(vendor: str) -> None:
    """Nothing of a connection outlives its request."""

    async def first() -> tuple[AnthropicProvider | OpenAIProvider, int]:
        async with vendors(Answer(["hi"])) as server:
            # A small answer, so that neither vendor's library streams it: its connection could be kept.
            provider = provider_of(vendor, server, settings={"max_tokens": 100})
            await Agent(provider).run("x")
            assert not server.requests[0].get("stream")
            return provider, int(server.url.rpartition(":")[2])

    async def second() -> str:
        async with vendors(Answer(["hello"]), port=port):
            return (await Agent(provider).run("x")).text

    provider, port = play(first())
    assert play(second()) == "hello"


@pytest.mark.parametrize(
    ("vendor", "variable"), [(AnthropicProvider, "ANTHROPIC_API_KEY"), (OpenAIProvider, "OPENAI_API_KEY")]
)
def test_F_46_a_missing_key(vendor: Any, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[F-46] Said at the call, with the name of the variable."""
    monkeypatch.delenv(variable, raising=False)
    agent = Agent(vendor("some-model"))
    with pytest.raises(ConfigurationError, match=variable):
        agent.stream("x")


def test_F_46_another_vendors_history_is_no_native_form() -> None:
    """What one provider said is told to another as text."""

    async def use() -> None:
        async with vendors(Answer(["from one"]), Answer(["from the other"])) as server:
            first = await Agent(provider_of("anthropic", server)).run("x")
            await Agent(provider_of("openai", server)).run("y", history=first.messages)
            _, second = server.requests
        assert [(message["role"], message["content"]) for message in second["messages"]] == [
            ("user", "x"),
            ("assistant", "from one"),
            ("user", "y"),
        ]

    play(use())


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("max_tokens", "max_tokens"), ("refusal", "refusal"), ("stop_sequence", "end_turn")],
)
def test_F_37_why_the_vendor_stopped(finish: str, reason: str) -> None:
    """[F-37]"""

    async def use() -> None:
        async with vendors(Answer(["part"], finish=finish)) as server:
            assert (await Agent(provider_of("anthropic", server)).run("x")).stop_reason == reason

    play(use())


def test_F_36_an_empty_answer_is_not_sent_back() -> None:
    """No vendor takes an empty assistant message."""

    async def use() -> None:
        async with vendors(Answer(["b"])) as server:
            history = [Message("user", "x"), Message("assistant", "")]
            await Agent(provider_of("anthropic", server)).run("y", history=history)
            (body,) = server.requests
        assert [message["role"] for message in body["messages"]] == ["user"]

    play(use())
