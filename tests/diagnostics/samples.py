"""A table of one's own and a few diagnostics for the renderers' tests."""

from __future__ import annotations

from symc.diagnostics import Code, Edit, Hint, LabelledSpan, Level, Position, Span

COLLISION = Code(
    "SYM301",
    "tool-name-collision",
    "Two tools of an agent have one name.",
    "tools: [web/*, wiki/*]",
    "Give one a prefix.",
)
PROSE = Code("SYM330", "tool-name-in-prose", "A prompt names a tool.", "text", "Correct it.", Level.WARN)
NEWS = Code("SYM399", "some-news", "Something to know.", "text", "Read it.", Level.INFO)

WEB = "kind: extension\nname: web\nversion: 1.0.0\n\ntools:\n  # the site\n  - name: search\n"
WIKI = "kind: extension\nname: wiki\ntools:\n  - name: search\n"
SOURCES = {"manifests/extensions/web.yaml": WEB, "manifests/extensions/wiki.yaml": WIKI}


def span(file: str, line: int, column: int, end: int, end_line: int = 0) -> Span:
    return Span(file, Position(line, column), Position(end_line or line, end))


HERE = span("manifests/extensions/web.yaml", 7, 11, 17)
THERE = span("manifests/extensions/wiki.yaml", 4, 11, 17)

TWO_TOOLS = COLLISION.at(
    HERE,
    'two tools of agent "support" are exposed as "search"',
    secondary=(
        LabelledSpan(HERE, "web/search"),
        LabelledSpan(THERE, "wiki/search, both selected by manifests/agents/support.yaml:9"),
    ),
    hint=Hint("give one a prefix: {use: web, prefix: web}", Edit(HERE, "find")),
    subject="support",
)
