"""Authority rules about what agents have: tools, effects, delegates, and agents themselves (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Direction, Finding, Item, Json, Rule
from symc.diff.moves import Move
from symc.diff.powers import Access, Cell
from symc.diff.side import Side
from symc.diff.surfaces import Bound, bound
from symc.diff.witness import place, witness

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


def delegation_added(evidence: Evidence) -> Iterator[Finding]:
    """Delegates that an agent of both sides did not have."""
    for caller, child, edge in _edges(evidence.new, evidence.old):
        moves = [*_delegating(evidence, caller, child), *_along(evidence, caller, child, up=True)]
        yield Finding(
            subject=f"{caller} → {child}",
            about=Item("delegate", caller, child),
            after=_edge(edge),
            witness=_first(moves),
            touches=_places(moves) or (caller,),
            direction=_direction(moves),
        )


def delegation_removed(evidence: Evidence) -> Iterator[Finding]:
    """Delegates that an agent of both sides has no more."""
    for caller, child, edge in _edges(evidence.old, evidence.new):
        moves = [*_delegating(evidence, caller, child), *_along(evidence, caller, child, up=False)]
        yield Finding(
            subject=f"{caller} → {child}",
            about=Item("delegate", caller, child),
            before=_edge(edge),
            witness=_first(moves),
            touches=_places(moves) or (caller,),
            direction=_direction(moves),
        )


def delegation_widened(evidence: Evidence) -> Iterator[Finding]:
    """What a delegate may newly have beyond its caller, and what is newly reached through delegates for other reasons."""
    told: set[Move] = set()
    for caller, child, before, after in _exceeding(evidence):
        if after - before:
            moves = _along(evidence, caller, child, up=True)
            told.update(moves)
            yield _exceed_finding(caller, child, before, after, moves)
    yield from _unexplained(evidence, told, up=True)


def delegation_narrowed(evidence: Evidence) -> Iterator[Finding]:
    """What a delegate may no longer have beyond its caller, and what is no longer reached through delegates."""
    told: set[Move] = set()
    for caller, child, before, after in _exceeding(evidence):
        if before - after:
            moves = _along(evidence, caller, child, up=False)
            told.update(moves)
            if not after - before:
                yield _exceed_finding(caller, child, before, after, moves)
    yield from _unexplained(evidence, told, up=False)


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
            direction=_direction(grouped),
        )


def _row(side: Side, cell: Cell) -> Json:
    """Where the agent has it from: the row that selects a tool; for an effect, that it is granted."""
    return _bound(side, cell).selected_by if cell.key is not None else "granted"


def _selection(side: Side, cell: Cell) -> Item:
    if cell.key is None:
        return Item("grant", cell.agent, cell.effect)
    return Item("selection", cell.agent, _bound(side, cell).name)


def _edges(side: Side, other: Side) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """The delegates of agents of both sides that only ``side`` has."""
    for caller in sorted(side.agents.keys() & other.agents.keys()):
        had = other.agents[caller].get("delegates", {})
        for child, edge in sorted(side.agents[caller].get("delegates", {}).items()):
            if child not in had:
                yield caller, child, edge


def _edge(edge: Mapping[str, Json]) -> Json:
    return {"may_exceed": sorted(edge.get("may_exceed", ()))}


def _exceeding(evidence: Evidence) -> Iterator[tuple[str, str, frozenset[str], frozenset[str]]]:
    for caller in evidence.agents:
        new = evidence.new.agents[caller].get("delegates", {})
        for child, edge in sorted(evidence.old.agents[caller].get("delegates", {}).items()):
            if child in new:
                yield (
                    caller,
                    child,
                    frozenset(edge.get("may_exceed", ())),
                    frozenset(new[child].get("may_exceed", ())),
                )


def _exceed_finding(
    caller: str, child: str, before: frozenset[str], after: frozenset[str], moves: list[Move]
) -> Finding:
    wider, narrower = sorted(after - before), sorted(before - after)
    may, items = ("may now", wider) if wider else ("may no longer", narrower)
    return Finding(
        subject=f"{caller} → {child}",
        about=Item("delegate", caller, child),
        before={"may_exceed": sorted(before)},
        after={"may_exceed": sorted(after)},
        witness=_first(moves) or f"{child}, called through {caller}, {may} have {', '.join(items)} beyond it",
        touches=_places(moves) or (caller,),
        # A grant, though the delegate has nothing of it today: what it has beyond its caller would not compile without.
        direction=Direction.UP if wider else Direction.DOWN,
    )


def _delegating(evidence: Evidence, caller: str, child: str) -> Iterator[Move]:
    return (move for move in evidence.moves.direct if move.cell.agent == caller and move.cell.child == child)


def _along(evidence: Evidence, caller: str, child: str, *, up: bool) -> list[Move]:
    """The moves behind delegates whose way leads over this edge."""
    powers = evidence.moves.new if up else evidence.moves.old
    paths: dict[tuple[str, str], tuple[str, ...]] = {}
    found = []
    for move in evidence.moves.indirect:
        if not (move.up if up else move.down):
            continue
        ends = (move.cell.root, move.cell.agent)
        if ends not in paths:
            paths[ends] = powers.between(*ends)
        if caller in paths[ends] and child in paths[ends]:
            found.append(move)
    return found


def _unexplained(evidence: Evidence, told: set[Move], *, up: bool) -> Iterator[Finding]:
    """Moves behind delegates that neither the edge, nor a policy, nor the delegate's own move explains."""
    side, other = (evidence.new, evidence.old) if up else (evidence.old, evidence.new)
    edges = {(caller, child) for caller, child, _ in _edges(side, other)}
    own = {
        (move.cell.agent, move.cell.effect, move.cell.key)
        for move in evidence.moves.direct
        if (move.up if up else move.down)
    }
    blamed = {move for moves in (evidence.lifted if up else evidence.imposed).values() for move in moves}
    groups: dict[tuple[str, str], list[Move]] = {}
    powers = evidence.moves.new if up else evidence.moves.old
    for move in evidence.moves.indirect:
        cell = move.cell
        if move in told or move in blamed or not ((move.up if up else move.down) or (up and move.undecided)):
            continue
        if (cell.agent, cell.effect, cell.key) in own or cell.root not in other.agents:
            continue
        path = powers.between(cell.root, cell.agent)
        if any(caller in path and child in path for caller, child in edges):
            continue
        groups.setdefault((cell.root, cell.agent), []).append(move)
    for (root, agent), moves in sorted(groups.items()):
        yield Finding(
            subject=f"{root} → {agent}",
            about=Item("agent", root),
            before=None if up else _labels(moves),
            after=_labels(moves) if up else None,
            witness=witness(moves[0]),
            touches=_places(moves),
            direction=_direction(moves),
        )


