"""The diff: what changed from one lock to another, and what that means for authority (docs/diff.md)."""

from symc.diff.comparing import compare
from symc.diff.digests import DigestChange, digest_changes
from symc.diff.model import Axis, Change, Comparison, Direction, Item, Rule, Verdict

__all__ = [
    "Axis",
    "Change",
    "Comparison",
    "DigestChange",
    "Direction",
    "Item",
    "Rule",
    "Verdict",
    "compare",
    "digest_changes",
]
