"""``symc.accept.yaml``: read as strictly as a manifest (docs/diff.md §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from symc.diagnostics import Diagnostic, Report
from symc.diagnostics.codes import locking as codes
from symc.diagnostics.suggest import suggestion
from symc.diff.accepting import Acceptance
from symc.diff.rules import TABLE, find
from symc.source import Document, Workspace, parse

_KEYS: Final = ("fingerprint", "rule", "reason", "by")


@dataclass(frozen=True, slots=True)
class Acceptances:
    """The stanzas of a file, in its order, with what was wrong with others, and the text they are from."""

    stanzas: tuple[Acceptance, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""


def read_acceptances(file: str, content: bytes | None) -> Acceptances:
    """The acceptances in ``content``; ``file`` is its name in diagnostics. No content, or only comments: none."""
    if content is None:
        return Acceptances()
    name = "accept.yaml"
    sources = parse(Workspace.of({name: content}))
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        # Nothing accepted yet; also what the shell leaves of the file while `--format accept` writes it.
        return Acceptances(text=text)
    if not sources.documents:
        return Acceptances((), tuple(_renamed(one, file) for one in sources.diagnostics), text)
    report = Report()
    read = sources.documents[0]
    document = Document(file, read.text, read.data)
    stanzas = tuple(_stanzas(document, report))
    return Acceptances(stanzas, report.diagnostics, text)


def _renamed(diagnostic: Diagnostic, file: str) -> Diagnostic:
    return replace(
        diagnostic,
        primary=replace(diagnostic.primary, file=file),
        secondary=tuple(replace(one, span=replace(one.span, file=file)) for one in diagnostic.secondary),
        hint=replace(diagnostic.hint, edit=None) if diagnostic.hint else None,
    )


def _stanzas(document: Document, report: Report) -> Iterator[Acceptance]:
    for key in document.data:
        if key != "accept":
            report.add(
                codes.ACCEPTANCE_INVALID.at(
                    document.key_span(key),
                    f'"{key}" is not known here; the file holds the list "accept"',
                    hint=suggestion(key, ("accept",)) or None,
                )
            )
    rows = document.data.get("accept")
    if not isinstance(rows, list):
        if "accept" in document.data:
            report.add(
                codes.ACCEPTANCE_INVALID.at(document.span("accept"), '"accept" is not a list of stanzas')
            )
        return
    for number, row in enumerate(rows):
        faults = tuple(_faults(document, number, row))
        report.extend(faults)
        if not faults:
            yield Acceptance(
                fingerprint=row["fingerprint"],
                rule=row["rule"],
                reason=row["reason"],
                by=row["by"],
                span=document.span("accept", number, "fingerprint"),
            )


def _faults(document: Document, number: int, row: Any) -> Iterator[Diagnostic]:
    at = document.span("accept", number)
    if not isinstance(row, Mapping):
        yield codes.ACCEPTANCE_INVALID.at(at, "a stanza is a mapping with fingerprint, rule, reason and by")
        return
    for key in row:
        if key not in _KEYS:
            hint = suggestion(str(key), _KEYS) or None
            yield codes.ACCEPTANCE_INVALID.at(
                document.key_span("accept", number, key), f'"{key}" is no key of a stanza', hint=hint
            )
    for key in _KEYS:
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            place = document.span("accept", number, key) if key in row else at
            yield codes.ACCEPTANCE_INVALID.at(
                place,
                f'a stanza without "{key}" accepts nothing',
                hint="say why, and who says so"
                if key in ("reason", "by")
                else "run: symc diff --format accept",
            )
    rule = row.get("rule")
    if isinstance(rule, str) and rule and find(rule) is None:
        names = [name for one in TABLE for name in (one.code, one.name)]
        yield codes.ACCEPTANCE_INVALID.at(
            document.span("accept", number, "rule"),
            f'there is no rule "{rule}"',
            hint=suggestion(rule, names) or None,
        )


def unused(acceptance: Acceptance) -> Diagnostic:
    """What is said of an acceptance that accepts none of the changes."""
    return codes.ACCEPTANCE_UNUSED.at(
        acceptance.span,
        f"no change has the fingerprint {acceptance.fingerprint[:19]}… of {acceptance.rule}: "
        "what was accepted changed again, or is gone",
        hint="review the change anew: symc diff --format accept",
        subject=acceptance.rule,
    )
