"""What is wrong with a value that does not fit its key, in the author's words, with the way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from symc.diagnostics import Edit, Hint
from symc.diagnostics.codes import shape as codes
from symc.diagnostics.suggest import did_you_mean
from symc.manifest.keys import Path, arms, node_at, type_at, wording, written_keys
from symc.manifest.model import Agent, Extension, Node, Workspace
from symc.manifest.shorthand import written_path
from symc.manifest.submission import Submission
from symc.source.findings import AT_MOST


@dataclass(frozen=True, slots=True)
class Fault:
    """One value that does not fit: its place in the expanded document, pydantic's word for it, the value, details."""

    path: Path
    type: str
    value: Any
    context: Mapping[str, Any]

    @property
    def is_own_key(self) -> bool:
        """Whether this is an author's own ``x-`` key: free-form, and ignored wherever keys are fixed."""
        return self.type == "extra_forbidden" and str(self.path[-1]).startswith("x-")


def report(submission: Submission, root: type[Node], faults: Sequence[Fault], data: dict[str, Any]) -> None:
    """Say each fault once; a key that is missing because it is misspelt is said with the misspelt one."""
    faults = faults[:AT_MOST]
    meant: set[Path] = set()
    for fault in faults:
        if fault.type == "extra_forbidden":
            meant |= _unknown_key(submission, root, fault, written_path(fault.path, data))
    for fault in faults:
        if fault.type == "extra_forbidden" or (fault.type == "missing" and fault.path in meant):
            continue
        _SAYERS.get(fault.type, _wrong_type)(submission, root, fault, written_path(fault.path, data))


# Names other tools have for the same thing, too far from ours for a spelling suggestion.
_FOREIGN_KEYS: Final[Mapping[str, str]] = {
    "args": "command",
    "arguments": "command",
    "environment": "env",
    "id": "name",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "parameters": "input_schema",
    "servers": "mcp",
    "subagents": "delegates",
    "system": "instructions",
    "system_prompt": "instructions",
}

_KINDS: Final = (("workspace", Workspace), ("agent", Agent), ("extension", Extension))


def _unknown_key(submission: Submission, root: type[Node], fault: Fault, path: Path) -> set[Path]:
    """Report an unknown key; the path of the key that was meant, if one was."""
    key = str(path[-1])
    node = node_at(root, fault.path[:-1])
    legal = list(written_keys(node)) if node else []
    if key == "allow" and len(path) > 1 and path[-3:-2] == ("policies",):
        submission.refuse(  # P2
            codes.ALLOW_NO_AUTHORITY,
            path,
            "a policy cannot allow: it can only deny or ask, and a grant comes from the operator",
            at_key=True,
            hint="remove it; an agent's `tools` and `grants` say what it may do",
        )
        return {(*fault.path[:-1], other) for other in ("deny", "ask", "decide")}
    taken = submission.value(path[:-1])
    best = _meant_key(key, [name for name in legal if not (isinstance(taken, dict) and name in taken)])
    where = f" in {title(path[:-1])}" if len(path) > 1 else ""
    hint = None
    if best:
        hint = Hint(f"did you mean `{best}`?", Edit(submission.key_span(path), best))
    notes: tuple[str, ...] = () if best else (f"known here: {', '.join(legal)}",)
    if not best and len(path) == 1:
        owners = [kind for kind, model in _KINDS if model is not root and key in written_keys(model)]
        notes = tuple(f"`{key}` is a key of `kind: {owner}`" for owner in owners) + notes
    submission.refuse(
        codes.UNKNOWN_KEY, path, f"unknown key `{key}`{where}", at_key=True, notes=notes, hint=hint
    )
    return {(*fault.path[:-1], best)} if best else set()


def _meant_key(key: str, legal: Sequence[str]) -> str | None:
    if (foreign := _FOREIGN_KEYS.get(key)) in legal:
        return foreign
    if close := did_you_mean(key, legal):
        return close
    # `allowed_tools` and `id` are too far from `tools` and `fragment_id` for a typing slip, and close enough for a person.
    words = re.split(r"[_\W]", key.lower())
    return next((name for name in legal if name in words or key in name.split("_")), None)


