"""The lexemes and the places of a JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from symc.source.places import Places, PlaceTable

_LEXEME = re.compile(r'[ \t\n\r]*([{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+)', re.DOTALL)


def lexemes(text: str) -> Iterator[tuple[str, int, int]]:
    """Punctuation, strings and words of a valid JSON text, each with its start and end."""
    # Blanks at the end would be looked at again from each of them.
    for found in _LEXEME.finditer(text.rstrip(" \t\n\r")):
        yield found.group(1), found.start(1), found.end(1)


def json_places(text: bytes) -> Places:
    """The places of a valid JSON text."""
    decoded = text.decode()
    table = PlaceTable()
    in_mapping: list[bool] = []
    key_due = False
    for lexeme, start, end in lexemes(decoded):
        if lexeme in "{[":
            table.open(start)
            in_mapping.append(lexeme == "{")
            key_due = lexeme == "{"
        elif lexeme in "}]":
            table.close(end)
            in_mapping.pop()
        elif lexeme == ",":
            key_due = in_mapping[-1]
        elif lexeme == ":":
            key_due = False
        elif key_due:
            table.key(json.loads(lexeme), start, end)
        else:
            table.value(start, end)
    return Places(decoded, table)
