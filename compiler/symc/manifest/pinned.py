"""The tools of an MCP server: taken over from its pin, never asked for (docs/manifests.md §3)."""

from __future__ import annotations

import posixpath
from typing import Any

from symc.diagnostics.codes import shape as codes
from symc.manifest.files import resolved
from symc.manifest.model import Extension, Tool
from symc.manifest.submission import Submission
from symc.source import Pin, Sources


def with_pin(submission: Submission, extension: Extension, sources: Sources) -> tuple[Extension, Pin | None]:
    """The extension with the tools of its pin, and the pin; without, what is in the way is reported."""
    if extension.pin is None:
        path: str | None = f"{posixpath.splitext(submission.file)[0]}.pin.json"
    else:
        path = resolved(submission, ("pin",), extension.pin)
    if path is None or path in sources.refused:
        return extension, None
    pin = sources.pins.get(path)
    if pin is None:
        submission.refuse(
            codes.PIN_MISSING,
            ("mcp",) if extension.pin is None else ("pin",),
            f'the server of "{extension.name}" has no pin: there is no file "{path}"',
            at_key=extension.pin is None,
            hint=f"run `symc pin {extension.name}`",
        )
        return extension, None
    return extension.model_copy(update={"tools": _tools(pin.data)}), pin


def _tools(answer: dict[str, Any]) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            name=tool["name"],
            description=tool.get("description") or "",
            input_schema=tool["inputSchema"],
            output_schema=tool.get("outputSchema"),
            annotations=tool.get("annotations"),
            title=tool.get("title"),
        )
        for tool in answer["tools"]
    )
