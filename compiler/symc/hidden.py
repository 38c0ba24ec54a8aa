"""Hidden characters: what a text says to a model and not to the person who reviews it.

Source: docs/prompts.md §3 (an error in every text), docs/lockfile.md §1 (L3: escaped in the lock). Standard library only;
every table is frozen here, so that no Python or Unicode release changes what is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from symc.pictographs import PICTOGRAPHS

MOST_TOLD: Final = 20
"""Places of one text that are told one by one: a text that hides that much is not mended place by place."""


@dataclass(frozen=True, slots=True)
class HiddenRun:
    """Neighbouring hidden characters of one kind; ``offset`` counts code points from the start of the text.

    ``name`` says what one of them is; ``decoded`` is the text that tag characters spell, else empty.
    """

    offset: int
    code_points: tuple[int, ...]
    name: str
    decoded: str = ""

    @property
    def description(self) -> str:
        """The run in words, itself free of hidden characters: ``zero-width space (U+200B)``."""
        count = len(self.code_points)
        if self.decoded:
            return f'{count} tag characters that spell "{self.decoded}"'
        distinct = tuple(dict.fromkeys(f"U+{point:04X}" for point in self.code_points))
        listed = " ".join(distinct[:_LISTED]) + (" …" if len(distinct) > _LISTED else "")
        return f"{self.name} ({listed})" if count == 1 else f"{count} × {self.name} ({listed})"


def scan(text: str) -> tuple[HiddenRun, ...]:
    """Every run of hidden characters in the text, in order; empty for a text that shows all it says.

    Line feeds, tabs, a byte order mark at the very start, emoji sequences (joined families, keycaps, the flags of
    England, Scotland and Wales, presentation selectors) and variants of CJK ideographs are not hidden.
    """
    if not _may_hide(text):
        return ()
    runs: list[HiddenRun] = []
    points: list[int] = []
    start, name = 0, ""
    for offset, point in _hidden(text):
        if offset == 0 and point == _BYTE_ORDER_MARK:
            continue
        kind = _name(point)
        if points and (kind != name or offset != start + len(points)):
            runs.append(_run(start, points, name))
            points = []
        if not points:
            start, name = offset, kind
        points.append(point)
    if points:
        runs.append(_run(start, points, name))
    return tuple(runs)


def told(text: str) -> Iterator[tuple[HiddenRun, str]]:
    """The first `MOST_TOLD` runs of a text, each with what is said of it; the last tells how many more there are."""
    runs = scan(text)
    for number, run in enumerate(runs[:MOST_TOLD], 1):
        more = len(runs) - number if number == MOST_TOLD else 0
        yield run, run.description + (f", and {more} more such places follow" if more else "")


def escape_hidden(json_text: str) -> str:
    r"""The same JSON with every hidden character written as ``\uXXXX``, so that a diff shows it (L3).

    Emoji sequences stay as they are. Characters beyond U+FFFF become surrogate pairs, as JSON wants it.
    """
    if not _may_hide(json_text):
        return json_text
    return _tokens().sub(lambda token: _escaped(token[0]) if token.lastindex else token[0], json_text)


_LISTED = 6
_BYTE_ORDER_MARK = 0xFEFF

# Unicode 17: the controls but line feed and tab, Default_Ignorable_Code_Point whole, the line and paragraph separators,
# interlinear annotations, the two symbols without ink (Braille blank, musical null notehead), and surrogates (a str can
# hold a lone one; no file can).
_ASCII_CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f"
_HIDDEN = (
    _ASCII_CONTROLS
    + "\\x80-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_PLAIN_ASCII = '\\n\\t -"$-)+-/:-~'  # all but the controls and the keycaps' 0-9 # *
_HIDDEN_IN_ASCII = re.compile(f"[{_ASCII_CONTROLS}]")
_HIDDEN_ANYWHERE = re.compile(f"[{_HIDDEN}]")

# What takes variants in CJK text: ideographs, and the punctuation that stands in a corner or in the middle.
_IDEOGRAPHS = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
_BLACK_FLAG, _END_OF_TAGS = "\U0001f3f4", "\U000e007f"
_TAGS = 0xE0000
# Only the three regions that fonts draw: any other tag sequence shows as a bare black flag and hides its letters.
_REGIONS = ("gbeng", "gbsct", "gbwls")

_NAMES = {
    0x0D: "carriage return",
    0x1B: "escape character",
    0x7F: "delete character",
    0x85: "next-line character",
    0xAD: "soft hyphen",
    0x34F: "combining grapheme joiner",
    0x61C: "Arabic letter mark",
    0x115F: "Hangul filler",
    0x1160: "Hangul filler",
    0x180E: "Mongolian vowel separator",
    0x200B: "zero-width space",
    0x200C: "zero-width non-joiner",
    0x200D: "zero-width joiner",
    0x200E: "left-to-right mark",
    0x200F: "right-to-left mark",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    0x202A: "left-to-right embedding",
    0x202B: "right-to-left embedding",
    0x202C: "end of a directional embedding",
    0x202D: "left-to-right override",
    0x202E: "right-to-left override",
    0x2060: "word joiner",
    0x2061: "invisible function application",
    0x2062: "invisible times",
    0x2063: "invisible separator",
    0x2064: "invisible plus",
    0x2066: "left-to-right isolate",
    0x2067: "right-to-left isolate",
    0x2068: "first strong isolate",
    0x2069: "end of a directional isolate",
    0x2800: "Braille blank",
    0x3164: "Hangul filler",
    0xFEFF: "zero-width no-break space",
    0xFFA0: "Hangul filler",
    0x1D159: "musical null notehead",
}
_NAMED_RANGES = (
    (0x00, 0x9F, "control character"),
    (0x180B, 0x180F, "variation selector"),
    (0xD800, 0xDFFF, "lone surrogate"),
    (0xFE00, 0xFE0F, "variation selector"),
    (0xFFF9, 0xFFFB, "interlinear annotation"),
    (0xE0000, 0xE007F, "tag character"),
    (0xE0100, 0xE01EF, "variation selector"),
)


def _may_hide(text: str) -> bool:
    """Whether a slower look is needed: one search in a text that has none of these characters."""
    return bool((_HIDDEN_IN_ASCII if text.isascii() else _HIDDEN_ANYWHERE).search(text))


@cache  # compiled when the first text needs it: most never do
def _tokens() -> re.Pattern[str]:
    """Matches what uses invisible characters rightly, or (in its group) one hidden character."""
    pictograph = "[" + "".join(_character_range(word) for word in PICTOGRAPHS.split()) + "]"
    element = f"{pictograph}\ufe0f?[{_SKIN_TONES}]?"
    flags = "|".join("".join(chr(_TAGS + ord(letter)) for letter in region) for region in _REGIONS)
    return re.compile(
        f"(?![{_PLAIN_ASCII}])(?:"  # never the start of one: passes over most of a text quickly
        f"{_BLACK_FLAG}(?:{flags}){_END_OF_TAGS}"
        f"|{pictograph}\ufe0e"
        f"|{element}(?:\u200d{element})*"
        "|[0-9#*][\ufe0e\ufe0f]\u20e3"
        f"|[{_IDEOGRAPHS}][\ufe00-\ufe02\U000e0100-\U000e01ef]"
        f"|([{_HIDDEN}]))"
    )


def _character_range(word: str) -> str:
    return "-".join(chr(int(point, 16)) for point in word.split("-"))


def _hidden(text: str) -> Iterator[tuple[int, int]]:
    for token in _tokens().finditer(text):
        if token.lastindex:
            yield token.start(), ord(token[0])


def _name(point: int) -> str:
    if point in _NAMES:
        return _NAMES[point]
    for first, last, name in _NAMED_RANGES:
        if first <= point <= last:
            return name
    return "invisible character"


def _run(offset: int, points: list[int], name: str) -> HiddenRun:
    decoded = "".join(chr(point - _TAGS) for point in points if 0x20 <= point - _TAGS < 0x7F)
    return HiddenRun(offset, tuple(points), name, decoded)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
