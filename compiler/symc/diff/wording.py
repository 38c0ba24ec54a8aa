"""Wording: a change as a sentence; what every renderer, and the line about a stale lock, says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from symc.diagnostics import Span
from symc.diff.model import Axis, Change, Comparison, Direction, Verdict
from symc.diff.rules import find
from symc.hidden import scan

Json = Any
_FEW: Final = 3


def headline(comparison: Comparison) -> str:
    """The verdict and its witness in one line: ``WIDENING — support may now call …``."""
    line = str(comparison.verdict)
    if comparison.witness:
        line += f" — {comparison.witness}"
    elif any(change.widens for change in comparison.changes):
        line += " today — and a rule is weaker than before"
    return line


def below_headline(comparison: Comparison) -> str:
    """The second part of the headline: what the lock cannot tell, and how many remote texts changed; empty for neither."""
    unknown = sum(change.direction is Direction.UNKNOWN for change in comparison.changes)
    remote = comparison.remote_text_changed
    parts = []
    if unknown and comparison.verdict is not Verdict.UNKNOWN:
        parts.append(f"{unknown} {'change' if unknown == 1 else 'changes'} of unknown effect")
    if remote:
        parts.append(f"{remote} remote {'text' if remote == 1 else 'texts'} changed")
    return "; ".join(parts)


def sentence(change: Change) -> str:
    """What changed, in its rule's words: ``fragment crm/etiquette changed``."""
    rule = find(change.rule)
    noun, verb = (rule.noun, rule.verb) if rule is not None else ("", "changed")
    return f"{noun} {change.subject} {verb}".strip()


def counted(change: Change, number: int) -> str:
    """Changes of one rule as a number: ``2 tools added``."""
    rule = find(change.rule)
    noun, verb = (rule.noun or change.subject, rule.verb) if rule is not None else ("change", "")
    head, _, tail = noun.partition(" ")
    words = (_counted(number, head), tail.removesuffix("of").strip(), verb)
    return " ".join(word for word in words if word)


def _counted(number: int, noun: str) -> str:
    if noun.endswith("s"):
        return f"{number} × {noun}"
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else many}"


def readers(change: Change) -> str:
    """The agents or cells that the change is about, a few of them: ``support, triage and 12 more``."""
    return listed(change.touches)


def listed(names: Sequence[str], few: int = _FEW) -> str:
    """A few names, and how many more."""
    shown = ", ".join(names[:few])
    return shown if len(names) <= few else f"{shown} and {len(names) - few} more"


def place(span: Span) -> str:
    """A location for people: ``manifests/agents/support.yaml:14``."""
    return span.file if span.is_whole_file else f"{span.file}:{span.start.line}"


def where(change: Change) -> str:
    """Where the change came from, first place only; empty when that is not known."""
    return place(change.locations[0]) if change.locations else ""


def is_text(change: Change) -> bool:
    """Whether the change is one of text that a model reads, to be shown line by line."""
    sides = (change.before, change.after)
    read = any(isinstance(side, str) for side in sides) and change.axis is Axis.BEHAVIOUR
    return read and all(side is None or isinstance(side, str) for side in sides)


def values(change: Change) -> tuple[str, str]:
    """The two sides in one line each, for changes that are no texts; empty where there is nothing.

    Of two mappings, what differs between them, by its path: ``when.properties.amount.minimum: 500``.
    """
    before, after = change.before, change.after
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _listing(_differing(before, after)), _listing(_differing(after, before))
    return _value(before), _value(after)


def _differing(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    """What ``one`` has otherwise than ``other``, by dotted path; ``digest`` follows from the rest and is left out."""
    found: dict[str, Json] = {}
    for key, value in one.items():
        theirs = other.get(key)
        if key == "digest" or (value == theirs and key in other):
            continue
        if isinstance(value, Mapping) and isinstance(theirs, Mapping):
            found |= {f"{key}.{path}": item for path, item in _differing(value, theirs).items()}
        else:
            found[key] = value
    return found


def _listing(items: Mapping[str, Json]) -> str:
    return ", ".join(f"{key}: {_value(item, inside=True)}" for key, item in items.items())


def _value(value: Json, *, inside: bool = False) -> str:
    if value is None:
        return "null" if inside else ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        listing = _listing({key: item for key, item in value.items() if key != "digest"})
        return f"{{{listing}}}" if inside else listing
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item, inside=True) for item in value) + "]"
    return str(value)


def visible(text: str) -> str:
    """One line of foreign text with every hidden character spelled out (``<U+200B>``): safe in a terminal and a log.

    ``##[`` starts a command wherever it stands in a log of GitHub Actions, so it is parted.
    """
    pieces = list(text)
    for run in scan(text):
        for at, point in enumerate(run.code_points, run.offset):
            pieces[at] = f"<U+{point:04X}>"
    return "".join(pieces).replace("\n", "\\n").replace("\t", "    ").replace("##[", "##\\[")
