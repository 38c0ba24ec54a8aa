"""Small workspaces as text, taken as far as a stage: what the tables of these tests are written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from textwrap import dedent

from symc.compose.layout import Layout, layout
from symc.compose.link import LinkedAgent, Links, link
from symc.compose.select import Selection, select
from symc.compose.typesetting import Typesetter
from symc.diagnostics import Diagnostic
from symc.manifest.check import check
from symc.manifest.checked import Manifests
from symc.source import Workspace, parse

NO_TEXTS: Mapping[str, str] = {}
_NAME = re.compile(r"^name: (\S+)$", re.MULTILINE)


def workspace(*documents: str, texts: Mapping[str, str] = NO_TEXTS) -> Workspace:
    """The documents, each in a file of its own name; ``texts`` are ``.md`` files."""
    files = {}
    for document in documents:
        text = dedent(document).strip() + "\n"
        found = _NAME.search(text)
        files[f"{found[1] if found else 'workspace'}.yaml"] = text.encode()
    files.update({f"{name}.md": text.encode() for name, text in texts.items()})
    return Workspace.of(files)


def manifests(*documents: str, accepted: bool = True, texts: Mapping[str, str] = NO_TEXTS) -> Manifests:
    """The documents checked; without a mistake, unless ``accepted`` is False."""
    sources = parse(workspace(*documents, texts=texts))
    found = check(sources)
    if accepted:
        assert (*sources.diagnostics, *found.diagnostics) == ()
    return found


def links(*documents: str, accepted: bool = True, texts: Mapping[str, str] = NO_TEXTS) -> Links:
    """The documents linked; what link says is in the result."""
    return link(manifests(*documents, accepted=accepted, texts=texts))


def linked(*documents: str, agent: str = "support", texts: Mapping[str, str] = NO_TEXTS) -> LinkedAgent:
    """One agent, linked without a mistake."""
    found = links(*documents, texts=texts)
    assert places(found.diagnostics) == []
    return found.agents[agent]


def selection(*documents: str, agent: str = "support") -> Selection:
    """What one agent selects."""
    found = links(*documents)
    assert places(found.diagnostics) == []
    return select(found.agents[agent], found)


def laid_out(*documents: str, agent: str = "support", texts: Mapping[str, str] = NO_TEXTS) -> Layout:
    """The layout of one agent."""
    found = links(*documents, texts=texts)
    assert places(found.diagnostics) == []
    return layout(found.agents[agent], Typesetter(found))


def places(found: Iterable[Diagnostic]) -> list[str]:
    """Diagnostics as a table shows them: ``name file:line:column``, the file without its ending."""
    return [f"{one.name} {_place(one)}" for one in found]


def _place(one: Diagnostic) -> str:
    start = one.primary.start
    return f"{one.primary.file.rpartition('.')[0]}:{start.line}:{start.column}"
