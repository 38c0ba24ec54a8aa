"""Configs: what a chain gives a tool extension, held to the schema of its config (V14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from symc.canonical import pointer
from symc.compose.link import Place, Registration
from symc.diagnostics import Diagnostic, Edit, Hint, LabelledSpan
from symc.diagnostics.codes import composition as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import model
from symc.schema import Validator
from symc.schema.validator import Violation


def config_faults(
    element: model.ChainElement, registration: Registration, place: Place
) -> Iterator[Diagnostic]:
    """What is wrong with the config of one layer, in paths and rules and never in values."""
    extension = registration.tool_extension
    if extension.config_schema is None:
        if element.config:
            yield codes.VARIANT_CONFIG.at(
                place.span("config"),
                f'"{extension.name}" takes no config',
                secondary=(LabelledSpan(registration.place.span(), "registered without `config_schema`"),),
                hint=f"write the bare name: {element.use}",
                subject=place.owner,
            )
        return
    violations = Validator(extension.config_schema).violations(element.config or {})
    meant: set[tuple[tuple[str | int, ...], str]] = set()
    for violation in violations:
        for key in violation.unexpected:
            legal = _legal_keys(extension.config_schema, violation)
            nearest = did_you_mean(key, legal)
            if nearest is not None:
                meant.add((violation.path, nearest))
            yield _unknown_key(key, nearest, legal, violation, registration, place)
    for violation in violations:
        # A key that is missing because it is misspelt is said with the misspelt one.
        if violation.unexpected or (violation.path, violation.missing) in meant:
            continue
        at = ("config", *violation.path) if element.config is not None else ()
        yield codes.VARIANT_CONFIG.at(
            place.span(*at),
            f'the config of "{extension.name}" breaks its schema: {violation}',
            secondary=_schema(registration),
            hint=f"see `config_schema` of {registration.extension}/{extension.name}",
            subject=place.owner,
        )


def _unknown_key(
    key: str,
    nearest: str | None,
    legal: list[str],
    violation: Violation,
    registration: Registration,
    place: Place,
) -> Diagnostic:
    span = place.manifest.key_span(*place.path, "config", *violation.path, key)
    name = registration.tool_extension.name
    where = f" at {pointer(violation.path)}" if violation.path else ""
    if nearest is not None:
        hint = Hint(f"did you mean `{nearest}`?", Edit(span, nearest))
    else:
        hint = Hint("remove it, or give it a name that the schema knows")
    return codes.VARIANT_CONFIG.at(
        span,
        f'the config of "{name}" has no key "{key}"{where}',
        secondary=_schema(registration),
        notes=(f"known here: {', '.join(legal)}",) if legal and nearest is None else (),
        hint=hint,
        subject=place.owner,
    )


def _legal_keys(schema: Mapping[str, Any], violation: Violation) -> list[str]:
    """The properties that are described where a rule of the schema refuses others."""
    here: Any = schema
    for step in violation.rule[:-1]:
        if isinstance(here, Mapping):
            here = here.get(str(step), here.get(step))
        elif isinstance(here, list | tuple) and isinstance(step, int) and step < len(here):
            here = here[step]
    described = here.get("properties") if isinstance(here, Mapping) else None
    return list(described) if isinstance(described, Mapping) else []


def _schema(registration: Registration) -> tuple[LabelledSpan, ...]:
    return (LabelledSpan(registration.place.span("config_schema"), "the schema of the config"),)
