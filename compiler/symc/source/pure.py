"""PyYAML's own parser, brought to libyaml's reading where the two differ.

It stands in where PyYAML was built without libyaml. The same manifest must not mean two things on two machines, so
what libyaml reads differently is read here as libyaml does: tabs between tokens and inside unquoted text, ``?`` and
``:`` in flow collections, directives. What is left are texts that one of the two refuses (tests/source/test_parsers.py).
"""

from __future__ import annotations

import re

from yaml.error import Mark
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import DirectiveToken, ScalarToken

_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = "\n\r"
_BLANK_OR_END = "\0 \t\n\r"


class PureParser(Reader, Scanner, Parser):
    """Events of a UTF-8 text as from libyaml's parser."""

    def __init__(self, text: bytes) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def check_printable(self, data: str) -> None:
        """Refuses, as libyaml does, also a byte order mark inside the text."""
        super().check_printable(data)
        if "\ufeff" in data:
            raise ReaderError(
                self.name, data.index("\ufeff"), 0xFEFF, "unicode", "control characters are not allowed"
            )

    def scan_to_next_token(self) -> None:
        """Skips blanks and comments; tabs too, except where they would be indentation."""
        while True:
            while self.peek() == " " or (
                self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)
            ):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0\n\r":
                    self.forward()
            if not self._line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_directive(self) -> DirectiveToken:
        """``%YAML 1.1``, ``%YAML 1.2`` and ``%TAG``; another directive is an error."""
        token = super().scan_directive()
        if token.name not in ("YAML", "TAG"):
            raise ScannerError(None, None, "found unknown directive name", token.start_mark)
        if token.name == "YAML" and token.value not in ((1, 1), (1, 2)):
            raise ScannerError(None, None, "found incompatible YAML document", token.start_mark)
        return token

    def scan_plain(self) -> ScalarToken:
        """Unquoted text: in flow collections it may hold ``?`` and ``:``, and everywhere tabs."""
        start = end = self.get_mark()
        indent = self.indent + 1
        chunks: list[str] = []
        spaces = ""
        folded = False
        while not (self.column == 0 and self._at_document_marker()) and self.peek() != "#":
            length = self._plain_length()
            if not length:
                break
            self.allow_simple_key = False
            chunks += (spaces, self.prefix(length))
            self.forward(length)
            end = self.get_mark()
            if self.peek() not in " \t\n\r":
                folded = False
                break
            spaces, folded = self._plain_blanks(indent, start)
            if not self.flow_level and self.column < indent:
                break
        if folded:
            self.allow_simple_key = True
        return ScalarToken("".join(chunks), True, start, end)

    def scan_flow_scalar(self, style: str) -> ScalarToken:
        """Quoted text; an escape that is no character, such as half a surrogate pair, is an error."""
        start = self.get_mark()
        try:
            token = super().scan_flow_scalar(style)
        except ValueError:  # chr() of a number beyond Unicode
            token = None
        if token is None or _SURROGATE.search(token.value):
            raise ScannerError(
                "while parsing a quoted scalar", start, "found invalid Unicode character escape code", start
            )
        return token

    def _plain_length(self) -> int:
        length = 0
        while (character := self.peek(length)) not in _BLANK_OR_END:
            after = self.peek(length + 1)
            if self.flow_level:
                if character == ":" and after in ",?[]{}":
                    raise ScannerError(
                        "while scanning a plain scalar",
                        self.get_mark(),
                        "found unexpected ':'",
                        self.get_mark(),
                    )
                if character in ",[]{}":
                    break
            if character == ":" and after in _BLANK_OR_END:
                break
            length += 1
        return length

    def _plain_blanks(self, indent: int, start: Mark) -> tuple[str, bool]:
        """The blanks and line breaks after a piece of unquoted text, folded, and whether there was a line break."""
        whitespace, breaks = "", 0
        while (character := self.peek()) in " \t\n\r":
            if character in _BREAKS:
                self._line_break()
                breaks += 1
                continue
            if breaks and self.column < indent and character == "\t":
                raise ScannerError(
                    "while scanning a plain scalar",
                    start,
                    "found a tab character that violates indentation",
                    self.get_mark(),
                )
            if not breaks:
                whitespace += character
            self.forward()
        if not breaks:
            return whitespace, False
        return "\n" * (breaks - 1) or " ", True

    def _line_break(self) -> bool:
        return bool(self.scan_line_break())  # type: ignore[no-untyped-call]

    def _at_document_marker(self) -> bool:
        return self.prefix(3) in ("---", "...") and self.peek(3) in _BLANK_OR_END

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, object]:
        """The empty lines that a text block begins with; a tab does not indent it."""
        found: tuple[list[str], int, object] = super().scan_block_scalar_indentation()
        self._refuse_tab(self.column + 1)
        return found

    def scan_block_scalar_breaks(self, indent: int) -> tuple[list[str], object]:
        """The empty lines between the lines of a text block; a tab does not indent it."""
        found: tuple[list[str], object] = super().scan_block_scalar_breaks(indent)
        self._refuse_tab(indent)
        return found

    def _refuse_tab(self, indent: int) -> None:
        if self.column < indent and self.peek() == "\t":
            raise ScannerError(
                "while scanning a block scalar",
                None,
                "found a tab character where an indentation space is expected",
                self.get_mark(),
            )
