"""Read a lock: its text → a lock whose entries are made when they are asked for (docs/lockfile.md §4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, Final, Generic, NoReturn, TypeVar

from symc.canonical import JsonPath
from symc.composition import LOCK_VERSION, Agent, Author, Extension, Lock, Stored, records
from symc.composition.entries import read_agent
from symc.composition.form import FormError, expect_keys, expect_section
from symc.diagnostics import Hint, LabelledSpan, Position, Span
from symc.diagnostics.codes import locking
from symc.diagnostics.suggest import suggestion
from symc.lock import scanning
from symc.lock.errors import RECOMPILE, LockError, look_first
from symc.lock.references import unanswered
from symc.lock.scanning import DuplicateKeyError

T = TypeVar("T")

OLDEST_READ: Final = max(1, LOCK_VERSION - 1)
"""The oldest lock version that this release reads (L30)."""

_SECTIONS: Final = ("agents", "bases", "extensions")
_KEYS: Final = (*_SECTIONS, "lock_version", "workspace")
# L20: at the start of a line, where nothing of a JSON value can stand; a bare ======= is no sign of a conflict.
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}|\|{7})(?=\s|\Z)", re.MULTILINE)
_RECOMPILE: Final = Hint(RECOMPILE)


def loads(text: str | bytes, *, file: str = "symc.lock") -> Lock:
    """The lock of this text; ``file`` is the name it goes by in errors.

    The text is parsed whole, and its version and outer structure are checked. Each agent, base and extension is checked
    and made when it is first asked for; digests are the matter of :func:`symc.lock.verify`. Whatever the bytes are,
    nothing is ever raised but ``LockError``, now or by the lock's mappings (and there ``KeyError`` for a name that the
    lock does not hold).
    """
    return _Source(_decoded(text, file), file).lock()


def release_for(lock_version: int) -> str:
    """The symc release that first reads a lock version: a new one comes with a new minor release, 0.1 for 1."""
    return f"0.{lock_version}"


def _decoded(text: str | bytes, file: str) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        before = text[: error.start].decode()
        raise LockError(_unreadable(file, scanning.position(before, len(before)), "is not UTF-8")) from None


def _unreadable(file: str, place: Position, reason: str) -> Any:
    return locking.LOCK_UNREADABLE.at(Span(file, place, place), f"{file} {reason}", hint=_RECOMPILE)


class Entries(Mapping[str, T], Generic[T]):
    """The entries of a section by name, each made when it is first asked for, and then kept."""

    def __init__(self, names: Mapping[str, object], make: Callable[[str], T]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Entries({', '.join(self)})"


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of a lock, and the offsets of its entries' values by path."""

    text: str
    file: str

    def lock(self) -> Lock:
        raw, starts = self._scanned()
        version = self._version(raw)
        try:
            # `workspace` is no section: a lock has one or none.
            expect_keys(raw, (), required=("agents", "lock_version"), legal=_KEYS)
            for section in _SECTIONS:
                expect_section(raw, section, may_be_empty=section == "agents")
        except FormError as error:
            self._refuse_form(error)
        return self._made(raw, starts, version)

    def _scanned(self) -> tuple[dict[str, Any], dict[JsonPath, int]]:
        raw: dict[str, Any] = {}
        starts: dict[JsonPath, int] = {}

        def section(text: str, at: int, path: JsonPath) -> tuple[Any, int]:
            if path[0] not in _SECTIONS or text[at : at + 1] != "{":
                return scanning.decode(text, at)
            found, end = scanning.members(text, at, path)
            starts.update({(*path, member.key): member.at for member in found})
            return {member.key: member.value for member in found}, end

        try:
            outer, end = scanning.members(self.text, scanning.skip_blank(self.text, 0), (), section)
            end = scanning.skip_blank(self.text, end)
            if end != len(self.text):
                raise JSONDecodeError("Extra data", self.text, end)
        except (ValueError, RecursionError) as error:
            self._refuse_text(error, ())
        for member in outer:
            raw[member.key] = member.value
            starts[(member.key,)] = member.at
        return raw, starts

    def _version(self, raw: Mapping[str, Any]) -> int:
        """The lock's version, which this release reads; it comes before every other fault, for it explains them."""
        version = raw.get("lock_version")
        if type(version) is int and version > LOCK_VERSION:
            raise LockError(
                locking.LOCK_VERSION_NEWER.at(
                    self._span(("lock_version",)),
                    f"{self.file} has lock_version {version}; this symc reads up to {LOCK_VERSION}",
                    hint=f"symc {release_for(version)} or newer reads it",
                )
            )
        if type(version) is not int or version < OLDEST_READ:
            said = (
                f"an unknown lock_version, {json.dumps(version):.40}"
                if "lock_version" in raw
                else "no lock_version"
            )
            raise LockError(
                locking.LOCK_VERSION_UNKNOWN.at(
                    self._span(("lock_version",)),
                    f"{self.file} has {said}",
                    notes=(f"this symc reads lock_version {OLDEST_READ} to {LOCK_VERSION}",),
                    hint=_RECOMPILE,
                )
            )
        return version

    def _made(self, raw: dict[str, Any], starts: Mapping[JsonPath, int], version: int) -> Lock:
        def strictly(*path: str) -> Any:
            return scanning.decode_strictly(self.text, starts[path], path)

        def extension(name: str) -> Extension:
            path = ("extensions", name)
            return self._checked(path, lambda: records.EXTENSION.read(strictly(*path), path, name=name))

        def base(name: str) -> Author:
            path = ("bases", name)
            return self._checked(path, lambda: records.AUTHOR.read(strictly(*path), path, name=name))

        extensions = Entries(raw.get("extensions", {}), extension)

        def description(name: str) -> str | None:
            entry = raw["agents"].get(name)
            lines = entry.get("description", [""]) if isinstance(entry, dict) else None
            # A child's own fault is told when the child is read.
            return "\n".join(map(str, lines)) if isinstance(lines, list) else None

        def agent(name: str) -> Agent:
            path = ("agents", name)

            def make() -> Agent:
                made = read_agent(
                    strictly(*path), path, name, extension=extensions.get, description=description
                )
                for at, reason in unanswered(made, raw):
                    raise FormError((*path, *at), reason)
                return made

            return self._checked(path, make)

        workspace = None
        if "workspace" in raw:
            workspace = self._checked(
                ("workspace",), lambda: records.WORKSPACE.read(strictly("workspace"), ("workspace",))
            )
        return Lock(
            agents=Entries(raw["agents"], agent),
            bases=Entries(raw.get("bases", {}), base),
            extensions=extensions,
            workspace=workspace,
            lock_version=version,
            stored=Stored(self.file, self.text, raw),
        )

    def _checked(self, path: JsonPath, make: Callable[[], T]) -> T:
        try:
            return make()
        except FormError as error:
            self._refuse_form(error)
        except (ValueError, RecursionError) as error:
            self._refuse_text(error, path)

    def _span(self, path: JsonPath) -> Span:
        place = scanning.position(self.text, scanning.locate(self.text, path))
        return Span(self.file, place, place)

    def _refuse_form(self, error: FormError) -> NoReturn:
        where = ".".join(map(str, error.path)) or "the outermost object"
        hint = suggestion(error.unknown, error.legal) if error.unknown else ""
        raise LockError(
            locking.LOCK_STRUCTURE.at(
                self._span(error.path),
                f"{self.file}: {where} {error.reason}",
                notes=(hint,) if hint else (),
                hint=look_first(self.file),
            )
        ) from None

    def _refuse_text(self, error: ValueError | RecursionError, path: JsonPath) -> NoReturn:
        """Say why the text is no lock: first what a merge leaves behind, then what JSON does not allow."""
        if conflict := _CONFLICT.search(self.text):
            place = scanning.position(self.text, conflict.start())
            raise LockError(
                locking.LOCK_CONFLICT.at(
                    Span(self.file, place, place),
                    f'{self.file} holds the conflict marker "{conflict[0]}" of a merge',
                    hint="resolve the manifests, then run: symc compile",
                )
            ) from None
        if isinstance(error, DuplicateKeyError):
            first, second = (scanning.position(self.text, at) for at in (error.first, error.second))
            raise LockError(
                locking.LOCK_DUPLICATE_KEY.at(
                    Span(self.file, second, second),
                    f"{self.file}: {'.'.join(map(str, error.path[:-1])) or 'the outermost object'} holds the key "
                    f'"{error.path[-1]}" twice',
                    secondary=(LabelledSpan(Span(self.file, first, first), "it stands here first"),),
                    hint=look_first(self.file),
                )
            ) from None
        if isinstance(error, JSONDecodeError):
            reason = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            raise LockError(
                _unreadable(self.file, scanning.position(self.text, min(error.pos, len(self.text))), reason)
            ) from None
        if isinstance(error, RecursionError):
            raise LockError(_unreadable(self.file, Position(1, 1), "is nested too deeply")) from None
        raise LockError(
            locking.LOCK_UNREADABLE.at(
                self._span(path) if path else Span(self.file), f"{self.file}: {error}", hint=_RECOMPILE
            )
        ) from None
