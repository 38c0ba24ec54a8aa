"""Diagnostics: the record, the table of codes, the renderers."""

from symc.diagnostics.record import (
    Code,
    Diagnostic,
    Edit,
    Hint,
    LabelledSpan,
    Level,
    Position,
    Report,
    Span,
)

__all__ = ["Code", "Diagnostic", "Edit", "Hint", "LabelledSpan", "Level", "Position", "Report", "Span"]
