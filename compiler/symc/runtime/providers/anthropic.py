"""Anthropic's models, over pydantic-ai's model layer (docs/contracts.md §3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symc.contracts.errors import ConfigurationError
from symc.runtime.messages import Attachment
from symc.runtime.model import FRAGMENT_SEPARATOR, ModelRequest, SystemPart
from symc.runtime.providers.layer import LayerProvider, VerbatimTools

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models import Model

__all__ = ["AnthropicProvider"]


class AnthropicProvider(LayerProvider):
    """A model of Anthropic: `AnthropicProvider("claude-sonnet-5")`.

    The key is `api_key`, or `ANTHROPIC_API_KEY` when the first run starts. Each request has a connection of its own, so
    that nothing needs closing; pass a `client` of the SDK (and close it) to pool them. A layout with cache breakpoints
    is sent with them: after the tools, and after each system part that asks for one (docs/prompts.md §6).
    """

    vendor = "anthropic"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: AsyncAnthropic | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, settings=settings)
        self._api_key = api_key
        self._base_url = base_url
        self._client = client

    def _make(self, name: str) -> Model[Any]:
        try:
            import anthropic
            import httpx2
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers import anthropic as layer
        except ImportError as error:
            raise ConfigurationError(
                'AnthropicProvider needs a package: pip install "symc[anthropic]"'
            ) from error

        class _Model(VerbatimTools, AnthropicModel):
            pass

        if self._client is None:
            key = self._api_key or os.environ.get("ANTHROPIC_API_KEY")
            if not key:
                raise ConfigurationError("no key for Anthropic: pass api_key, or set ANTHROPIC_API_KEY")
            self._client = anthropic.AsyncAnthropic(
                api_key=key,
                base_url=self._base_url,
                http_client=anthropic.DefaultAsyncHttpxClient(
                    limits=httpx2.Limits(max_keepalive_connections=0)
                ),
            )
        return _Model(name, provider=layer.AnthropicProvider(anthropic_client=self._client))

    def _settings_of(self, request: ModelRequest) -> dict[str, Any]:
        settings = super()._settings_of(request)
        blocks = _system_blocks(request.system_parts)
        if blocks:
            # The model layer has one breakpoint for instructions, and words of its own for parts that may change. The
            # body's own field carries the layout as it is.
            settings["extra_body"] = {**settings.get("extra_body", {}), "system": blocks}
        if any("cache_control" in block for block in blocks):
            settings.setdefault("anthropic_cache_tool_definitions", True)
        return settings

    def _objection(self, attachment: Attachment) -> str | None:
        if attachment.source_type == "url" and (attachment.kind, attachment.media_type) not in (
            ("image", attachment.media_type),
            ("document", "application/pdf"),
        ):
            return f"Anthropic fetches documents of type application/pdf only, not {attachment.media_type}; pass base64"
        return None


def _system_blocks(parts: tuple[SystemPart, ...]) -> list[dict[str, Any]]:
    """The system text as blocks whose concatenation is the text, one border at each cache breakpoint.

    A separator belongs to what follows it, so that a cached prefix ends where its last part ends.
    """
    blocks: list[dict[str, Any]] = []
    text = ""
    for place, part in enumerate(parts):
        text += (FRAGMENT_SEPARATOR if place else "") + part.text
        if part.cache_break and text:
            blocks.append({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
            text = ""
    if text:
        blocks.append({"type": "text", "text": text})
    return blocks