def _missing(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    key = str(fault.path[-1])
    holder = submission.place(path[:-1])
    what = title(holder) if holder else f"this {submission.data['kind']}"
    type_ = written_keys(node_at(root, fault.path[:-1]) or root).get(key)
    submission.refuse(
        codes.MISSING_KEY,
        path[:-1] if holder else ("kind",),
        f"{what} has no `{key}`",
        hint=f"add `{key}:` with {wording(type_)}",
    )


def _not_text(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    value = fault.value
    if value is None or isinstance(value, dict):
        _wrong_type(submission, root, fault, path)
    elif isinstance(value, list):
        if _takes_pattern(path):
            submission.refuse(
                codes.UNQUOTED_PATTERN,
                path,
                f"{title(path)} must be a tool pattern, not a list",
                hint='quote patterns: YAML reads an unquoted "[" as the start of a list',
            )
        else:
            _wrong_type(submission, root, fault, path)
    else:
        _not_quoted(submission, path)


def _not_quoted(submission: Submission, path: Path) -> None:
    raw = submission.raw(path)
    if _is_secret(path):
        submission.refuse(codes.NOT_QUOTED, path, f"{title(path)} must be text", hint="quote it")
        return
    kind = "a truth value" if isinstance(submission.value(path), bool) else "a number"
    # A name, a pattern or a target is no number in quotes either: there the hint has no edit.
    edit = submission.replacement(path, f'"{raw}"') if path[-1] in _FREE_TEXT else None
    submission.refuse(
        codes.NOT_QUOTED,
        path,
        f"{title(path)} must be text, and {raw} without quotes is {kind}",
        hint=Hint(f'quote it: "{raw}"', edit),
    )


_FREE_TEXT: Final = frozenset(("description", "instructions", "model", "origin", "reason", "text", "version"))

_TRUTHS: Final = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def _not_bool(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    meant = _TRUTHS.get(str(fault.value).lower())
    if isinstance(fault.value, str) and fault.value.lower() in ("true", "false"):
        meant = fault.value.lower()
    if meant is None:
        _wrong_type(submission, root, fault, path)
        return
    submission.refuse(
        codes.WRONG_TYPE,
        path,
        f'{title(path)} must be true or false, and "{fault.value}" is text',
        hint=Hint(f"write {meant}", submission.replacement(path, meant)),
    )


def _not_int(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    value = fault.value
    digits = value.replace("_", "").lstrip("+") if isinstance(value, str) else ""
    if isinstance(value, float) and value.is_integer():
        digits = str(int(value))
    if not (digits.isascii() and digits.removeprefix("-").isdigit() and len(digits) < 20):
        _wrong_type(submission, root, fault, path)
        return
    number = str(int(digits))
    shown = f'"{value}" is text' if isinstance(value, str) else f"{submission.raw(path)} is a decimal number"
    submission.refuse(
        codes.WRONG_TYPE,
        path,
        f"{title(path)} must be {_expected(root, fault.path)}, and {shown}",
        notes=("a whole number is written in decimal digits, without quotes, leading zeros or `_`",),
        hint=Hint(f"write {number}", submission.replacement(path, number)),
    )


def _unknown_word(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    value = fault.value
    if not isinstance(value, str):
        _wrong_type(submission, root, fault, path)
        return
    legal = [word for arm in arms(type_at(root, fault.path)) for word in get_args(arm)]
    best = did_you_mean(value, legal)
    meant = Hint(f"did you mean {best}?", submission.replacement(path, best)) if best else None
    submission.refuse(
        codes.UNKNOWN_VALUE,
        path,
        f'{title(path)} must be one of {", ".join(legal)}, not "{_short(value)}"',
        hint=meant,
    )


def _out_of_range(submission: Submission, _root: type[Node], fault: Fault, path: Path) -> None:
    bounds = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}
    rule = next(
        (text.format(fault.context[name]) for name, text in bounds.items() if name in fault.context), "finite"
    )
    submission.refuse(codes.OUT_OF_RANGE, path, f"{title(path)} must be {rule}, not {submission.raw(path)}")


def _wrong_type(submission: Submission, root: type[Node], fault: Fault, path: Path) -> None:
    value = fault.value
    form = _FORMS.get(str(fault.context.get("class_name"))) or _expected(root, fault.path)
    if value is None:
        _null(submission, path, form)
        return
    if isinstance(value, bool | int | float) and fault.context.get("class_name") in _SHORT:
        _not_quoted(submission, path)
        return
    hint: Hint | str | None = None
    if path == ("mcp", "command"):
        hint = "write each argument as an item: [program, argument]"
    elif form == "a list" and isinstance(value, str) and (items := _listed(root, fault.path, value)):
        hint = Hint(f"write {items}", submission.replacement(path, items))
    submission.refuse(
        codes.WRONG_TYPE,
        path,
        f"{title(path)} must be {form}, not {_shown(submission, path, value)}",
        hint=hint,
    )


def _listed(root: type[Node], path: Path, value: str) -> str | None:
    """A text as the list it should be; None where a list of texts would not do either."""
    texts = str in arms(type_at(root, (*path, 0))) or path in (("extensions",), ("delegates",))
    return f"[{value}]" if texts and not re.search(r"""[\[\]{},'"#]""", value) else None


def _null(submission: Submission, path: Path, form: str) -> None:
    """Report a key that has no value."""
    wanted = (
        "write [] for none, or remove the line" if form == "a list" else "write its value, or remove the line"
    )
    submission.refuse(codes.NULL_VALUE, path, f"{title(path)} has no value; it takes {form}", hint=wanted)


# The forms a mapping of each kind may be written in, where a type's name alone would not say it.
_FORMS: Final[Mapping[str, str]] = {
    "Use": 'a requirement such as "crm >=1.4", or {use: …, prefix: …}',
    "ToolRow": 'a tool pattern such as "crm/*", or {tool: …, as: …, description: …}',
    "VariantSelector": 'a tool pattern such as "crm/*", or {variant: …, chain: […]}',
    "Delegate": "an agent's name, or {agent: …, may_exceed: […]}",
    "ChainElement": "a tool extension's name, or {use: …, config: {…}}",
}
_SHORT: Final = frozenset({"Use", "Delegate", "ChainElement"})


def _expected(root: type[Node], path: Path) -> str:
    return wording(type_at(root, path))


def _takes_pattern(path: Path) -> bool:
    return any(step in ("tools", "exclude", "may_exceed", "variant", "tool") for step in path[-2:])


def _is_secret(path: Path) -> bool:
    """Whether a credential may stand at ``path``: what is written in ``mcp`` is never repeated."""
    return path[:1] == ("mcp",)


def title(path: Path) -> str:
    """The value at ``path`` as a noun: the way it is written, from the last list on."""
    *before, last = path
    if isinstance(last, int):
        return (
            f"item {last + 1} of `{before[-1]}`"
            if before and isinstance(before[-1], str)
            else f"item {last + 1}"
        )
    return f"`{last}`"


def _shown(submission: Submission, path: Path, value: Any) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    if _is_secret(path):
        return "text" if isinstance(value, str) else "this"
    return f'"{_short(value)}"' if isinstance(value, str) else submission.raw(path)


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if line == text and len(text) <= 60 else line[:59] + "…"


_Sayer = Callable[[Submission, type[Node], Fault, Path], None]
_SAYERS: Final[Mapping[str, _Sayer]] = {
    "null": _wrong_type,
    "missing": _missing,
    "string_type": _not_text,
    "bool_type": _not_bool,
    "int_type": _not_int,
    "int_from_float": _not_int,
    "literal_error": _unknown_word,
    "greater_than": _out_of_range,
    "greater_than_equal": _out_of_range,
    "less_than": _out_of_range,
    "less_than_equal": _out_of_range,
    "finite_number": _out_of_range,
}