def _labels(moves: Iterable[Move]) -> list[str]:
    return sorted({move.cell.label for move in moves})


def _places(moves: Iterable[Move]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place(move.cell) for move in moves))


def _first(moves: list[Move]) -> str:
    return witness(moves[0]) if moves else ""


def _direction(moves: Iterable[Move]) -> Direction:
    found = {direction for move in moves for direction in move.directions}
    for direction in (Direction.UP, Direction.UNKNOWN, Direction.DOWN):
        if direction in found:
            return direction
    return Direction.SAME


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
        "SYD113",
        "delegation-added",
        Axis.AUTHORITY,
        Level.ERROR,
        "delegation",
        "added",
        "An agent may call another one, and through it do what that one may.",
        "delegates: []  →  delegates: [researcher]",
        delegation_added,
    ),
    Rule(
        "SYD114",
        "delegation-widened",
        Axis.AUTHORITY,
        Level.ERROR,
        "delegation",
        "widened",
        "More can be done through a delegate: `may_exceed` names more, or the way to it is freer.",
        'delegates: [researcher]  →  delegates: [{agent: researcher, may_exceed: ["web/*"]}]',
        delegation_widened,
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
    Rule(
        "SYD123",
        "delegation-removed",
        Axis.AUTHORITY,
        Level.INFO,
        "delegation",
        "removed",
        "An agent may no longer call another one.",
        "delegates: [researcher]  →  delegates: []",
        delegation_removed,
    ),
    Rule(
        "SYD124",
        "delegation-narrowed",
        Axis.AUTHORITY,
        Level.INFO,
        "delegation",
        "narrowed",
        "Less can be done through a delegate.",
        'delegates: [{agent: researcher, may_exceed: ["web/*"]}]  →  delegates: [researcher]',
        delegation_narrowed,
    ),
)
