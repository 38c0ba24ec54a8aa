"""Targets: `module:qualname` of the lock → the object in this process, of the form its use needs.

Nothing is imported before an agent that needs it opens, and nothing is looked up again afterwards (X-13).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from symc.canonical import CanonicalError, canonical_bytes
from symc.composition import Tool
from symc.contracts.contribution import ToolContribution, is_async
from symc.contracts.verdict import PolicyRequest
from symc.diagnostics import Code, Diagnostic, LabelledSpan, Span
from symc.diagnostics.codes import running
from symc.diagnostics.suggest import suggestion
from symc.runtime.extras import installing, needed_by
from symc.runtime.signatures import parameters_fault, value_fault

__all__ = ["TargetError", "decider", "factory", "found", "hook", "invocation", "same"]

_TOOL_FORM: Final = "async def {name}(arguments: Mapping[str, Any]) -> str"


class TargetError(Exception):
    """A target is not what its use needs; says so with a code, a sentence about it, and the next step.

    `shared`: the sentence is about something that others need as well, and the same for all of them.
    """

    def __init__(
        self, code: Code, message: str, *, notes: tuple[str, ...] = (), hint: str = "", shared: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.notes = notes
        self.hint = hint
        self.shared = shared

    def at(self, span: Span, what: str, subject: str) -> Diagnostic:
        """The fault as a diagnostic about `what` (`tool "crm/lookup_customer"`), named at `span`."""
        if self.shared:
            needs = (LabelledSpan(span, f"{what} needs it"),)
            return self.code.at(
                span, str(self), secondary=needs, notes=self.notes, hint=self.hint or None, subject=subject
            )
        return self.code.at(
            span, f"{what}: {self}", notes=self.notes, hint=self.hint or None, subject=subject
        )


def found(target: str) -> Any:
    """The object that a target names; raises `TargetError` where it is not there."""
    module_name, _, qualname = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if asking := needed_by(error):
            raise TargetError(
                running.TARGET_MISSING,
                f'"{asking}" needs "{error.name}", which is not installed',
                hint=installing(error),
                shared=True,
            ) from None
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _broken(module_name, error) from error
        raise TargetError(
            running.TARGET_MISSING,
            f'there is no module "{error.name}"',
            hint="install it, or put its folder on sys.path; `symc run` and `symc verify` add the folder of the lock",
            shared=True,
        ) from None
    except (Exception, SystemExit) as error:
        raise _broken(module_name, error) from error
    value: Any = module
    for step in qualname.split("."):
        try:
            value = getattr(value, step)
        except AttributeError:
            owner = module_name if value is module else f"{module_name}:{qualname}"
            public = [name for name in dir(value) if not name.startswith("_")]
            raise TargetError(
                running.TARGET_MISSING,
                f'"{owner}" has no "{step}", which the target "{target}" names',
                hint=suggestion(step, public) or "correct `manifests/` and run: symc compile",
            ) from None
    return value


def _broken(module: str, error: BaseException) -> TargetError:
    return TargetError(
        running.TARGET_BROKEN,
        f'importing "{module}" raises {_said(error)}',
        hint=f"see the whole failure with: python -c 'import {module}'",
        shared=True,
    )


def _said(error: BaseException) -> str:
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def invocation(target: str, declared: Tool) -> Callable[[Mapping[str, Any]], Any]:
    """The async callable of a tool: takes the mapping of its arguments, answers a text (X-12).

    A target that is a `ToolContribution` (made by `@symc.contracts.tool`) declares itself: it is held to the lock.
    """
    value = found(target)
    if isinstance(value, ToolContribution):
        _hold_to(value, declared, target)
        return value.invoke
    form = _TOOL_FORM.format(name=target.rpartition(":")[2].rpartition(".")[2])
    hint = f"a tool is `{form}`; one that is called by its parameters is declared with @symc.contracts.tool"
    _require_async(target, value, hint)
    takes = "the mapping of its arguments"
    _require_parameters(target, value, 1, takes, hint)
    if fault := value_fault(value, Mapping, _properties(declared)):
        raise TargetError(running.TARGET_SIGNATURE, f'"{target}" {fault}; it must take {takes}', hint=hint)
    return value  # type: ignore[no-any-return]


def decider(target: str) -> Callable[[Any], Any]:
    """The async callable of a policy: takes a request, answers a verdict (X-16)."""
    value = found(target)
    hint = "a policy is `async def decide(request: PolicyRequest) -> PolicyVerdict`"
    _require_async(target, value, hint)
    _require_parameters(target, value, 1, "the request", hint)
    if fault := value_fault(value, PolicyRequest):
        raise TargetError(
            running.TARGET_SIGNATURE, f'"{target}" {fault}; it must take the request', hint=hint
        )
    return value  # type: ignore[no-any-return]


def hook(target: str) -> Callable[[], Any]:
    """The callable of a lifecycle hook: sync or async, takes nothing (X-19)."""
    value = found(target)
    hint = "a hook is `def run() -> None` or `async def run() -> None`"
    _require_callable(target, value, hint)
    _require_parameters(target, value, 0, "nothing", hint)
    return value  # type: ignore[no-any-return]


def factory(target: str, *, configured: bool) -> Callable[..., Any]:
    """The factory of a tool extension, sync: takes func, name and description, and the config where it has one (V30)."""
    value = found(target)
    takes = "func, name, description" + (", config" if configured else "")
    hint = f"a factory is `def factory({takes})`"
    _require_callable(target, value, hint)
    if is_async(value):
        raise TargetError(running.TARGET_SIGNATURE, f'"{target}" is async; a factory is not', hint=hint)
    _require_parameters(target, value, 4 if configured else 3, takes, hint)
    return value  # type: ignore[no-any-return]


def _require_callable(target: str, value: object, hint: str) -> None:
    if not callable(value):
        raise TargetError(
            running.TARGET_SIGNATURE, f'"{target}" is a {type(value).__name__}, not a function', hint=hint
        )


def _require_async(target: str, value: Any, hint: str) -> None:
    _require_callable(target, value, hint)
    if not is_async(value):
        raise TargetError(running.TARGET_SIGNATURE, f'"{target}" is not async', hint=hint)


def _require_parameters(target: str, value: Any, count: int, takes: str, hint: str) -> None:
    if fault := parameters_fault(value, count):
        raise TargetError(running.TARGET_SIGNATURE, f'"{target}" {fault}; it must take {takes}', hint=hint)


def _properties(declared: Tool) -> frozenset[str]:
    """What the tool's schema calls its arguments."""
    properties = declared.input_schema.get("properties")
    return frozenset(properties) if isinstance(properties, Mapping) else frozenset()


def _hold_to(contribution: ToolContribution, declared: Tool, target: str) -> None:
    held = {
        "name": (contribution.name, declared.name),
        "description": (contribution.description, declared.description),
        "input_schema": (contribution.input_schema, declared.input_schema),
        "output_schema": (contribution.output_schema, declared.output_schema),
    }
    different = [key for key, (here, there) in held.items() if not same(here, there)]
    if different:
        raise TargetError(
            running.DECLARATION_DIFFERS,
            f'"{target}" declares another {" and ".join(different)} than the lock',
            notes=tuple(
                f"{key}: {_shown(there)} in the lock, {_shown(here)} in the code"
                for key, (here, there) in held.items()
                if key in different
            ),
            hint="make manifest and code agree, then run: symc compile",
        )


def same(one: object, other: object) -> bool:
    """Whether two JSON values have the same canonical bytes; a value that has none is like no other."""
    try:
        return canonical_bytes(one) == canonical_bytes(other)
    except CanonicalError:
        return False


def _shown(value: object) -> str:
    try:
        text = canonical_bytes(value).decode()
    except CanonicalError:
        return "something that is not JSON"
    return text if len(text) <= 200 else f"{text[:197]}…"
