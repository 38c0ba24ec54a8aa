"""A worker's side of a backend: inner callables of a lock's tools, run in another process (docs/variants.md V32, V33).

The layer of a backend asks `symc.runtime.sites.current_site` where it stands, and with each call sends its `Site` and the
call's `Passage` to a worker. The worker keeps one `Workshop` for its life, and calls.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from symc.composition import BoundTool, Composition, Extension
from symc.contracts.errors import ContractViolationError
from symc.contracts.frozen import freeze
from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import pins
from symc.lock import expect_digest, verify
from symc.lock.verifying import composition_of
from symc.pins.launch import REFERENCE
from symc.runtime.binding import Binder, Ground
from symc.runtime.diagnosed import DiagnosedError, place
from symc.runtime.gates import Approval, Gate, RunScope, current_scope, entered, gate, take_approval
from symc.runtime.lifecycle import Closing, TeardownError, install, units
from symc.runtime.loading import LoadedLock
from symc.runtime.opening import children_first, told
from symc.runtime.policies import Veto
from symc.runtime.servers import Servers
from symc.runtime.sites import Site, site_of

__all__ = ["Passage", "Workshop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What goes along with a call into another process, beside its arguments.

    `through` are the agents through which this one was called, whose rules hold on the other side, too (P22).
    `approved` is a person's yes to this very call (F-47): the policies that asked, and the arguments that were shown.
    """

    through: tuple[str, ...] = ()
    approved: tuple[frozenset[str], Mapping[str, Any]] | None = None

    @classmethod
    def taken(cls) -> Passage:
        """That of the call under way, taken by the layer that sends it off; a yes is used up by it."""
        approval = take_approval()
        return cls(
            through=current_scope().through,
            approved=None if approval is None else (approval.policies, approval.arguments),
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        json: dict[str, Any] = {"through": list(self.through)}
        if self.approved is not None:
            policies, arguments = self.approved
            json["approved"] = {"policies": sorted(policies), "arguments": arguments}
        return json

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Passage:
        """From what `to_json` wrote; KeyError or TypeError for anything else."""
        approved = json.get("approved")
        return cls(
            through=tuple(json["through"]),
            approved=None
            if approved is None
            else (frozenset(approved["policies"]), freeze(approved["arguments"])),
        )


@dataclass(slots=True)
class _Bench:
    """What the workshop keeps of one agent that was opened elsewhere: verified, and the gates of its tools."""

    opened: str
    digest: str
    compositions: Mapping[str, Composition]
    vetoes: dict[str, tuple[Veto, ...]] = field(default_factory=dict)
    gates: dict[tuple[str, str, int], Gate] = field(default_factory=dict)


class Workshop:
    """The tools of one lock as a worker runs them; an extension is opened when a tool of it is first called.

    `async with`, or `close()`. One workshop serves any number of calls at once, on one loop. Opening an extension runs
    its install hooks, starts its server and compares it; that is undone when the workshop closes. The other extensions
    of an agent lend their policies and layers, and are not opened. `root` and `environ` are as for `LoadedLock.open`.
    """

    def __init__(
        self, loaded: LoadedLock, *, root: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._loaded = loaded
        self._root = loaded.path.parent if root is None else root
        self._environ = os.environ if environ is None else environ
        self._servers = Servers(lock=loaded.lock, root=self._root, environ=self._environ)
        self._binder = Binder(lock=loaded.lock, remote=self._servers, environ=self._environ)
        self._closing = Closing()
        self._opening = asyncio.Lock()
        self._opened: set[str] = set()
        self._benches: dict[tuple[str, str], _Bench] = {}

    async def call(
        self,
        arguments: Mapping[str, Any],
        *,
        opened: str,
        digest: str,
        agent: str,
        tool: str,
        depth: int,
        passage: Passage,
    ) -> str:
        """What the tool with the first `depth` layers of its chain answers, through every gate inside (V32).

        The names are those of the calling layer's `Site`; `digest` is held to this side's lock. Raises `DiagnosedError`
        where the locks differ, or where something does not bind or open; `RefusedError` where a gate refuses; and what
        the tool raises.
        """
        async with self._opening:  # once a process, however many calls come at once
            bench = self._bench(opened, digest)
            inner, layer = await self._inner(bench, agent, tool, depth)
            scope = self._scope(bench, agent, passage.through)
        approval = None if passage.approved is None else Approval(*passage.approved)
        with entered(scope, approval):
            return await inner.call(arguments, origin=layer)

    async def close(self) -> None:
        """Close every extension that was opened; `TeardownError` where that fails, once all of it was tried."""
        failures = await self._closing.run()
        if failures:
            raise TeardownError(failures) from failures[0][1]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def _bench(self, opened: str, digest: str) -> _Bench:
        if (opened, digest) not in self._benches:
            lock = self._loaded.lock
            with told(lock):
                expect_digest(lock, digest, opened)
                verify(lock, opened)
                reached = children_first(composition_of(lock, opened))
            self._benches[opened, digest] = _Bench(opened, digest, {each.name: each for each in reached})
        return self._benches[opened, digest]

    async def _inner(self, bench: _Bench, agent: str, tool: str, depth: int) -> tuple[Gate, str]:
        try:
            composition = bench.compositions[agent]
            variant = composition.agent.tools[tool]
            layer = variant.chain[depth]
        except LookupError:
            raise ContractViolationError(f'agent "{agent}" has no layer {depth} of a tool "{tool}"') from None
        if (agent, tool, depth) not in bench.gates:
            inner = next(one for one in composition.agent.tools.values() if _stands_in(one, variant, depth))
            grants, vetoes = frozenset(composition.agent.grants), self._vetoes(bench, agent)
            ground = Ground(grants=grants, vetoes=vetoes, site=self._sites(bench, composition))
            self._require_variables(composition.extensions[inner.extension], inner)
            binding = self._binder.inner(composition, inner, ground)
            await self._open(composition.extensions[inner.extension], composition)
            assert binding is not None  # a fault was found, else
            bench.gates[agent, tool, depth] = gate(binding, agent=agent, grants=grants, vetoes=vetoes)
        return bench.gates[agent, tool, depth], layer.name

    async def _open(self, extension: Extension, composition: Composition) -> None:
        found = units([composition], self._binder.hook, only=extension.name)
        _refuse(self._binder.faults)
        if extension.name in self._opened:
            return
        closing = Closing()

        async def close() -> None:
            failures = await closing.run()
            if failures:
                raise TeardownError(failures) from failures[0][1]

        self._servers.select_all(extension)
        try:
            with told(self._loaded.lock):
                _refuse(await self._servers.connect(closing, extension.name))
                await install(found, closing)
        except BaseException:
            await closing.run()
            raise
        self._closing.add(f'extension "{extension.name}"', close)
        self._opened.add(extension.name)

    def _vetoes(self, bench: _Bench, agent: str) -> tuple[Veto, ...]:
        if agent not in bench.vetoes:
            bench.vetoes[agent] = self._binder.vetoes(bench.compositions[agent])
            _refuse(self._binder.faults)
        return bench.vetoes[agent]

    def _scope(self, bench: _Bench, agent: str, through: tuple[str, ...]) -> RunScope:
        own = bench.compositions[agent].policies
        inherited = {veto.policy_id: veto for caller in through for veto in self._vetoes(bench, caller)}
        return RunScope(
            through=through,
            inherited=tuple(veto for policy_id, veto in inherited.items() if policy_id not in own),
        )

    def _sites(self, bench: _Bench, composition: Composition) -> Callable[[BoundTool], Site]:
        def site(tool: BoundTool) -> Site:
            return site_of(
                tool,
                composition,
                lock=self._loaded.path,
                opened=bench.opened,
                digest=bench.digest,
                root=self._root,
                environ=self._environ,
                at_close=self._closing.add,
            )

        return site

    def _require_variables(self, extension: Extension, inner: BoundTool) -> None:
        needed = {name for text in _texts(extension, inner) for name in REFERENCE.findall(text)}
        _refuse(
            [
                pins.ENV_MISSING.at(
                    place(self._loaded.lock, "extensions", extension.name),
                    f'{name} is not set where the worker runs, and "{extension.name}" cannot open without it',
                    hint=f"set {name} and start the worker again",
                    subject=extension.name,
                )
                for name in sorted(needed - self._environ.keys())
            ]
        )


def _stands_in(tool: BoundTool, variant: BoundTool, depth: int) -> bool:
    """Whether the tool is the variant without its outer layers, from `depth` on."""
    return (tool.extension, tool.raw, tool.chain) == (variant.extension, variant.raw, variant.chain[:depth])


def _texts(extension: Extension, inner: BoundTool) -> Iterator[str]:
    """Every text that may refer to the environment, of the extension's server and of the layers inside."""
    if extension.mcp is not None:
        yield from (*extension.mcp.command, extension.mcp.url)
        yield from (*extension.mcp.env.values(), *extension.mcp.headers.values())
    for layer in inner.chain:
        yield from _strings(layer.config)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(item)


def _refuse(faults: Iterable[Diagnostic]) -> None:
    found = tuple(faults)
    if found:
        raise DiagnosedError(found)
