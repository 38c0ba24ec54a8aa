"""Prompt fragments: where a text may stand, who may write it, and the file it comes from (docs/prompts.md)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from symc.contracts.names import MEMBER_ID
from symc.contracts.vocabulary import is_authored, scopes_of
from symc.diagnostics import Hint, Position, Span
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest import words
from symc.manifest.files import relative, resolved
from symc.manifest.keys import Path
from symc.manifest.model import Prompt
from symc.manifest.submission import Submission
from symc.manifest.texts import framed_text, plain_text
from symc.source import Sources


def check_fragments(
    submission: Submission, prompts: tuple[Prompt, ...], sources: Sources, *, contributed: bool
) -> tuple[tuple[Prompt, ...], dict[str, str]]:
    """The fragments with their texts filled in, and for each that came from a file its path.

    ``contributed``: the fragments are an extension's, which has no authority of its own (X-15).
    """
    filled: list[Prompt] = []
    files: dict[str, str] = {}
    for index, prompt in words.present(prompts):
        path: Path = ("prompts", index)
        words.name(submission, (*path, "fragment_id"), prompt.fragment_id, MEMBER_ID, "fragment id")
        if contributed:
            _contributed(submission, path, prompt)
        else:
            _authored(submission, path, prompt)
        source = _one_source(submission, path, prompt)
        file = None
        if source == "file" and prompt.file is not None:
            file = _file(submission, (*path, "file"), prompt.file, sources)
        if file is not None:
            files[str(index)] = file
            filled.append(prompt.model_copy(update={"text": sources.texts[file]}))
        else:
            filled.append(prompt)
        if source is not None and filled[-1].text is not None:
            _text(submission, path, filled[-1], file)
    words.unique(
        submission,
        ((("prompts", i, "fragment_id"), p.fragment_id) for i, p in words.present(prompts)),
        "fragment id",
    )
    return tuple(filled), files


def _one_source(submission: Submission, path: Path, prompt: Prompt) -> str | None:
    """Which of text, file and slot the fragment has, if it has exactly one."""
    given = [key for key in ("text", "file", "slot") if getattr(prompt, key) is not None]
    if len(given) == 1:
        return given[0]
    if given:
        submission.refuse(
            codes.EXACTLY_ONE,
            (*path, given[1]),
            f'fragment "{prompt.fragment_id}" has {" and ".join(f"`{key}`" for key in given)}',
            at_key=True,
            secondary=submission.also((*path, given[0]), f"`{given[0]}` is given here"),
            hint="keep exactly one of text, file, slot",
        )
    else:
        submission.refuse(
            codes.EXACTLY_ONE,
            path,
            f'fragment "{prompt.fragment_id}" has no text',
            hint="add `text:`, or `file:` with the path of a .md or .txt file",
        )
    return None


def _contributed(submission: Submission, path: Path, prompt: Prompt) -> None:
    """X-15: learned tiers, fixed text, never the kernel layer."""
    owner = submission.subject
    if is_authored(prompt.tier):
        submission.refuse(
            codes.EXTENSION_WIDENING,
            (*path, "tier"),
            f'extension "{owner}" writes fragment "{prompt.fragment_id}" in the tier {prompt.tier}, which is the operator\'s',
            hint="use tier session or profile, or move the fragment to an agent or the workspace",
        )
    else:
        _scope(submission, path, prompt)
    if prompt.layer == "l0":
        submission.refuse(
            codes.EXTENSION_WIDENING,
            (*path, "layer"),
            f'extension "{owner}" puts fragment "{prompt.fragment_id}" in the layer l0, which is the operator\'s',
            hint="use layer l1",
        )
    elif prompt.slot is not None or prompt.layer == "l2":
        submission.refuse(
            codes.SLOT_PLACEMENT,
            (*path, "slot" if prompt.slot is not None else "layer"),
            f'extension "{owner}" has a text that changes with each run: "{prompt.fragment_id}"',
            at_key=True,
            hint="declare the slot in an agent or the workspace, or give the fragment a fixed text in layer l1",
        )


def _authored(submission: Submission, path: Path, prompt: Prompt) -> None:
    _scope(submission, path, prompt)
    if prompt.truncated and is_authored(prompt.tier):
        submission.refuse(
            codes.TRUNCATED_AUTHORED,
            (*path, "truncated"),
            f'fragment "{prompt.fragment_id}" is of tier {prompt.tier} and said to be cut',
            hint="give the whole text, or use tier profile or session",
        )
    if prompt.slot is None:
        if prompt.layer == "l2":
            submission.refuse(
                codes.SLOT_PLACEMENT,
                (*path, "layer"),
                f'fragment "{prompt.fragment_id}" has a fixed text and stands in layer l2, which holds slots only',
                hint="use layer l1, or a `slot` in place of the text",
            )
        return
    if prompt.layer != "l2":
        submission.refuse(
            codes.SLOT_PLACEMENT,
            (*path, "slot"),
            f'the slot "{prompt.fragment_id}" stands in layer {prompt.layer}; its text changes with each run',
            at_key=True,
            hint="add `layer: l2`",
        )
    if is_authored(prompt.tier):
        submission.refuse(
            codes.SLOT_PLACEMENT,
            (*path, "tier"),
            f'the slot "{prompt.fragment_id}" is of tier {prompt.tier}; what arrives with a run has no authority',
            hint="use tier profile or session",
        )
    for key in ("template", "truncated"):
        if getattr(prompt, key):
            submission.refuse(
                codes.IDLE_KEY,
                (*path, key),
                f'`{key}` says something about a fixed text, and "{prompt.fragment_id}" is a slot',
                at_key=True,
                hint="remove it",
            )


def _scope(submission: Submission, path: Path, prompt: Prompt) -> None:
    allowed = scopes_of(prompt.tier)
    if prompt.scope not in allowed:
        submission.refuse(
            codes.SCOPE_TOO_NARROW,
            (*path, "scope"),
            f'fragment "{prompt.fragment_id}" of tier {prompt.tier} has scope {prompt.scope}',
            hint=f"{prompt.tier} text has scope {' or '.join(allowed)}",
        )


def _file(submission: Submission, path: Path, written: str, sources: Sources) -> str | None:
    """The workspace path of the text file that is named, None when it was refused, here or when it was read."""
    found = resolved(submission, path, written)
    if found is None:
        return None
    if found in sources.refused:
        submission.drops_out = True
        return None
    if found in sources.texts:
        return found
    submission.refuse(
        codes.FILE_MISSING,
        path,
        f"there is no text file {words.shown(found)} in the workspace",
        hint=_nearest(submission, path, found, sources.texts),
    )
    return None


def _nearest(submission: Submission, path: Path, wanted: str, texts: Mapping[str, str]) -> Hint | str:
    found = did_you_mean(wanted, texts)
    if found is None:
        found = min((t for t in texts if posixpath.basename(t) == posixpath.basename(wanted)), default=None)
    if found is None:
        return "paths are relative to the manifest that names them; texts are .md or .txt files"
    written = relative(found, submission.file)
    return Hint(f"did you mean {written}?", submission.replacement(path, written))


def _text(submission: Submission, path: Path, prompt: Prompt, file: str | None) -> None:
    def locate(line: int, column: int) -> Span:
        assert file is not None
        place = Position(line + 1, column + 1)
        return Span(file, place, place)

    # Learned text is framed in the prompt; only there would a delimiter end its frame (docs/prompts.md §3).
    check = plain_text if is_authored(prompt.tier) else framed_text
    assert prompt.text is not None
    check(
        submission,
        (*path, "text" if file is None else "file"),
        prompt.text,
        f'fragment "{prompt.fragment_id}"',
        None if file is None else locate,
    )
