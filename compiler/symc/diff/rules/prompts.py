"""Behaviour rules about prompts: what the model reads, in which order, and what a prompt cache keeps (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from symc.contracts.vocabulary import is_authored
from symc.diagnostics import Level
from symc.diff import layouts
from symc.diff.evidence import Evidence
from symc.diff.layouts import Placed
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
        before = frozenset(run.description for run in scan(_text(old))) if old is not None else frozenset()
        found = [run.description for run in scan(_text(new)) if run.description not in before]
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


def fragment_moved(evidence: Evidence) -> Iterator[Finding]:
    """Fragments that stand elsewhere in the order, or came from another owner with the same text."""
    for agent, was, now in _replaced(evidence):
        yield Finding(
            subject=now.id,
            about=Item("fragment", now.owner, now.name),
            before={"id": was.id},
            after={"id": now.id},
            touches=(agent,),
        )
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for agent in evidence.prompted:
        before, after = _orders(evidence, agent)
        for fragment, passed in layouts.moved(before, after):
            groups.setdefault((fragment, passed), []).append(agent)
    for (fragment, passed), agents in sorted(groups.items()):
        part = evidence.fragments_new[fragment]
        positions = [
            list(side.agents[agents[0]].get("prompt", ())).index(fragment) + 1
            for side in (evidence.old, evidence.new)
        ]
        yield Finding(
            subject=fragment,
            about=Item("fragment", part.owner, part.name),
            before={"position": positions[0]},
            after={"position": positions[1], "past": list(passed)},
            touches=tuple(agents),
        )


def trust_boundary_crossed(evidence: Evidence) -> Iterator[Finding]:
    """Fragments that changed between authored and learned text, or between what all and what one user share."""
    for key, old, new in evidence.kept:
        before, after = _trust(old), _trust(new)
        if before != after:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=before,
                after=after,
                touches=evidence.readers(key, evidence.new),
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


def cache_prefix_broken(evidence: Evidence) -> Iterator[Finding]:
    """What of each agent's static prompt a provider's cache can no longer use (docs/prompts.md §6)."""
    groups: dict[str, dict[str, int]] = {}
    for agent in dict.fromkeys((*evidence.agents, *evidence.prompted)):
        broken = _broken(evidence, agent)
        if broken is not None:
            first, share = broken
            groups.setdefault(first, {})[agent] = share
    for first, shares in sorted(groups.items()):
        part = evidence.fragments_new.get(first) or evidence.fragments_old.get(first)
        agents, most = tuple(sorted(shares)), max(shares.values())
        bound = "" if most == min(shares.values()) else "up to "
        yield Finding(
            subject=first,
            about=Item("agent", agents[0]) if part is None else Item("fragment", part.owner, part.name),
            after={"invalidated_percent": most},
            witness=f"{bound}{most} % of the cached prompt is lost",
            touches=agents,
        )


def placement_without_effect(evidence: Evidence) -> Iterator[Finding]:
    """Fragments whose layer, tier, scope or order differs, and that stand where they stood."""
    crossing = {finding.subject for finding in trust_boundary_crossed(evidence)}
    moved = {finding.subject for finding in fragment_moved(evidence)}
    for key, old, new in evidence.kept:
        before, after = _placing(old), _placing(new)
        if after.get("truncated"):
            after = after | {"truncated": before.get("truncated")}  # told by a rule of its own
        if before != after and key not in crossing and key not in moved:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=before,
                after=after,
                touches=evidence.readers(key, evidence.new),
            )


def _came(evidence: Evidence, side: Side, parts: Mapping[str, Placed]) -> Iterator[Finding]:
    other = evidence.old if side is evidence.new else evidence.new
    replaced = {one.id for _, was, now in _replaced(evidence) for one in (was, now)}
    groups: dict[str, list[str]] = {}
    for agent in evidence.prompted:
        there = frozenset(other.agents[agent].get("prompt", ()))
        for fragment in side.agents[agent].get("prompt", ()):
            if fragment not in there and fragment not in replaced:
                groups.setdefault(fragment, []).append(agent)
    for fragment, agents in sorted(groups.items()):
        part = parts[fragment]
        shown: Json = {"agents": agents, "slot": True} if part.is_slot else _text(part)
        yield Finding(
            subject=fragment,
            about=Item("fragment", part.owner, part.name),
            before=shown if side is evidence.old else None,
            after=shown if side is evidence.new else None,
            touches=tuple(agents),
        )


def _replaced(evidence: Evidence) -> Iterator[tuple[str, Placed, Placed]]:
    """By agent, the fragments that went and came with the same digest under another id."""
    for agent in evidence.prompted:
        before, after = (side.agents[agent].get("prompt", ()) for side in (evidence.old, evidence.new))
        gone = [one for one in before if one not in after]
        come = [one for one in after if one not in before]
        if not gone or not come:
            continue
        by_digest = {evidence.fragments_old[one].part.get("digest"): one for one in gone}
        for one in come:
            new = evidence.fragments_new[one]
            was = by_digest.pop(new.part.get("digest"), None)
            if was is not None:
                yield agent, evidence.fragments_old[was], new


def _orders(evidence: Evidence, agent: str) -> tuple[list[str], list[str]]:
    """The order of what the agent reads on both sides, without what came and went."""
    before, after = (list(side.agents[agent].get("prompt", ())) for side in (evidence.old, evidence.new))
    if before == after:
        return [], []
    both = frozenset(before) & frozenset(after)
    return [one for one in before if one in both], [one for one in after if one in both]


def _edited(evidence: Evidence) -> Iterator[tuple[Placed, Placed]]:
    for _, old, new in evidence.kept:
        if not old.is_slot and not new.is_slot and _reading(old) != _reading(new):
            yield old, new


def _reading(part: Placed) -> Json:
    """What decides how the text is read: the text, whether it is a template; that a cut ended is an edit, too."""
    return (part.part.get("text"), part.part.get("template", False))


def _only_space(old: Placed, new: Placed) -> bool:
    return _text(old).split() == _text(new).split() and old.part.get("template") == new.part.get("template")


def _edit(evidence: Evidence, old: Placed, new: Placed) -> Finding:
    before, after = old.part.get("text", ()), new.part.get("text", ())
    same = next(
        (number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    return Finding(
        subject=new.id,
        about=Item("fragment", new.owner, new.name, line=min(same, max(0, len(after) - 1))),
        before=_text(old),
        after=_text(new),
        touches=evidence.readers(new.id, evidence.new),
    )


def _text(part: Placed) -> str:
    return joined(part.part.get("text"))


def _trust(part: Placed) -> Json:
    return {
        "trust": "authored" if is_authored(part.part["tier"]) else "learned",
        "scope": part.part["scope"],
    }


def _placing(part: Placed) -> dict[str, Json]:
    keys = ("layer", "tier", "scope", "order", "truncated")
    return {key: part.part.get(key) for key in keys}


def _broken(evidence: Evidence, agent: str) -> tuple[str, int] | None:
    """The first thing of the static prefix that differs, and how much of the old prefix is lost, in per cent."""
    old, new = evidence.old.agents[agent], evidence.new.agents[agent]
    if _tools_differ(evidence, agent):
        return "tools", 100  # tools go first on the wire
    before, after = (
        [(one, layouts.lines(side, parts, agent, one)) for one in side.agents[agent].get("prompt", ())]
        for side, parts in ((evidence.old, evidence.fragments_old), (evidence.new, evidence.fragments_new))
    )
    if before == after or not old.get("prompt") or not new.get("prompt"):
        return None
    sizes = [sum(map(len, lines)) + len(lines) + 1 for _, lines in before]
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    lost = sum(sizes[same:])
    if not lost:
        return None
    first = after[same][0] if same < len(after) else before[same][0]
    return first, max(1, round(100 * lost / sum(sizes)))


def _tools_differ(evidence: Evidence, agent: str) -> bool:
    old, new = evidence.old.agents[agent].get("tools", {}), evidence.new.agents[agent].get("tools", {})
    if old != new and _wire(old) != _wire(new):
        return True
    reworded = evidence.reworded
    return bool(reworded) and any((tool["extension"], tool["raw"]) in reworded for tool in new.values())


_ON_THE_WIRE = ("description", "input_schema", "exposed", "extension", "raw")


def _wire(tools: Mapping[str, Mapping[str, Json]]) -> Json:
    return {name: {key: tool.get(key) for key in _ON_THE_WIRE} for name, tool in tools.items()}


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
        "SYD204",
        "fragment-moved",
        Axis.BEHAVIOUR,
        Level.WARN,
        "fragment",
        "moved",
        "A fragment stands elsewhere in the prompt, or the same text comes from another owner.",
        "order: 10  →  order: 90",
        fragment_moved,
    ),
    Rule(
        "SYD205",
        "trust-boundary-crossed",
        Axis.BEHAVIOUR,
        Level.ERROR,
        "fragment",
        "crossed a trust boundary",
        "A fragment changed between authored and learned text, or between scopes of those who share it.",
        "tier: session  →  tier: operating",
        trust_boundary_crossed,
    ),
    Rule(
        "SYD206",
        "cache-prefix-broken",
        Axis.BEHAVIOUR,
        Level.INFO,
        "cached prefix from",
        "broken",
        "A provider's prompt cache holds the prefix of before; the share that it can no longer use is said.",
        "an edit of the first fragment of the prompt",
        cache_prefix_broken,
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
    Rule(
        "SYD405",
        "placement-without-effect",
        Axis.NEUTRAL,
        Level.INFO,
        "placement of",
        "changed without effect",
        "The layer, tier, scope or order of a fragment differs, and it stands where it stood.",
        "order: 100  →  order: 110, with nothing between",
        placement_without_effect,
    ),
)
