"""Parse: the bytes of a workspace → documents, texts and pins. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from symc.diagnostics import Diagnostic, LabelledSpan, Report, Span
from symc.diagnostics.codes import reading
from symc.source.construct import construct
from symc.source.document import Document, Pin
from symc.source.pins import read_pin
from symc.source.texts import cleaned, cleaned_for_yaml
from symc.source.workspace import MANIFEST_ENDINGS, Workspace


@dataclass(frozen=True, slots=True)
class Claim:
    """What a document that cannot be read says of itself, as far as single lines tell: empty where they do not."""

    path: str
    kind: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the files of a workspace say, each in its own form, all in code-point order of their paths.

    ``documents`` are the ``.yaml`` and ``.yml`` files, ``texts`` the ``.md`` and ``.txt`` files, ``pins`` the ``.json``
    files. ``refused`` are the paths of files that dropped out, each for a reason in ``diagnostics``; ``claims`` is what
    the refused among the documents seem to say they are.
    """

    documents: tuple[Document, ...] = ()
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    pins: Mapping[str, Pin] = field(default_factory=lambda: MappingProxyType({}))
    refused: frozenset[str] = frozenset()
    claims: tuple[Claim, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def parse(workspace: Workspace, parsed: Mapping[str, dict[str, Any]] = MappingProxyType({})) -> Sources:
    """Every file of ``workspace`` as a value (docs/manifests.md §1); one that is refused is in ``refused``, with a diagnostic.

    ``parsed`` is the data of YAML files, by path, that were found sound before.
    """
    report = Report()
    report.extend(list(_case_collisions(workspace.files)))
    documents: list[Document] = []
    texts: dict[str, str] = {}
    pins: dict[str, Pin] = {}
    refused = {one.primary.file for one in workspace.diagnostics}
    keys: dict[str, str] = {}
    for path, raw in workspace.files.items():
        is_yaml = _is_yaml(path)
        text = cleaned_for_yaml(path, raw) if is_yaml else cleaned(path, raw)
        if isinstance(text, Diagnostic):
            report.add(text)
            refused.add(path)
        elif path.endswith((".md", ".txt")):
            texts[path] = text.decode()
        elif is_yaml and path in parsed:
            documents.append(Document(path, text, parsed[path]))
        else:
            data, diagnostics = construct(path, text, keys) if is_yaml else read_pin(path, text)
            report.extend(diagnostics)
            if data is None:
                refused.add(path)
            elif is_yaml:
                documents.append(Document(path, text, data))
            else:
                pins[path] = Pin(path, text, data)
    return Sources(
        documents=tuple(documents),
        texts=MappingProxyType(texts),
        pins=MappingProxyType(pins),
        refused=frozenset(refused),
        claims=tuple(
            _claim(path, workspace.files.get(path, b"")) for path in sorted(refused) if _is_yaml(path)
        ),
        diagnostics=report.diagnostics,
    )


_SAID = re.compile(rb"""^(kind|name)[ \t]*:[ \t]*["']?([A-Za-z0-9._-]+)""", re.MULTILINE)


def _is_yaml(path: str) -> bool:
    return path.endswith(MANIFEST_ENDINGS)


def _claim(path: str, raw: bytes) -> Claim:
    said = {key: value.decode() for key, value in reversed(_SAID.findall(raw.removeprefix(b"\xef\xbb\xbf")))}
    return Claim(path, said.get(b"kind", ""), said.get(b"name", ""))


def _case_collisions(paths: Iterable[str]) -> Iterator[Diagnostic]:
    """Files and folders whose names differ only in case: on some systems the second overwrites the first."""
    spelt: dict[
        str, tuple[str, str]
    ] = {}  # by the name without case: the name, and the first file that bears it
    reported: set[str] = set()
    for path in paths:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            first, file = spelt.setdefault(name.casefold(), (name, path))
            if first == name:
                continue
            if name not in reported:
                reported.add(name)
                yield reading.CASE_COLLISION.at(
                    Span(path),
                    f'"{name}" and "{first}" differ only in case',
                    secondary=(LabelledSpan(Span(file), "the other"),),
                    hint="rename one of them",
                    subject=name,
                )
            break  # what is below a folder differs for the same reason
