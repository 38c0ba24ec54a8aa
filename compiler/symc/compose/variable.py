"""Variables: where a template mentions one, what can be wrong there, and which value each owner's templates see (docs/manifests.md §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symc.compose.link import LinkedAgent, Place
from symc.diagnostics import Code


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable in the text of a template; line and column count from 0."""

    name: str
    line: int
    column: int

    @classmethod
    def at(cls, text: str, offset: int, name: str) -> Mention:
        """The mention that starts at an offset of the text."""
        return cls(name, *place(text, offset))


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a template, at a line and column of its text, both counted from 0."""

    code: Code
    message: str
    line: int = 0
    column: int = 0
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that workspace, base or agent gives a variable: of every template, or of one extension's."""

    extension: str
    name: str
    value: Any
    place: Place


def settings(agent: LinkedAgent) -> tuple[Setting, ...]:
    """What workspace, bases and agent set, weakest first.

    The later document counts (workspace < bases < agent), within one the value for one extension over that for all.
    """
    rank = {document.name: number for number, document in enumerate(agent.documents, 1)}
    found = []
    for key, (value, place) in agent.vars.items():
        extension, _, name = key.rpartition(".")
        found.append(Setting(extension, name, value, place))
    found.sort(key=lambda setting: (rank.get(setting.place.owner, 0), setting.extension != ""))
    return tuple(found)


def values_of(extension: str, defaults: Mapping[str, Any], given: tuple[Setting, ...]) -> Mapping[str, Any]:
    """The values templates of ``extension`` see; those of workspace, bases and agent with ``extension`` empty."""
    if not given:
        return defaults
    values = dict(defaults)
    for setting in given:
        if setting.extension in ("", extension):
            values[setting.name] = setting.value
    return values


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both counted from 0."""
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)
