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

    The value is the word of manifest and lock. The properties are the table of docs/variants.md §1.
    """

    WRAPPER = "wrapper"
    TRANSFORMER = "transformer"
    BACKEND = "backend"

    @property
    def multiple(self) -> bool:
        """Whether a tool may carry more than one extension of this kind."""
        return self is not ExtensionKind.BACKEND

    @property
    def preserves_schema(self) -> bool:
        """Whether the input schema stays as received, plus the layer's own reserved parameters."""
        return self is ExtensionKind.WRAPPER

    @property
    def declares_schema(self) -> bool:
        """Whether the layer presents an input schema of its own."""
        return self is ExtensionKind.TRANSFORMER

    @property
    def relocates_execution(self) -> bool:
        """Whether the body of the tool runs in a worker process."""
        return self is ExtensionKind.BACKEND

    @property
    def preserves_output_shape(self) -> bool:
        """Whether a variant may inherit the base's output schema."""
        return self is not ExtensionKind.TRANSFORMER


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
