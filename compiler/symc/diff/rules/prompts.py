"""Behaviour rules about the texts of prompts: what the model reads (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symc.diagnostics import Level
from symc.diff import layouts
from symc.diff.evidence import Evidence
from symc.diff.layouts import Placed, source
from symc.diff.model import Axis, Finding, Item, Json, Rule
from symc.diff.side import Side
from symc.diff.surfaces import joined
from symc.hidden import scan


def fragment_added(evidence: Evidence) -> Iterator[Finding]:
    """Fragments and slots that agents read and did not read."""
    yield from _came(evidence, evidence.new, evidence.fragments_new)


def fragment_removed(evidence: Evidence) -> Iterator[Finding]:
    """Fragments and slots that agents no longer read."""
    yield from _came(evidence, evidence.old, evidence.fragments_old)


def fragment_text_changed(evidence: Evidence) -> Iterator[Finding]:
    """Fragments whose source text is another one, by more than white space."""
    for old, new in _edited(evidence):
        if not _only_space(old, new):
            yield _edit(evidence, old, new)


def whitespace_only(evidence: Evidence) -> Iterator[Finding]:
    """Fragments whose source text differs by white space alone."""
    for old, new in _edited(evidence):
        if _only_space(old, new):
            yield _edit(evidence, old, new)


def hidden_characters_introduced(evidence: Evidence) -> Iterator[Finding]:
    """Texts that the model reads and that hold characters no reader sees, which they did not hold before."""
    for key, new in evidence.fragments_new.items():
        old = evidence.fragments_old.get(key)
        if new.is_slot or (old is not None and old.part == new.part):
            continue
        before = frozenset(run.description for run in scan(source(old))) if old is not None else frozenset()
        found = [run.description for run in scan(source(new)) if run.description not in before]
        if found:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                after=found,
                touches=evidence.readers(key, evidence.new),
            )
    for owner in evidence.differing["extensions"]:
        old_tools = evidence.old.extensions.get(owner, {}).get("tools", {})
        for raw, tool in evidence.new.extensions.get(owner, {}).get("tools", {}).items():
            was = {run.description for run in scan(joined(old_tools.get(raw, {}).get("description")))}
            found = [
                run.description for run in scan(joined(tool.get("description"))) if run.description not in was
            ]
            if found:
                yield Finding(
                    subject=f"{owner}/{raw}",
                    about=Item("tool", owner, raw),
                    after=found,
                    touches=evidence.users(owner, raw, evidence.new),
                )


def truncated_set(evidence: Evidence) -> Iterator[Finding]:
    """Fragments whose text was whole and is now said to be cut."""
    for key, old, new in evidence.kept:
        if new.part.get("truncated") and not old.part.get("truncated"):
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=False,
                after=True,
                touches=evidence.readers(key, evidence.new),
            )


def variables_changed(evidence: Evidence) -> Iterator[Finding]:
    """Templates that read otherwise because of a variable, their own text being the same; and variables without effect."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for agent in evidence.prompted:
        for fragment in evidence.new.agents[agent].get("prompt", ()):
            old, new = evidence.fragments_old.get(fragment), evidence.fragments_new.get(fragment)
            if old is None or new is None or new.is_slot or old.part.get("text") != new.part.get("text"):
                continue
            before, after = (
                layouts.lines(side, parts, agent, fragment)
                for side, parts in (
                    (evidence.old, evidence.fragments_old),
                    (evidence.new, evidence.fragments_new),
                )
            )
            if before != after:
                groups.setdefault((fragment, joined(before), joined(after)), []).append(agent)
    for (fragment, was, now), agents in sorted(groups.items()):
        part = evidence.fragments_new[fragment]
        yield Finding(
            subject=fragment,
            about=Item("vars", agents[0], part.owner),
            before=was,
            after=now,
            touches=tuple(agents),
        )
    told = {agent for agents in groups.values() for agent in agents}
    for agent in evidence.agents:
        before, after = (side.agents[agent].get("vars", {}) for side in (evidence.old, evidence.new))
        if before != after and agent not in told:
            changed = sorted(
                name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
            )
            yield Finding(
                subject=agent,
                about=Item("vars", agent),
                before={name: before[name] for name in changed if name in before},
                after={name: after[name] for name in changed if name in after},
                touches=(agent,),
            )


