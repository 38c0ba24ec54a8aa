"""What is said in a run: messages, tool calls, attachments, token usage (docs/contracts.md §2).

All are frozen values that hold what a person could read; nothing here knows a provider's wire format.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from symc.contracts.errors import ConfigurationError

__all__ = ["UNREPORTED", "Attachment", "Message", "Role", "TokenUsage", "ToolCall"]

AttachmentKind: TypeAlias = Literal["image", "document"]
SourceType: TypeAlias = Literal["url", "base64"]
Role: TypeAlias = Literal["user", "assistant", "tool"]

_DEFAULT_MEDIA_TYPE: Final[dict[str, str]] = {"image": "image/png", "document": "application/pdf"}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture or a document that goes with a prompt (F-40).

    `data` is an http or https URL, or base64 text, as `source_type` says. `media_type` defaults to `image/png` and
    `application/pdf`. `ConfigurationError` for any other source: a run reads no file and follows no `data:` URL.
    """

    kind: AttachmentKind
    source_type: SourceType
    data: str
    media_type: str = ""
    filename: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(AttachmentKind):
            raise ConfigurationError(f"an attachment's kind is image or document, not {self.kind!r}")
        if self.source_type not in get_args(SourceType):
            raise ConfigurationError(
                f"an attachment's source_type is url or base64, not {self.source_type!r}"
            )
        if not isinstance(self.data, str) or not self.data:
            raise ConfigurationError(
                f"an attachment's data is a non-empty string, not {type(self.data).__name__}"
            )
        if not isinstance(self.media_type, str):
            raise ConfigurationError("an attachment's media_type is a string")
        if self.filename is not None and not isinstance(self.filename, str):
            raise ConfigurationError("an attachment's filename is a string or None")
        if self.source_type == "url":
            _require_web_url(self.data)
        else:
            _require_base64(self.data)
        if not self.media_type:
            object.__setattr__(self, "media_type", _DEFAULT_MEDIA_TYPE[self.kind])


def _require_web_url(url: str) -> None:
    # A browser would strip spaces and control characters and read `//host` as a URL; here they are refused, so that
    # what was checked is what is fetched. The message never quotes the URL: it may hold a signature.
    if any(char.isspace() or ord(char) < 0x20 or ord(char) == 0x7F for char in url):
        raise ConfigurationError("an attachment's URL holds no spaces or control characters")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise ConfigurationError("an attachment's URL is malformed") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigurationError(
            "an attachment's URL is http:// or https:// with a host; pass bytes as base64"
        )


def _require_base64(data: str) -> None:
    try:
        b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigurationError("an attachment's data is not valid base64") from None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the model asked for it, and what became of it (F-36).

    Before it is answered `result` and `error` are None; afterwards exactly one of them is set. `error` is text that
    the model reads; `reason` is the stable word for a refusal or a failure (`policy_denied`, `invalid_arguments`, …;
    see `symc.runtime.gates.Reason`), None for a call that was answered.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    error: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: of the user, of the assistant, or a tool's answer (F-37).

    `text` is kept as it came. An assistant's message carries its `tool_calls` without their answers; each answer is a
    message of its own, of role `tool`, with the call's id. `attachments` stand on the prompt while its run lasts and
    are not replayed. `native` is the provider's own form of its answer, opaque to everyone else and never compared.
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    is_error: bool = False
    attachments: tuple[Attachment, ...] = ()
    native: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))
        object.__setattr__(self, "attachments", tuple(self.attachments))


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider reported them; 0 means unreported, and nothing is estimated (F-39)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


UNREPORTED: Final = TokenUsage()
"""The usage of a provider that reports none."""
