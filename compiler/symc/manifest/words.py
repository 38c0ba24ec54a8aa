"""The words of a manifest: names, ids, versions, targets, patterns, effects — each by its own rule (docs/manifests.md §2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from packaging.version import InvalidVersion, Version

from symc import hidden
from symc.contracts.names import EXTENSION_NAME, NameRule, ToolPattern
from symc.contracts.vocabulary import EFFECTS
from symc.diagnostics import Hint, LabelledSpan
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest.keys import Path
from symc.manifest.requirement import corrected, requirement_fault
from symc.manifest.submission import Submission, visible

Item = TypeVar("Item")


def present(items: Sequence[Item]) -> Iterator[tuple[int, Item]]:
    """The sound items of a section with their index; a spoilt one has left None behind."""
    return ((index, item) for index, item in enumerate(items) if item is not None)


def name(submission: Submission, path: Path, text: str, rule: NameRule, what: str) -> None:
    """Check a name or id against its rule; ``what`` is the noun for messages."""
    if rule.accepts(text):
        return
    fault = rule.fault(text)
    if runs := hidden.scan(text):
        fault = f"holds {runs[0].description}"
    submission.refuse(
        codes.INVALID_NAME,
        path,
        f"the {what} {shown(text)} {fault}",
        hint=f"write {better}" if (better := spelt(text, rule)) else None,
    )


def unique(submission: Submission, names: Iterable[tuple[Path, str]], what: str) -> None:
    """Refuse a name given twice, and two that differ only in case, each with the place of the first (X-21)."""
    first: dict[str, tuple[Path, str]] = {}
    for path, text in names:
        earlier = first.setdefault(text.lower(), (path, text))
        if earlier[0] == path:
            continue
        same = earlier[1] == text
        message = (
            f'the {what} "{text}" is given twice'
            if same
            else f'the {what}s "{earlier[1]}" and "{text}" differ only in case'
        )
        submission.refuse(
            codes.DUPLICATE_ID if same else codes.CASE_ONLY,
            path,
            message,
            secondary=(LabelledSpan(submission.span(earlier[0]), f'"{earlier[1]}" is given here first'),),
            hint="rename one of the two",
        )


def requirement(submission: Submission, path: Path, text: str) -> None:
    """Check a requirement."""
    if fault := requirement_fault(text):
        hint = Hint('write a name, or a name, one space and versions, as in "crm >=1.4, <2"')
        if meant := corrected(text):
            # Quoted: inside brackets a comma would end the item.
            hint = Hint(
                f'write "{meant}"', submission.replacement(path, f'"{meant}"' if "," in meant else meant)
            )
        submission.refuse(codes.INVALID_REQUIREMENT, path, fault, hint=hint)


def version(submission: Submission, path: Path, text: str) -> None:
    """Check a version."""
    if _is_version(text):
        return
    numbers = re.search(r"\d{1,9}(?:\.\d{1,9}){0,4}", text)
    submission.refuse(
        codes.INVALID_VERSION,
        path,
        f'{shown(text)} is no PEP 440 version such as "1.4.0"',
        hint=f'write "{numbers[0] if numbers else "1.0.0"}"; a version is numbers joined by dots, and may end as "1.4.0rc1"',
    )


def _is_version(text: str) -> bool:
    if len(text) > _LONGEST_VERSION:
        return False
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


# Numbers of thousands of digits are none to Python, which says so in another way.
_LONGEST_VERSION = 300


def target(submission: Submission, path: Path, text: str) -> None:
    """Check a ``module:qualname``."""
    if _TARGET.fullmatch(text):
        return
    hint = None
    head, dot, tail = text.rpartition(".")
    if dot and _TARGET.fullmatch(f"{head}:{tail}"):
        hint = Hint(f"write {head}:{tail}", submission.replacement(path, f'"{head}:{tail}"'))
    submission.refuse(
        codes.INVALID_TARGET, path, f"{shown(text)} names no code as module:qualname", hint=hint
    )


def pattern(
    submission: Submission, path: Path, text: str, *, literal: bool = False, at_key: bool = False
) -> None:
    """Check a tool pattern; with ``literal`` it must name one tool."""
    try:
        parsed = ToolPattern.parse(text)
    except ValueError as error:
        hint = 'write "*/*" for every tool' if text == "*" else None
        submission.refuse(codes.INVALID_PATTERN, path, str(error), at_key=at_key, hint=hint)
        return
    if parsed.extension is not None and (fault := EXTENSION_NAME.fault(parsed.extension)):
        submission.refuse(
            codes.INVALID_PATTERN,
            path,
            f'{shown(text)}: no extension is named "{parsed.extension}": the name {fault}',
            at_key=at_key,
        )
    elif literal and not parsed.literal:
        submission.refuse(
            codes.INVALID_PATTERN,
            path,
            f'"{text}" is a pattern, and one tool must be named here',
            at_key=at_key,
            hint="name the tool as extension/tool",
        )


def effect(submission: Submission, path: Path, text: str, what: str) -> None:
    """Check the name of an effect (P3, X-16)."""
    if text in EFFECTS:
        return
    nearest = did_you_mean(text, EFFECTS)
    submission.refuse(
        codes.UNKNOWN_EFFECT,
        path,
        f"{shown(text)} is no {what}; the {what}s are {', '.join(EFFECTS)}",
        hint=Hint(f"did you mean {nearest}?", submission.replacement(path, nearest)) if nearest else None,
    )


def shown(text: str) -> str:
    """The text in quotes, on one line, with nothing hidden in it."""
    line = text.replace("\n", " ")
    return f'"{visible(line if len(line) <= 60 else line[:59] + "…")}"'


_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_TARGET = re.compile(f"{_DOTTED}:{_DOTTED}")


def spelt(text: str, rule: NameRule) -> str | None:
    """The name with its letters lowered and its blanks joined, where the rule then takes it."""
    for joint in "-_":
        candidate = joint.join(text.lower().replace("_", " ").replace("-", " ").split())
        if candidate != text and rule.accepts(candidate):
            return candidate
    return None
