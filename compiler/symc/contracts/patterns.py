"""Tool patterns: `extension/glob` over raw identities (docs/manifests.md §2, docs/policies.md P10)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

__all__ = ["ToolPattern"]

_MAGIC = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class ToolPattern:
    """A set of tools, by extension and raw name; case-sensitive.

    `extension` is a name, or None for every extension (written `*`). In `name`, `*` is any run of characters, `?` any
    one, `[ab]`, `[a-z]` and `[!ab]` one of, or none of, a set; with `literal` it is the raw name itself, whatever
    characters that holds. Matching takes time at most proportional to pattern times name: there is no backtracking.
    """

    extension: str | None
    name: str
    literal: bool
    _regex: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        magic = not self.literal and not _MAGIC.isdisjoint(self.name)
        object.__setattr__(self, "_regex", re.compile(_translate(self.name)) if magic else None)

    @classmethod
    def parse(cls, text: str) -> ToolPattern:
        """The pattern as written in a manifest; ValueError, worded for its author, when it is none.

        A `[` that is not closed, a reversed range and `[^` are refused: they would be rules that silently match
        other tools than they say.
        """
        return _parsed(text)

    @classmethod
    def exactly(cls, extension: str, name: str) -> ToolPattern:
        """The pattern of one tool; a name that holds `*` or `[` does not act as a pattern."""
        return cls(extension=extension, name=name, literal=True)

    def __str__(self) -> str:
        return f"{'*' if self.extension is None else self.extension}/{self.name}"

    def matches(self, extension: str, name: str) -> bool:
        """Whether the tool with this raw name, of this extension, is in the set."""
        if self.extension is not None and self.extension != extension:
            return False
        if self._regex is None:
            return self.name == name
        return self._regex.fullmatch(name) is not None


LONGEST: Final = 1_000
"""Characters of a pattern; the names that it is held against have at most 128, and 64 before the slash."""


@lru_cache(maxsize=1 << 16)
def _parsed(text: str) -> ToolPattern:
    # A pattern is written once and asked for by every stage.
    if len(text) > LONGEST:
        raise ValueError(f'"{text[:60]}…" has {len(text)} characters; a pattern has at most {LONGEST}')
    extension, slash, name = text.partition("/")
    if not slash:
        raise ValueError(f'"{text}" names no extension; write "extension/tool" or "*/tool"')
    if not extension or not name:
        raise ValueError(
            f'"{text}" lacks the {"tool" if extension else "extension"} part of "extension/tool"'
        )
    if extension != "*" and not _MAGIC.isdisjoint(extension):
        raise ValueError(f'"{text}": before the "/" stands one extension\'s name, or "*" for all of them')
    try:
        return ToolPattern(
            extension=None if extension == "*" else extension,
            name=name,
            literal=_MAGIC.isdisjoint(text),
        )
    except ValueError as error:
        raise ValueError(f'"{text}": {error}') from None


def _translate(glob: str) -> str:
    """The regular expression of a glob.

    Own, not `fnmatch.translate`: which tools a deny covers is frozen with the lock, so it must not follow the Python
    release. Each `*` but the last takes the *first* place where what follows it fits, atomically; that is enough for
    globs, and leaves the engine nothing to try again.
    """
    parts: list[list[str]] = [[]]  # what stands between the stars
    at = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            parts.append([])
        elif char == "?":
            parts[-1].append(".")
        elif char == "[":
            # The first character of a set is a member of it even when it is `]`.
            end = glob.find("]", at + 1 + (glob[at : at + 1] == "!"))
            if end < 0:
                raise ValueError(f'the "[" before "{glob[at:]}" is not closed; a set is written "[abc]"')
            parts[-1].append(_character_set(glob[at:end]))
            at = end + 1
        else:
            parts[-1].append(re.escape(char))
    head, *rest = ["".join(part) for part in parts]
    if not rest:
        return f"(?s:{head})"
    *middle, tail = rest
    return f"(?s:{head}{''.join(f'(?>.*?{part})' for part in middle if part)}.*{tail})"


def _character_set(body: str) -> str:
    negated = body.startswith("!")
    members = body[negated:]
    if members.startswith("^"):
        raise ValueError('write "[!…]" for "none of these", not "[^…]"')
    out: list[str] = []
    at = 0
    while at < len(members):
        low = members[at]
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            high = members[at + 2]
            if high < low:
                raise ValueError(f'the range "{low}-{high}" is reversed and holds nothing')
            out.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            out.append(re.escape(low))
            at += 1
    return f"[{'^' if negated else ''}{''.join(out)}]"
