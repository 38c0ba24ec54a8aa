"""Vetoes: which policies came, went, or cover less or more than before, whatever they match today (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from symc.composition import Policy, Selector
from symc.contracts.patterns import ToolPattern
from symc.contracts.vocabulary import EFFECTS
from symc.diff.conditions import implies
from symc.diff.moves import Moves
from symc.guarding import TOOL_CALL, pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Veto:
    """One policy on both sides; None where a side does not have it.

    ``lost`` and ``gained`` are the agents (of both sides) that it no longer, or newly, applies to. ``weaker`` and
    ``stronger`` compare what it covers by its own words. ``rewritten``: what was lost stands in other policies of this
    change; ``redundant``: what was gained stood in policies that are gone or changed.
    """

    policy_id: str
    old: Policy | None = None
    new: Policy | None = None
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    weaker: bool = False
    stronger: bool = False
    rewritten: bool = False
    redundant: bool = False

    @property
    def changed(self) -> bool:
        """Whether both sides have it, in other words."""
        return self.old is not None and self.new is not None and self.old != self.new


def vetoes(moves: Moves) -> tuple[Veto, ...]:
    """Every policy that differs, or applies to other agents than before, sorted by id."""
    old, new = moves.old, moves.new
    lost: dict[str, list[str]] = {}
    gained: dict[str, list[str]] = {}
    unwritten: set[str] = set()
    news: set[str] = set()
    for agent in sorted(moves.affected):
        if agent not in old.side.agents or agent not in new.side.agents:
            continue
        before, after = old.applied(agent), new.applied(agent)
        gone = {key: before[key] for key in before if key not in after}
        come = {key: after[key] for key in after if key not in before}
        touched = {key for key in before.keys() & after.keys() if before[key] != after[key]}
        fresh = (*come.values(), *(after[key] for key in touched))
        stale = (*gone.values(), *(before[key] for key in touched))
        for key, policy in gone.items():
            lost.setdefault(key, []).append(agent)
            if not is_covered(policy, fresh):
                unwritten.add(key)
        for key, policy in come.items():
            gained.setdefault(key, []).append(agent)
            if not is_covered(policy, stale):
                news.add(key)
    changed = (key for key, (was, now) in moves.policies.items() if was is not None and now is not None)
    return tuple(
        _veto(key, old.side.policy(key), new.side.policy(key), lost, gained, unwritten, news)
        for key in sorted({*lost, *gained, *changed})
    )


def _veto(
    key: str,
    old: Policy | None,
    new: Policy | None,
    lost: Mapping[str, list[str]],
    gained: Mapping[str, list[str]],
    unwritten: set[str],
    news: set[str],
) -> Veto:
    return Veto(
        policy_id=key,
        old=old,
        new=new,
        lost=tuple(lost.get(key, ())),
        gained=tuple(gained.get(key, ())),
        weaker=old is not None and new is not None and not is_covered(old, (new,)),
        stronger=old is not None and new is not None and not is_covered(new, (old,)),
        rewritten=key in lost and key not in unwritten,
        redundant=key in gained and key not in news,
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a policy that is about one effect and one selector (None: whatever the tool is)."""

    action: str
    selector: Selector | None


def is_covered(policy: Policy, by: Iterable[Policy]) -> bool:
    """Whether the others object, together and as strongly, wherever the policy does — on every tool that could be.

    Sound, not complete: patterns that are worded differently may count as not covered.
    """
    if policy.when is False:
        return True
    others = tuple(other for other in by if _is_as_strong(other, policy))
    return all(any(_covers(other, piece) for other in others) for piece in _pieces(policy))


def strength(policy: Policy) -> int:
    """How much a kind of policy stops: a denial more than code, which may deny, and that more than a question."""
    return {"ask": 0, "decide": 1, "deny": 2}[policy.effect]


def _is_as_strong(other: Policy, policy: Policy) -> bool:
    if policy.effect == "decide" and other.effect != "deny":
        # What code decides is not known: other code in its place is a finding of its own.
        return other.effect == "decide"
    if policy.effect == "ask" and other.effect == "decide":
        return False
    if strength(other) < strength(policy):
        return False
    return implies(policy.when, other.when)


def _pieces(policy: Policy) -> Iterator[_Piece]:
    selectors: tuple[Selector | None, ...] = (None,) if policy.tools is None else policy.tools
    actions = policy.actions or (EFFECTS if policy.tools is None else (TOOL_CALL,))
    if policy.tools is not None:
        actions = tuple(action for action in actions if action == TOOL_CALL)
    yield from (_Piece(*one) for one in product(actions, selectors))


def _covers(other: Policy, piece: _Piece) -> bool:
    if not any(piece.action == mine.action for mine in _pieces(other)):
        return False
    if other.tools is None:
        return True
    conditional = other.when not in (None, True, {})
    return piece.selector is not None and any(
        _selects_all(selector, piece.selector, conditional) for selector in other.tools
    )


def _selects_all(wide: Selector, narrow: Selector, conditional: bool) -> bool:
    """Whether every tool that ``narrow`` names is named by ``wide``; a condition sees the arguments of what is named."""
    if conditional and (wide.variant, wide.chain) != (narrow.variant, narrow.chain):
        return False
    if wide.variant:
        return wide.variant == narrow.variant and wide.chain == narrow.chain[: len(wide.chain)]
    if narrow.variant:
        extension, _, raw = narrow.variant.partition("/")
        return pattern(wide.pattern).matches(extension, raw)  # P11: what is derived goes with its base
    return includes(pattern(wide.pattern), pattern(narrow.pattern))


def includes(wide: ToolPattern, narrow: ToolPattern) -> bool:
    """Whether ``wide`` matches all that ``narrow`` matches; False also where that is not found out."""
    if wide.extension is not None and wide.extension != narrow.extension:
        return False
    if wide.literal:
        return narrow.literal and wide.name == narrow.name
    if narrow.literal:
        return wide.matches(wide.extension or narrow.extension or "", narrow.name)
    return _includes_glob(_tokens(wide.name), _tokens(narrow.name))


def _tokens(glob: str) -> tuple[str, ...]:
    """The glob as single characters, ``*``, ``?`` and sets; a set keeps its brackets."""
    found: list[str] = []
    at = 0
    while at < len(glob):
        if glob[at] == "[":
            end = glob.index("]", at + 2 + (glob[at + 1 : at + 2] == "!")) + 1
            found.append(glob[at:end])
            at = end
        else:
            if glob[at] != "*" or found[-1:] != ["*"]:
                found.append(glob[at])
            at += 1
    return tuple(found)


def _includes_glob(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """Match ``wide`` against the tokens of ``narrow``, of which a star is matched by nothing but a star."""
    open_at = {0} | ({1} if wide[:1] == ("*",) else set())
    for piece in narrow:
        reached: set[int] = set()
        for at in open_at:
            if at == len(wide):
                continue
            if wide[at] == "*":
                reached |= {at, at + 1}
            elif piece != "*" and wide[at] in ("?", piece):
                reached.add(at + 1)
        # A star also stands for nothing.
        open_at = reached | {at + 1 for at in reached if at < len(wide) and wide[at] == "*"}
    return len(wide) in open_at
