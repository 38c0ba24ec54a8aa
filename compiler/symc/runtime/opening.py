"""Opening: an agent of a lock → a running one, or a refusal that says what differs (docs/lockfile.md §5, docs/contracts.md X-20).

verify → environment → providers → bind → connect and compare → install → the agent → close, exactly reversed
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from symc.composition import BoundTool, Composition, Lock, Slot
from symc.composition.cover import digest_of, reached
from symc.composition.whole import lock_tree
from symc.contracts.errors import ContractViolationError
from symc.diagnostics import Diagnostic
from symc.diagnostics.codes import pins, running
from symc.lock import LockError, expect_digest, verify
from symc.lock.verifying import composition_of
from symc.runtime.agent import Agent
from symc.runtime.binding import Binder, Ground
from symc.runtime.capabilities import GrantEffects
from symc.runtime.composed import Composed, account
from symc.runtime.delegates import Edge
from symc.runtime.diagnosed import DiagnosedError, place
from symc.runtime.gates import Approver
from symc.runtime.lifecycle import Closing, HookError, TeardownError, Unit, install, units
from symc.runtime.model import ModelConfig, ModelOutput, ModelProvider, ModelRequest
from symc.runtime.servers import Servers
from symc.runtime.sites import Site, site_of
from symc.runtime.slots import Prompt, slots_of

__all__ = ["Terms", "children_first", "opened", "told", "verified"]

logger: Final = logging.getLogger("symc.runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms an operator opens an agent; `symc.runtime.loading.LoadedLock.open` explains each."""

    provider: ModelProvider | Mapping[str, ModelProvider]
    lock_path: Path
    root: Path
    environ: Mapping[str, str]
    expect: str | None = None
    grants: frozenset[str] | None = None
    approver: Approver | None = None
    model: str | ModelConfig | None = None
    capabilities: tuple[object, ...] = ()


@asynccontextmanager
async def opened(lock: Lock, name: str, terms: Terms) -> AsyncIterator[Agent]:
    """The agent while the block lasts; everything that was opened for it is closed again, on every way out."""
    async with _closed_after() as closing:
        opening = _Opening.of(lock, (name,), terms)
        agent = await opening.start(closing)
        closing.add("the agent", agent.close)
        said = {"agent": name, "composition": opening.digests[name]}
        logger.info("agent opened", extra=said)
        try:
            yield agent
        finally:
            logger.info("agent closes", extra=said)


async def verified(lock: Lock, names: tuple[str, ...], terms: Terms) -> None:
    """Bind and compare these agents together as `opened` does, on stand-ins for their providers; no hook runs."""
    async with _closed_after() as closing:
        with told(lock):
            stand_ins = {name: _StandIn(lock.agents[name].provider) for name in lock.agents}
        await _Opening.of(lock, names, replace(terms, provider=stand_ins)).bind(closing)


@asynccontextmanager
async def _closed_after() -> AsyncIterator[Closing]:
    """What is opened in the block is closed with it, on every way out."""
    closing = Closing()
    try:
        yield closing
    except BaseException as error:
        for step, failure in await closing.run():
            # what closing meets never hides why it closes.
            error.add_note(f"while closing, {step} raised {type(failure).__name__}: {failure}")
        raise
    failures = await closing.run()
    if failures:
        raise TeardownError(failures) from failures[0][1]


class _StandIn:
    """Stands where a provider belongs while an agent is only looked at."""

    def __init__(self, vendor: str) -> None:
        self.vendor = vendor

    def respond(self, _request: ModelRequest, /) -> AsyncIterator[ModelOutput]:
        raise ContractViolationError("no model is called while an agent is verified")


@contextmanager
def told(lock: Lock) -> Iterator[None]:
    """What the lock package and hooks refuse, as refusals of the runtime."""
    try:
        yield
    except LockError as error:
        raise DiagnosedError(error.diagnostics) from None
    except HookError as error:
        fault = running.HOOK_FAILED.at(
            place(lock, "extensions", error.extension, "lifecycle", error.hook_id, "run"),
            str(error),
            hint="mend what the hook needs; every extension that was open is closed again",
            subject=error.extension,
        )
        raise DiagnosedError([fault]) from error.__cause__


