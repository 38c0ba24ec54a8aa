"""Verify a lock: every digest it stores, every value it derives, and the digest that was expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from symc.canonical import CanonicalError, JsonPath
from symc.composition import Composition, Lock, Stored
from symc.composition.cover import Seal, digest_of, reached, seals
from symc.composition.form import DIGEST
from symc.composition.whole import lock_tree
from symc.diagnostics import Diagnostic, Span
from symc.diagnostics.codes import locking
from symc.diagnostics.suggest import suggestion
from symc.guarding import effect_guards, tool_guards
from symc.lock import scanning
from symc.lock.errors import LockError, look_first
from symc.lock.references import dangling

_FILE = "symc.lock"


def verify(lock: Lock, agent: str | None = None) -> None:
    """Check what ``agent`` reaches (None: the whole lock) against the digests that the lock stores.

    Also checks that references lead somewhere, and that ``guarded_by`` and ``effects`` are what follows from the
    policies (L11). Raises ``LockError`` with every mismatch, or with the one fault of structure that stands in the way.
    A lock that was compiled stores no digests and has none to fail.
    """
    compositions: dict[str, Composition] = {}
    for name in lock.agents if agent is None else (agent,):
        composition_of(lock, name, compositions)
    stored = lock.stored
    found = [one for composition in compositions.values() for one in _faults(composition, stored)]
    if agent is None:
        # Entries are made when they are asked for: those that no agent uses, too.
        tuple(lock.bases.values())
        tuple(lock.extensions.values())
    if stored is not None:
        tree = stored.tree if agent is None else _entries_of(compositions.values(), stored.tree)
        found.extend(_broken(tree, stored))
    if found:
        raise LockError(*sorted(found, key=lambda one: one.sort_key))


def composition_of(lock: Lock, agent: str, made: dict[str, Composition] | None = None) -> Composition:
    """The agent with all that it reaches; raises ``LockError`` for an agent that the lock does not hold.

    ``made`` is that of `Lock.composition`.
    """
    if agent not in lock.agents:
        file = _FILE if lock.stored is None else lock.stored.file
        raise LockError(
            locking.LOCK_AGENT_UNKNOWN.at(
                Span(file),
                f'{file} holds no agent "{agent}"',
                hint=suggestion(agent, lock.agents) or None,
                subject=agent,
            )
        )
    return lock.composition(agent, made)


def expect_digest(lock: Lock, expected: str, agent: str | None = None) -> None:
    """Verify what ``agent`` reaches (None: the whole lock), and that its digest is ``expected``.

    The digest is computed from what is there; those that the lock stores play no role in it. Raises ``LockError`` like
    ``verify``, for another digest, and for an ``expected`` that is no digest in full.
    """
    verify(lock, agent)
    tree = _whole(lock)
    actual = _digest(tree, agent)
    if actual == expected:
        return
    file = _FILE if lock.stored is None else lock.stored.file
    what = "the whole lock" if agent is None else f'agent "{agent}"'
    reason = (
        f"{what} has the digest {actual}; expected was {expected}"
        if DIGEST.fullmatch(expected)
        else f'the expected digest "{expected}" is none: it is "sha256:" and 64 lower-case hex digits'
    )
    hint = _meant(tree, expected, agent) or (
        f"see what changed: symc diff, git diff {file}; when that was reviewed, the new digest is that of: "
        + " ".join(filter(None, ("symc digest", agent)))
    )
    raise LockError(locking.LOCK_EXPECTATION.at(Span(file), reason, hint=hint, subject=agent or "*"))


def _digest(tree: Mapping[str, Any], agent: str | None) -> str:
    return digest_of(tree) if agent is None else digest_of(reached(tree, agent), agent)


def _meant(tree: Mapping[str, Any], expected: str, agent: str | None) -> str | None:
    """Whose digest was passed, where it is that of another part of this lock."""
    if agent is not None and expected == _digest(tree, None):
        return f'that is the digest of the whole lock; that of "{agent}" is printed by: symc digest {agent}'
    whose = next((name for name in sorted(tree["agents"]) if expected == _digest(tree, name)), None)
    if whose is None:
        return None
    return f'that is the digest of agent "{whose}" alone: symc verify {whose} --expect {expected}'


def digest_lines(lock: Lock) -> tuple[str, ...]:
    """The lines of ``symc digest``: ``sha256:…  NAME``, first the whole lock as ``*``, then each agent by name (L12).

    The lock is one that was compiled or verified.
    """
    tree = _whole(lock)
    known: dict[int, str] = {}
    whole = f"{digest_of(tree, known=known)}  *"
    agents = (f"{digest_of(reached(tree, name), name, known)}  {name}" for name in sorted(tree["agents"]))
    return (whole, *agents)


def _whole(lock: Lock) -> Mapping[str, Any]:
    return lock_tree(lock) if lock.stored is None else lock.stored.tree


def _entries_of(compositions: Iterable[Composition], tree: Mapping[str, Any]) -> dict[str, Any]:
    """The whole entries that these compositions use, in the form of a lock."""
    agents: dict[str, Any] = {}
    bases: dict[str, Any] = {}
    extensions: dict[str, Any] = {}
    for one in compositions:
        agents[one.name] = tree["agents"][one.name]
        extensions.update({name: tree["extensions"][name] for name in one.extensions})
        for name in one.bases:
            into, section = (bases, "bases") if name in tree.get("bases", {}) else (agents, "agents")
            into[name] = tree[section][name]
    whole = {"agents": agents, "bases": bases, "extensions": extensions}
    return {**whole, "workspace": tree["workspace"]} if "workspace" in tree else whole


def _broken(tree: Mapping[str, Any], stored: Stored) -> Iterator[Diagnostic]:
    for one in seals(tree):
        try:
            broken = one.computed != one.record["digest"]
        except CanonicalError as error:
            span = _span(stored, (*one.path, *error.path))
            yield locking.LOCK_DIGEST.at(span, f"{_named(one)}: {error.reason}", hint=look_first(stored.file))
            continue
        if broken:
            span = _span(stored, (*one.path, "digest"))
            message = f"{_named(one)} is not what its digest was made of"
            yield locking.LOCK_DIGEST.at(span, message, hint=look_first(stored.file))


_KINDS = {
    "author": "base",
    "bound-tool": "tool",
    "rendered": "rendered text",
    "tool-extension": "tool extension",
}


def _named(one: Seal) -> str:
    """The sealed part in words: ``fragment "crm/etiquette"``."""
    names = [str(step) for step in one.path[1::2]] or ["workspace"]
    return f'{_KINDS.get(one.domain, one.domain)} "{"/".join(names)}"'


def _faults(composition: Composition, stored: Stored | None) -> Iterator[Diagnostic]:
    """References that lead nowhere, and derived values that do not follow."""
    agent = composition.agent
    at = ("agents", agent.name)
    for path, reference in dangling(composition):
        span = _span(stored, (*at, *path))
        yield locking.LOCK_STRUCTURE.at(
            span,
            f'agent "{agent.name}" refers to "{reference}", which the lock does not hold',
            hint=look_first(span.file),
            subject=agent.name,
        )
    try:
        guards = tool_guards(composition.policies, agent.tools.values())
        effects = effect_guards(composition.policies, agent.grants)
    except ValueError as error:
        span = _span(stored, at)
        yield locking.LOCK_STRUCTURE.at(span, str(error), hint=look_first(span.file), subject=agent.name)
        return
    for name, tool in agent.tools.items():
        if tool.guarded_by != guards[name]:
            yield _derived(
                _span(stored, (*at, "tools", name, "guarded_by")),
                f'tool "{name}" of agent "{agent.name}" is guarded by {_listed(guards[name])}, '
                f"and not by {_listed(tool.guarded_by)}",
                agent.name,
            )
    for effect in sorted({*agent.effects, *effects}):
        held, computed = agent.effects.get(effect, ()), effects.get(effect, ())
        # An effect that nothing guards has no entry.
        if held != computed or (effect in agent.effects) != (effect in effects):
            yield _derived(
                _span(stored, (*at, "effects", effect)),
                f'effect "{effect}" of agent "{agent.name}" is guarded by {_listed(computed)}, '
                f"and not by {_listed(held)}",
                agent.name,
            )


def _derived(span: Span, message: str, agent: str) -> Diagnostic:
    return locking.LOCK_DERIVED.at(span, message, hint=look_first(span.file), subject=agent)


def _span(stored: Stored | None, path: JsonPath) -> Span:
    if stored is None:
        return Span(_FILE)
    place = scanning.position(stored.text, scanning.locate(stored.text, path))
    return Span(stored.file, place, place)


def _listed(ids: tuple[str, ...]) -> str:
    return ", ".join(ids) if ids else "nothing"