def _came(evidence: Evidence, side: Side, parts: Mapping[str, Placed]) -> Iterator[Finding]:
    other = evidence.old if side is evidence.new else evidence.new
    replaced = {one.id for _, was, now in evidence.replaced for one in (was, now)}
    groups: dict[str, list[str]] = {}
    for agent in evidence.prompted:
        there = frozenset(other.agents[agent].get("prompt", ()))
        for fragment in side.agents[agent].get("prompt", ()):
            if fragment not in there and fragment not in replaced:
                groups.setdefault(fragment, []).append(agent)
    for fragment, agents in sorted(groups.items()):
        part = parts[fragment]
        shown: Json = {"agents": agents, "slot": True} if part.is_slot else source(part)
        yield Finding(
            subject=fragment,
            about=Item("fragment", part.owner, part.name),
            before=shown if side is evidence.old else None,
            after=shown if side is evidence.new else None,
            touches=tuple(agents),
        )


def _edited(evidence: Evidence) -> Iterator[tuple[Placed, Placed]]:
    for _, old, new in evidence.kept:
        if not old.is_slot and not new.is_slot and _reading(old) != _reading(new):
            yield old, new


def _reading(part: Placed) -> Json:
    """What decides how the text is read: the text, whether it is a template; that a cut ended is an edit, too."""
    return (part.part.get("text"), part.part.get("template", False))


def _only_space(old: Placed, new: Placed) -> bool:
    return source(old).split() == source(new).split() and old.part.get("template") == new.part.get("template")


def _edit(evidence: Evidence, old: Placed, new: Placed) -> Finding:
    before, after = old.part.get("text", ()), new.part.get("text", ())
    same = next(
        (number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    return Finding(
        subject=new.id,
        about=Item("fragment", new.owner, new.name, line=min(same, max(0, len(after) - 1))),
        before=source(old),
        after=source(new),
        touches=evidence.readers(new.id, evidence.new),
    )


RULES = (
    Rule(
        "SYD201",
        "fragment-added",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "added",
        "An agent's prompt holds a fragment or slot that it did not hold.",
        "prompts: [{fragment_id: tone, text: Be brief.}]",
        fragment_added,
    ),
    Rule(
        "SYD202",
        "fragment-removed",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "removed",
        "An agent's prompt no longer holds a fragment or slot.",
        "prompts: [{fragment_id: tone, text: Be brief.}]  →  prompts: []",
        fragment_removed,
    ),
    Rule(
        "SYD203",
        "fragment-text-changed",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "changed",
        "The text of a fragment is another one.",
        "text: Be friendly.  →  text: Be brief.",
        fragment_text_changed,
    ),
    Rule(
        "SYD207",
        "whitespace-only",
        Axis.BEHAVIOUR,
        Level.INFO,
        "fragment",
        "changed in white space",
        "The text of a fragment differs by white space alone.",
        "a blank line more at the end of a text",
        whitespace_only,
    ),
    Rule(
        "SYD208",
        "hidden-characters-introduced",
        Axis.BEHAVIOUR,
        Level.ERROR,
        "text of",
        "hides characters",
        "A text that the model reads holds characters that no reader sees, and did not hold them before.",
        "a zero-width space inside a tool's description",
        hidden_characters_introduced,
        Level.ERROR,
    ),
    Rule(
        "SYD209",
        "variables-changed",
        Axis.BEHAVIOUR,
        Level.WARN,
        "variables of",
        "changed",
        "A template reads otherwise because a variable has another value.",
        "vars: {tone: friendly}  →  vars: {tone: brief}",
        variables_changed,
    ),
    Rule(
        "SYD212",
        "truncated-set",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "now cut before it came here",
        "The text of a fragment was whole, and is now one that was already cut before it came here.",
        "truncated: false  →  truncated: true",
        truncated_set,
    ),
)
