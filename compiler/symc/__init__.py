"""symc: what an LLM agent is, compiled from manifests into one reviewed lockfile.

This module is the door to the agent facade. It imports nothing: each name is resolved when it is first asked for
(docs/contracts.md F-01), so that importing one part of the package costs no other.
"""

# No `from typing import TYPE_CHECKING`, even: type checkers know a name of that spelling.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from symc.contracts.errors import (
        ConfigurationError,
        ContractViolationError,
        StructuredOutputError,
        SymfonicError,
    )
    from symc.runtime.agent import Agent
    from symc.runtime.capabilities import CapabilityConfig
    from symc.runtime.events import AgentEvent
    from symc.runtime.messages import Attachment, Message, TokenUsage, ToolCall
    from symc.runtime.results import AgentResult

__all__ = [
    "Agent",
    "AgentEvent",
    "AgentResult",
    "Attachment",
    "CapabilityConfig",
    "ConfigurationError",
    "ContractViolationError",
    "Message",
    "StructuredOutputError",
    "SymfonicError",
    "TokenUsage",
    "ToolCall",
]

_HOMES = {
    "Agent": "symc.runtime.agent",
    "AgentEvent": "symc.runtime.events",
    "AgentResult": "symc.runtime.results",
    "Attachment": "symc.runtime.messages",
    "CapabilityConfig": "symc.runtime.capabilities",
    "ConfigurationError": "symc.contracts.errors",
    "ContractViolationError": "symc.contracts.errors",
    "Message": "symc.runtime.messages",
    "StructuredOutputError": "symc.contracts.errors",
    "SymfonicError": "symc.contracts.errors",
    "TokenUsage": "symc.runtime.messages",
    "ToolCall": "symc.runtime.messages",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
