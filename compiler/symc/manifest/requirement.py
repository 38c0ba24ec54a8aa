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


def corrected(text: str) -> str | None:
    """The requirement that ``text`` was probably meant to be, None where that is not plain.

    Puts the one space right, the name into small letters, and what other tools write into PEP 440: ``^1.2``, ``~1.2``,
    ``=1.2``, ``@1.2``, a bare ``1.2``, ``1.x``.
    """
    found = _PARTS.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    name = found["name"].lower().replace("_", "-")
    specifiers = [_specifier(each.strip()) for each in (found["versions"] or "").split(",") if each.strip()]
    meant = f"{name} {', '.join(specifiers)}" if specifiers else name
    return meant if meant != text and requirement_fault(meant) is None else None


_PARTS = re.compile(r"\s*(?P<name>[A-Za-z][\w.-]*?)(?:\s*(?P<versions>[\s@^~<>=!].*))?")
_SPECIFIER = re.compile(r"(?P<sign>[@^~<>=!]*)\s*v?(?P<version>\d.*)")
_SIGNS = {"": "==", "@": "==", "=": "==", "=>": ">=", "=<": "<=", "~>": "~="}


def _specifier(text: str) -> str:
    found = _SPECIFIER.fullmatch(text)
    if found is None:
        return text
    sign, version = found["sign"], re.sub(r"\.[xX*](\.[xX*])*$", ".*", found["version"])
    if sign == "^" and (numbers := re.fullmatch(r"\d+(\.\d+)*", version)):
        return _caret([int(number) for number in numbers[0].split(".")])
    if sign == "~":
        return f"~={version}" if "." in version else f"=={version}.*"
    return f"{_SIGNS.get(sign, sign)}{version}"


def _caret(numbers: list[int]) -> str:
    """What ``^`` means elsewhere: everything up to the next change of the first number that is not 0."""
    leading = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    above = [*numbers[:leading], numbers[leading] + 1]
    return f">={'.'.join(map(str, numbers))}, <{'.'.join(map(str, above))}"
