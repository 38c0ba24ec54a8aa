"""What an agent or the workspace takes: extensions, tools, variants, grants, delegates (docs/manifests.md §4)."""

from __future__ import annotations

from collections.abc import Mapping

from symc.contracts.names import LOCAL_TOOL_NAME, TOOL_EXTENSION_NAME
from symc.contracts.vocabulary import EFFECTS
from symc.diagnostics import Hint
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.codes.pins import HIDDEN_TOOL_TEXT
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import words
from symc.manifest.keys import Path
from symc.manifest.model import Agent, Chain, Delegate, ToolRow, Use
from symc.manifest.server import whole_references
from symc.manifest.submission import Submission
from symc.manifest.texts import plain_text


def check_uses(submission: Submission, uses: tuple[Use, ...]) -> None:
    """Check the extensions used."""
    for index, use in words.present(uses):
        words.requirement(submission, ("extensions", index, "use"), use.use)
        if use.prefix is not None:
            words.name(submission, ("extensions", index, "prefix"), use.prefix, TOOL_EXTENSION_NAME, "prefix")


def check_selection(submission: Submission, agent: Agent) -> None:
    """Check what an agent selects, mints, may do and calls."""
    for index, row in words.present(agent.tools):
        if isinstance(row, ToolRow):
            _tool_row(submission, ("tools", index), row)
        else:
            words.pattern(submission, ("tools", index), row)
    for index, pattern in words.present(agent.exclude):
        words.pattern(submission, ("exclude", index), pattern)
    _variants(submission, agent.variants)
    for index, grant in words.present(agent.grants):
        words.effect(submission, ("grants", index), grant, "effect")
    for index, delegate in words.present(agent.delegates):
        _delegate(submission, ("delegates", index), delegate)


def _tool_row(submission: Submission, path: Path, row: ToolRow) -> None:
    words.pattern(submission, (*path, "tool"), row.tool, literal=True)
    if row.as_ is not None:
        words.name(submission, (*path, "as"), row.as_, LOCAL_TOOL_NAME, "tool name")
    if row.description is not None:
        plain_text(
            submission, (*path, "description"), row.description, "the description", code=HIDDEN_TOOL_TEXT
        )


def _variants(submission: Submission, variants: Mapping[str, tuple[Chain, ...]]) -> None:
    for key, chains in variants.items():
        words.pattern(submission, ("variants", key), key, at_key=True)
        for chain in chains:
            if chain.as_ is not None:
                words.name(submission, (*chain.at[:-1], "as"), chain.as_, LOCAL_TOOL_NAME, "tool name")
            for index, element in enumerate(chain.chain):
                if element.config is not None:
                    whole_references(submission, (*chain.at, index, "config"), element.config)


def _delegate(submission: Submission, path: Path, delegate: Delegate) -> None:
    for index, item in enumerate(delegate.may_exceed):
        place = (*path, "may_exceed", index)
        if "/" in item:
            words.pattern(submission, place, item)
        elif item not in EFFECTS:
            nearest = did_you_mean(item, EFFECTS)
            submission.refuse(
                codes.UNKNOWN_EFFECT,
                place,
                f"{words.shown(item)} is neither an effect nor a tool pattern",
                notes=(f"the effects are {', '.join(EFFECTS)}; a tool pattern is extension/glob",),
                hint=Hint(f"did you mean {nearest}?", submission.replacement(place, nearest))
                if nearest
                else None,
            )
