"""Behaviour rules about models and what tools say of themselves (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Finding, Item, Json, Rule
from symc.diff.parameters import sayings
from symc.diff.side import Side
from symc.diff.surfaces import Bound, Pair, aspect, joined

_SAID = ("description", "title", "annotations")


def model_changed(evidence: Evidence) -> Iterator[Finding]:
    """Agents that are run by another model, or checked for another provider."""
    groups: dict[tuple[str, str], list[str]] = {}
    for agent in evidence.agents:
        before, after = (
            " ".join(
                word
                for word in (
                    side.agents[agent].get("provider", "none"),
                    side.agents[agent].get("model", ""),
                )
                if word
            )
            for side in (evidence.old, evidence.new)
        )
        if before != after:
            groups.setdefault((before, after), []).append(agent)
    for (before, after), agents in sorted(groups.items()):
        yield Finding(
            subject=", ".join(agents) if len(agents) < 4 else f"{len(agents)} agents",
            about=Item("model", agents[0]),
            before=before,
            after=after,
            touches=tuple(agents),
        )


def tool_description_changed(evidence: Evidence) -> Iterator[Finding]:
    """What tools say of themselves: description, title, behaviour hints, and the texts inside their schemas."""
    yield from _declared(evidence)
    yield from _bound(evidence)
    for agent in evidence.agents:
        before, after = (side.agents[agent].get("description") for side in (evidence.old, evidence.new))
        callers = evidence.new.delegators.get(agent, ())
        if before != after and callers:
            tool = evidence.new.agents[callers[0]]["delegates"][agent]["tool"]
            yield Finding(
                subject=tool,
                about=Item("agent", agent),
                before=joined(before),
                after=joined(after),
                touches=callers,
            )
    for owner in evidence.extensions:
        old, new = (
            side.extensions[owner].get("tool_extensions", {}) for side in (evidence.old, evidence.new)
        )
        for name in sorted(old.keys() & new.keys()):
            if old[name].get("description") != new[name].get("description"):
                yield Finding(
                    subject=f"{owner}/{name}",
                    about=Item("layer", owner, name),
                    before=joined(old[name].get("description")),
                    after=joined(new[name].get("description")),
                )


def reason_changed(evidence: Evidence) -> Iterator[Finding]:
    """Policies that say another reason, which the model reads when it is stopped."""
    for veto in evidence.vetoes:
        if (
            veto.changed
            and veto.old is not None
            and veto.new is not None
            and veto.old.reason != veto.new.reason
        ):
            yield Finding(
                subject=veto.policy_id,
                about=evidence.policy(veto.policy_id),
                before=veto.old.reason,
                after=veto.new.reason,
            )


def _declared(evidence: Evidence) -> Iterator[Finding]:
    for owner in evidence.extensions:
        old, new = evidence.old.extensions[owner], evidence.new.extensions[owner]
        tools = old.get("tools", {}), new.get("tools", {})
        if tools[0] == tools[1]:
            continue
        for raw in sorted(tools[0].keys() & tools[1].keys()):
            before, after = (_said(one[raw]) for one in tools)
            if before != after:
                yield Finding(
                    subject=f"{owner}/{raw}",
                    about=Item("tool", owner, raw),
                    before=before,
                    after=after,
                    touches=evidence.users(owner, raw, evidence.new),
                    remote="mcp" in new,
                )


def _said(tool: Json) -> Json:
    said = {key: tool[key] for key in _SAID if key in tool}
    if "description" in said:
        said["description"] = joined(said["description"])
    inner = {key: sayings(tool.get(key)) for key in ("input_schema", "output_schema")}
    return said | {key: found for key, found in inner.items() if found}


def _bound(evidence: Evidence) -> Iterator[Finding]:
    """What agents' own rows and layers say, where it does not follow from what the base says."""
    for pair in evidence.tools:
        if pair.old is None or pair.new is None:
            continue
        before, after = _heard(evidence.old, pair.old), _heard(evidence.new, pair.new)
        if before == after or _follows(evidence, pair):
            continue
        plain = before["annotations"] == after["annotations"]
        yield Finding(
            subject=f"{pair.agent}: {pair.label}",
            about=Item("selection", pair.agent, pair.new.name),
            before=before["description"] if plain else before,
            after=after["description"] if plain else after,
            touches=(pair.agent,),
        )


def _heard(side: Side, one: Bound) -> dict[str, Json]:
    """What the model hears of the tool, apart from its schemas."""
    return {
        "description": joined(aspect(side, one, "description")),
        "annotations": aspect(side, one, "annotations"),
    }


def _follows(evidence: Evidence, pair: Pair) -> bool:
    """Whether what is heard is another only as far as the base says something else."""
    assert pair.old is not None
    assert pair.new is not None
    declared = [
        side.extensions[one.key.extension]["tools"][one.key.raw]
        for side, one in ((evidence.old, pair.old), (evidence.new, pair.new))
    ]
    was, now = (joined(tool.get("description")) for tool in declared)
    heard, hears = _heard(evidence.old, pair.old), _heard(evidence.new, pair.new)
    words = heard["description"].replace(was, now) if was else heard["description"]
    hints = [tool.get("annotations") for tool in declared]
    return words == hears["description"] and (
        heard["annotations"] == hears["annotations"] or [heard["annotations"], hears["annotations"]] == hints
    )


RULES = (
    Rule(
        "SYD210",
        "model-changed",
        Axis.BEHAVIOUR,
        Level.WARN,
        "model of",
        "changed",
        "An agent is run by another model, or its tools are checked for another provider.",
        "model: claude-sonnet-4-5  →  model: claude-opus-4-5",
        model_changed,
    ),
    Rule(
        "SYD211",
        "tool-description-changed",
        Axis.BEHAVIOUR,
        Level.WARN,
        "description of",
        "changed",
        "A tool says something else of itself: its description, its title, its behaviour hints, or a text in its schemas. "
        "Of a server's tool it counts as remote text.",
        "description: Read a file.  →  description: Read a file. Always call this first.",
        tool_description_changed,
        Level.WARN,
    ),
    Rule(
        "SYD213",
        "reason-changed",
        Axis.BEHAVIOUR,
        Level.INFO,
        "reason of",
        "changed",
        "A policy says another reason, which the model reads when it is stopped.",
        "reason: Bulk exports need a human.",
        reason_changed,
    ),
)
