"""Forms: how a value stands in the lock's JSON, in both directions.

One form writes, reads and describes, so that what is written is what is read. ``read`` refuses everything else with a
``FormError`` that leads to the place. Digests are not written here; they are a matter of :mod:`symc.composition.cover`,
and reading only asks that they look like digests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from symc.canonical import JsonPath
from symc.contracts.frozen import freeze

T = TypeVar("T")
Json = Any
JsonSchema = dict[str, Any]

DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
DIGEST_SCHEMA: Final[JsonSchema] = {"type": "string", "pattern": f"^{DIGEST.pattern}$"}

SUPERFLUOUS: Final = "repeats what holds without it: symc never writes that, so the lock was edited by hand"
"""Why a value may not stand there (L1): one meaning has one form, and so one digest."""


class FormError(ValueError):
    """JSON that is not the form of a part; ``path`` leads to the place, ``reason`` ends a sentence that names it.

    ``unknown`` and ``legal`` are set for a key that is not known: its name, and the keys that may stand there.
    """

    def __init__(self, path: JsonPath, reason: str, unknown: str = "", legal: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason
        self.unknown = unknown
        self.legal = legal


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of value stands in JSON.

    ``write`` gives JSON (tuples and frozen dicts stand for arrays and objects), ``read`` the value again or a
    ``FormError``, ``schema`` describes the JSON.
    """

    write: Callable[[Any], Json]
    read: Callable[[Json, JsonPath], Any]
    schema: JsonSchema


def called(json: Json) -> str:
    """A JSON value's type, in the words of JSON."""
    if json is None:
        return "null"
    if isinstance(json, bool):
        return "a boolean"
    if isinstance(json, str):
        return "a string"
    if isinstance(json, int | float):
        return "a number"
    return "an array" if isinstance(json, list | tuple) else "an object"


def expect(kind: type | tuple[type, ...], word: str, json: Json, at: JsonPath) -> Any:
    """The JSON value, whose type is exactly one of ``kind`` (to Python a boolean is a number); else ``FormError``."""
    if type(json) not in (kind if isinstance(kind, tuple) else (kind,)):
        raise FormError(at, f"is {called(json)}; {word} belongs there")
    return json


def expect_object(json: Json, at: JsonPath) -> dict[str, Any]:
    """The JSON value, which is an object; raises ``FormError`` otherwise."""
    found: dict[str, Any] = expect(dict, "an object", json, at)
    return found


def superfluous(json: Json) -> str:
    """Why this value may not stand there, in words."""
    if json in ({}, []):
        kind = "map" if json == {} else "list"
        return f"is an empty {kind}, which symc never writes: the lock was edited by hand"
    return SUPERFLUOUS


def expect_section(json: Mapping[str, Json], key: str, *, may_be_empty: bool = False) -> None:
    """Raise ``FormError`` unless the outermost object holds an object under this key, or nothing."""
    if key in json and not expect_object(json[key], (key,)) and not may_be_empty:
        raise FormError((key,), superfluous(json[key]))


def expect_keys(json: Json, at: JsonPath, *, required: tuple[str, ...], legal: tuple[str, ...] = ()) -> None:
    """Raise ``FormError`` unless the JSON is an object with all the required keys and none but the legal ones."""
    found = expect_object(json, at)
    legal = legal or required
    for key in found:
        if key not in legal:
            raise FormError((*at, key), "is not a key that may stand there", key, legal)
    for key in required:
        if key not in found:
            raise FormError(at, f'lacks the key "{key}"')


def expect_digest(json: Mapping[str, Any], at: JsonPath) -> None:
    """Raise ``FormError`` unless the record's digest looks like one."""
    if type(json["digest"]) is not str or not DIGEST.fullmatch(json["digest"]):
        raise FormError((*at, "digest"), 'is not a digest: "sha256:" and 64 lower-case hex digits')


