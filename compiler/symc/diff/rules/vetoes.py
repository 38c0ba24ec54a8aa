"""Authority rules about policies: what stops an agent, or asks first (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symc.composition import Policy, records
from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Direction, Finding, Json, Rule
from symc.diff.moves import Move
from symc.diff.vetoes import Veto, strength
from symc.diff.witness import place, witness


def deny_removed(evidence: Evidence) -> Iterator[Finding]:
    """Denials, and code that may deny, that no longer apply to an agent, or only ask now."""
    for veto in evidence.vetoes:
        if veto.old is not None and veto.old.effect != "ask" and (_lost(evidence, veto) or _is_lowered(veto)):
            yield _let_go(evidence, veto)


def approval_removed(evidence: Evidence) -> Iterator[Finding]:
    """Questions that are no longer asked of an agent."""
    for veto in evidence.vetoes:
        if veto.old is not None and veto.old.effect == "ask" and _lost(evidence, veto):
            yield _let_go(evidence, veto)


def deny_added(evidence: Evidence) -> Iterator[Finding]:
    """Denials, and code that may deny, that newly apply to an agent, or asked before."""
    for veto in evidence.vetoes:
        if (
            veto.new is not None
            and veto.new.effect != "ask"
            and (_gained(evidence, veto) or _is_raised(veto))
        ):
            yield _taken(evidence, veto)


def approval_added(evidence: Evidence) -> Iterator[Finding]:
    """Questions that are newly asked of an agent."""
    for veto in evidence.vetoes:
        if veto.new is not None and veto.new.effect == "ask" and _gained(evidence, veto):
            yield _taken(evidence, veto)


def pattern_weakened(evidence: Evidence) -> Iterator[Finding]:
    """Policies that cover less by their own words, whatever they match today."""
    for veto in evidence.vetoes:
        lets_go = veto.changed and veto.policy_id in evidence.lifted and not _is_lowered(veto)
        if (_is_reworded(veto) and veto.weaker) or (lets_go and not veto.lost):
            yield _let_go(evidence, veto)


def pattern_strengthened(evidence: Evidence) -> Iterator[Finding]:
    """Policies that cover more by their own words: nothing less, or something that an agent has today."""
    for veto in evidence.vetoes:
        stops = veto.changed and veto.policy_id in evidence.imposed and not _is_raised(veto)
        if (_is_reworded(veto) and veto.stronger and not veto.weaker) or (stops and not veto.gained):
            yield _taken(evidence, veto)


def rule_ineffective(evidence: Evidence) -> Iterator[Finding]:
    """Policies over tools that matched some tool and now match none of any agent they apply to."""
    old, new = evidence.moves.old, evidence.moves.new
    idle: set[str] = set()
    for agent in evidence.moves.affected:
        gone = set(old.keys(agent).values()).difference(new.keys(agent).values())
        if gone:
            idle |= old.matching(agent, gone)
    if not idle:
        return
    applied: set[str] = set()
    for agent in sorted(evidence.new.agents):
        mine = idle.intersection(new.applied(agent))
        applied |= mine
        if mine:
            idle -= new.matching(agent, new.keys(agent).values())
    for key in sorted(idle & applied):
        # A policy that was itself narrowed is told as that.
        was, now = evidence.old.policy(key), evidence.new.policy(key)
        if was is not None and now is not None and was.tools == now.tools:
            yield Finding(
                subject=key,
                about=evidence.policy(key),
                before=policy_json(was),
                after=policy_json(now),
            )


def rewritten(evidence: Evidence) -> Iterator[Veto]:
    """Policies that changed their words or their name and stop what they stopped."""
    for veto in evidence.vetoes:
        if veto.policy_id in evidence.lifted or veto.policy_id in evidence.imposed:
            continue
        if (veto.lost and veto.rewritten) or (
            _is_reworded(veto)
            and not veto.weaker
            and not veto.stronger
            and _stops(veto.old) != _stops(veto.new)
        ):
            yield veto


def policy_json(policy: Policy | None) -> Json:
    """The policy as it stands in a lock; None for no policy."""
    return None if policy is None else records.POLICY.write(policy)


def _stops(policy: Policy | None) -> Json:
    """The policy without what it says and how long its code may take."""
    found = policy_json(policy)
    return {key: value for key, value in found.items() if key not in {"reason", "timeout", "decide"}}


def _lost(evidence: Evidence, veto: Veto) -> bool:
    return bool(veto.lost) and (not veto.rewritten or veto.policy_id in evidence.lifted)


def _gained(evidence: Evidence, veto: Veto) -> bool:
    return bool(veto.gained) and (not veto.redundant or veto.policy_id in evidence.imposed)


def _is_lowered(veto: Veto) -> bool:
    return veto.changed and strength(_there(veto.new)) < strength(_there(veto.old))


def _is_raised(veto: Veto) -> bool:
    return veto.changed and strength(_there(veto.new)) > strength(_there(veto.old))


def _is_reworded(veto: Veto) -> bool:
    return veto.changed and _there(veto.old).effect == _there(veto.new).effect


def _there(policy: Policy | None) -> Policy:
    assert policy is not None
    return policy


def _let_go(evidence: Evidence, veto: Veto) -> Finding:
    return _finding(evidence, veto, evidence.lifted.get(veto.policy_id, ()), veto.lost, Direction.UP)


def _taken(evidence: Evidence, veto: Veto) -> Finding:
    return _finding(evidence, veto, evidence.imposed.get(veto.policy_id, ()), veto.gained, Direction.DOWN)


def _finding(
    evidence: Evidence, veto: Veto, moves: Iterable[Move], agents: tuple[str, ...], way: Direction
) -> Finding:
    found = tuple(moves)
    cells = tuple(dict.fromkeys(place(move.cell) for move in found))
    told = {move.cell.agent for move in found}
    gone = way is Direction.UP and veto.lost
    come = way is Direction.DOWN and veto.gained
    return Finding(
        subject=veto.policy_id,
        about=evidence.policy(veto.policy_id),
        before=None if come else policy_json(veto.old),
        after=None if gone else policy_json(veto.new),
        witness=witness(found[0], way=way, policy=veto.policy_id) if found else "",
        touches=(*cells, *(agent for agent in agents if agent not in told)),
        direction=way if found else Direction.SAME,
    )


RULES = (
    Rule(
        "SYD103",
        "deny-removed",
        Axis.AUTHORITY,
        Level.ERROR,
        "veto",
        "removed",
        "A denial is gone, or only asks now, or no longer applies to an agent. "
        "An error also where another policy still denies the same.",
        "policies: [{policy_id: no-writes, deny: {tools: [files/write_file]}}]  →  policies: []",
        deny_removed,
    ),
    Rule(
        "SYD106",
        "approval-removed",
        Axis.AUTHORITY,
        Level.ERROR,
        "approval",
        "removed",
        "A question that a person had to answer is no longer asked.",
        "policies: [{policy_id: spend, ask: {tools: [crm/refund_order]}}]  →  policies: []",
        approval_removed,
    ),
    Rule(
        "SYD116",
        "approval-added",
        Axis.AUTHORITY,
        Level.INFO,
        "approval",
        "added",
        "A person is asked who was not asked before.",
        "policies: []  →  policies: [{policy_id: spend, ask: {tools: [crm/refund_order]}}]",
        approval_added,
    ),
    Rule(
        "SYD107",
        "pattern-weakened",
        Axis.AUTHORITY,
        Level.ERROR,
        "veto",
        "weakened",
        "A policy covers less by its own words: a narrower pattern, a condition, fewer actions. "
        "An error also where that touches no tool of today: the next one may slip through.",
        'deny {tools: ["*/delete_*"]}  →  deny {tools: ["crm/delete_*"]}',
        pattern_weakened,
    ),
    Rule(
        "SYD120",
        "rule-ineffective",
        Axis.AUTHORITY,
        Level.WARN,
        "veto",
        "matches no tool any more",
        "A policy that matched a tool matches none now, though its words are the same.",
        "deny {tools: [files/write_file]}, and no agent selects that tool any more",
        rule_ineffective,
    ),
    Rule(
        "SYD121",
        "deny-added",
        Axis.AUTHORITY,
        Level.INFO,
        "veto",
        "added",
        "A denial is new, or applies to an agent it did not apply to, or asked before.",
        "policies: []  →  policies: [{policy_id: no-writes, deny: {tools: [files/write_file]}}]",
        deny_added,
    ),
    Rule(
        "SYD122",
        "pattern-strengthened",
        Axis.AUTHORITY,
        Level.INFO,
        "veto",
        "strengthened",
        "A policy covers more by its own words.",
        'deny {tools: ["crm/delete_*"]}  →  deny {tools: ["*/delete_*"]}',
        pattern_strengthened,
    ),
)
