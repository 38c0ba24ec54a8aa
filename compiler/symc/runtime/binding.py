"""Binding: the tools, policies and hooks of compositions → callables in this process, every fault collected.

Each target is looked up once for all agents that open together, and captured (X-13). What is bound to what is the
lock's word alone: extension, raw name and layers, never an exposed name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypeVar

from symc.canonical import canonical_bytes
from symc.composition import BoundTool, Composition, Extension, Hook, Layer, Lock, Policy, ToolExtension
from symc.contracts.frozen import FrozenDict, freeze
from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import locking
from symc.pins.launch import REFERENCE, redacted
from symc.runtime import targets
from symc.runtime.diagnosed import place
from symc.runtime.gates import gate
from symc.runtime.implementations import compare
from symc.runtime.layers import layer
from symc.runtime.policies import Veto
from symc.runtime.rulebook import Decider, rulebook, without_model_calls
from symc.runtime.sites import Site, at
from symc.runtime.targets import TargetError
from symc.runtime.toolset import Invoke, ToolBinding

__all__ = ["Binder", "Ground", "Remote"]

T = TypeVar("T")

_Key: TypeAlias = tuple[str, str, tuple[tuple[str, str, bytes], ...]]
"""A tool's identity with its layers, each with its config in the one spelling of RFC 8785."""


class Remote(Protocol):
    """Whatever calls the tools of servers."""

    def invocation(self, extension: Extension, raw: str) -> Invoke:
        """The callable of one tool of the extension's server; nothing is connected yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the layers of one agent stand on: its effective grants, its vetoes, and the site of each layer."""

    grants: frozenset[str]
    vetoes: tuple[Veto, ...]
    site: Callable[[BoundTool], Site]