def closed_object(properties: Mapping[str, Any], required: tuple[str, ...]) -> JsonSchema:
    """JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
        "required": sorted(required),
    }


def _as_it_is(value: Json) -> Json:
    return value


def scalar(kind: type | tuple[type, ...], word: str, schema: JsonSchema) -> Form:
    """A string, a boolean or a number."""
    return Form(_as_it_is, lambda json, at: expect(kind, word, json, at), schema)


def one_of(*choices: str) -> Form:
    """One of a closed set of words."""

    def read(json: Json, at: JsonPath) -> str:
        word: str = expect(str, "a string", json, at)
        if word not in choices:
            raise FormError(at, f'is "{word}"; it is one of {", ".join(choices)}')
        return word

    return Form(_as_it_is, read, {"enum": list(choices)})


def _read_count(json: Json, at: JsonPath) -> int:
    count: int = expect(int, "a whole number", json, at)
    if count < 0:
        raise FormError(at, f"is {count}; it is never negative")
    return count


def _read_lines(json: Json, at: JsonPath) -> str:
    lines = expect(list, "an array of lines", json, at)
    if not lines:
        raise FormError(at, 'is empty; the array of an empty text is [""]')
    for index, line in enumerate(lines):
        if "\n" in expect(str, "a line", line, (*at, index)):
            raise FormError((*at, index), "holds a line break; each line is an element of its own")
    return "\n".join(lines)


def _read_words(json: Json, at: JsonPath) -> tuple[str, ...]:
    return tuple(
        expect(str, "a string", word, (*at, index))
        for index, word in enumerate(expect(list, "an array", json, at))
    )


def _read_table(json: Json, at: JsonPath) -> Json:
    for key, item in expect_object(json, at).items():
        expect(str, "a string", item, (*at, key))
    return freeze(json)


def _read_sealed_text(json: Json, at: JsonPath) -> str:
    expect_keys(json, at, required=("digest", "text"))
    expect_digest(json, at)
    return _read_lines(json["text"], (*at, "text"))


def verbatim(*also: type) -> Form:
    """A JSON object kept as it is: a schema, a config, variables; ``also`` are other types that may stand there."""
    words = ["object", *({bool: "boolean", type(None): "null"}[kind] for kind in also)]
    return Form(
        _as_it_is,
        lambda json, at: freeze(expect((dict, *also), "an object", json, at)),
        {"type": words if also else "object"},
    )


WORD: Final = scalar(str, "a string", {"type": "string"})
FLAG: Final = scalar(bool, "a boolean", {"type": "boolean"})
NUMBER: Final = scalar((int, float), "a number", {"type": "number"})
COUNT: Final = Form(_as_it_is, _read_count, {"type": "integer", "minimum": 0})
WORDS: Final = Form(_as_it_is, _read_words, {"type": "array", "items": {"type": "string"}})
JSON: Final = verbatim()
NULLABLE_JSON: Final = verbatim(type(None))
TABLE: Final = Form(_as_it_is, _read_table, {"type": "object", "additionalProperties": {"type": "string"}})

# L2: an exact bijection; `splitlines` would take other characters for line ends.
LINES: Final = Form(
    lambda text: text.split("\n"),
    _read_lines,
    {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[^\\n]*$"}},
)
SEALED_TEXT: Final = Form(
    lambda text: {"text": text.split("\n")},
    _read_sealed_text,
    closed_object({"digest": DIGEST_SCHEMA, "text": LINES.schema}, ("digest", "text")),
)
"""A text with a digest of its own."""

_REQUIRED: Final = object()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a record. A value equal to ``absent`` is left out of the JSON (L1); without it the key is required.

    ``attribute`` is the attribute that holds the value, where it is not called like the key. A ``derived`` value is
    computed anew by whoever verifies the lock, who says better than a form what is wrong with it.
    """

    name: str
    form: Form
    absent: Any = _REQUIRED
    attribute: str = ""
    note: str = ""
    derived: bool = False

    @property
    def required(self) -> bool:
        """True when the key always stands there."""
        return self.absent is _REQUIRED

    def left_out(self, value: Any) -> bool:
        """Whether this value is the one that is not written."""
        if isinstance(self.absent, bool):  # to Python, 0 equals False
            return value is self.absent
        return bool(value == self.absent)


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """A JSON object with known keys and no others; ``sealed`` records carry a digest over themselves."""

    make: Callable[..., T]
    keys: tuple[Key, ...]
    sealed: bool = True

    def write(self, value: object) -> dict[str, Any]:
        """The JSON of a value that has the attributes of this record; without its digest."""
        json: dict[str, Any] = {}
        for key in self.keys:
            held = getattr(value, key.attribute or key.name)
            # Most values are the absent one itself, or go into the JSON as they are.
            if held is not key.absent and (key.absent is _REQUIRED or not key.left_out(held)):
                write = key.form.write
                json[key.name] = held if write is _as_it_is else write(held)
        return json

    def read(self, json: Json, at: JsonPath, **more: Any) -> T:
        """The value of this JSON and of the attributes that stand elsewhere; raises ``FormError``."""
        seal = ("digest",) if self.sealed else ()
        required = tuple(key.name for key in self.keys if key.required)
        legal = (*seal, *(key.name for key in self.keys))
        expect_keys(json, at, required=(*seal, *required), legal=legal)
        if self.sealed:
            expect_digest(json, at)
        found: dict[str, Any] = {}
        for key in self.keys:
            if key.name in json:
                value = key.form.read(json[key.name], (*at, key.name))
                if not (key.required or key.derived) and key.left_out(value):
                    raise FormError((*at, key.name), superfluous(json[key.name]))
                found[key.attribute or key.name] = value
        return self.make(**found, **more)

    @property
    def schema(self) -> JsonSchema:
        """JSON Schema of the record."""
        properties = {
            key.name: {**key.form.schema, "description": key.note} if key.note else key.form.schema
            for key in self.keys
        }
        required = tuple(key.name for key in self.keys if key.required)
        if self.sealed:
            return closed_object({**properties, "digest": DIGEST_SCHEMA}, (*required, "digest"))
        return closed_object(properties, required)

    @property
    def form(self) -> Form:
        """The record as the form of a value."""
        return Form(self.write, self.read, self.schema)


def many(record: Record[T]) -> Form:
    """A sequence of records."""

    def read(json: Json, at: JsonPath) -> tuple[T, ...]:
        return tuple(
            record.read(one, (*at, index)) for index, one in enumerate(expect(list, "an array", json, at))
        )

    return Form(
        lambda values: [record.write(value) for value in values],
        read,
        {"type": "array", "items": record.schema},
    )


def by_id(form: Form) -> Form:
    """Values by their id (L4)."""

    def read(json: Json, at: JsonPath) -> dict[str, Any]:
        return {key: form.read(one, (*at, key)) for key, one in sorted(expect_object(json, at).items())}

    return _by_id(form.write, read, form.schema)


def parts_by_id(record: Record[T], attribute: str) -> Form:
    """Records by their id, which they know by the name ``attribute``."""

    def read(json: Json, at: JsonPath) -> dict[str, T]:
        return {
            key: record.read(one, (*at, key), **{attribute: key})
            for key, one in sorted(expect_object(json, at).items())
        }

    return _by_id(record.write, read, record.schema)


def _by_id(write: Callable[[Any], Json], read: Callable[[Json, JsonPath], Any], schema: JsonSchema) -> Form:
    return Form(
        lambda values: {key: write(values[key]) for key in sorted(values)},
        read,
        {"type": "object", "additionalProperties": schema},
    )
