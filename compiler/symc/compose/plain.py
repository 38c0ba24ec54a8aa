"""Plain templates: ``{{ name }}`` and ``{% if name %}…{% else %}…{% endif %}``, rendered without Jinja2.

Nearly every template is one of these, and compiling it with Jinja2 costs a hundred times as much. Whatever is not plain
to the last character (other tags, whitespace control, comments, odd braces) is left to :mod:`symc.compose.dialect`; a
property test holds the two to the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from symc.compose.variable import Fault, Mention
from symc.diagnostics.codes import composition as codes

_GAP = r"[ \t\n]"
_TOKEN = re.compile(
    rf"{{{{{_GAP}*(?P<name>[A-Za-z_][A-Za-z0-9_]*){_GAP}*}}}}"
    rf"|{{%{_GAP}*(?P<branch>if|elif){_GAP}+(?P<test>[A-Za-z_][A-Za-z0-9_]*){_GAP}*%}}"
    rf"|{{%{_GAP}*(?P<mark>else|endif){_GAP}*%}}"
)
_OPENING = re.compile(r"\{[{%#]")
DEEPEST: Final = 20
MOST_BRANCHES: Final = 50
"""How deep tags may be nested, and how many branches a condition may have."""

# fmt: off
NOT_NAMES: Final = frozenset((
    "and", "or", "not", "in", "is", "if", "elif", "else", "for", "recursive",
    "true", "True", "false", "False", "none", "None",
    "caller", "kwargs", "loop", "self", "super", "varargs",
))
# fmt: on
"""Words that mean something to the template language and are never variables."""

JOIN_IT: Final = "join it: {{ list | join(', ') }}"

Step = tuple[Literal["text", "name", "if", "elif", "else", "endif"], str]
"""One step of a plain template: a text, or a tag with the variable it reads."""


@dataclass(frozen=True, slots=True)
class PlainTemplate:
    """A template of texts, variables and conditions on variables."""

    steps: tuple[Step, ...]
    mentions: tuple[Mention, ...]

    def faults(self, values: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Why it cannot be rendered with these values; every mentioned variable has one."""
        return tuple(
            Fault(
                codes.TEMPLATE_VALUE,
                f'the list "{mention.name}" is printed',
                mention.line,
                mention.column,
                JOIN_IT,
            )
            for mention in self.mentions
            if mention.printed and isinstance(values[mention.name], list | tuple)
        )

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with the variables' values; every mentioned variable has one."""
        out: list[str] = []
        # For each open `if`: whether this branch is written, and whether a later one still may be.
        written, later, outer = True, False, []
        for kind, value in self.steps:
            if kind == "text":
                if written:
                    out.append(value)
            elif kind == "name":
                if written:
                    out.append(str(values[value]))
            elif kind == "if":
                outer.append((written, later))
                taken = written and bool(values[value])
                written, later = taken, written and not taken
            elif kind == "elif":
                written = later and bool(values[value])
                later = later and not written
            elif kind == "else":
                written, later = later, False
            else:
                written, later = outer.pop()
        return "".join(out)


def plain_template(text: str) -> PlainTemplate | None:
    """The template, if it is plain from end to end; None leaves it to the full language."""
    steps: list[Step] = []
    mentions: list[Mention] = []
    open_branches: list[str] = []
    at = 0
    branches = 0
    for token in _TOKEN.finditer(text):
        between = text[at : token.start()]
        if _OPENING.search(between) or between.endswith("{"):
            return None
        if between:
            steps.append(("text", between))
        at = token.end()
        branches += token["branch"] == "elif"
        kind = token["branch"] or token["mark"] or "name"
        name = token["name"] or token["test"] or ""
        if name in NOT_NAMES or not _nests(kind, open_branches):
            return None
        steps.append((kind, name))  # type: ignore[arg-type]  # the words of _TOKEN
        if name:
            start = token.start("name") if token["name"] else token.start("test")
            mentions.append(Mention.at(text, start, name, printed=kind == "name"))
    rest = text[at:]
    if _OPENING.search(rest) or open_branches or branches > MOST_BRANCHES:
        return None
    if rest:
        steps.append(("text", rest))
    return PlainTemplate(tuple(steps), tuple(mentions))


def _nests(kind: str, open_branches: list[str]) -> bool:
    """Whether the tag fits where it stands; keeps the account of open branches."""
    if kind == "name":
        return True
    if kind == "if":
        open_branches.append("if")
        return len(open_branches) <= DEEPEST
    if not open_branches:
        return False
    if kind == "endif":
        open_branches.pop()
        return True
    if open_branches[-1] == "else":
        return False
    open_branches[-1] = kind
    return True
