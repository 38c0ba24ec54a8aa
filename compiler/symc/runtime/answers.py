"""Answers of servers: the result of a call as the one text that the model reads (docs/contracts.md §3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["text_of"]


def text_of(result: Mapping[str, Any], *, structured: bool) -> str:
    """A result as the text that the model reads: text parts joined by newlines, others described.

    A tool with an output schema answers JSON: the structured content, where the server gives it (X-12).
    """
    content = result.get("content")
    if (
        result.get("structuredContent") is not None
        and not result.get("isError")
        and (structured or not content)
    ):
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(_parts(content if isinstance(content, list) else []))


def _parts(content: Iterable[Any]) -> Iterator[str]:
    for part in content:
        match part:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": "image" | "audio" as kind, "data": str(data)}:
                # Base64: four characters for three bytes.
                yield f"[{kind}: {part.get('mimeType', 'unknown type')}, {len(data) * 3 // 4 - data[-2:].count('=')} bytes]"
            case {"type": "resource", "resource": {"uri": str(uri)} as resource}:
                size = (
                    f", {len(resource['text'])} characters" if isinstance(resource.get("text"), str) else ""
                )
                yield f"[resource: {uri}, {resource.get('mimeType', 'unknown type')}{size}]"
            case {"type": "resource_link", "uri": str(uri)}:
                yield f"[link: {part.get('name', '')} {uri}]"
            case {"type": str(kind)}:
                yield f"[{kind}]"
            case _:
                yield "[a part of no known kind]"
