"""YAML text → the stream of parser events, the same from both parsers of PyYAML.

libyaml is some ten times faster; the pure parser stands in where PyYAML was built without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from symc.source.pure import PureParser

try:
    from yaml._yaml import CParser

    HAS_LIBYAML = True
except ImportError:  # PyYAML without libyaml
    HAS_LIBYAML = False

ParserEvent: TypeAlias = Any
"""An event of ``yaml.events``. The stubs call its marks optional; those of a parser are not."""

NextEvent: TypeAlias = Callable[[], ParserEvent]


@contextmanager
def events(text: bytes, *, pure: bool = False) -> Iterator[NextEvent]:
    """A function that returns the next event of ``text`` (UTF-8) each time; it raises ``yaml.YAMLError``.

    ``pure`` takes PyYAML's own parser where libyaml is there too.
    """
    if pure or not HAS_LIBYAML:
        parser = PureParser(text)
        try:
            yield parser.get_event
        finally:
            parser.dispose()  # it holds its own methods; the collector may be off during a compile
    else:
        yield CParser(text).get_event
