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

from symc.compose.variable import Fault, Mention, place
from symc.diagnostics.codes import composition as codes
from symc.rendering import printed

_GAP = r"[ \t\n]"
_TOKEN = re.compile(
    rf"{{{{{_GAP}*(?P<name>[A-Za-z_][A-Za-z0-9_]*){_GAP}*}}}}"
    rf"|{{%{_GAP}*(?P<branch>if|elif){_GAP}+(?P<test>[A-Za-z_][A-Za-z0-9_]*){_GAP}*%}}"
    rf"|{{%{_GAP}*(?P<mark>else|endif){_GAP}*%}}"
)
MOST_TAGS: Final = 500
"""Tags that one template may hold: the time that Jinja2 takes for them grows with their square."""

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
    """A template of texts, variables and conditions on variables; ``names`` are the variables it reads, each once."""

    text: str
    steps: tuple[Step, ...]
    names: tuple[str, ...]

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Every place where it reads a variable; looked for only where something is wrong."""
        return tuple(
            Mention.at(
                self.text, token.start("name" if token["name"] else "test"), token["name"] or token["test"]
            )
            for token in _TOKEN.finditer(self.text)
            if not token["mark"]
        )

    def faults(self, values: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Why it cannot be rendered with these values; every variable has one."""
        lists = [name for name in self.names if isinstance(values[name], list | tuple)]
        if not lists:
            return ()
        return tuple(
            Fault(codes.TEMPLATE_VALUE, f'the list "{token["name"]}" is printed', *at, JOIN_IT)
            for token in _TOKEN.finditer(self.text)
            if token["name"] in lists
            for at in [place(self.text, token.start("name"))]
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
                    out.append(printed(values[value]))
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
    # Between two texts stand the four groups of a token, of which one or two are not None.
    pieces = _TOKEN.split(text)
    if len(pieces) > 5 * MOST_TAGS + 1:
        return None
    between = "\0".join(pieces[::5])
    if "{{" in between or "{%" in between or "{#" in between or "{\0" in between:
        return None
    steps: list[Step] = [("text", pieces[0])] if pieces[0] else []
    names: dict[str, None] = {}
    open_branches: list[str] = []
    branches = 0
    for at in range(1, len(pieces), 5):
        printed, branch, test, mark, after = pieces[at : at + 5]
        name = printed or test or ""
        kind = branch or mark or "name"
        branches += branch == "elif"
        if name in NOT_NAMES or not (kind == "name" or _nests(kind, open_branches)):
            return None
        steps.append((kind, name))  # type: ignore[arg-type]  # the words of _TOKEN
        if name:
            names[name] = None
        if after:
            steps.append(("text", after))
    if open_branches or branches > MOST_BRANCHES:
        return None
    return PlainTemplate(text, tuple(steps), tuple(names))


def _nests(kind: str, open_branches: list[str]) -> bool:
    """Whether a tag of a condition fits where it stands; keeps the account of open branches."""
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
