"""Witnesses: one sentence that shows a move — who may now do what, and what stood in the way (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symc.diff.calls import Call, telling_call
from symc.diff.model import Direction
from symc.diff.moves import Move
from symc.diff.powers import Access, Cell, State
from symc.diff.standing import ALWAYS, Atom

_DONE = {
    "tool_call": "call {what}",
    "delegate": "{what}",
    "memory_read": "read memory",
    "memory_write": "write memory",
    "model_call": "call its model",
}


def witness(move: Move, *, way: Direction | None = None, policy: str = "") -> str:
    """The sentence of a move: ``support may now call files/write_file (was: denied by guardrails/no-writes)``.

    ``way`` tells which way to show of a move that goes both; ``policy`` shows what this one has to do with it.
    """
    if move.undecided:
        return f"there are too many ways from {move.cell.root} to {move.cell.agent} to compare them"
    up = move.up if way is None else way is Direction.UP
    return _up(move, policy) if up else _down(move, policy)


def place(cell: Cell) -> str:
    """The cell for a list: ``support: files/write_file``, with whoever calls the agent before it."""
    who = cell.agent if cell.is_direct else f"{cell.root} → {cell.agent}"
    return f"{who}: {cell.label}"


def _up(move: Move, policy: str) -> str:
    state = move.before.state
    if state != "open":
        return f"{_who(move.cell)} may now {_done(move.cell)}{_was(move.cell, state)}"
    lifted = _by(policy, move.lifted)
    call = _call(move, lifted, move.after)
    stood = lifted if call is None else call.stood
    done = _done(move.cell) + ("" if call is None else call.said)
    denials = [atom for atom in stood if atom.denies]
    if not denials:
        return f"{_who(move.cell)} may now {done} without asking (was: asked by {_policies(stood)})"
    asked = any(atom.condition == ALWAYS for atom in move.after.atoms) if call is None else call.asks
    was = _objections(denials) if call is None else f"denied by {_policies(denials)}"
    return f"{_who(move.cell)} may now {done}{' after a yes' if asked else ''} (was: {was})"


def _down(move: Move, policy: str) -> str:
    state = move.after.state
    if state == "otherwise":
        return f"{_who(move.cell)} may no longer {_done(move.cell)} with the config of before"
    if state != "open":
        return f"{_who(move.cell)} may no longer {_done(move.cell)} (now: {_closed(move.cell, state)})"
    imposed = _by(policy, move.imposed)
    call = _call(move, imposed, move.before)
    stand = imposed if call is None else call.stood
    done = _done(move.cell) + ("" if call is None else call.said)
    denials = [atom for atom in stand if atom.denies]
    if not denials:
        return f"{_who(move.cell)} must now ask before it may {done} ({_policies(stand)})"
    now = _objections(denials) if call is None else f"denied by {_policies(denials)}"
    return f"{_who(move.cell)} may no longer {done} (now: {now})"


def _by(policy: str, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Those of the policy; all where it has none among them."""
    return tuple(atom for atom in atoms if atom.policy == policy) or atoms


def _call(move: Move, atoms: tuple[Atom, ...], other: Access) -> Call | None:
    # Behind delegates, each way has objections of its own: no one call shows them all.
    if move.cell.key is None or not move.cell.is_direct:
        return None
    # Where these policies object whatever the arguments are, no arguments say more.
    policies = {atom.policy for atom in atoms}
    if all(one.condition.when is None for one in (*atoms, *other.atoms) if one.policy in policies):
        return None
    return telling_call(atoms, other.atoms, move.after.accepts)


def _was(cell: Cell, state: State) -> str:
    return " with another config than before" if state == "otherwise" else f" (was: {_closed(cell, state)})"


def _who(cell: Cell) -> str:
    return cell.agent if cell.is_direct else f"{cell.agent}, called through {cell.root},"


def _done(cell: Cell) -> str:
    return _DONE.get(cell.effect, "cause {what}").format(what=cell.label)


def _closed(cell: Cell, state: str) -> str:
    if state == "hidden":
        return "hidden behind its variants"
    if state == "absent" and cell.effect == "tool_call":
        return "not among its tools" if cell.is_direct else "out of reach"
    return "no delegate" if cell.child else "not granted"


def _objections(atoms: Sequence[Atom]) -> str:
    code = [atom for atom in atoms if atom.condition.is_code]
    if len(code) == len(atoms):
        return f"decided by the code of {_policies(atoms)}"
    always = [atom for atom in atoms if atom.condition == ALWAYS]
    if always:
        return f"denied by {_policies(always)}"
    return f"denied under a condition by {_policies(atom for atom in atoms if atom not in code)}"


def _policies(atoms: Iterable[Atom]) -> str:
    names = sorted({atom.policy for atom in atoms})
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
