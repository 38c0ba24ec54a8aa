"""Model providers; each is imported when it is first asked for, and its SDK when an instance is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symc.runtime.model import ModelProvider
    from symc.runtime.providers.anthropic import AnthropicProvider
    from symc.runtime.providers.mock import MockModelProvider
    from symc.runtime.providers.openai import OpenAIProvider
    from symc.runtime.providers.scripted import ScriptedProvider

__all__ = ["AnthropicProvider", "MockModelProvider", "ModelProvider", "OpenAIProvider", "ScriptedProvider"]

_HOMES = {
    "AnthropicProvider": "symc.runtime.providers.anthropic",
    "MockModelProvider": "symc.runtime.providers.mock",
    "ModelProvider": "symc.runtime.model",
    "OpenAIProvider": "symc.runtime.providers.openai",
    "ScriptedProvider": "symc.runtime.providers.scripted",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
