"""Closures: the extensions an agent gets with those it names, in composed order, and what they bring (X-20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from symc.compose.inheritance import owned_policies
from symc.compose.knots import composed_order
from symc.compose.linked import OwnedPolicy, Place, Registration
from symc.compose.references import BUILT_IN, References
from symc.manifest import model
from symc.manifest.checked import Checked


@dataclass(frozen=True, slots=True)
class Closure:
    """Some extensions with all they require; agents that name the same ones share one closure."""

    names: tuple[str, ...]
    policies: tuple[OwnedPolicy, ...]
    registrations: Mapping[str, Registration]
    missing: frozenset[str]


@dataclass(slots=True)
class Closures:
    """The closures of one workspace, each computed once."""

    extensions: Mapping[str, Checked[model.Extension]]
    references: References
    _rank: dict[str, int] = field(init=False)
    _policies: dict[str, tuple[OwnedPolicy, ...]] = field(init=False)
    _registrations: dict[str, tuple[Registration, ...]] = field(init=False)
    _known: dict[frozenset[str], Closure] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        order = composed_order(self.references.requires)
        self._rank = {name: rank for rank, name in enumerate(order)}
        self._policies = {
            name: owned_policies(extension, "extension")
            for name, extension in self.extensions.items()
            if extension.body.policies
        }
        self._registrations = {
            name: _registrations(extension)
            for name, extension in self.extensions.items()
            if extension.body.tool_extensions
        }

    def of(self, names: Iterable[str]) -> Closure:
        """The closure of these extensions."""
        roots = frozenset(names)
        closure = self._known.get(roots)
        if closure is None:
            closure = self._known[roots] = self._closed(roots)
        return closure

    def _closed(self, roots: frozenset[str]) -> Closure:
        requires = self.references.requires
        reached = set(roots)
        front = list(roots)
        while front:
            new = [name for name in requires[front.pop()] if name not in reached]
            reached.update(new)
            front.extend(new)
        names = tuple(sorted(reached, key=self._rank.__getitem__))
        missing = self.references.missing
        return Closure(
            names=names,
            policies=tuple(
                policy for name in names if name in self._policies for policy in self._policies[name]
            ),
            registrations=self._by_name(names),
            missing=frozenset().union(*(missing[name] for name in names if name in missing)),
        )

    def _by_name(self, names: tuple[str, ...]) -> Mapping[str, Registration]:
        """Every registration by ``extension/name``, and by its bare name where only one has it."""
        full: dict[str, Registration] = {}
        bare: dict[str, Registration | None] = {}
        for owner in (BUILT_IN, *names):
            for registration in self._registrations.get(owner, ()):
                name = registration.tool_extension.name
                full[f"{owner}/{name}"] = registration
                bare[name] = None if name in bare else registration
        full.update((name, registration) for name, registration in bare.items() if registration is not None)
        return full


def _registrations(extension: Checked[model.Extension]) -> tuple[Registration, ...]:
    return tuple(
        Registration(extension.name, row, Place(extension, ("tool_extensions", index)))
        for index, row in enumerate(extension.body.tool_extensions)
    )
