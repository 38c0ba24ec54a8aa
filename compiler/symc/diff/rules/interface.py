"""Interface rules: what callers of an agent and authors of prompts depend on (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Finding, Item, Json, Rule
from symc.diff.parameters import SchemaChange, schema_changes
from symc.diff.surfaces import Pair, aspect


def tool_added(evidence: Evidence) -> Iterator[Finding]:
    """Tools that the model sees and did not see."""
    yield from _grouped(
        evidence,
        lambda pair: (pair.label, "", pair.new.name) if pair.old is None and pair.new is not None else None,
    )


def tool_removed(evidence: Evidence) -> Iterator[Finding]:
    """Tools that the model no longer sees."""
    yield from _grouped(
        evidence,
        lambda pair: (pair.label, pair.old.name, "") if pair.new is None and pair.old is not None else None,
    )


def tool_renamed(evidence: Evidence) -> Iterator[Finding]:
    """Tools that go by another name: their exposed one, or the raw one at their server."""
    groups: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in evidence.tools:
        if pair.old is None or pair.new is None:
            continue
        if pair.old.name != pair.new.name or pair.old.key.identity != pair.new.key.identity:
            key = (pair.old.name, str(pair.old.key), pair.new.name, str(pair.new.key))
            groups.setdefault(key, []).append(pair)
    for (old_name, old, new_name, new), pairs in sorted(groups.items()):
        yield Finding(
            subject=new,
            about=Item("selection", pairs[0].agent, new_name),
            before={"name": old_name, "tool": old},
            after={"name": new_name, "tool": new},
            touches=tuple(pair.agent for pair in pairs),
        )
    for caller in evidence.agents:
        old_edges, new_edges = (
            side.agents[caller].get("delegates", {}) for side in (evidence.old, evidence.new)
        )
        for child in sorted(old_edges.keys() & new_edges.keys()):
            before, after = old_edges[child]["tool"], new_edges[child]["tool"]
            if before != after:
                yield Finding(
                    subject=f"{caller} → {child}",
                    about=Item("delegate", caller, child),
                    before={"name": before},
                    after={"name": after},
                    touches=(caller,),
                )


def variant_chain_changed(evidence: Evidence) -> Iterator[Finding]:
    """Variants that are made by other layers, or by layers with another config, under the same name."""
    for pair in evidence.tools:
        if pair.old is None or pair.new is None or pair.old.key.identity != pair.new.key.identity:
            continue
        if (pair.old.key.chain, pair.old.key.configs) != (pair.new.key.chain, pair.new.key.configs):
            yield Finding(
                subject=f"{pair.agent}: {pair.new.name}",
                about=Item("selection", pair.agent, pair.new.name),
                before=_chain(pair, old=True),
                after=_chain(pair, old=False),
                touches=(pair.agent,),
            )


def tool_parameters_incompatible(evidence: Evidence) -> Iterator[Finding]:
    """Tools of which a call that was right may now be refused."""
    yield from _parameters(evidence, breaks=True)


def tool_parameters_compatible(evidence: Evidence) -> Iterator[Finding]:
    """Tools whose parameters changed, and that still accept every call of before."""
    yield from _parameters(evidence, breaks=False)


def output_schema_changed(evidence: Evidence) -> Iterator[Finding]:
    """Tools that promise another answer."""
    for owner, raw, old, new in _declared(evidence):
        if old.get("output_schema") != new.get("output_schema"):
            changes = schema_changes(old.get("output_schema"), new.get("output_schema"))
            if changes:
                yield Finding(
                    subject=f"{owner}/{raw}",
                    about=Item("tool", owner, raw),
                    before=old.get("output_schema"),
                    after=new.get("output_schema"),
                    touches=evidence.users(owner, raw, evidence.new),
                    remote=_is_remote(evidence, owner),
                )
    for pair in evidence.tools:
        if pair.old is not None and pair.new is not None and _own(evidence, pair, "output_schema"):
            before, after = _both(evidence, pair, "output_schema")
            base = _base(evidence, pair, "output_schema")
            if set(schema_changes(before, after)) - set(base):
                yield Finding(
                    subject=f"{pair.agent}: {pair.label}",
                    about=Item("selection", pair.agent, pair.new.name),
                    before=before,
                    after=after,
                    touches=(pair.agent,),
                )


def agent_removed(evidence: Evidence) -> Iterator[Finding]:
    """Agents that are gone."""
    for name in sorted(evidence.old.agents.keys() - evidence.new.agents.keys()):
        tools = evidence.old.agents[name].get("tools", {})
        yield Finding(
            subject=name,
            about=Item("agent", name),
            before={"tools": sorted(tools)},
            witness=f"there is no agent {name} any more",
            touches=(name,),
        )


def slot_changed(evidence: Evidence) -> Iterator[Finding]:
    """Slots that take longer or shorter texts, or became required or optional."""
    for key, new in sorted(evidence.fragments_new.items()):
        old = evidence.fragments_old.get(key)
        if old is None or not (old.is_slot and new.is_slot):
            continue
        before, after = (
            {name: one.part.get(name) for name in ("max_chars", "required")} for one in (old, new)
        )
        if before != after:
            yield Finding(
                subject=key,
                about=Item("fragment", new.owner, new.name),
                before=before,
                after=after,
                touches=evidence.readers(key, evidence.new),
            )


def hooks_reordered(evidence: Evidence) -> Iterator[Finding]:
    """Agents whose hooks run in another order, or that use their extensions in another one."""
    for agent in evidence.agents:
        old, new = (side.agents[agent].get("lifecycle", {}) for side in (evidence.old, evidence.new))
        for phase in ("install", "teardown"):
            before, after = list(old.get(phase, ())), list(new.get(phase, ()))
            both = set(before) & set(after)
            if [one for one in before if one in both] != [one for one in after if one in both]:
                yield Finding(
                    subject=f"{agent} {phase}",
                    about=Item("agent", agent),
                    before=before,
                    after=after,
                    touches=(agent,),
                )


def _grouped(evidence: Evidence, named: Callable[[Pair], tuple[str, str, str] | None]) -> Iterator[Finding]:
    both = evidence.old.agents.keys() & evidence.new.agents.keys()
    groups: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in evidence.tools:
        key = named(pair)
        if key is not None and pair.agent in both:
            groups.setdefault(key, []).append(pair)
    for (label, before, after), pairs in sorted(groups.items()):
        yield Finding(
            subject=label,
            about=Item("selection", pairs[0].agent, after or before),
            before={"name": before} if before else None,
            after={"name": after} if after else None,
            touches=tuple(pair.agent for pair in pairs),
        )


def _chain(pair: Pair, *, old: bool) -> Json:
    one = pair.old if old else pair.new
    assert one is not None
    return [
        {"layer": f"{layer.extension}/{layer.name}", "config": config.decode()}
        for layer, config in zip(one.key.chain, one.key.configs, strict=True)
    ]


def _declared(evidence: Evidence) -> Iterator[tuple[str, str, Json, Json]]:
    for owner in evidence.extensions:
        old, new = (side.extensions[owner].get("tools", {}) for side in (evidence.old, evidence.new))
        if old != new:
            yield from ((owner, raw, old[raw], new[raw]) for raw in sorted(old.keys() & new.keys()))


def _parameters(evidence: Evidence, *, breaks: bool) -> Iterator[Finding]:
    for owner, raw, old, new in _declared(evidence):
        changes = schema_changes(old.get("input_schema", {}), new.get("input_schema", {}))
        if changes and any(change.breaks for change in changes) == breaks:
            yield Finding(
                subject=f"{owner}/{raw}",
                about=Item("tool", owner, raw),
                before=old.get("input_schema", {}),
                after=new.get("input_schema", {}),
                witness=_said(changes),
                touches=evidence.users(owner, raw, evidence.new),
                remote=_is_remote(evidence, owner),
            )
    for pair in evidence.tools:
        if pair.old is None or pair.new is None or not _own(evidence, pair, "input_schema"):
            continue
        before, after = _both(evidence, pair, "input_schema")
        # What a variant inherits from its base is told there.
        changes = tuple(
            change
            for change in schema_changes(before, after)
            if change not in _base(evidence, pair, "input_schema")
        )
        if changes and any(change.breaks for change in changes) == breaks:
            yield Finding(
                subject=f"{pair.agent}: {pair.label}",
                about=Item("selection", pair.agent, pair.new.name),
                before=before,
                after=after,
                witness=_said(changes),
                touches=(pair.agent,),
            )


def _own(evidence: Evidence, pair: Pair, name: str) -> bool:
    """Whether the agent holds the schema itself on either side, and they differ."""
    assert pair.old is not None
    assert pair.new is not None
    own = (
        evidence.old.agents[pair.agent]["tools"][pair.old.name],
        evidence.new.agents[pair.agent]["tools"][pair.new.name],
    )
    return any(name in one for one in own) and own[0].get(name) != own[1].get(name)


def _both(evidence: Evidence, pair: Pair, name: str) -> tuple[Json, Json]:
    assert pair.old is not None
    assert pair.new is not None
    return aspect(evidence.old, pair.old, name), aspect(evidence.new, pair.new, name)


def _base(evidence: Evidence, pair: Pair, name: str) -> tuple[SchemaChange, ...]:
    assert pair.old is not None
    assert pair.new is not None
    before, after = (
        side.extensions[one.key.extension]["tools"][one.key.raw].get(name)
        for side, one in ((evidence.old, pair.old), (evidence.new, pair.new))
    )
    return schema_changes(before, after)


def _said(changes: tuple[SchemaChange, ...]) -> str:
    shown = "; ".join(
        f"{change.at.replace('/properties/', '') or 'the whole'}: {change.what}" for change in changes[:5]
    )
    return shown if len(changes) <= 5 else f"{shown}; {len(changes) - 5} more"


def _is_remote(evidence: Evidence, owner: str) -> bool:
    return "mcp" in evidence.new.extensions[owner]


RULES = (
    Rule(
        "SYD301",
        "tool-added",
        Axis.INTERFACE,
        Level.INFO,
        "tool",
        "added",
        "The model sees a tool that it did not see.",
        "tools: [crm/lookup_customer]  →  tools: [crm/lookup_customer, crm/list_orders]",
        tool_added,
    ),
    Rule(
        "SYD302",
        "tool-removed",
        Axis.INTERFACE,
        Level.WARN,
        "tool",
        "removed",
        "The model no longer sees a tool.",
        "tools: [crm/lookup_customer, crm/list_orders]  →  tools: [crm/lookup_customer]",
        tool_removed,
    ),
    Rule(
        "SYD303",
        "tool-renamed",
        Axis.INTERFACE,
        Level.WARN,
        "tool",
        "renamed",
        "The same tool goes by another name: the one the model sees, or the raw one at its server.",
        "extensions: [{use: knowledge}]  →  extensions: [{use: knowledge, prefix: kb}]",
        tool_renamed,
    ),
    Rule(
        "SYD304",
        "tool-parameters-incompatible",
        Axis.INTERFACE,
        Level.ERROR,
        "parameters of",
        "changed incompatibly",
        "A call that was right may now be refused: a parameter is new and required, gone, or narrower.",
        "required: [order]  →  required: [order, amount]",
        tool_parameters_incompatible,
    ),
    Rule(
        "SYD305",
        "tool-parameters-compatible",
        Axis.INTERFACE,
        Level.INFO,
        "parameters of",
        "changed compatibly",
        "Parameters changed, and every call of before is still accepted.",
        "a new optional property",
        tool_parameters_compatible,
    ),
    Rule(
        "SYD306",
        "variant-chain-changed",
        Axis.INTERFACE,
        Level.WARN,
        "chain of",
        "changed",
        "A variant is made by other layers, or by layers with another config, under the same name.",
        "[{use: cache, config: {ttl: 300}}]  →  [{use: cache, config: {ttl: 600}}]",
        variant_chain_changed,
    ),
    Rule(
        "SYD307",
        "output-schema-changed",
        Axis.INTERFACE,
        Level.WARN,
        "output schema of",
        "changed",
        "A tool promises another answer.",
        "output_schema: {type: object}  →  output_schema: {type: array}",
        output_schema_changed,
    ),
    Rule(
        "SYD308",
        "agent-removed",
        Axis.INTERFACE,
        Level.ERROR,
        "agent",
        "removed",
        "An agent is gone: whoever opens it is refused.",
        "agents/triage.yaml is deleted",
        agent_removed,
    ),
    Rule(
        "SYD309",
        "slot-changed",
        Axis.INTERFACE,
        Level.WARN,
        "slot",
        "changed",
        "A slot takes longer or shorter texts, or became required or optional.",
        "slot: {max_chars: 2000}  →  slot: {max_chars: 500, required: true}",
        slot_changed,
    ),
    Rule(
        "SYD310",
        "hooks-reordered",
        Axis.INTERFACE,
        Level.WARN,
        "hooks of",
        "reordered",
        "Hooks of an agent run in another order.",
        "an extension requires another one that it did not require",
        hooks_reordered,
    ),
)
