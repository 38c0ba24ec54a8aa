"""A requirement: a name, or a name, one space and a PEP 440 specifier set (docs/manifests.md §2)."""

from __future__ import annotations

import re
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from symc.contracts.names import EXTENSION_NAME

_LONGEST = 300  # nobody meant more, and Python refuses to read numbers of thousands of digits
_SPECIFIER_START = re.compile(r"[<>=!~]")


@lru_cache(maxsize=1 << 14)  # agents name the same extensions
def requirement_fault(text: str) -> str | None:
    """Why ``text`` is no requirement, as a sentence for its author; None when it is one."""
    if len(text) > _LONGEST:
        return f'"{text[:40]}…" is no requirement: it has {len(text)} characters, and at most {_LONGEST} are read'
    name, space, specifiers = text.partition(" ")
    start = _SPECIFIER_START.search(name)
    if start and start.start():
        return f'"{text}" lacks the space between name and version'
    if fault := EXTENSION_NAME.fault(name):
        return f'"{name}" is no name of an extension: it {fault}'
    if not space:
        return None
    if not specifiers or specifiers[0] == " ":
        return f'"{text}" is no requirement; one space stands between the name and the version, as in "{name} >=1.4"'
    try:
        SpecifierSet(specifiers)
    except InvalidSpecifier:
        return f'"{specifiers}" is no PEP 440 specifier set such as ">=1.4, <2"'
    return None


def spaced(text: str) -> str | None:
    """The text with its one space put right, where that makes it a requirement."""
    start = _SPECIFIER_START.search(text)
    if start is None:
        return None
    corrected = f"{text[: start.start()].strip()} {text[start.start() :].strip()}"
    return corrected if requirement_fault(corrected) is None else None
