"""Authority rules about delegates: who calls whom, and what is reached that way (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Direction, Finding, Item, Json, Rule
from symc.diff.moves import Move, direction
from symc.diff.side import Side
from symc.diff.witness import place, witness


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
            direction=direction(moves),
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
            direction=direction(moves),
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
            direction=direction(moves),
        )


def _labels(moves: Iterable[Move]) -> list[str]:
    return sorted({move.cell.label for move in moves})


def _places(moves: Iterable[Move]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place(move.cell) for move in moves))


def _first(moves: list[Move]) -> str:
    return witness(moves[0]) if moves else ""


RULES = (
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