@dataclass(slots=True, kw_only=True)
class Binder:
    """Binds what it is asked for; `faults` are all that could not be bound, in no order."""

    lock: Lock
    remote: Remote
    environ: Mapping[str, str]
    faults: list[Diagnostic] = field(default_factory=list)
    _bases: dict[tuple[str, str], Invoke | None] = field(default_factory=dict)
    _deciders: dict[str, Decider] = field(default_factory=dict)
    _factories: dict[tuple[str, str], Callable[..., Any] | None] = field(default_factory=dict)
    _hooks: dict[tuple[str, str], Callable[[], Any]] = field(default_factory=dict)
    _compared: set[str] = field(default_factory=set)

    def compare_implementations(self, extensions: Iterable[Extension]) -> None:
        """Hold every extension that has an `implementation` to what the lock says of it, once."""
        for extension in extensions:
            if extension.implementation and extension.name not in self._compared:
                self._compared.add(extension.name)
                path = ("extensions", extension.name, "implementation")
                self._tried(lambda one=extension: compare(one), path, f'extension "{extension.name}"')  # type: ignore[misc]

    def vetoes(self, composition: Composition) -> tuple[Veto, ...]:
        """The policies of an agent; one more where its grants lack the call of models."""
        for policy_id, policy in composition.policies.items():
            if policy.effect == "decide" and policy_id not in self._deciders:
                self._deciders[policy_id] = self._decider(policy_id, policy)
        found = rulebook(composition.policies, self._deciders, self._registered)
        if "model_call" in composition.agent.grants:
            return found
        return (*found, without_model_calls(composition.name))

    def _registered(self, layer: Layer) -> ToolExtension:
        return self.lock.extensions[layer.extension].tool_extensions[layer.name]

    def hook(self, extension: Extension, hook: Hook) -> Callable[[], Any]:
        """The callable of a lifecycle hook."""
        key = (extension.name, hook.hook_id)
        if key not in self._hooks:
            path = ("extensions", extension.name, "lifecycle", hook.hook_id, "run")
            found = self._tried(lambda: targets.hook(hook.run), path, f'hook "{"/".join(key)}"')
            self._hooks[key] = found or _nothing
        return self._hooks[key]

    def tools(self, composition: Composition, ground: Ground) -> tuple[ToolBinding, ...]:
        """All tools of an agent: bases, and variants over gated inner callables (V30, V32), by name."""
        made: dict[_Key, ToolBinding] = {}
        for tool in sorted(composition.agent.tools.values(), key=lambda one: len(one.chain)):
            binding = self._tool(composition, tool, made, ground)
            if binding is not None:
                made[_key(tool, tool.chain)] = binding
        return tuple(sorted(made.values(), key=lambda one: one.name))

    def inner(self, composition: Composition, tool: BoundTool, ground: Ground) -> ToolBinding | None:
        """One tool of an agent, with all that stands inside it and nothing else."""
        made: dict[_Key, ToolBinding] = {}
        stack = [
            other
            for other in composition.agent.tools.values()
            if _key(other, other.chain) == _key(tool, tool.chain[: len(other.chain)])
        ]
        for each in sorted(stack, key=lambda one: len(one.chain)):
            binding = self._tool(composition, each, made, ground)
            if binding is not None:
                made[_key(each, each.chain)] = binding
        return made.get(_key(tool, tool.chain))

    def _tool(
        self, composition: Composition, tool: BoundTool, made: Mapping[_Key, ToolBinding], ground: Ground
    ) -> ToolBinding | None:
        if tool.chain:
            inner = made.get(_key(tool, tool.chain[:-1]))
            if inner is None:
                self._require_inner(composition, tool)
                return None
            invoke = self._layer(composition, tool, inner, ground)
        else:
            invoke = self._base(composition.extensions[tool.extension], tool)
        if invoke is None:
            return None
        return ToolBinding(
            name=tool.name,
            invoke=invoke,
            description=tool.description,
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            extension=tool.extension,
            raw=tool.raw,
            layers=tool.chain,
            exposed=tool.exposed,
            owner=f'of extension "{tool.extension}"',
        )

    def _base(self, extension: Extension, tool: BoundTool) -> Invoke | None:
        key = (tool.extension, tool.raw)
        if key not in self._bases:
            declared = extension.tools[tool.raw]
            if declared.invoke:
                path = ("extensions", extension.name, "tools", tool.raw, "invoke")
                what = f'tool "{"/".join(key)}"'
                self._bases[key] = self._tried(
                    lambda: targets.invocation(declared.invoke, declared), path, what
                )
            else:
                self._bases[key] = self.remote.invocation(extension, tool.raw)
        return self._bases[key]

    def _layer(
        self, composition: Composition, tool: BoundTool, inner: ToolBinding, ground: Ground
    ) -> Invoke | None:
        outermost, depth = tool.chain[-1], len(tool.chain) - 1
        registered = composition.extensions[outermost.extension].tool_extensions[outermost.name]
        factory = self._factory(composition.extensions[outermost.extension], outermost)
        if factory is None:
            return None
        gated = gate(inner, agent=composition.name, grants=ground.grants, vetoes=ground.vetoes)
        path = ("agents", composition.name, "tools", tool.name, "chain", depth)
        with at(ground.site(tool)):
            return self._tried(
                lambda: layer(
                    registered,
                    factory,
                    gated,
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    config=self._resolved(outermost.config),
                ),
                path,
                f'layer "{outermost.extension}/{outermost.name}" of "{tool.name}"',
                names=_references(outermost.config),
            )

    def _factory(self, extension: Extension, outermost: Layer) -> Callable[..., Any] | None:
        key = (extension.name, outermost.name)
        if key not in self._factories:
            registered = extension.tool_extensions[outermost.name]
            self._factories[key] = self._tried(
                lambda: targets.factory(registered.factory, configured=registered.config_schema is not None),
                ("extensions", extension.name, "tool_extensions", outermost.name, "factory"),
                f'tool extension "{"/".join(key)}"',
            )
        return self._factories[key]

    def _decider(self, policy_id: str, policy: Policy) -> Decider:
        found = self._tried(
            lambda: targets.decider(policy.decide), self._path_of(policy_id), f'policy "{policy_id}"'
        )
        return found or _undecided

    def _path_of(self, policy_id: str) -> tuple[str, ...]:
        owner, _, name = policy_id.partition("/")
        if owner in self.lock.extensions:
            return ("extensions", owner, "policies", name, "decide")
        if owner in self.lock.agents:
            return ("agents", owner, "policies", name, "decide")
        section = ("bases", owner) if owner in self.lock.bases else ("workspace",)
        return (*section, "policies", name, "decide")

    def _resolved(self, config: FrozenDict | None) -> Mapping[str, Any] | None:
        """The config with each string that is a reference to the environment replaced by the value (never in the lock)."""

        def value(item: Any) -> Any:
            if isinstance(item, str) and (whole := REFERENCE.fullmatch(item)):
                return self.environ[whole[1]]
            if isinstance(item, Mapping):
                return {key: value(inner) for key, inner in item.items()}
            return [value(inner) for inner in item] if isinstance(item, tuple | list) else item

        return None if config is None else freeze(value(config))

    def _require_inner(self, composition: Composition, tool: BoundTool) -> None:
        """Say that the lock lacks the tool inside a variant; one that is there could not be bound, and that is said."""
        wanted = _key(tool, tool.chain[:-1])
        if not any(_key(one, one.chain) == wanted for one in composition.agent.tools.values()):
            self.faults.append(
                locking.LOCK_STRUCTURE.at(
                    place(self.lock, "agents", composition.name, "tools", tool.name),
                    f'variant "{tool.name}" stands on a tool that agent "{composition.name}" does not hold',
                    hint="run: symc compile",
                    subject=composition.name,
                )
            )

    def _tried(
        self,
        bind: Callable[[], T],
        path: tuple[str | int, ...],
        what: str,
        names: frozenset[str] = frozenset(),
    ) -> T | None:
        """What `bind` answers; its fault is kept. `names` are variables whose values a message must not repeat."""
        try:
            return bind()
        except TargetError as error:
            subject = what.split('"')[1]  # what is named first, in quotes
            fault = error.at(place(self.lock, *path), what, subject)
            self.faults.append(replace(fault, message=redacted(fault.message, names, self.environ)))
            return None


def _references(config: Any) -> frozenset[str]:
    """The variables of the environment that a config refers to."""
    if isinstance(config, str):
        whole = REFERENCE.fullmatch(config)
        return frozenset({whole[1]} if whole else ())
    if isinstance(config, Mapping):
        return frozenset().union(*map(_references, config.values()))
    return frozenset().union(*map(_references, config)) if isinstance(config, tuple) else frozenset()


def _key(tool: BoundTool, chain: tuple[Layer, ...]) -> _Key:
    layers = tuple((one.extension, one.name, canonical_bytes(one.config)) for one in chain)
    return tool.extension, tool.raw, layers


def _nothing() -> None:
    """Stands where a hook could not be bound; the agent does not open."""


async def _undecided(_request: Any) -> Any:
    """Stands where a policy could not be bound; the agent does not open."""
