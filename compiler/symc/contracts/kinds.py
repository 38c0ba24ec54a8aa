"""The three kinds of tool extension, and the shape of their factories (docs/variants.md §1, §5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, Protocol

__all__ = ["ConfiguredExtensionFactory", "ExtensionFactory", "ExtensionKind", "LayerCallable"]

LayerCallable = Callable[..., Awaitable[str]]
"""What a factory receives and answers: an async callable that presents the parameters of its layer."""


class ExtensionKind(Enum):
    """A kind of tool extension; generic code asks one of the five properties, never the member.

    The value is the word of manifest and lock.
    """

    multiple: bool
    """Whether a tool may carry more than one extension of this kind."""
    preserves_schema: bool
    """Whether the input schema stays as received, plus the layer's own reserved parameters."""
    declares_schema: bool
    """Whether the layer presents an input schema of its own."""
    relocates_execution: bool
    """Whether the body of the tool runs in a worker process."""
    preserves_output_shape: bool
    """Whether a variant may inherit the base's output schema."""

    #                        multiple, preserves_schema, declares_schema, relocates_execution, preserves_output_shape
    WRAPPER = "wrapper", True, True, False, False, True
    TRANSFORMER = "transformer", True, False, True, False, False
    BACKEND = "backend", False, False, False, True, True

    def __new__(
        cls,
        word: str,
        multiple: bool,
        preserves_schema: bool,
        declares_schema: bool,
        relocates_execution: bool,
        preserves_output_shape: bool,
    ) -> ExtensionKind:
        """Make the member of `word`; only the class body does."""
        member = object.__new__(cls)
        member._value_ = word
        member.multiple = multiple
        member.preserves_schema = preserves_schema
        member.declares_schema = declares_schema
        member.relocates_execution = relocates_execution
        member.preserves_output_shape = preserves_output_shape
        return member


class ExtensionFactory(Protocol):
    """Mints one layer: called once for every variant it stands in, when an agent opens (V30)."""

    def __call__(self, func: LayerCallable, name: str, description: str, /) -> LayerCallable:
        """A new async callable over `func`, for the variant `name`; never `func` itself (V31)."""
        ...


class ConfiguredExtensionFactory(Protocol):
    """The factory of a tool extension that has a config schema: it also gets the checked, frozen config (V30)."""

    def __call__(
        self, func: LayerCallable, name: str, description: str, config: Mapping[str, Any], /
    ) -> LayerCallable:
        """As `ExtensionFactory`, with the element's config, `{}` for a bare name."""
        ...
