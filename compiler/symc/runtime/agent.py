"""The agent facade: one object to construct, `run` and `stream` (docs/contracts.md §2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Coroutine, Generator, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload

from symc.contracts.errors import ConfigurationError, ContractViolationError
from symc.contracts.frozen import FrozenDict, freeze
from symc.runtime.attestation import attest
from symc.runtime.capabilities import ContributionRequest, check_capabilities, fold, granted, sink_of
from symc.runtime.events import AgentEvent
from symc.runtime.gates import Approver, RunScope, gate
from symc.runtime.history import replayable
from symc.runtime.kernel import Blueprint, Run, Turn
from symc.runtime.messages import Attachment, Message
from symc.runtime.model import ModelConfig, ModelProvider
from symc.runtime.results import AgentResult
from symc.runtime.streams import follow
from symc.runtime.structured import shape_of
from symc.runtime.toolset import ToolBinding, Toolset, binding_of

__all__ = ["DEFAULT_MODEL_ROUNDS", "Agent"]

DEFAULT_MODEL_ROUNDS: Final = 10

OutputT = TypeVar("OutputT")


class Agent:
    """An agent: a model provider, and what it may say and do.

    `instructions` are the system message, byte for byte; None sends none. `model` overrides the provider's own choice.
    `tools` are ToolContributions, LangChain tools or annotated callables, fixed here. `capabilities` contribute stages,
    tools and policies, or grant effects. `approver` answers the questions of `ask` policies. `max_model_rounds`
    defaults to 10.

    Construction validates and stores, and touches nothing else (F-21); `ConfigurationError` says what is wrong, the
    first of: provider, instructions, model, round budget, capabilities, event sinks, the fold (F-11). One agent serves
    any number of runs at once; nothing of a run is kept on it (F-22). `async with` and `close()` are optional (F-30).
    """

    def __init__(
        self,
        model_provider: ModelProvider,
        *,
        instructions: str | None = None,
        model: str | ModelConfig | None = None,
        tools: Iterable[object] = (),
        capabilities: Iterable[object] = (),
        max_model_rounds: int | None = None,
        approver: Approver | None = None,
    ) -> None:
        _check_provider(model_provider)
        if instructions is not None and not isinstance(instructions, str):
            raise ConfigurationError(f"instructions are text or None, not a {type(instructions).__name__}")
        config = _model_config(model)
        rounds = _round_budget(max_model_rounds)
        given = check_capabilities(capabilities)
        sink = sink_of(given)
        if approver is not None and not callable(approver):
            raise ConfigurationError(f"an approver is an async callable, not a {type(approver).__name__}")
        own = _own_tools(tools)
        grants = granted(given, has_tools=bool(own))
        vendor = _vendor(model_provider)
        folded = fold(
            given,
            ContributionRequest(
                vendor=vendor,
                model=config.name if config else None,
                tools=tuple(tool.name for tool in own),
                effects=grants,
            ),
        )
        toolset = Toolset.of((*own, *folded.tools))
        self._blueprint = Blueprint(
            agent=folded.agent,
            provider=model_provider,
            model=config,
            instructions=instructions,
            gates={
                name: gate(
                    tool,
                    agent=folded.agent,
                    grants=grants,
                    vetoes=folded.vetoes,
                    preconditions=folded.preconditions,
                )
                for name, tool in toolset.exposed.items()
            },
            handlers=folded.handlers,
            grants=grants,
            vetoes=folded.vetoes,
            approver=approver,
            sink=sink,
            max_model_rounds=rounds,
        )
        self._capabilities = folded.names
        self._state_checks = folded.state_checks
        self._attestation = attest(
            vendor=vendor,
            model=config,
            instructions=instructions,
            toolset=toolset,
            capabilities=folded.names,
            records=folded.records,
            vetoes=folded.vetoes,
            preconditions=len(folded.preconditions),
            grants=grants,
            max_model_rounds=rounds,
            composition=folded.attestation,
        )
        if folded.attestation is not None and len(folded.names) == 1 and not own and instructions is None:
            # Nothing but a composition: its own account is the whole account.
            self._attestation = freeze(folded.attestation)
        self._closed = False

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The names of the capabilities that were folded in; a grant of effects is none (F-16, F-23)."""
        return self._capabilities

    @property
    def composition_manifest(self) -> Mapping[str, Any]:
        """A read-only account of what this agent is: ids, names, phases, counts, digests, and no payload (F-23).

        Equal for equal input. An agent that is nothing but a composition from a lock gives the lock's account.
        """
        return self._attestation

    @overload
    def run(
        self,
        prompt: str,
        *,
        attachments: Iterable[Attachment] = ...,
        history: Iterable[Message] = ...,
        state: Mapping[str, Any] | None = ...,
        session_id: str = ...,
        output_type: None = ...,
    ) -> Coroutine[Any, Any, AgentResult[None]]: ...
    @overload
    def run(
        self,
        prompt: str,
        *,
        attachments: Iterable[Attachment] = ...,
        history: Iterable[Message] = ...,
        state: Mapping[str, Any] | None = ...,
        session_id: str = ...,
        output_type: type[OutputT],
    ) -> Coroutine[Any, Any, AgentResult[OutputT]]: ...
    @overload
    def run(
        self,
        prompt: str,
        *,
        attachments: Iterable[Attachment] = ...,
        history: Iterable[Message] = ...,
        state: Mapping[str, Any] | None = ...,
        session_id: str = ...,
        output_type: Any,  # a union, an Annotated: typed forms that are no class
    ) -> Coroutine[Any, Any, AgentResult[Any]]: ...
    def run(
        self,
        prompt: str,
        *,
        attachments: Iterable[Attachment] = (),
        history: Iterable[Message] = (),
        state: Mapping[str, Any] | None = None,
        session_id: str = "",
        output_type: Any = None,
    ) -> Coroutine[Any, Any, AgentResult[Any]]:
        """Run to the end and answer the result (F-32).

        `history` are earlier messages, `state` what handlers and prompt slots read, `output_type` the type the answer
        must have. Raises at the call: `ConfigurationError` for arguments and for what the provider cannot do,
        `ContractViolationError` after `close()`. Raises when awaited: what the provider raises, unchanged;
        `StructuredOutputError`; `ContractViolationError` where a handler or a policy refuses the run.
        """
        turn = self._turn(prompt, attachments, history, state, session_id, output_type)
        return Run(self._blueprint, turn).execute()

    def stream(
        self,
        prompt: str,
        *,
        attachments: Iterable[Attachment] = (),
        history: Iterable[Message] = (),
        state: Mapping[str, Any] | None = None,
        session_id: str = "",
        output_type: Any = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Run as a stream of events, the last of them `done`, `error` or `cancelled` (F-33…F-35).

        Takes the arguments of `run` and raises the same at the call. A failure of the run is its `error` event and is
        not raised. Leaving the iteration ends the run (F-45).
        """
        turn = self._turn(prompt, attachments, history, state, session_id, output_type)
        return follow(lambda channel: Run(self._blueprint, turn, channel).execute())

    def run_for(
        self, scope: RunScope, prompt: str, *, state: Mapping[str, Any] | None = None, session_id: str = ""
    ) -> Coroutine[Any, Any, AgentResult[Any]]:
        """Run as a delegate inside another agent's run: `scope` carries its vetoes, its limits and its approver."""
        turn = self._turn(prompt, (), (), state, session_id, None)
        return Run(self._blueprint, replace(turn, scope=scope)).execute()

    def close(self) -> Awaitable[None]:
        """Take no more runs; those in flight go on, and nothing of the adopter's is closed (F-31).

        Takes effect at the call; the answer may be awaited, and need not be.
        """
        self._closed = True
        return _Closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        blueprint = self._blueprint
        return (
            f"<Agent of {type(blueprint.provider).__name__}, tools: {', '.join(blueprint.gates) or 'none'}>"
        )

    def _turn(
        self,
        prompt: str,
        attachments: Iterable[Attachment],
        history: Iterable[Message],
        state: Mapping[str, Any] | None,
        session_id: str,
        output_type: Any,
    ) -> Turn:
        """The arguments of a run, checked: what is wrong with them is said at the call."""
        if self._closed:
            raise ContractViolationError("the agent is closed")
        if not isinstance(prompt, str):
            raise ConfigurationError(f"a prompt is text, not a {type(prompt).__name__}")
        attached = tuple(attachments)
        for attachment in attached:
            if not isinstance(attachment, Attachment):
                raise ConfigurationError(f"a {type(attachment).__name__} is no Attachment")
        if state is not None and not isinstance(state, Mapping):
            raise ConfigurationError(f"state is a mapping or None, not a {type(state).__name__}")
        for check in self._state_checks:
            check(state if state is not None else FrozenDict())
        if not isinstance(session_id, str):
            raise ConfigurationError(f"a session_id is text, not a {type(session_id).__name__}")
        turn = Turn(
            prompt=Message("user", prompt, attachments=attached),
            history=replayable(history),
            state=state if state is not None else FrozenDict(),
            session_id=session_id,
            shape=None if output_type is None else shape_of(output_type),
        )
        refusal = getattr(self._blueprint.provider, "refusal", None)
        if refusal is not None and (reason := refusal(turn.request(self._blueprint))):  # F-46
            raise ConfigurationError(reason)
        return turn


class _Closed:
    """The answer of `close`: already done. Not a coroutine, so that nobody has to await it."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


def _check_provider(provider: object) -> None:
    if isinstance(provider, type):
        raise ConfigurationError(
            f"{provider.__name__} is a class; pass a model provider, {provider.__name__}(…)"
        )
    if not callable(getattr(provider, "respond", None)):
        raise ConfigurationError(
            f"a {type(provider).__name__} is no model provider: it has no callable `respond(request)`"
        )


def _vendor(provider: object) -> str:
    vendor = getattr(provider, "vendor", "")
    return vendor if isinstance(vendor, str) else ""


def _model_config(model: object) -> ModelConfig | None:
    if model is None or isinstance(model, ModelConfig):
        return model
    if not isinstance(model, str):
        raise ConfigurationError(f"a model is a name or a ModelConfig, not a {type(model).__name__}")
    if not model.strip():
        raise ConfigurationError("a model's name is not empty")
    return ModelConfig(model)


def _round_budget(rounds: object) -> int:
    if rounds is None:
        return DEFAULT_MODEL_ROUNDS
    if type(rounds) is not int or rounds < 1:  # F-38: a bool is no number here
        raise ConfigurationError(f"max_model_rounds is a whole number of at least 1, not {rounds!r}")
    return rounds


def _own_tools(tools: object) -> tuple[ToolBinding, ...]:
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise ConfigurationError(f"tools is a sequence, not a {type(tools).__name__}")
    return tuple(binding_of(tool) for tool in tools)
