"""What a YAML parser complains about, in the words of who wrote the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yaml import YAMLError
from yaml.error import Mark, MarkedYAMLError

from symc.diagnostics import Code, Diagnostic, LabelledSpan, Position, Span
from symc.diagnostics.codes import reading
from symc.source.indentation import stray

_INDENTATION = "check the indentation, and the quotes and brackets before this place"
_PATTERN = 'quote patterns: unquoted, "*" starts an alias and "[" a list'


@dataclass(frozen=True, slots=True)
class _Complaint:
    """A problem of libyaml or of PyYAML's own parser (a regular expression), and what to say instead."""

    problem: str
    message: str
    hint: str
    code: Code = reading.YAML_SYNTAX
    where_it_begins: bool = False
    """The place to mend is where the broken part begins, not where the parser gave up."""


_COMPLAINTS = (
    _Complaint(
        "nesting depth", "values are nested deeper than 100 levels", "flatten the value", reading.NESTING
    ),
    _Complaint(
        "undefined tag handle",
        "an explicit tag is not allowed: a manifest is plain data",
        "remove it",
        reading.EXPLICIT_TAG,
    ),
    _Complaint("mapping values are not allowed", 'a ":" cannot stand here', 'quote text that holds ": "'),
    _Complaint("mapping keys are not allowed", 'a "?" cannot stand here', _INDENTATION),
    _Complaint("sequence entries are not allowed", 'a "-" of a list cannot stand here', _INDENTATION),
    _Complaint(
        r"tab character|character '\\t'", "a tab cannot stand here", "indent and separate with spaces"
    ),
    _Complaint("that cannot start any token", "text cannot start with this character", "quote the text"),
    _Complaint(
        "unexpected (end of stream|document (indicator|separator))",
        "these quotes are not closed",
        "close them",
        where_it_begins=True,
    ),
    _Complaint(
        "unknown escape character",
        "this is no escape that YAML knows",
        "double the backslash, or use single quotes",
    ),
    _Complaint(
        "Unicode character escape|hexdecimal|hexadecimal",
        "this escape is no character",
        "write the character itself",
    ),
    _Complaint("alphabetic or numeric character", "this is no name of an anchor or alias", _PATTERN),
    _Complaint("',' or '\\]'", 'a "," or a "]" is missing here', _PATTERN),
    _Complaint("',' or '}'", 'a "," or a "}" is missing here', "close the bracket, or quote the text"),
    _Complaint(
        "expected '-' indicator|block collection",
        'a list item ("- …") or less indentation is due here',
        _INDENTATION,
    ),
    _Complaint(
        "expected ':'",
        'the ":" after this key is missing',
        'write "key: value"; a key stands on one line',
        where_it_begins=True,
    ),
    _Complaint("expected key|block mapping", "a key is due here", _INDENTATION),
    _Complaint("document start", "there is text after the end of the manifest", _INDENTATION),
    _Complaint("node content", "a value is due here", _INDENTATION),
    _Complaint(
        "comment or (a )?line break|indentation indicator|chomping",
        "this is no header of a text block",
        'start the text on the line after "|" or ">"',
    ),
    _Complaint(
        "directive|version|YAML document",
        "this directive is not understood",
        "remove the line that starts with %",
    ),
)
_BLAMES_INDENTATION = re.compile(
    "mapping values are not allowed|sequence entries are not allowed|block collection|block mapping|expected key"
)
"""Complaints behind which a line may be that is indented by some spaces too many or too few."""
_OTHER = _Complaint("", "this is not valid YAML", _INDENTATION)


def syntax_error(path: str, error: YAMLError, text: str = "") -> Diagnostic:
    """The diagnostic for what stopped the parser in ``text``, with the place to mend."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return reading.YAML_SYNTAX.at(Span(path), "this is not valid YAML", hint=_INDENTATION)
    said = " ".join(part for part in (error.context, error.problem) if part)
    stopped_at = text[error.problem_mark.index : error.problem_mark.index + 1]
    if stopped_at == "\t" and "cannot start" in said:
        said = "tab character"  # libyaml does not say which character it is
    if _BLAMES_INDENTATION.search(said):
        lines = text.split("\n")
        found = stray(lines, error.problem_mark.line, error.problem_mark.column)
        if found is not None:
            return reading.YAML_SYNTAX.at(
                found.entry.span(path),
                found.message,
                secondary=(LabelledSpan(found.model.span(path), "it would have to line up with this"),),
                hint=found.hint,
            )
    complaint = next((known for known in _COMPLAINTS if re.search(known.problem, said)), _OTHER)
    context = error.context_mark
    if complaint.where_it_begins and context is not None:
        return complaint.code.at(_span(path, context, text), complaint.message, hint=complaint.hint)
    at = _span(path, error.problem_mark, text)
    secondary: tuple[LabelledSpan, ...] = ()
    if context is not None and (context.line, context.column) != (
        error.problem_mark.line,
        error.problem_mark.column,
    ):
        secondary = (LabelledSpan(_span(path, context, text), "begins here"),)
    return complaint.code.at(at, complaint.message, secondary=secondary, hint=complaint.hint)


def _span(path: str, mark: Mark, text: str) -> Span:
    """The character at a mark; where a text breaks off, the end of its last line: the parsers count on behind it."""
    lines = text.removesuffix("\n").split("\n")
    line = min(mark.line, len(lines) - 1)
    width = len(lines[line])
    column = min(mark.column, width) if line == mark.line else width
    return Span(path, Position(line + 1, column + 1), Position(line + 1, min(column + 1, width) + 1))
