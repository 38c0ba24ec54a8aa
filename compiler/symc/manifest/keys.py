"""Which keys are legal where, and what each takes: read off the models, for messages and schemas."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from symc.manifest.model import Node

Path = tuple[str | int, ...]
"""Keys and indices from the top of a document."""


def written_keys(node: type[Node]) -> dict[str, Any]:
    """The keys one may write in this mapping, as YAML spells them, each with the type it takes."""
    return {
        field.alias or name: field.annotation
        for name, field in node.model_fields.items()
        if name not in _UNWRITTEN
    }


def node_at(root: type[Node], path: Path) -> type[Node] | None:
    """The kind of mapping that stands at ``path`` of a manifest, None where keys are free or nothing is known."""
    return next(
        (arm for arm in arms(type_at(root, path)) if isinstance(arm, type) and issubclass(arm, Node)), None
    )


def type_at(root: type[Node], path: Path) -> Any:
    """The type of the value at ``path`` of a manifest; ``Any`` where nothing is known."""
    here: Any = root
    for step in path:
        here = _below(here, step)
    return here


def wording(annotation: Any) -> str:
    """What a key of this type takes, for the middle of a sentence."""
    kinds = list(dict.fromkeys(_word(arm) for arm in arms(annotation)))
    if "a number" in kinds and "a whole number" in kinds:
        kinds.remove("a whole number")
    *others, last = kinds
    return f"{', '.join(others)} or {last}" if others else last


def _word(arm: Any) -> str:
    if get_origin(arm) is Literal:
        return "one of " + ", ".join(get_args(arm))
    if get_origin(arm) in (tuple, list):
        return "a list"
    return _WORDS.get(arm, "a mapping")


_WORDS: Final = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def arms(annotation: Any) -> Iterator[Any]:
    """The alternatives of a type, without None."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from arms(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for arm in get_args(annotation):
            yield from arms(arm)
    elif annotation is not type(None):
        yield annotation


# Set by the check stage, never written.
_UNWRITTEN = frozenset({"at", "title"})


def _below(annotation: Any, step: str | int) -> Any:
    for arm in arms(annotation):
        if isinstance(arm, type) and issubclass(arm, Node):
            if step in (keys := written_keys(arm)):
                return keys[str(step)]
        elif get_origin(arm) is tuple and isinstance(step, int):
            return get_args(arm)[0]
        elif get_origin(arm) is dict and isinstance(step, str):
            return get_args(arm)[1]
    return Any
