"""What names may look like, and how a written reference splits (docs/manifests.md §2).

Each rule is a `NameRule`: its compiled pattern, its longest length and, for messages, the reason a text is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from symc.contracts.patterns import ToolPattern

__all__ = [
    "EXTENSION_NAME",
    "LOCAL_TOOL_NAME",
    "MEMBER_ID",
    "RAW_TOOL_NAME",
    "RESERVED_NAMES",
    "TOOL_EXTENSION_NAME",
    "NameRule",
    "ToolPattern",
    "is_extension_name",
    "is_local_tool_name",
    "is_member_id",
    "is_raw_tool_name",
    "is_reserved_name",
    "is_tool_extension_name",
    "split_reference",
]


@dataclass(frozen=True, slots=True)
class NameRule:
    """One rule for names: the whole text matches `pattern` and has at most `longest` characters.

    `legal` words the rule for people. The published JSON Schemas are generated from `pattern` and `longest`.
    """

    pattern: re.Pattern[str]
    longest: int
    legal: str

    def accepts(self, text: object) -> bool:
        """Whether `text` is a string that obeys the rule."""
        # fullmatch, not `$`: a trailing newline is part of the text.
        return (
            isinstance(text, str) and len(text) <= self.longest and self.pattern.fullmatch(text) is not None
        )

    def fault(self, text: object) -> str | None:
        """Why `text` is refused, as the rest of a sentence that starts with it; None when it is accepted."""
        if not isinstance(text, str):
            return f"is a {type(text).__name__}, not a string"
        if not text:
            return "is empty"
        if len(text) > self.longest:
            return f"has {len(text)} characters; at most {self.longest} are allowed"
        return None if self.pattern.fullmatch(text) else f"must be {self.legal}"


EXTENSION_NAME: Final = NameRule(
    re.compile(r"[a-z][a-z0-9]*(?:[.-][a-z0-9]+)*"),
    64,
    "lower-case letters and digits, starting with a letter, in parts joined by single `.` or `-`",
)
"""Extensions, agents and workspaces: one shared namespace."""

MEMBER_ID: Final = NameRule(
    re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*"),
    64,
    "lower-case letters and digits, starting with a letter, in parts joined by single `.`, `-` or `_`",
)
"""Fragments, policies and hooks: unique within their owner."""

TOOL_EXTENSION_NAME: Final = NameRule(
    re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"),
    32,
    "lower-case letters and digits, starting with a letter, in parts joined by single `_`",
)
"""Tool extensions and prefixes: what minted names are built from."""

LOCAL_TOOL_NAME: Final = NameRule(
    re.compile(r"[A-Za-z_][A-Za-z0-9_-]*"), 64, "letters, digits, `_` and `-`, starting with a letter or `_`"
)
"""Tools an extension declares itself, and the names given by `as`."""

RAW_TOOL_NAME: Final = NameRule(
    re.compile(r"[A-Za-z0-9_.\-/]+"), 128, "letters, digits, `_`, `.`, `-` and `/`"
)
"""Tools of a server, as the server says; also the name any tool contribution may have."""

RESERVED_NAMES: Final = frozenset({"std", "symc"})
"""Names in the namespace of extensions that only symc itself gives out."""

is_extension_name = EXTENSION_NAME.accepts
is_member_id = MEMBER_ID.accepts
is_tool_extension_name = TOOL_EXTENSION_NAME.accepts
is_local_tool_name = LOCAL_TOOL_NAME.accepts
is_raw_tool_name = RAW_TOOL_NAME.accepts


def is_reserved_name(text: str) -> bool:
    """Whether `text` is a name that no workspace may give to an extension, an agent or itself."""
    return text in RESERVED_NAMES


def split_reference(text: str) -> tuple[str | None, str]:
    """The owner and the name of a written reference, split at its first `/`; the owner is None for a bare name.

    Owners hold no `/`, so `files/a/b` is the tool `a/b` of `files`. Nothing is checked: either part may be empty.
    """
    owner, slash, name = text.partition("/")
    return (owner, name) if slash else (None, text)
