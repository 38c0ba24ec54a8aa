"""OpenAI's models, and whatever speaks their chat completions, over pydantic-ai's model layer (docs/contracts.md §3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symc.contracts.errors import ConfigurationError
from symc.runtime.messages import Attachment
from symc.runtime.model import ModelRequest
from symc.runtime.providers.layer import LayerProvider, VerbatimTools

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai import messages as wire
    from pydantic_ai.models import Model

__all__ = ["OpenAIProvider"]


class OpenAIProvider(LayerProvider):
    """A model of OpenAI, by chat completions: `OpenAIProvider("gpt-5")`.

    The key is `api_key`, or `OPENAI_API_KEY` when the first run starts; with a `base_url` of another server none is
    needed. Each request has a connection of its own, so that nothing needs closing; pass a `client` of the SDK (and
    close it) to pool them. OpenAI caches prefixes by itself: cache breakpoints are not sent.
    """

    vendor = "openai"

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: AsyncOpenAI | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model, settings=settings)
        self._api_key = api_key
        self._base_url = base_url
        self._client = client

    def _make(self, name: str) -> Model[Any]:
        try:
            import httpx2
            import openai
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers import openai as layer
        except ImportError as error:
            raise ConfigurationError('OpenAIProvider needs a package: pip install "symc[openai]"') from error

        class _Model(VerbatimTools, OpenAIChatModel):
            pass

        if self._client is None:
            key = self._api_key or os.environ.get("OPENAI_API_KEY") or ("none" if self._base_url else None)
            if not key:
                raise ConfigurationError("no key for OpenAI: pass api_key, or set OPENAI_API_KEY")
            self._client = openai.AsyncOpenAI(
                api_key=key,
                base_url=self._base_url,
                http_client=openai.DefaultAsyncHttpxClient(limits=httpx2.Limits(max_keepalive_connections=0)),
            )
        return _Model(name, provider=layer.OpenAIProvider(openai_client=self._client))

    def _opening(self, request: ModelRequest) -> list[wire.ModelRequestPart]:
        from pydantic_ai import messages as wire

        return [wire.SystemPromptPart(request.system)] if request.system else []

    def _objection(self, attachment: Attachment) -> str | None:
        if attachment.source_type == "url" and attachment.kind == "document":
            return "OpenAI takes no document by URL; pass base64"
        return None
