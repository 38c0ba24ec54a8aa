"""An extension's `implementation`: the provider in code, compared with what the lock holds of it (docs/contracts.md §1).

YAML is the declaration. A provider that declares anything else is refused, field by field, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from symc.composition import Extension
from symc.contracts.bundle import ExtensionContribution, contribution_of
from symc.contracts.errors import ExtensionContractError
from symc.diagnostics.codes import running
from symc.runtime.targets import TargetError, found, same

__all__ = ["compare"]

Members = Mapping[str, Mapping[str, Any]]
"""Members of one kind by id, each as its compared fields."""

_HINT: Final = "make manifest and code agree, then run: symc compile"


def compare(extension: Extension) -> None:
    """Raise `TargetError` with every difference between the provider's contribution and the extension of the lock."""
    provider = found(extension.implementation)
    try:
        bundle = contribution_of(provider)
    except ExtensionContractError as error:
        raise TargetError(
            running.DECLARATION_DIFFERS,
            f'"{extension.implementation}" is no provider that can be taken: {error}',
            hint="an implementation is an object with `name` and `contribute()`",
        ) from error
    differences = tuple(_differences(bundle, extension))
    if differences:
        raise TargetError(
            running.DECLARATION_DIFFERS,
            f'"{extension.implementation}" contributes something else than its manifest declares',
            notes=differences,
            hint=_HINT,
        )


def _differences(bundle: ExtensionContribution, extension: Extension) -> Iterator[str]:
    if bundle.extension != extension.name:
        yield f'its name is "{bundle.extension}", in the lock "{extension.name}"'
    for kind, here, there in (
        ("tool", _tools(bundle.tools), {} if extension.mcp else _tools(extension.tools.values())),
        ("fragment", _fragments(bundle.prompts), _fragments(extension.fragments.values())),
        ("policy", _policies(bundle.policies), _declared_policies(extension)),
        ("hook", _hooks(bundle.lifecycle), _hooks(extension.hooks.values())),
    ):
        yield from _between(kind, here, there)


def _between(kind: str, here: Members, there: Members) -> Iterator[str]:
    for key in sorted(here.keys() | there.keys()):
        if key not in there:
            yield f'{kind} "{key}" is in the code and not in the lock'
        elif key not in here:
            yield f'{kind} "{key}" is in the lock and not in the code'
        else:
            for name, value in there[key].items():
                if not same(here[key][name], value):
                    yield f'{kind} "{key}": another {name}'


def _fields(*names: str, key: str) -> Callable[[Iterable[Any]], Members]:
    def table(members: Iterable[Any]) -> Members:
        return {getattr(member, key): {name: getattr(member, name) for name in names} for member in members}

    return table


_tools = _fields("description", "input_schema", key="name")
_fragments = _fields("text", "layer", "tier", "scope", "order", "truncated", key="fragment_id")
_hooks = _fields("phase", key="hook_id")


def _policies(policies: Iterable[Any]) -> Members:
    return {policy.policy_id: {"actions": sorted(policy.actions)} for policy in policies}


def _declared_policies(extension: Extension) -> Members:
    # Rules are data of the manifest alone; a provider can only bring code.
    return _policies(policy for policy in extension.policies.values() if policy.effect == "decide")
