"""Where a layer is being bound: what a backend needs to run its inner callable in another process (docs/variants.md V33)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from symc.composition import BoundTool, Composition

__all__ = ["Site", "at", "current_site", "site_of"]

Undo = Callable[[], Awaitable[None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The place of one layer in one opened agent.

    `lock` is the file it was loaded from. `opened` is the agent that was opened, and `digest` the digest of all it
    reaches: a worker holds its own lock to it. `agent` is the one that has the tool, itself or a delegate. `tool` is the
    exposed name of the variant that the layer mints, and `depth` how many layers stand inside it: the inner callable is
    the tool with the first `depth` layers of its chain. `extension`, `raw` and `chain` (innermost first, this layer last)
    are the identity of that variant; `served` says that its body runs in an MCP server. `root` is the working folder of
    servers, `environ` where `${env:NAME}` is looked up.
    """

    lock: Path
    opened: str
    digest: str
    agent: str
    tool: str
    depth: int
    extension: str
    raw: str
    chain: tuple[str, ...]
    served: bool
    root: Path
    environ: Mapping[str, str]
    at_close: Callable[[Undo], None]
    """Registers what the layer needs undone when the agent closes; sync or async, undone in reverse."""


def site_of(
    tool: BoundTool,
    composition: Composition,
    *,
    lock: Path,
    opened: str,
    digest: str,
    root: Path,
    environ: Mapping[str, str],
    at_close: Callable[[str, Undo], None],
) -> Site:
    """The site of a variant's outermost layer; `at_close` also takes what messages call the layer."""
    depth = len(tool.chain) - 1
    return Site(
        lock=lock,
        opened=opened,
        digest=digest,
        agent=composition.name,
        tool=tool.name,
        depth=depth,
        extension=tool.extension,
        raw=tool.raw,
        chain=tuple(layer.name for layer in tool.chain),
        served=composition.extensions[tool.extension].mcp is not None,
        root=root,
        environ=environ,
        at_close=lambda undo: at_close(f'layer {depth} of "{tool.name}"', undo),
    )


_site: ContextVar[Site | None] = ContextVar("symc_site", default=None)


def current_site() -> Site:
    """The site of the layer whose factory is running; LookupError anywhere else."""
    site = _site.get()
    if site is None:
        raise LookupError("no layer is being bound: a factory asks for its site while it runs, not later")
    return site


@contextmanager
def at(site: Site) -> Iterator[None]:
    """Make `site` the current one while a factory runs."""
    token = _site.set(site)
    try:
        yield
    finally:
        _site.reset(token)
