"""What all providers over pydantic-ai's model layer share: the translation to its messages and back.

Only the translation: the loop, the gates and the events are the kernel's. The system text, the tools' order and their
schemas reach the wire exactly as the request has them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from symc.contracts.frozen import thaw
from symc.runtime.messages import Attachment, Message, TokenUsage, ToolCall
from symc.runtime.model import (
    FinishReason,
    ModelOutput,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThinkingDelta,
)

if TYPE_CHECKING:
    from pydantic_ai import messages as wire
    from pydantic_ai.models import Model, ModelRequestParameters

__all__ = ["LayerProvider", "VerbatimTools"]

_FINISH: Final[Mapping[str | None, FinishReason]] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_call": "tool_use",
}

_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
"""What a tool without a schema is on the wire: providers refuse an empty one."""


class LayerProvider(ABC):
    """A provider over one class of pydantic-ai's models.

    `model` is the name used where the agent gives none. `settings` go to the model layer as they are. The SDK is
    imported, the environment read and the client made with the first request.
    """

    vendor: str

    def __init__(self, model: str, *, settings: Mapping[str, Any] | None = None) -> None:
        self._model = model
        self._settings = dict(settings or {})
        self._made: dict[str, Model[Any]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    @abstractmethod
    def _make(self, name: str) -> Model[Any]:
        """The model layer's model of this name; `ConfigurationError` where a key or a package is missing."""

    def _opening(self, request: ModelRequest) -> list[wire.ModelRequestPart]:
        """What stands before the first message: the system text, where this vendor takes it as a message."""
        del request
        return []

    def _objection(self, attachment: Attachment) -> str | None:
        """Why this vendor cannot take an attachment as it is, or None."""
        del attachment
        return None

    def refusal(self, request: ModelRequest) -> str | None:
        """Why such a request cannot be served, or None (F-46)."""
        model = self._of(request)
        if request.output_schema is not None and not model.profile.get("supports_json_schema_output", False):
            return f"the model {model.model_name} of {self.vendor} has no structured output"
        for message in request.messages:
            for attachment in message.attachments:
                if objection := self._objection(attachment):
                    return objection
        return None

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelOutput]:
        """The model's answer to one round; streamed where somebody watches."""
        model = self._of(request)
        settings = self._settings_of(request)
        conversation = _conversation(request.messages, self._opening(request))
        parameters = _parameters(request)
        if not request.streaming:
            yield _response(await model.request(conversation, settings, parameters))  # type: ignore[arg-type]
            return
        async with model.request_stream(conversation, settings, parameters) as stream:  # type: ignore[arg-type]
            async for event in stream:
                delta = _delta(event)
                if delta is not None:
                    yield delta
            yield _response(stream.get())

    def _of(self, request: ModelRequest) -> Model[Any]:
        name = request.model.name if request.model else self._model
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _settings_of(self, request: ModelRequest) -> dict[str, Any]:
        """The model layer's settings for one request: the provider's own, then the agent's."""
        settings, config = dict(self._settings), request.model
        if config is not None:
            settings |= thaw(config.settings)
            if config.temperature is not None:
                settings["temperature"] = config.temperature
            if config.max_tokens is not None:
                settings["max_tokens"] = config.max_tokens
        return settings


class _Customizing(Protocol):
    def customize_request_parameters(
        self, parameters: ModelRequestParameters, /
    ) -> ModelRequestParameters: ...


class VerbatimTools:
    """Mixed into a model: tools go out with the schemas they have; only the output schema is adapted to the vendor."""

    def customize_request_parameters(
        self, model_request_parameters: ModelRequestParameters
    ) -> ModelRequestParameters:
        """The parameters, adapted but for the tools."""
        model: _Customizing = super()  # type: ignore[assignment]
        adapted = model.customize_request_parameters(model_request_parameters)
        return replace(adapted, function_tools=model_request_parameters.function_tools)


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=thaw(tool.input_schema or _NO_PARAMETERS),
        )
        for tool in request.tools
    ]
    if request.output_schema is None:
        return ModelRequestParameters(function_tools=tools)
    shape = OutputObjectDefinition(json_schema=thaw(request.output_schema), name="answer")
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=shape)


