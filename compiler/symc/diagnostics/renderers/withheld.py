"""Lines that are not quoted: what looks like a credential is shown by no excerpt (docs/policies.md §7).

A manifest that has another mistake beside it, or that is no YAML at all, never comes to the check that finds literals in
a server's launch. So each line is looked at as text before it is shown: by the names beside its values, and by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from symc.diagnostics.codes.pins import SECRET_LITERAL
from symc.diagnostics.record import Diagnostic

_PROSE: Final = (".md", ".txt")
# Values are looked ahead for: there may be pairs in them.
_PAIR: Final = re.compile(
    r"""(?<![\w.-])([A-Za-z_][\w.-]*)["']?\s*[:=](?=\s*(?:[&!]\S*\s+)*("[^"]*"?|'[^']*'?|[^\s,{}\[\]"'][^,}\]]*))"""
)
_OPTION: Final = re.compile(r"""(?<![\w-])--?([A-Za-z][\w-]*)[=\s"',]+(?=([^\s"',\]]+))""")
_BETWEEN: Final = re.compile(r"""[\s"'{}\[\],]+""")
_KEY: Final = re.compile(r"""[\s\-?{\[,]*["']?([A-Za-z_][\w.-]*)["']?\s*:""")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
WIDEST: Final = 600
"""Characters of a line that are looked at, around its mark: an excerpt shows a fifth of them."""


def found_by_check(diagnostics: Sequence[Diagnostic]) -> frozenset[tuple[str, int]]:
    """The lines where a credential was found, by file and 1-based number: no other diagnostic quotes them either."""
    return frozenset(
        (found.primary.file, line)
        for found in diagnostics
        if found.code == SECRET_LITERAL.code
        for line in range(found.primary.start.line, found.primary.end.line + 1)
    )


def seems_to_hold_credential(file: str, lines: Sequence[str], number: int, column: int = 1) -> bool:
    """Whether the line of this 1-based number has, around the column, a value that looks like a credential.

    In prose it has none: what the author says there goes into the lock as it is.
    """
    if file.endswith(_PROSE):
        return False
    from symc.pins.secrets import looks_like_secret

    return any(looks_like_secret(value, name) for name, value in _values(lines, number, column))


def _values(lines: Sequence[str], number: int, column: int) -> Iterator[tuple[str, str]]:
    """Every value that may stand in a line, with the name that may be its own; a digest is random, and no secret."""
    start = max(0, column - 1 - WIDEST // 2)
    line = _DIGEST.sub("", lines[number - 1][start : start + WIDEST])
    around = _key_around(lines, number)
    for name, value in (*_PAIR.findall(line), *_OPTION.findall(line)):
        yield name, value.strip("\"' ")
        yield around, value.strip("\"' ")
    if not _KEY.match(line):
        yield around, line.strip(" -\"',{}[]")
    for word in _BETWEEN.split(line):
        yield "", word


def _key_around(lines: Sequence[str], number: int) -> str:
    """The key of the nearest line before that is indented less: what a value on lines of its own belongs to."""
    indent = _indent(lines[number - 1])
    for before in reversed(lines[max(0, number - 50) : number - 1]):
        if before.strip() and (
            _indent(before) < indent or (_indent(before) == indent and _ends_in_key(before))
        ):
            found = _KEY.match(before)
            return found[1] if found else ""
    return ""


def _ends_in_key(line: str) -> bool:
    return line.rstrip().endswith(":")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
