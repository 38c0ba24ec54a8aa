"""Shorthands: the short forms a manifest may be written in → the one long form the models hold."""

from __future__ import annotations

from enum import Enum
from typing import Any

from symc.diagnostics import LabelledSpan
from symc.diagnostics.codes import shape as codes
from symc.manifest.keys import Path
from symc.manifest.submission import Submission


def expanded(submission: Submission) -> dict[str, Any]:
    """The document with every shorthand written out; the document itself stays as it is.

    Entries of ``variants`` that are neither one chain nor several are reported, marked as spoilt and left out. What
    else does not fit is left for the model to refuse.
    """
    data = dict(submission.data)
    for section, key in (("extensions", "use"), ("delegates", "agent")):
        if isinstance(items := data.get(section), list):
            data[section] = [_named(item, key) for item in items]
    if isinstance(variants := data.get("variants"), dict):
        data["variants"] = _variants(submission, variants)
    return data


def written_path(path: Path, data: dict[str, Any]) -> Path:
    """Where the value at ``path`` of an expanded document stands in the document as written."""
    match path:
        case ("variants", str() as key, int() as number, *rest):
            at: Path = data["variants"][key][number]["at"]
            return at + tuple(rest[1:]) if rest[:1] == ["chain"] else at[:3] + tuple(rest)
    return path


class _Form(Enum):
    """What an item of a value of ``variants`` is: a layer of one chain, or a chain of several."""

    LAYER = "a tool extension"
    CHAIN = "a chain"


def _named(item: Any, key: str) -> Any:
    return {key: item} if isinstance(item, str) else item


def _variants(submission: Submission, variants: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in variants.items():
        chains = _chains(submission, key, value)
        if chains is None:
            submission.spoilt.add(("variants", key))
        else:
            found[key] = chains
    return found


def _chains(submission: Submission, key: str, value: Any) -> Any:
    """The chains of one key, each with the place of its elements; None when they were refused."""
    path: Path = ("variants", key)
    if not isinstance(value, list):
        form = f"[{value}]" if isinstance(value, str) else "[…]"
        submission.refuse(
            codes.NULL_VALUE if value is None else codes.WRONG_TYPE,
            path,
            f'"{key}" has no chains' if value is None else f'the chains of "{key}" must be a list',
            hint=f"write one chain as a list of its tool extensions, innermost first: {form}",
        )
        return None
    if not value:
        submission.refuse(
            codes.EMPTY_LIST,
            path,
            f'"{key}" has an empty list of chains',
            hint="name the tool extensions of a chain, or remove the key",
        )
        return None
    forms = [_form(item) for item in value]
    if len(set(forms)) > 1:
        other = next(i for i, form in enumerate(forms) if form is not forms[0])
        submission.refuse(
            codes.MIXED_CHAINS,
            (*path, other),
            f'the list of "{key}" starts with {forms[0].value}, and this item is {forms[other].value}',
            secondary=(LabelledSpan(submission.span((*path, 0)), f"{forms[0].value}: the first item"),),
            hint="one chain is written [a, b]; several are written [[a], [a, b]]",
        )
        return None
    if forms[0] is _Form.LAYER:
        return [{"chain": [_named(item, "use") for item in value], "at": path}]
    chains = [_chain(item, (*path, i)) for i, item in enumerate(value)]
    # `at` is the models' own key: what an author writes there must not get lost in it.
    alien = [i for i, item in enumerate(value) if isinstance(item, dict) and "at" in item]
    for i in alien:
        submission.refuse(
            codes.UNKNOWN_KEY, (*path, i, "at"), f"unknown key `at` in item {i + 1} of `{key}`", at_key=True
        )
    empty = [i for i, chain in enumerate(chains) if chain.get("chain") == []]
    for i in empty:
        submission.refuse(
            codes.EMPTY_LIST,
            chains[i]["at"],
            f'a chain of "{key}" is empty',
            hint="name its tool extensions, innermost first, or remove the chain",
        )
    return None if empty or alien else chains


def _chain(item: Any, path: Path) -> dict[str, Any]:
    if isinstance(item, list):
        return {"chain": [_named(element, "use") for element in item], "at": path}
    chain = dict(item) | {"at": (*path, "chain")}
    if isinstance(elements := chain.get("chain"), list):
        chain["chain"] = [_named(element, "use") for element in elements]
    return chain


def _form(item: Any) -> _Form:
    """V2: lists and {chain, …} are chains; names and {use, config} (and whatever fits nowhere) are layers."""
    if isinstance(item, dict):
        return _Form.CHAIN if not item.keys().isdisjoint(("chain", "expose", "as")) else _Form.LAYER
    return _Form.CHAIN if isinstance(item, list) else _Form.LAYER
