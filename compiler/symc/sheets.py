"""Sheets: an agent's prompt as people read it, every fragment with its border and origin (docs/prompts.md §7).

``symc show`` prints them and the snapshot tests keep them: what is reviewed looks the same everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symc.composition import Composition, Slot
from symc.rendering import joined, piece

CHARACTERS_A_TOKEN: Final = 4
"""The estimate of docs/prompts.md §5; a tokenizer would depend on the model and the machine."""

CUT_SHORT: Final = "cut before it came here"
"""Among the facts of a fragment that was truncated before it reached a manifest."""

_HEADING = re.compile(r"## \d+\. (\S+)(?: \(slot\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One place of a prompt: a fragment with its text as this agent has it, or a slot (``text`` None).

    ``source`` is the manifest of its owner, relative to the workspace folder.
    """

    id: str
    source: str
    layer: str
    tier: str
    scope: str
    order: int
    text: str | None
    truncated: bool = False
    slot: Slot | None = None
    closes: str = ""

    @property
    def piece(self) -> str:
        """The fragment exactly as the model reads it, its frame included; empty for a slot."""
        if self.text is None:
            return ""
        return piece(self.id, self.text, tier=self.tier, truncated=self.truncated)

    @property
    def facts(self) -> str:
        """Everything but id and text, on one line."""
        size = f"{len(self.piece)} characters"
        if self.slot is not None:
            size = f"at most {self.slot.max_chars} characters, {'required' if self.slot.required else 'optional'}"
        cut = f" · {CUT_SHORT}" if self.truncated else ""
        return (
            f"{self.layer} · {self.tier} · {self.scope} · order {self.order} · {size}{cut} · `{self.source}`"
        )


def entries(composition: Composition) -> tuple[Entry, ...]:
    """The prompt of an agent, place by place, in its order."""
    sources = {author.name: author.source for author in composition.authors}
    sources |= {name: extension.source for name, extension in composition.extensions.items()}
    plan = composition.agent.cache_plan
    closes = {plan.static: "every run of this agent"} | {plan.deployment: "the whole deployment"}
    return tuple(
        Entry(
            id=joined_id,
            source=sources[joined_id.partition("/")[0]],
            layer="l2" if isinstance(part, Slot) else part.layer,
            tier=part.tier,
            scope=part.scope,
            order=part.order,
            text=None if isinstance(part, Slot) else text,
            truncated=not isinstance(part, Slot) and part.truncated,
            slot=part if isinstance(part, Slot) else None,
            closes=closes.get(joined_id, ""),
        )
        for joined_id, part, text in composition.layout
    )


def plain(found: Sequence[Entry]) -> str:
    """Exactly the static bytes that the model receives."""
    return joined(entry.piece for entry in found if entry.text is not None)


def as_text(found: Sequence[Entry], width: int = 100) -> str:
    """The prompt for a terminal: a rule line before each fragment, its text below."""
    return "\n".join(_text_lines(found, width)) + "\n"


def _text_lines(found: Sequence[Entry], width: int) -> Iterator[str]:
    for number, entry in enumerate(found, 1):
        title = f"── {number}. {entry.id}{' (slot)' if entry.slot else ''} "
        yield title + "─" * max(2, width - len(title))
        yield f"   {entry.facts.replace('`', '')}"
        if entry.text is not None:
            yield entry.piece
        if entry.closes:
            yield f"── cache breakpoint: shared by {entry.closes}"


def as_markdown(name: str, found: Sequence[Entry]) -> str:
    """The prompt as a page for a code host, exact to the character (see :func:`read_markdown`)."""
    return "\n".join(_markdown_lines(name, found)) + "\n"


def _markdown_lines(name: str, found: Sequence[Entry]) -> Iterator[str]:
    size = len(plain(found))
    yield f"# Prompt of {name}"
    yield ""
    yield f"{len(found)} places, {size} characters (about {tokens(size)} tokens at {CHARACTERS_A_TOKEN} characters each)."
    for number, entry in enumerate(found, 1):
        yield ""
        yield f"## {number}. {entry.id}{' (slot)' if entry.slot else ''}"
        yield ""
        yield entry.facts
        if entry.text is not None:
            fence = _fence(entry.text)
            yield ""
            yield f"{fence}text"
            # The line end before the closing fence is not part of the text: one that ends in a line end shows an
            # empty last line, and an empty text is one empty line.
            yield entry.text
            yield fence
        if entry.closes:
            yield ""
            yield f"*Cache breakpoint: what stands above is shared by {entry.closes}.*"


def read_markdown(page: str) -> tuple[tuple[str, str, str | None], ...]:
    """The places of a page that :func:`as_markdown` made: id, facts and text of each."""
    found: list[tuple[str, str, str | None]] = []
    lines = page.split("\n")
    at = 0
    while at < len(lines):
        heading = _HEADING.fullmatch(lines[at])
        at += 1
        if heading is None:
            continue
        facts = lines[at + 1] if at + 1 < len(lines) else ""
        at += 2
        text = None
        if at + 1 < len(lines) and re.fullmatch(r"`{3,}text", lines[at + 1]):
            fence = lines[at + 1][:-4]
            end = next((n for n in range(at + 2, len(lines)) if lines[n] == fence), len(lines))
            text = "\n".join(lines[at + 2 : end])
            at = end + 1
        found.append((heading[1], facts, text))
    return tuple(found)


def as_json(name: str, found: Sequence[Entry]) -> str:
    """The prompt as data: ``{"format": 1, "agent", "fragments": […]}``."""
    fragments = [_json_entry(entry) for entry in found]
    return (
        json.dumps({"format": 1, "agent": name, "fragments": fragments}, ensure_ascii=False, indent=2) + "\n"
    )


def _json_entry(entry: Entry) -> dict[str, Any]:
    shared = {
        "id": entry.id,
        "from": entry.source,
        "layer": entry.layer,
        "tier": entry.tier,
        "scope": entry.scope,
        "order": entry.order,
    }
    if entry.slot is not None:
        return shared | {"slot": {"max_chars": entry.slot.max_chars, "required": entry.slot.required}}
    return shared | {"characters": len(entry.piece), "text": entry.text, "rendered": entry.piece}


def sizes(found: Sequence[Entry]) -> str:
    """A table of the fragments by size, largest first, with an estimate in tokens."""
    static = [entry for entry in found if entry.text is not None]
    total = len(plain(found))
    rows = [
        (entry.id, len(entry.piece))
        for entry in sorted(static, key=lambda entry: (-len(entry.piece), entry.id))
    ]
    longest = max([len(row[0]) for row in rows] + [len("fragment")])
    lines = [f"{'fragment':<{longest}}  characters  ~tokens   share"]
    lines += [
        f"{name:<{longest}}  {size:>10}  {tokens(size):>7}  {size / max(total, 1):>6.1%}"
        for name, size in rows
    ]
    lines.append(f"{'whole prompt':<{longest}}  {total:>10}  {tokens(total):>7}")
    lines.append(f"tokens are estimated as characters / {CHARACTERS_A_TOKEN}")
    return "\n".join(lines) + "\n"


def tokens(characters: int) -> int:
    """The estimate in tokens, rounded up."""
    return -(-characters // CHARACTERS_A_TOKEN)


def _fence(text: str) -> str:
    """A fence that no run of backticks in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)
