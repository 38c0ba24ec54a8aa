"""Templates: the texts of one workspace's templates, each read once, each rendering made once (docs/manifests.md §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from symc import hidden
from symc.compose.plain import PlainTemplate, plain_template
from symc.compose.variable import Fault, Mention
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.codes import shape
from symc.diagnostics.suggest import suggestion
from symc.rendering import DELIMITER
from symc.source.findings import AT_MOST

if TYPE_CHECKING:  # Jinja2 is loaded only for a workspace that has a template that needs it
    from symc.compose.dialect import DialectTemplate


@dataclass(frozen=True, slots=True)
class Rendering:
    """The text of a template with values in place; with faults it is the template's own text."""

    text: str
    faults: tuple[Fault, ...] = ()


class Templates:
    """The memory of one compile: what it holds never changes a result, only the time to get it again."""

    __slots__ = ("_read", "_rendered")

    def __init__(self) -> None:
        self._read: dict[str, PlainTemplate | DialectTemplate | tuple[Fault, ...]] = {}
        self._rendered: dict[tuple[str, bool, tuple[str, ...]], Rendering] = {}

    def names(self, text: str) -> tuple[str, ...]:
        """The variables a template reads, each once; none if it cannot be read."""
        template = self._template(text)
        return () if isinstance(template, tuple) else template.names

    def unreadable(self, text: str) -> tuple[Fault, ...]:
        """What keeps a text from being a template, whatever the values."""
        template = self._template(text)
        return template if isinstance(template, tuple) else ()

    def render(self, text: str, values: Mapping[str, Any], *, framed: bool = True) -> Rendering:
        """The template with these values; a variable without a value is a fault at each place that mentions it.

        ``framed``: the text will stand in the frame of learned text, which nothing in it may end.
        """
        template = self._template(text)
        if isinstance(template, tuple):
            return Rendering(text, template)
        # By their spelling: 1, 1.0 and True are equal keys and different texts.
        key = (text, framed, tuple([repr(values.get(name)) for name in template.names]))
        rendering = self._rendered.get(key)
        if rendering is None:
            if not all(name in values for name in template.names):
                # Not remembered: the hint depends on all that is declared. Whoever meets so many has one mistake.
                undeclared = (mention for mention in template.mentions if mention.name not in values)
                told = islice(undeclared, AT_MOST)
                return Rendering(text, tuple(_undeclared(mention, values) for mention in told))
            rendering = self._rendered[key] = _rendered(text, template, values, framed)
        return rendering

    def _template(self, text: str) -> PlainTemplate | DialectTemplate | tuple[Fault, ...]:
        template = self._read.get(text)
        if template is None:
            template = plain_template(text)
            if template is None:
                from symc.compose.dialect import dialect_template

                template = dialect_template(text)
            self._read[text] = template
        return template


def _rendered(
    text: str, template: PlainTemplate | DialectTemplate, values: Mapping[str, Any], framed: bool
) -> Rendering:
    faults = template.faults(values)
    if faults:
        return Rendering(text, faults)
    rendered = template.render(values)
    together = tuple(_together(rendered, framed))
    return Rendering(text if together else rendered, together)


def _undeclared(mention: Mention, values: Mapping[str, Any]) -> Fault:
    return Fault(
        codes.TEMPLATE_UNDECLARED,
        f'the template uses "{mention.name}", which is not declared',
        mention.line,
        mention.column,
        suggestion(mention.name, values) or f"declare it under `vars`: {{{mention.name}: …}}",
    )


def _together(rendered: str, framed: bool) -> Iterator[Fault]:
    """What is harmless in the template and in the values, and is not once they are put together."""
    if framed and "<" in rendered and (found := DELIMITER.search(rendered)):
        message = f'the rendered text holds "{found[0]}", which frames the text of an extension'
        yield Fault(shape.WRAPPER_DELIMITER, message, hint="word it without the tag")
    # Text and values are free of hidden characters; what joins them can make one only beyond ASCII.
    for _, said in () if rendered.isascii() else hidden.told(rendered):
        message = f"the rendered text holds {said}"
        yield Fault(shape.HIDDEN_TEXT, message, hint="remove what cannot be seen from text and values")
