"""Loading: a lock from its file, ready to open agents from (docs/lockfile.md §5)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from symc.composition import Lock
from symc.lock import LockError, expect_digest, file
from symc.runtime.agent import Agent
from symc.runtime.diagnosed import DiagnosedError
from symc.runtime.gates import Approver
from symc.runtime.model import ModelConfig, ModelProvider

__all__ = ["LoadedLock", "load"]


def load(path: str | os.PathLike[str], *, expect: str | None = None) -> LoadedLock:
    """The lock in this file; no manifest is read, no code imported, no network touched (P34).

    `expect` is the digest of the whole lock, from `symc digest`: what is loaded is what was reviewed, or nothing is.
    Raises `DiagnosedError` for a lock that is missing, conflicted, of another version or structure, or another one than
    expected. Each agent's digests are verified when it opens.
    """
    here = Path(path)
    try:
        lock = file.load(here)
        if expect is not None:
            expect_digest(lock, expect)
    except LockError as error:
        raise DiagnosedError(error.diagnostics) from None
    return LoadedLock(lock, here.absolute())


@dataclass(frozen=True, slots=True)
class LoadedLock:
    """A lock that was loaded, and the absolute path of its file."""

    lock: Lock
    path: Path

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents it holds, sorted."""
        return tuple(sorted(self.lock.agents))

    def open(
        self,
        agent: str,
        *,
        provider: ModelProvider | Mapping[str, ModelProvider],
        expect: str | None = None,
        grants: Iterable[str] | None = None,
        approver: Approver | None = None,
        model: str | ModelConfig | None = None,
        capabilities: Iterable[object] = (),
        root: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[Agent]:
        """The agent, ready to run while the block lasts; everything it opened is closed with the block.

        Every digest the agent reaches is verified, every target imported and held to the lock, every layer bound, every
        server started and its tools compared, every install hook run; then the agent is given out. Whatever is not as
        the lock says refuses the start with `DiagnosedError`, all of a stage's mistakes at once.

        `provider` answers for the agent and for all it delegates to; or give one for each, by name. `expect` is the
        digest of this agent. `grants` are the effects you allow, intersected with the lock's (None: the lock's).
        `approver` answers `ask` policies. `model` is another one than the lock's, for this agent. `capabilities` attach beside the composition. `root` is the working folder of
        servers (default: the folder of the lock), `environ` where `${env:NAME}` is looked up (default: the process's).
        """
        from symc.runtime.opening import Terms, opened

        return opened(
            self.lock,
            agent,
            Terms(
                provider=provider,
                lock_path=self.path,
                root=self.path.parent if root is None else Path(root),
                environ=os.environ if environ is None else environ,
                expect=expect,
                grants=None if grants is None else frozenset(grants),
                approver=approver,
                model=model,
                capabilities=tuple(capabilities),
            ),
        )

    async def verify(
        self,
        agents: Iterable[str] | None = None,
        *,
        root: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        expect: str | None = None,
    ) -> None:
        """Everything that `open` does before the first hook, for these agents together (None: for all), and undone again.

        Digests are verified, targets bound, layers made, servers started and compared; no hook runs and no model is
        called. `expect` is the digest of the first of them. Raises `DiagnosedError` with what would keep an agent from
        starting.
        """
        from symc.runtime.opening import Terms, verified

        await verified(
            self.lock,
            self.agents if agents is None else tuple(agents),
            Terms(
                provider={},
                expect=expect,
                lock_path=self.path,
                root=self.path.parent if root is None else Path(root),
                environ=os.environ if environ is None else environ,
            ),
        )
