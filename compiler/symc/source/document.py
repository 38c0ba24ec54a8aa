"""Files as values: a YAML document or a pin, its data, and the places of everything in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symc.diagnostics import Span
from symc.source.json_places import json_places
from symc.source.places import Places
from symc.source.yaml_places import section_places, yaml_places


@dataclass(frozen=True, slots=True)
class _Placed:
    """What documents and pins share: equal by path and text, of which ``data`` is a function."""

    path: str
    text: bytes = field(repr=False)
    data: dict[str, Any] = field(compare=False, repr=False)
    # Filled on first need. Two threads that need it at once make equal tables, and one of them stays.
    _places: Places | None = field(default=None, init=False, compare=False, repr=False)

    def span(self, *keypath: str | int) -> Span:
        """Where the value at ``keypath`` stands; of a path that does not exist, the nearest value around it."""
        return self._places_of(keypath).span(self.path, keypath)

    def key_span(self, *keypath: str | int) -> Span:
        """Where the key at the end of ``keypath`` stands; of a path that does not exist, the nearest value around it."""
        return self._places_of(keypath).key_span(self.path, keypath)

    def raw(self, *keypath: str | int) -> str:
        """The value at ``keypath`` as it is written in the file, without an anchor; ``""`` if the path does not exist."""
        return self._places_of(keypath).raw(keypath)[1]

    def _places_of(self, keypath: tuple[str | int, ...]) -> Places:
        """The table of places: of one section for the first question, and whole for a second one that leads elsewhere."""
        places = self._places
        if places is None or not places.reach(keypath):
            section = keypath[0] if keypath and places is None else None
            places = self._read_places(section)
            object.__setattr__(self, "_places", places)
        return places

    def _read_places(self, section: str | int | None) -> Places:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Document(_Placed):
    """One YAML document that reads as plain data (docs/manifests.md §1).

    ``path`` is relative to the workspace, ``text`` is UTF-8 with LF and no byte order mark, ``data`` is made of dict
    (in file order), list, str, int, float, bool and None; where an alias repeats a value it is the same object.
    """

    def is_plain(self, *keypath: str | int) -> bool:
        """True when a scalar without quotes stands at ``keypath``, and no alias."""
        raw = self.raw(*keypath)
        return not isinstance(self._value(keypath), (dict, list)) and raw[:1] not in tuple("\"'|>*")

    def text_span(self, keypath: tuple[str | int, ...], line: int, column: int) -> Span:
        """The place in the file of a 0-based line and column of the text at ``keypath``, however it is written.

        Where the text is not in the file as such — an alias, a place that does not exist — the value's own span.
        """
        value = self._value(keypath)
        offset = _offset(value, line, column) if isinstance(value, str) else None
        places = self._places_of(keypath)
        steps = places.steps(keypath, value) if isinstance(value, str) else None
        if offset is None or steps is None:
            return self.span(*keypath)
        return places.between(self.path, steps[offset], steps[offset])

    def _value(self, keypath: tuple[str | int, ...]) -> object:
        value: Any = self.data
        for key in keypath:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def _is_collection(self, keypath: tuple[str | int, ...]) -> bool:
        return isinstance(self._value(keypath), (dict, list))

    def _read_places(self, section: str | int | None) -> Places:
        found = None if section is None else section_places(self.text, tuple(self.data), section)
        return found or yaml_places(self.text)


@dataclass(frozen=True, slots=True)
class Pin(_Placed):
    """One ``.json`` file: the raw answer of a server, read strictly; fields as in `Document`."""

    def _read_places(self, section: str | int | None) -> Places:  # noqa: ARG002  # reading pins is cheap
        return json_places(self.text)


def _offset(text: str, line: int, column: int) -> int | None:
    """The offset in ``text`` of a 0-based line and column; a column past the line's end is the end."""
    start = 0
    for _ in range(line):
        start = text.find("\n", start) + 1
        if start == 0:
            return None
    end = text.find("\n", start)
    return min(start + column, len(text) if end < 0 else end)
