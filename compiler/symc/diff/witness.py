"""Witnesses: one sentence that shows a move — who may now do what, and what stood in the way (docs/diff.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symc.diff.moves import Move
from symc.diff.powers import Cell
from symc.diff.standing import ALWAYS, Atom

_DONE = {
    "tool_call": "call {what}",
    "delegate": "{what}",
    "memory_read": "read memory",
    "memory_write": "write memory",
    "model_call": "call its model",
}


def witness(move: Move) -> str:
    """The sentence of a move: ``support may now call files/write_file (was: denied by guardrails/no-writes)``."""
    if move.undecided:
        return f"there are too many ways from {move.cell.root} to {move.cell.agent} to compare them"
    return _up(move) if move.up else _down(move)


def place(cell: Cell) -> str:
    """The cell for a list: ``support: files/write_file``, with whoever calls the agent before it."""
    who = cell.agent if cell.is_direct else f"{cell.root} → {cell.agent}"
    return f"{who}: {cell.label}"


def _up(move: Move) -> str:
    state = move.before.state
    if state != "open":
        return f"{_who(move.cell)} may now {_done(move.cell)} (was: {_closed(move.cell, state)})"
    lifted = move.lifted
    denials = [atom for atom in lifted if atom.denies]
    if not denials:
        return (
            f"{_who(move.cell)} may now {_done(move.cell)} without asking (was: asked by {_policies(lifted)})"
        )
    unasked = not any(atom.condition == ALWAYS for atom in move.after.atoms)
    answered = "" if unasked else " after a yes"
    return f"{_who(move.cell)} may now {_done(move.cell)}{answered} (was: {_objections(denials)})"


def _down(move: Move) -> str:
    state = move.after.state
    if state != "open":
        return f"{_who(move.cell)} may no longer {_done(move.cell)} (now: {_closed(move.cell, state)})"
    denials = [atom for atom in move.imposed if atom.denies]
    if not denials:
        return f"{_who(move.cell)} must now ask before it may {_done(move.cell)} ({_policies(move.imposed)})"
    return f"{_who(move.cell)} may no longer {_done(move.cell)} (now: {_objections(denials)})"


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
    code = [atom for atom in atoms if atom.condition.startswith("code ")]
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
