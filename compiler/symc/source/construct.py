"""YAML text → plain data, or every reason why not (docs/manifests.md §1).

One walk over the parser's events, without recursion: no depth of nesting, no alias and no number of mistakes costs
more than the length of the file. The loop is the hot path of a compile (docs/performance.md): it keeps no position,
and everything unusual is handed to `Findings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from yaml import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from symc.diagnostics import Diagnostic
from symc.source.events import HAS_LIBYAML, NextEvent, events
from symc.source.findings import Findings, TooManyError
from symc.source.rereading import MAYBE_QUESTION_MARK
from symc.source.scalars import NUMERIC, WORDS, UnsafeNumberError, number

DEEPEST: Final = 100
"""Levels of lists and mappings in one file, the root included."""

ALIAS_BUDGET: Final = 1_000_000
"""Characters that the aliases of one file may repeat, all together."""

_ITEM: Final = object()
"""In the place of a key: the open collection is a list."""
_REFUSED: Final = object()
"""In the place of a key: one that was reported, of a mapping that nobody will see."""
_OPEN: Final = object()
"""In the place of an anchor's value: the value is not complete, so an alias here is a cycle."""


@dataclass(slots=True)
class _Anchored:
    """An anchor's value, how many characters an alias to it repeats, and how many levels it has."""

    value: Any
    weight: int = 0
    height: int = 0


def construct(
    path: str, text: bytes, keys: dict[str, str] | None = None, *, pure: bool = not HAS_LIBYAML
) -> tuple[dict[str, Any] | None, tuple[Diagnostic, ...]]:
    """The data of the manifest ``path``, and why there is none.

    ``text`` is UTF-8 without byte order mark, with LF (`symc.source.texts.cleaned`). ``keys`` collects the keys that were
    read: files have few, many times, and each is looked at and kept once. ``pure`` takes PyYAML's own parser instead of
    libyaml.
    """
    findings = Findings(path, text)
    root: list[Any] = []
    try:
        with events(text, pure=pure) as next_event:
            _walk(next_event, root, {} if keys is None else keys, findings)
        if MAYBE_QUESTION_MARK.search(text):
            findings.doubtful_keys()
    except ReaderError:
        findings.unclean()
    except YAMLError as error:
        findings.syntax(error)
    except TooManyError:
        pass
    diagnostics = findings.concluded()
    return (None if diagnostics else root[0]), diagnostics


def _walk(next_event: NextEvent, root: list[Any], keys: dict[str, str], findings: Findings) -> None:
    anchors: dict[str, _Anchored] = {}
    unfinished: dict[
        int, tuple[_Anchored, int, int, int]
    ] = {}  # by depth: value, start, repeated and peak before it
    repeated = 0  # characters that aliases repeated so far
    peak = 0  # the deepest level so far
    spent = too_deep = False  # said once a file
    stack: list[tuple[Any, object]] = []  # what stands around the open collection
    container: Any = root
    key: object = _ITEM  # the key whose value is due; None: a key is due
    value: Any
    words = dict(WORDS)  # asked for every scalar, and a read-only view answers slower
    while True:
        event = next_event()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event.value
            if key is None and value in keys and event.tag is None and event.anchor is None:
                if value in container:
                    findings.duplicate_key()
                key = keys[value]
                continue
            if not event.style:
                if value in words:
                    value = words[value]
                elif value[0] in NUMERIC:
                    try:
                        value = number(value)
                    except UnsafeNumberError as error:
                        if key is None:
                            value = 0  # a key, and no string: its size is no matter
                        else:
                            findings.unsafe_number(event, error)
            if event.tag is not None:
                findings.tag(event)
            if event.anchor is not None:
                findings.anchor(event)
                anchors[event.anchor] = _Anchored(value, len(event.value))
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            is_mapping = kind is MappingStartEvent
            value = {} if is_mapping else []
            if key is _ITEM:
                container.append(value)
                stack.append((container, _ITEM))
            elif key is None:
                findings.non_string_key(event)
                stack.append((container, _REFUSED))
            else:
                container[key] = value
                stack.append((container, None))
            container, key = value, None if is_mapping else _ITEM
            depth = len(stack)
            if event.tag is not None:
                findings.tag(event)
            if event.anchor is not None:
                findings.anchor(event)
                anchored = anchors[event.anchor] = _Anchored(_OPEN)
                unfinished[depth] = (anchored, event.start_mark.index, repeated, peak)
                peak = depth
            elif depth > peak:
                peak = depth
            if depth > DEEPEST and not too_deep:
                too_deep = True
                findings.nesting(event)
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            if unfinished and (depth := len(stack)) in unfinished:
                anchored, start, repeated_before, peak_before = unfinished.pop(depth)
                anchored.value = container
                anchored.weight = event.end_mark.index - start + repeated - repeated_before
                anchored.height = peak - depth + 1
                peak = max(peak, peak_before)
            container, key = stack.pop()
            continue
        elif kind is AliasEvent:
            findings.anchor(event)
            target = anchors.get(event.anchor)
            if target is None:
                findings.undefined_alias(event)
                value = event.anchor
            elif target.value is _OPEN:
                findings.cyclic_alias(event)
                value = event.anchor
            else:
                value = target.value
                repeated += target.weight
                peak = max(peak, len(stack) + target.height)
                if repeated > ALIAS_BUDGET and not spent:
                    spent = True
                    findings.alias_budget(event)
                if len(stack) + target.height > DEEPEST and not too_deep:
                    too_deep = True
                    findings.nesting(event)
        elif kind is DocumentStartEvent:
            if root:
                findings.second_document(event)
                return
            continue
        elif kind is StreamEndEvent:
            findings.root(root)
            return
        else:
            continue

        if key is None:
            if value.__class__ is not str:
                findings.non_string_key(event)
                value = event.value if kind is ScalarEvent else _REFUSED
            elif kind is ScalarEvent and not event.style:
                if value == "<<":
                    findings.merge_key(event)
                    value = _REFUSED
                else:
                    keys[value] = value
            if value in container and value is not _REFUSED:
                findings.duplicate_key()
            key = value
        elif key is _ITEM:
            container.append(value)
        else:
            container[key] = value
            key = None
