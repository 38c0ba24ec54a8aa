"""Shape: a document's mapping → its model, and every fault of it in the author's words.

pydantic finds *that* a value does not fit; this module says what is wrong with it. What survives of a faulty document
is still a model, so that the facts of its sound entries are checked in the same run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from symc.manifest.faults import Fault, report
from symc.manifest.keys import Path
from symc.manifest.model import WRITTEN, Agent, Extension, Workspace
from symc.manifest.shorthand import expanded
from symc.manifest.submission import Submission

Body = Workspace | Agent | Extension
"""The model of a whole document."""

MODELS: Final[Mapping[str, type[Body]]] = {"workspace": Workspace, "agent": Agent, "extension": Extension}
"""The model of each kind."""

# Built once: making an adapter costs more than checking a thousand documents.
_ADAPTERS: Final[Mapping[str, TypeAdapter[Body]]] = {
    kind: TypeAdapter(model) for kind, model in MODELS.items()
}


def shaped(submission: Submission, kind: str) -> Body | None:
    """The model of a document, without its faulty entries; None where nothing of it can be read.

    The faults stand in the submission's report, the entries they were found in are marked as spoilt.
    """
    data = expanded(submission)
    body, faults = _validated(kind, data)
    if own := [fault.path for fault in faults if fault.is_own_key]:
        data = _without(data, own)
        body, faults = _validated(kind, data)
    if body is not None:
        return body
    report(submission, MODELS[kind], faults, data)
    return _salvaged(submission, kind, data, faults)


def _validated(kind: str, data: dict[str, Any]) -> tuple[Body | None, list[Fault]]:
    try:
        # By alias alone: the models' own spelling of `as` is not a key anyone may write.
        return _ADAPTERS[kind].validate_python(data, by_alias=True, by_name=False, context=WRITTEN), []
    except ValidationError as error:
        return None, _faults(error, data)


def _faults(error: ValidationError, data: dict[str, Any]) -> list[Fault]:
    """What did not fit, one fault a place: of a union's complaints, those of the form that was meant."""
    found: dict[Path, Fault] = {}
    for detail in error.errors(include_url=False):
        path = _path(detail["loc"], data, is_missing=detail["type"] == "missing")
        fault = Fault(path, detail["type"], detail["input"], detail.get("ctx", {}))
        # Where text is one of the forms, "not text" says more than "not a mapping".
        if path not in found or fault.type == "string_type":
            found[path] = fault
    within = {path[:i] for path in found for i in range(1, len(path))}
    return [fault for path, fault in found.items() if path not in within]


def _path(loc: tuple[str | int, ...], data: Any, *, is_missing: bool) -> Path:
    """The way into the document; pydantic puts the tried forms of a union between its steps."""
    path: list[str | int] = []
    for number, step in enumerate(loc):
        fits = step in data if isinstance(data, dict) else isinstance(data, list) and isinstance(step, int)
        if fits:
            data = data[step]
        elif not (is_missing and number == len(loc) - 1):
            continue
        path.append(step)
    return tuple(path)


def _without(data: Any, paths: Iterable[Path]) -> Any:
    """A copy of ``data`` without the values at ``paths``; what is not touched is shared."""
    below: dict[str | int, list[Path]] = {}
    for head, *rest in paths:
        below.setdefault(head, []).append(tuple(rest))
    if isinstance(data, list):
        return [
            _without(item, below[i]) if i in below else item
            for i, item in enumerate(data)
            if () not in below.get(i, ())
        ]
    return {
        key: _without(item, below[key]) if key in below else item
        for key, item in data.items()
        if () not in below.get(key, ())
    }


def _salvaged(submission: Submission, kind: str, data: dict[str, Any], faults: list[Fault]) -> Body | None:
    """The sound part of the document; in a list, None stands for a spoilt item, so that the others keep their index."""
    entries = {
        path[:2] if len(path) > 1 and _is_entry(data, path) else path[:1] for path in (f.path for f in faults)
    }
    submission.spoilt |= entries
    sound = _without(data, entries)
    if kind != "workspace":
        sound.setdefault("name", "unnamed")
    body, _ = _validated(kind, sound)
    if body is None:
        return None
    gaps: dict[str, list[Any]] = {}
    items = ((str(path[0]), path[1]) for path in entries if len(path) > 1)
    for section, index in sorted((section, index) for section, index in items if isinstance(index, int)):
        gaps.setdefault(section, list(getattr(body, section))).insert(index, None)
    return body.model_copy(update={section: tuple(items) for section, items in gaps.items()})


def _is_entry(data: dict[str, Any], path: Path) -> bool:
    """Whether the path leads through a list, or a mapping whose keys are the author's."""
    return isinstance(data.get(str(path[0])), list) or path[0] in ("variants", "vars", "rules")
