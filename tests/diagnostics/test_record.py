"""The record: places below another folder."""

from __future__ import annotations

from symc.diagnostics import Edit, Hint, LabelledSpan, Position, Span
from symc.diagnostics.codes import reading

PLACE = (Position(2, 3), Position(2, 5))


def test_every_place_moves_below_the_folder_but_those_in_files_of_symc() -> None:
    found = reading.YAML_SYNTAX.at(
        Span("a.yaml", *PLACE),
        "no",
        secondary=(
            LabelledSpan(Span("b.yaml", *PLACE), "b"),
            LabelledSpan(Span("symc:std.yaml", *PLACE), "s"),
        ),
        hint=Hint("mend", Edit(Span("c.yaml", *PLACE), "x")),
    ).relocated("manifests/")
    assert found.primary == Span("manifests/a.yaml", *PLACE)
    assert [one.span.file for one in found.secondary] == ["manifests/b.yaml", "symc:std.yaml"]
    assert found.hint is not None
    assert found.hint.edit is not None
    assert found.hint.edit.span == Span("manifests/c.yaml", *PLACE)