def _conversation(messages: Iterable[Message], first: list[wire.ModelRequestPart]) -> list[wire.ModelMessage]:
    """The messages as the model layer has them: what is said to the model between two answers is one request."""
    from pydantic_ai import messages as wire

    conversation: list[wire.ModelMessage] = []
    said: list[wire.ModelRequestPart] = first
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "user":
            said.append(wire.UserPromptPart(_user_content(message)))
        elif message.role == "tool":
            said.append(
                wire.ToolReturnPart(
                    tool_name=names.get(message.tool_call_id, ""),
                    content=message.text,
                    tool_call_id=message.tool_call_id,
                    outcome="failed" if message.is_error else "success",
                )
            )
        else:
            names |= {call.id: call.name for call in message.tool_calls}
            answer = _answer(message)
            if not answer.parts:  # an empty answer: no vendor takes one back
                continue
            if said:
                conversation.append(wire.ModelRequest(said))
                said = []
            conversation.append(answer)
    if said:
        conversation.append(wire.ModelRequest(said))
    return conversation


def _user_content(message: Message) -> str | list[wire.UserContent]:
    if not message.attachments:
        return message.text
    attached: list[wire.UserContent] = [_attached(attachment) for attachment in message.attachments]
    return [*attached, message.text] if message.text else attached


def _attached(attachment: Attachment) -> wire.UserContent:
    from pydantic_ai import messages as wire

    if attachment.source_type == "base64":
        return wire.BinaryContent(b64decode(attachment.data), media_type=attachment.media_type)
    url = wire.ImageUrl if attachment.kind == "image" else wire.DocumentUrl
    return url(attachment.data, media_type=attachment.media_type)


def _answer(message: Message) -> wire.ModelResponse:
    from pydantic_ai import messages as wire

    if isinstance(message.native, wire.ModelResponse):
        return message.native
    parts: list[wire.ModelResponsePart] = [wire.TextPart(message.text)] if message.text else []
    parts += [
        wire.ToolCallPart(call.name, thaw(call.arguments), tool_call_id=call.id)
        for call in message.tool_calls
    ]
    return wire.ModelResponse(parts)


def _delta(event: object) -> TextDelta | ThinkingDelta | None:
    from pydantic_ai import messages as wire

    match event:
        case wire.PartStartEvent(part=wire.TextPart(content=text)):
            return TextDelta(text)
        case wire.PartStartEvent(part=wire.ThinkingPart(content=text)):
            return ThinkingDelta(text)
        case wire.PartDeltaEvent(delta=wire.TextPartDelta(content_delta=text)):
            return TextDelta(text)
        case wire.PartDeltaEvent(delta=wire.ThinkingPartDelta(content_delta=str(text))):
            return ThinkingDelta(text)
        case _:
            return None


def _response(answer: wire.ModelResponse) -> ModelResponse:
    from pydantic_ai import messages as wire

    usage = answer.usage
    return ModelResponse(
        text="".join(part.content for part in answer.parts if isinstance(part, wire.TextPart)),
        thinking="".join(part.content for part in answer.parts if isinstance(part, wire.ThinkingPart)),
        tool_calls=tuple(_tool_call(part) for part in answer.parts if isinstance(part, wire.ToolCallPart)),
        usage=TokenUsage(
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        ),
        finish_reason=_FINISH.get(answer.finish_reason, "end_turn"),
        native=answer,
    )


def _tool_call(part: wire.ToolCallPart) -> ToolCall:
    arguments: object = part.args
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            return ToolCall(part.tool_call_id, part.tool_name, error=f"the arguments are not JSON: {error}")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return ToolCall(part.tool_call_id, part.tool_name, error="the arguments are no JSON object")
    return ToolCall(part.tool_call_id, part.tool_name, arguments)
