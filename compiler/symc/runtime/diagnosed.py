"""Refusals that carry diagnostics: what differs, where in the lock, and the next command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar

from symc.canonical import JsonPath
from symc.composition import Lock
from symc.contracts.errors import ConfigurationError
from symc.diagnostics import Diagnostic, Span

__all__ = ["DiagnosedError", "place"]


class DiagnosedError(ConfigurationError):
    """Something is not as it must be; `diagnostics` say what, in report order, ready for any renderer.

    Raised by `load` and `open` for all that keeps an agent from starting, and at the call of `run` for prompt slots.
    The text is what a person reads in a terminal.
    """

    code: ClassVar[str] = "diagnosed"

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        ordered = sorted(dict.fromkeys(diagnostics), key=lambda one: one.sort_key)
        self.diagnostics = tuple(_once_each(ordered))
        super().__init__(*(one.message for one in self.diagnostics))

    def __str__(self) -> str:
        from symc.diagnostics.renderers.text import render

        return render(self.diagnostics, {}).rstrip("\n")


def _once_each(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """One cause, one diagnostic: what is said in the same words of several labelled places is said once, with all."""
    alike: dict[tuple[object, ...], list[Diagnostic]] = {}
    for one in found:
        labelled = any(label.span == one.primary for label in one.secondary)
        alike.setdefault((one.code, one.message, one.notes, one.hint, labelled or one), []).append(one)
    for first, *others in alike.values():
        places = dict.fromkeys(label for one in (first, *others) for label in one.secondary)
        yield replace(first, secondary=tuple(places)) if others else first


def place(lock: Lock, *path: str | int) -> Span:
    """Where the value at a path of the lock was read; the file alone where it was not read from one."""
    stored = lock.stored
    if stored is None:
        return Span("symc.lock")
    from symc.lock import scanning

    found: JsonPath = path
    position = scanning.position(stored.text, scanning.locate(stored.text, found))
    return Span(stored.file, position, position)
