"""The tools of an MCP server: taken over from its pin, never asked for (docs/manifests.md §3)."""

from __future__ import annotations

import posixpath

from symc.diagnostics.codes import shape as codes
from symc.manifest.files import resolved
from symc.manifest.model import Extension, Tool
from symc.manifest.submission import Submission
from symc.pins.model import tools_of
from symc.source import Pin, Sources


def pinned(
    submission: Submission, extension: Extension, sources: Sources
) -> tuple[tuple[Tool, ...], Pin | None]:
    """The tools of an extension's server and its pin; without, what is in the way is reported."""
    if extension.pin is None:
        path: str | None = f"{posixpath.splitext(submission.file)[0]}.pin.json"
    else:
        path = resolved(submission, ("pin",), extension.pin)
    if path is None or path in sources.refused:
        submission.drops_out = True
        return (), None
    pin = sources.pins.get(path)
    if pin is None:
        submission.refuse(
            codes.PIN_MISSING,
            ("mcp",) if extension.pin is None else ("pin",),
            f'the server of "{extension.name}" has no pin: there is no file "{path}"',
            at_key=extension.pin is None,
            hint=f"run `symc pin {extension.name}`",
        )
        return (), None
    found, diagnostics = tools_of(pin.data, lambda inner: pin.span(*inner), extension.name)
    submission.report.extend(diagnostics)
    tools = (
        # Checked by its reader; as the models are for what people write, nothing is checked again.
        Tool.model_construct(
            name=tool.name,
            description=tool.description,
            title=tool.title,
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            annotations=tool.annotations,
        )
        for tool in found
    )
    return tuple(tools), pin
