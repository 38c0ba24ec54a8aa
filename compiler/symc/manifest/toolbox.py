"""What an extension brings besides texts and policies: tools, hooks, tool extensions (docs/manifests.md §3)."""

from __future__ import annotations

from symc.contracts.names import LOCAL_TOOL_NAME, MEMBER_ID, TOOL_EXTENSION_NAME
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.codes.pins import HIDDEN_TOOL_TEXT
from symc.manifest import words
from symc.manifest.keys import Path
from symc.manifest.model import Extension, Hook, Tool, ToolExtension
from symc.manifest.schemata import check_schema, check_tool_extension
from symc.manifest.submission import Submission
from symc.manifest.texts import json_texts, plain_text


def check_tools(submission: Submission, tools: tuple[Tool, ...]) -> None:
    """Check the tools an extension declares itself."""
    owner = submission.subject
    for index, tool in words.present(tools):
        path: Path = ("tools", index)
        words.name(submission, (*path, "name"), tool.name, LOCAL_TOOL_NAME, "tool name")
        plain_text(
            submission, (*path, "description"), tool.description, "the description", code=HIDDEN_TOOL_TEXT
        )
        plain_text(submission, (*path, "origin"), tool.origin, "the origin")
        if tool.invoke is None:
            submission.refuse(
                codes.MISSING_KEY,
                path,
                f'tool "{tool.name}" has no `invoke`',
                hint="add `invoke:` with the async function as module:qualname",
            )
        else:
            words.target(submission, (*path, "invoke"), tool.invoke)
        if tool.title is not None:
            submission.refuse(
                codes.UNKNOWN_KEY,
                (*path, "title"),
                f"unknown key `title` in {words.shown(tool.name)}",
                at_key=True,
                hint="a title is taken over from a server's pin only; say it in the description",
            )
        annotations = (*path, "annotations")
        json_texts(submission, annotations, tool.annotations, "the annotations", code=HIDDEN_TOOL_TEXT)
        where = f"{owner}/{tool.name}"
        check_schema(
            submission, (*path, "input_schema"), tool.input_schema, where, "input schema", arguments=True
        )
        if tool.output_schema is not None:
            check_schema(submission, (*path, "output_schema"), tool.output_schema, where, "output schema")
    words.unique(submission, ((("tools", i, "name"), t.name) for i, t in words.present(tools)), "tool")


def check_hooks(submission: Submission, hooks: tuple[Hook, ...]) -> None:
    """Check the lifecycle hooks."""
    for index, hook in words.present(hooks):
        words.name(submission, ("lifecycle", index, "hook_id"), hook.hook_id, MEMBER_ID, "hook id")
        words.target(submission, ("lifecycle", index, "run"), hook.run)
    words.unique(
        submission, ((("lifecycle", i, "hook_id"), h.hook_id) for i, h in words.present(hooks)), "hook id"
    )


def check_tool_extensions(submission: Submission, extensions: tuple[ToolExtension, ...]) -> None:
    """Check the factories that mint variants."""
    for index, extension in words.present(extensions):
        path: Path = ("tool_extensions", index)
        words.name(submission, (*path, "name"), extension.name, TOOL_EXTENSION_NAME, "tool extension")
        words.target(submission, (*path, "factory"), extension.factory)
        if extension.description is not None:
            plain_text(
                submission,
                (*path, "description"),
                extension.description,
                "the description",
                code=HIDDEN_TOOL_TEXT,
            )
        annotations = (*path, "annotations")
        json_texts(submission, annotations, extension.annotations, "the annotations", code=HIDDEN_TOOL_TEXT)
        check_tool_extension(submission, path, extension)
    words.unique(
        submission,
        ((("tool_extensions", i, "name"), e.name) for i, e in words.present(extensions)),
        "tool extension",
    )


def check_package(submission: Submission, extension: Extension) -> None:
    """Check the keys that describe the extension as a package."""
    data = submission.data
    if extension.version is not None:
        words.version(submission, ("version",), extension.version)
    elif "version" not in data and "mcp" not in data:
        submission.refuse(
            codes.MISSING_KEY,
            ("name",),
            f'extension "{extension.name}" has no `version`',
            hint='add `version: "1.0.0"`; only an MCP server may do without',
        )
    for index, text in words.present(extension.requires):
        words.requirement(submission, ("requires", index), text)
    if extension.implementation is not None:
        words.target(submission, ("implementation",), extension.implementation)
    if "mcp" in data and "tools" in data:
        submission.refuse(
            codes.EXCLUSIVE_KEYS,
            ("tools",),
            f'extension "{extension.name}" has `tools` and `mcp`; the tools of a server come from its pin',
            at_key=True,
            secondary=submission.also(("mcp",), "the server is named here"),
            hint="remove `tools`; make tools of your own another extension",
        )
    if "pin" in data and "mcp" not in data:
        submission.refuse(
            codes.IDLE_KEY,
            ("pin",),
            f'extension "{extension.name}" names a pin and no server',
            at_key=True,
            hint="add `mcp:`, or remove `pin`",
        )
