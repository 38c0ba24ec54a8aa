"""The diff: what changed from one lock to another, and what that means for authority (docs/diff.md)."""

from symc.diff.comparing import compare
from symc.diff.model import Axis, Change, Comparison, Direction, Item, Rule, Verdict

__all__ = ["Axis", "Change", "Comparison", "Direction", "Item", "Rule", "Verdict", "compare"]
