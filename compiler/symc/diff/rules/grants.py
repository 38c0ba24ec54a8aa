"""Authority rules about what agents have: tools, effects, and agents themselves (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Direction, Finding, Item, Json, Rule
from symc.diff.moves import Move, direction
from symc.diff.powers import Access, Cell
from symc.diff.side import Side
from symc.diff.surfaces import Bound, bound
from symc.diff.witness import witness

_MAGIC = frozenset("*?[")


def grant_widened(evidence: Evidence) -> Iterator[Finding]:
    """Tools and effects that an agent of both sides has and did not have, for no more telling reason."""
    told = {
        move.cell for moves in (_exposed(evidence), _captured(evidence), _escaped(evidence)) for move in moves
    }
    gained = [
        move for move in _gained(evidence) if move.cell not in told and not _is_of_an_edge(evidence, move)
    ]
    yield from _by_label(evidence, gained)


def grant_narrowed(evidence: Evidence) -> Iterator[Finding]:
    """Tools and effects that an agent of both sides had and has no more."""
    lost = (
        move
        for move in evidence.moves.direct
        if move.down
        and move.after.state != "open"
        and not _is_of_an_edge(evidence, move)
        and move.cell.agent in evidence.new.agents
    )
    yield from _by_label(evidence, lost)


def wildcard_captured(evidence: Evidence) -> Iterator[Finding]:
    """Tools that a row which was there before now selects, because they are new."""
    for move in _captured(evidence):
        tool = _bound(evidence.new, move.cell)
        yield Finding(
            subject=f"{move.cell.agent}: {move.cell.label}",
            about=Item("selection", move.cell.agent, tool.name),
            after={"selected_by": tool.selected_by, "name": tool.name},
            witness=witness(move),
            touches=(move.cell.agent,),
            direction=Direction.UP,
        )


def base_exposed(evidence: Evidence) -> Iterator[Finding]:
    """Tools that stood hidden behind their variants and can now be called by name."""
    yield from _by_label(evidence, _exposed(evidence))


def pattern_escaped(evidence: Evidence) -> Iterator[Finding]:
    """Tools that have another raw name, which a rule over the old one does not match."""
    for move in _escaped(evidence):
        old = _renamed(evidence)[move.cell]
        before = _standing_of(evidence, move.cell.agent, old)
        policies = sorted({atom.policy for atom in before.atoms} - {atom.policy for atom in move.after.atoms})
        way = "denied" if any(atom.denies for atom in before.atoms) else "asked"
        tool = _bound(evidence.new, move.cell)
        yield Finding(
            subject=f"{move.cell.agent}: {move.cell.label}",
            about=Item("selection", move.cell.agent, tool.name),
            before={"tool": str(old.key), "policies": policies},
            after={"tool": move.cell.label},
            witness=f"{move.cell.agent} may now call {move.cell.label} "
            f"(was: {old.key}, {way} by {', '.join(policies)})",
            touches=(move.cell.agent,),
            direction=Direction.UP,
        )


def agent_added(evidence: Evidence) -> Iterator[Finding]:
    """Agents that were not there."""
    for name in sorted(evidence.new.agents.keys() - evidence.old.agents.keys()):
        entry = evidence.new.agents[name]
        tools = sorted(str(one.key) for one in bound(evidence.moves.new, name).values() if one.exposed)
        moves = [move for move in evidence.moves.direct if move.cell.agent == name and move.up]
        # The tools say more than that it may call its model.
        first = next((move for move in moves if move.cell.key is not None), moves[0] if moves else None)
        yield Finding(
            subject=name,
            about=Item("agent", name),
            after={
                "tools": tools,
                "grants": list(entry.get("grants", ())),
                "env": list(entry.get("env", ())),
            },
            witness=witness(first) if first else "",
            touches=(name,),
            direction=Direction.UP if moves else Direction.SAME,
        )


def _is_of_an_edge(evidence: Evidence, move: Move) -> bool:
    """Whether the move is about a delegate that came or went, which is told as that."""
    sides = (evidence.old, evidence.new)
    return bool(move.cell.child) and not all(
        move.cell.child in side.agents.get(move.cell.agent, {}).get("delegates", {}) for side in sides
    )


def _gained(evidence: Evidence) -> Iterator[Move]:
    """Direct cells of agents of both sides that were closed and are open."""
    return (
        move
        for move in evidence.moves.direct
        if move.up and move.before.state != "open" and move.cell.agent in evidence.old.agents
    )


def _exposed(evidence: Evidence) -> Iterator[Move]:
    return (move for move in _gained(evidence) if move.before.state == "hidden")


def _captured(evidence: Evidence) -> Iterator[Move]:
    escaped = {move.cell for move in _escaped(evidence)}
    for move in _gained(evidence):
        key = move.cell.key
        if key is None or key.chain or move.before.state != "absent" or move.cell in escaped:
            continue
        row = _bound(evidence.new, move.cell).selected_by
        old = evidence.old.agents[move.cell.agent].get("tools", {}).values()
        was_there = any(tool["selected_by"] == row for tool in old)
        known = key.raw in evidence.old.extensions.get(key.extension, {}).get("tools", {})
        if was_there and not known and not _MAGIC.isdisjoint(row):
            yield move


def _escaped(evidence: Evidence) -> Iterator[Move]:
    renamed = _renamed(evidence)
    for move in _gained(evidence):
        old = renamed.get(move.cell)
        if old is None:
            continue
        before = _standing_of(evidence, move.cell.agent, old)
        still = {atom.policy for atom in move.after.atoms}
        if any(atom.policy not in still for atom in before.atoms):
            yield move


def _standing_of(evidence: Evidence, agent: str, old: Bound) -> Access:
    """Where the agent stood at a tool that it had."""
    return evidence.moves.old.calls(agent, (old.key,))[Cell(agent, "tool_call", old.key)]


def _renamed(evidence: Evidence) -> Mapping[Cell, Bound]:
    """By the cell of now, the tool of before that is the same but for its raw name."""
    return {
        Cell(pair.agent, "tool_call", pair.new.key): pair.old
        for pair in evidence.tools
        if pair.old is not None and pair.new is not None and pair.old.key.identity != pair.new.key.identity
    }


def _bound(side: Side, cell: Cell) -> Bound:
    name, key = next((name, key) for name, key in side.keys(cell.agent).items() if key == cell.key)
    tool = side.agents[cell.agent]["tools"][name]
    return Bound(cell.agent, name, key, tool.get("exposed") is not False, tool["selected_by"])


def _by_label(evidence: Evidence, moves: Iterable[Move]) -> Iterator[Finding]:
    """One finding for each thing, with all agents that it is about."""
    found: dict[str, list[Move]] = {}
    for move in moves:
        found.setdefault(move.cell.label, []).append(move)
    for label, grouped in sorted(found.items()):
        cell = grouped[0].cell
        up = any(move.up for move in grouped)
        side = evidence.new if up else evidence.old
        rows = {move.cell.agent: _row(side, move.cell) for move in grouped}
        yield Finding(
            subject=label,
            about=_selection(side, cell),
            before=None if up else rows,
            after=rows if up else None,
            witness=witness(grouped[0]),
            touches=tuple(move.cell.agent for move in grouped),
            direction=direction(grouped),
        )


def _row(side: Side, cell: Cell) -> Json:
    """Where the agent has it from: the row that selects a tool; for an effect, that it is granted."""
    return _bound(side, cell).selected_by if cell.key is not None else "granted"


def _selection(side: Side, cell: Cell) -> Item:
    if cell.key is None:
        return Item("grant", cell.agent, cell.effect)
    return Item("selection", cell.agent, _bound(side, cell).name)


RULES = (
    Rule(
        "SYD101",
        "grant-widened",
        Axis.AUTHORITY,
        Level.ERROR,
        "grant of",
        "added",
        "An agent may call a tool, or cause an effect, that it could not before.",
        "tools: [crm/lookup_customer]  →  tools: [crm/lookup_customer, crm/refund_order]",
        grant_widened,
    ),
    Rule(
        "SYD102",
        "grant-narrowed",
        Axis.AUTHORITY,
        Level.INFO,
        "grant of",
        "removed",
        "An agent may no longer call a tool, or cause an effect.",
        "grants: [memory_read]  →  grants: []",
        grant_narrowed,
    ),
    Rule(
        "SYD104",
        "pattern-escaped",
        Axis.AUTHORITY,
        Level.ERROR,
        "tool",
        "escaped a rule",
        "A tool has another raw name, and a rule that stopped the old one does not match the new one; no policy changed.",
        "deny {tools: [files/write_file]}; the server calls the tool file_write since the pin was renewed",
        pattern_escaped,
    ),
    Rule(
        "SYD105",
        "wildcard-captured",
        Axis.AUTHORITY,
        Level.ERROR,
        "new tool of",
        "captured by an old wildcard",
        "A tool that is new at its server or extension is selected by a pattern that was there before; "
        "no manifest of the agent changed.",
        'tools: ["files/*"], and the renewed pin has a tool delete_all',
        wildcard_captured,
    ),
    Rule(
        "SYD112",
        "agent-added",
        Axis.AUTHORITY,
        Level.ERROR,
        "agent",
        "added",
        "There is an agent that was not there before, with all that it may do.",
        "a new file agents/refunds.yaml",
        agent_added,
    ),
    Rule(
        "SYD115",
        "base-exposed",
        Axis.AUTHORITY,
        Level.ERROR,
        "tool",
        "exposed beside its variants",
        "A tool that could only be called through its variants can now be called by name.",
        "variants: {crm/refund_order: [{chain: [audit], expose: only}]}  →  [{chain: [audit], expose: all}]",
        base_exposed,
    ),
)
