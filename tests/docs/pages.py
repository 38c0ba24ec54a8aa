"""Pages of documentation as the tests read them: headings, rule ids, links, and examples that are complete.

A line that is a path in backticks, and a fenced block below it, is a file. The files of one section are one project;
a `console` block after them shows its commands with what they print, a `python` block runs beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FILE = re.compile(
    r"^`(?P<path>[\w./-]+\.\w+)`\n\n(?P<fence>`{3,})\w+\n(?P<text>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE
)
_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<kind>\w*)\n(?P<text>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands below one `##` heading: its complete files by path, and the blocks that use them, in order."""

    page: str
    title: str
    text: str
    files: dict[str, str] = field(default_factory=dict)

    def blocks(self, kind: str) -> list[str]:
        """The fenced blocks of this kind that are no files."""
        rest = _FILE.sub("", self.text)
        return [block["text"] for block in _BLOCK.finditer(rest) if block["kind"] == kind]

    def __str__(self) -> str:
        return f"{self.page}: {self.title}"


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown file of the repository."""

    path: Path
    text: str

    @classmethod
    def of(cls, path: Path) -> Page:
        return cls(path, path.read_text(encoding="utf-8"))

    @property
    def name(self) -> str:
        """The path relative to the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return _BLOCK.sub("", self.text)

    @property
    def sections(self) -> frozenset[str]:
        """The numbers of its numbered headings."""
        return frozenset(re.findall(r"^## (\d+)\. ", self.text, re.MULTILINE))

    @property
    def rules(self) -> frozenset[str]:
        """The ids of its rules: those in bold."""
        return frozenset(re.findall(r"\*\*([A-Z]+-?\d+)\.?\*\*", self.prose))

    @property
    def anchors(self) -> frozenset[str]:
        """What a link into the page may name: headings as a code host spells them, and ids."""
        found: list[str] = []
        for heading in _HEADING.findall(self.prose):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            slug = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
        return frozenset(found) | frozenset(re.findall(r'<a id="([^"]+)"', self.text))

    @property
    def links(self) -> tuple[str, ...]:
        """The targets of its links, without those that leave the repository."""
        return tuple(
            unquote(target)
            for target in _LINK.findall(re.sub(r"`[^`\n]*`", "", self.prose))
            if not re.match(r"[a-z]+:", target)
        )

    def examples(self) -> Iterator[Section]:
        """The sections that hold complete files."""
        for part in re.split(r"^(?=## )", self.text, flags=re.MULTILINE):
            files = {match["path"]: match["text"] for match in _FILE.finditer(part)}
            if files:
                title = part.split("\n", 1)[0].lstrip("# ")
                yield Section(self.name, title, part, files)


def pages() -> list[Page]:
    """Every page of the repository that people read."""
    return [Page.of(path) for path in sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])]
