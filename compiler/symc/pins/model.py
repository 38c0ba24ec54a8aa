"""A pin: the tools of an MCP server as the server said them, checked and compared (docs/policies.md §5). Pure.

The raw JSON is kept whole: unknown keys stay in the pin and are nobody's business. What counts — for digests, for
drift, for the model — is the normal form of the fields in ``FIELDS``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from symc import hidden
from symc.contracts.names import RAW_TOOL_NAME
from symc.diagnostics import Code, Diagnostic, LabelledSpan, Report, Span
from symc.diagnostics.codes import pins as codes
from symc.schema import check

Path: TypeAlias = tuple[str | int, ...]
Locate: TypeAlias = Callable[[Path], Span]
"""Where the value at a path inside the pin was written."""

FIELDS: Final = ("description", "title", "inputSchema", "outputSchema", "annotations")
"""The fields of a tool that count, beside its name; ``_meta``, icons, order and ``serverInfo`` do not (P31)."""

# Empty, these say as much as when they are absent; an empty schema says "anything".
_IDLE: Final = frozenset({"description", "title", "annotations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTool:
    """One tool of a pin in normal form; ``raw`` is everything its server said of it.

    Absent, ``null`` and empty are one: an empty description, and None for title and ``annotations``.
    """

    index: int
    name: str
    description: str = ""
    title: str | None = None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    raw: Mapping[str, Any] = field(compare=False, repr=False)


def tools_of(
    data: Mapping[str, Any], locate: Locate, extension: str
) -> tuple[tuple[PinnedTool, ...], tuple[Diagnostic, ...]]:
    """The tools of a pin that are sound, in the pin's order, and all that is wrong with the others.

    ``data`` is the JSON of a pin file or of a server's answer; ``extension`` owns it, for messages and subjects.
    """
    reading = _Reading(locate, extension)
    return reading.tools(data), reading.report.diagnostics


class _Reading:
    """One run over one pin: collects, never raises."""

    def __init__(self, locate: Locate, extension: str) -> None:
        self.locate = locate
        self.extension = extension
        self.report = Report()

    def tools(self, data: Mapping[str, Any]) -> tuple[PinnedTool, ...]:
        listed = data.get("tools")
        if not isinstance(listed, list):
            said = "is no list" if "tools" in data else "is missing"
            message = f'the pin of "{self.extension}" is no list of tools: `tools` {said}'
            self.report.add(codes.PIN_INVALID.at(self.locate(()), message, subject=self.extension))
            return ()
        sound = [tool for index, raw in enumerate(listed) if (tool := self._tool(index, raw)) is not None]
        return self._unique(sound)

    def _tool(self, index: int, raw: Any) -> PinnedTool | None:
        path: Path = ("tools", index)
        if not isinstance(raw, dict):
            self._add(
                codes.PIN_INVALID, path, f"tool {index + 1} in the pin of", f"is {_kind(raw)}, not an object"
            )
            return None
        name = raw.get("name")
        if not isinstance(name, str):
            said = "has no name" if name is None else f"has {_kind(name)} for a name"
            self._add(codes.PIN_INVALID, path, f"tool {index + 1} in the pin of", said)
            return None
        before = len(self.report.found)
        if fault := RAW_TOOL_NAME.fault(name):
            self._add(codes.PIN_TOOL_NAME, (*path, "name"), f"the tool name {_shown(name)} of", fault)
        self._texts(path, name, raw)
        self._schemas(path, name, raw)
        if len(self.report.found) > before:
            return None
        return PinnedTool(
            index=index,
            name=name,
            description=raw.get("description") or "",
            title=raw.get("title") or None,
            input_schema=raw["inputSchema"],
            output_schema=raw.get("outputSchema"),
            annotations=raw.get("annotations") or None,
            raw=raw,
        )

    def _texts(self, path: Path, name: str, raw: Mapping[str, Any]) -> None:
        for key in ("description", "title"):
            text = raw.get(key)
            if isinstance(text, str):
                self._visible((*path, key), name, key, text)
            elif text is not None:
                self._wrong((*path, key), name, key, f"is {_kind(text)}, not a text")
        annotations = raw.get("annotations")
        if isinstance(annotations, dict):
            for inner, text in _strings(annotations, (*path, "annotations")):
                self._visible(inner, name, "annotations", text)
        elif annotations is not None:
            self._wrong(
                (*path, "annotations"), name, "annotations", f"is {_kind(annotations)}, not an object"
            )

    def _schemas(self, path: Path, name: str, raw: Mapping[str, Any]) -> None:
        for key, what, arguments in (
            ("inputSchema", "input schema", True),
            ("outputSchema", "output schema", False),
        ):
            schema = raw.get(key)
            if schema is None:
                if arguments:  # O-11: never taken as "no parameters"
                    hint = "a tool without parameters says {type: object}; tell the server's author"
                    self._add(
                        codes.PIN_SCHEMA_MISSING, path, f'tool "{name}" of', "has no input schema", hint
                    )
            elif isinstance(schema, dict):

                def locate(inner: Path, at: Path = (*path, key)) -> Span:
                    return self.locate((*at, *inner))

                subject = f"{self.extension}/{name}"
                self.report.extend(check(schema, locate, subject, what=what, arguments=arguments))
            else:
                self._wrong((*path, key), name, key, f"is {_kind(schema)}, not an object")

    def _unique(self, tools: Sequence[PinnedTool]) -> tuple[PinnedTool, ...]:
        first: dict[str, PinnedTool] = {}
        for tool in tools:
            if tool.name not in first:
                first[tool.name] = tool
                continue
            earlier = LabelledSpan(self.locate(("tools", first[tool.name].index, "name")), "first here")
            message = f'the pin of "{self.extension}" has two tools named "{tool.name}"'
            span = self.locate(("tools", tool.index, "name"))
            hint = "pin the server again; a server that answers so cannot be used"
            subject = f"{self.extension}/{tool.name}"
            self.report.add(
                codes.PIN_DUPLICATE_TOOL.at(span, message, secondary=(earlier,), hint=hint, subject=subject)
            )
        return tuple(first.values())

    def _visible(self, path: Path, name: str, key: str, text: str) -> None:
        for _, said in hidden.told(text):
            message = f'the {key} of "{self.extension}/{name}" holds {said}'
            subject = f"{self.extension}/{name}"
            self.report.add(codes.HIDDEN_TOOL_TEXT.at(self.locate(path), message, subject=subject))

    def _wrong(self, path: Path, name: str, key: str, fault: str) -> None:
        self._add(codes.PIN_INVALID, path, f'the {key} of tool "{name}" of', fault)

    def _add(self, code: Code, path: Path, thing: str, fault: str, hint: str | None = None) -> None:
        message = f'{thing} "{self.extension}" {fault}'
        self.report.add(code.at(self.locate(path), message, hint=hint, subject=self.extension))


def normal(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What counts of one raw tool (P31): the fields of ``FIELDS`` that say something.

    Two tools of one name are the same tool iff their normal forms have the same canonical bytes.
    """
    return {key: tool[key] for key in FIELDS if tool.get(key) is not None and (tool[key] or key not in _IDLE)}


def _strings(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text in a value, keys included; its nesting is bounded by the reader of pins."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), key
            yield from _strings(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*path, index))


def _kind(value: Any) -> str:
    """What a JSON value is, in a person's words."""
    if value is None:
        return "null"
    for types, word in (
        (bool, "a boolean"),
        (str, "a text"),
        (int | float, "a number"),
        (list, "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, types):
            return word
    return "no JSON value"


def _shown(name: str) -> str:
    text = hidden.escape_hidden(json.dumps(name, ensure_ascii=False))
    return text if len(text) <= 80 else f"{text[:77]}…"