@dataclass(slots=True, kw_only=True)
class _Opening:
    """Agents being opened with all they may call; `compositions` are by name, children before their parents."""

    lock: Lock
    names: tuple[str, ...]
    terms: Terms
    compositions: Mapping[str, Composition]
    digests: Mapping[str, str]
    operator: frozenset[str] | None
    agents: dict[str, Agent] = field(default_factory=dict)

    @classmethod
    def of(cls, lock: Lock, names: tuple[str, ...], terms: Terms) -> _Opening:
        """Verified: every digest that the agents reach, what is derived in them, and what was expected of the one."""
        operator = None if terms.grants is None else GrantEffects(*terms.grants).effects
        with told(lock):
            compositions: dict[str, Composition] = {}
            for name in names:
                compositions |= {each.name: each for each in children_first(composition_of(lock, name))}
                verify(lock, name)
            digests = _digests(lock, compositions)
            if terms.expect is not None and terms.expect != digests[names[0]]:
                expect_digest(lock, terms.expect, names[0])
        return cls(
            lock=lock,
            names=names,
            terms=terms,
            compositions=compositions,
            digests=digests,
            operator=None if operator is None else operator | {"model_call"},
        )

    async def start(self, closing: Closing) -> Agent:
        """Bind, connect, install; the agent, ready to run."""
        hooks = await self.bind(closing)
        with told(self.lock):
            await install(hooks, closing)
        return self.agents[self.names[0]]

    async def bind(self, closing: Closing) -> tuple[Unit, ...]:
        """Everything that can be refused before something happens; the hooks that are to be run next."""
        _refuse([*self._missing_variables(), *self._unfit_providers()])
        servers = Servers(lock=self.lock, root=self.terms.root, environ=self.terms.environ)
        binder = Binder(lock=self.lock, remote=servers, environ=self.terms.environ)
        for composition in self.compositions.values():
            binder.compare_implementations(composition.extensions.values())
        hooks = units(self.compositions.values(), binder.hook)
        for composition in self.compositions.values():
            self.agents[composition.name] = self._bound(composition, binder, closing)
        _refuse(binder.faults)
        servers.select(self.compositions.values())
        _refuse(await servers.connect(closing))
        return hooks

    def _bound(self, composition: Composition, binder: Binder, closing: Closing) -> Agent:
        agent = composition.agent
        grants = self._granted(composition)
        vetoes = binder.vetoes(composition)
        ground = Ground(grants=grants | {"model_call"}, vetoes=vetoes, site=self._sites(composition, closing))
        tools = binder.tools(composition, ground)
        edges = [
            Edge(
                caller=agent.name,
                delegate=edge,
                child=self.agents[child],
                vetoes=vetoes,
                compositions=self.compositions,
            )
            for child, edge in agent.delegates.items()
        ]
        composed = Composed(
            composition=composition,
            prompt=Prompt.of(
                composition,
                known=self._slots,
                place=lambda: place(self.lock, "agents", agent.name),
            ),
            tools=(*tools, *(edge.tool for edge in edges)),
            vetoes=vetoes,
            account=account(composition, grants=grants, composition_digest=self.digests[agent.name]),
        )
        is_root = agent.name in self.names
        return Agent(
            self._provider(agent.name),
            model=(self.terms.model if is_root else None) or agent.model or None,
            capabilities=(
                GrantEffects(*sorted(grants)),
                composed,
                *(self.terms.capabilities if is_root else ()),
            ),
            max_model_rounds=agent.limits.max_model_rounds,
            approver=self.terms.approver if is_root else None,  # a child asks through its parent's run
        )

    @property
    def _slots(self) -> dict[str, Slot]:
        return {key: slot for each in self.compositions.values() for key, slot in slots_of(each).items()}

    def _granted(self, composition: Composition) -> frozenset[str]:
        """F-17: what the lock grants and the operator allows, never more than either."""
        grants = frozenset(composition.agent.grants)
        return grants if self.operator is None else grants & self.operator

    def _sites(self, composition: Composition, closing: Closing) -> Callable[[BoundTool], Site]:
        terms, whole = self.terms, self.digests[self.names[0]]

        def site(tool: BoundTool) -> Site:
            return site_of(
                tool,
                composition,
                lock=terms.lock_path,
                opened=self.names[0],
                digest=whole,
                root=terms.root,
                environ=terms.environ,
                at_close=closing.add,
            )

        return site

    def _provider(self, agent: str) -> ModelProvider:
        given = self.terms.provider
        return given[agent] if isinstance(given, Mapping) else given

    def _missing_variables(self) -> Iterator[Diagnostic]:
        """Every variable of the environment that is not set, of all agents, before anything is started."""
        needed: dict[str, list[str]] = {}
        for name, composition in sorted(self.compositions.items()):
            for variable in composition.agent.env:
                needed.setdefault(variable, []).append(name)
        for variable, agents in sorted(needed.items()):
            if variable not in self.terms.environ:
                listed = " and ".join(f'"{name}"' for name in agents)
                plural = "agent" if len(agents) == 1 else "agents"
                yield pins.ENV_MISSING.at(
                    place(self.lock, "agents", agents[0], "env"),
                    f"{variable} is not set, and {plural} {listed} cannot start without it",
                    hint=f"set {variable} and start again",
                    subject=agents[0],
                )

    def _unfit_providers(self) -> Iterator[Diagnostic]:
        """F-46: each agent runs on the provider that its tools were checked for."""
        given = self.terms.provider
        for name, composition in sorted(self.compositions.items()):
            if isinstance(given, Mapping) and name not in given:
                at = place(self.lock, "agents", name)
                message = f'no provider was passed for agent "{name}"'
                hint = f'add it: provider={{"{name}": …}}; one provider alone serves all agents'
                yield running.PROVIDER_MISMATCH.at(at, message, hint=hint, subject=name)
                continue
            wanted, vendor = composition.agent.provider, getattr(self._provider(name), "vendor", "")
            if wanted not in ("none", vendor):
                here = f"of {vendor}" if vendor else "of no named vendor"
                yield running.PROVIDER_MISMATCH.at(
                    place(self.lock, "agents", name, "provider"),
                    f'agent "{name}" is checked for the provider "{wanted}"; this one is {here}',
                    hint=f"pass a provider of {wanted}, or change `provider` in the manifest and run: symc compile",
                    subject=name,
                )


def children_first(composition: Composition) -> Iterator[Composition]:
    """All that an agent may call, and it last; one that is called by two comes twice."""
    for child in composition.delegates.values():
        yield from children_first(child)
    yield composition


def _digests(lock: Lock, compositions: Mapping[str, Composition]) -> dict[str, str]:
    tree = lock_tree(lock) if lock.stored is None else lock.stored.tree
    known: dict[int, str] = {}
    return {name: digest_of(reached(tree, name), name, known) for name in compositions}


def _refuse(faults: list[Diagnostic] | tuple[Diagnostic, ...]) -> None:
    if faults:
        raise DiagnosedError(faults)
