"""Authority rules about means: limits, secrets, and the code that runs (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symc.composition import Policy
from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Direction, Finding, Item, Json, Rule
from symc.diff.side import Side, Tree

_LIMITS = {
    "max_model_rounds": "call its model {} times a run",
    "prompt_chars": "read a prompt of {} characters",
    "extension_prompt_chars": "read {} characters of one extension",
    "tools": "have {} tools",
}


def limit_raised(evidence: Evidence) -> Iterator[Finding]:
    """Limits that let an agent do more of something."""
    yield from _limits(evidence, up=True)


def limit_lowered(evidence: Evidence) -> Iterator[Finding]:
    """Limits that let an agent do less of something."""
    yield from _limits(evidence, up=False)


def secret_added(evidence: Evidence) -> Iterator[Finding]:
    """Environment variables that an agent reads and did not read."""
    yield from _secrets(evidence, evidence.new, evidence.old, "may now read", Direction.UP)


def secret_removed(evidence: Evidence) -> Iterator[Finding]:
    """Environment variables that an agent no longer reads."""
    yield from _secrets(evidence, evidence.old, evidence.new, "may no longer read", Direction.DOWN)


def code_target_changed(evidence: Evidence) -> Iterator[Finding]:
    """Code or servers that took the place of others under the same name."""
    for owner in evidence.extensions:
        old, new = evidence.old.extensions[owner], evidence.new.extensions[owner]
        users = evidence.new.adopters.get(owner, ())
        before, after = old.get("implementation"), new.get("implementation")
        if before != after:
            yield _target(f"{owner} implementation", Item("implementation", owner), before, after, users)
        yield from _servers(owner, old.get("mcp"), new.get("mcp"), users)
        for raw, was, now in _both(old, new, "tools"):
            callers = evidence.users(owner, raw, evidence.new)
            if callers and was.get("invoke") != now.get("invoke"):
                item = Item("tool", owner, raw)
                yield _target(f"{owner}/{raw} invoke", item, was.get("invoke"), now.get("invoke"), callers)
        for name, was, now in _both(old, new, "tool_extensions"):
            callers = evidence.stacked(owner, name, evidence.new)
            for key in ("factory", "kind", "requires_body_locality"):
                if callers and was.get(key) != now.get(key):
                    item = Item("layer", owner, name)
                    yield _target(f"{owner}/{name} {key}", item, was.get(key), now.get(key), callers)
        for hook, was, now in _both(old, new, "lifecycle"):
            for key in ("run", "phase"):
                if was[key] != now[key]:
                    item = Item("hook", owner, hook)
                    yield _target(f"{owner}/{hook} {key}", item, was[key], now[key], users)
    yield from _decisions(evidence)


def hook_added(evidence: Evidence) -> Iterator[Finding]:
    """Lifecycle hooks that run for an agent and did not."""
    yield from _hooks(evidence, evidence.new, evidence.old, "now runs")


def hook_removed(evidence: Evidence) -> Iterator[Finding]:
    """Lifecycle hooks that no longer run for an agent."""
    yield from _hooks(evidence, evidence.old, evidence.new, "no longer runs")


def _limits(evidence: Evidence, *, up: bool) -> Iterator[Finding]:
    groups: dict[tuple[str, Json, Json], list[str]] = {}
    for agent in evidence.agents:
        old, new = evidence.old.agents[agent].get("limits", {}), evidence.new.agents[agent].get("limits", {})
        for key in _LIMITS:
            before, after = old.get(key), new.get(key)
            if before != after and (after is None or (before is not None and after > before)) == up:
                groups.setdefault((key, before, after), []).append(agent)
    for (key, before, after), agents in sorted(groups.items(), key=lambda one: (one[0][0], one[1])):
        done = _LIMITS[key]
        yield Finding(
            subject=key,
            about=Item("limit", agents[0], key),
            before=before,
            after=after,
            witness=f"{agents[0]} may now {done.format(_number(after))} (was: {_number(before)})",
            touches=tuple(agents),
            direction=Direction.UP if up else Direction.DOWN,
        )
    for key, was, policy in _code(evidence):
        old_time, new_time = was.timeout or 5, policy.timeout or 5
        if old_time != new_time and (new_time > old_time) == up:
            yield Finding(
                subject=f"{key} timeout",
                about=evidence.policy(key),
                before=old_time,
                after=new_time,
                witness=f"the code of {key} may now take {new_time:g} s before it denies (was: {old_time:g} s)",
                direction=Direction.UP if up else Direction.DOWN,
            )


def _number(value: Json) -> str:
    return "any number of" if value is None else str(value)


def _secrets(
    evidence: Evidence, side: Side, other: Side, said: str, direction: Direction
) -> Iterator[Finding]:
    for name, agents in _grouped(
        (name, agent)
        for agent in evidence.agents
        for name in side.agents[agent].get("env", ())
        if name not in other.agents[agent].get("env", ())
    ):
        present = {"agents": list(agents)}
        yield Finding(
            subject=name,
            about=Item("agent", agents[0]),
            before=present if side is evidence.old else None,
            after=present if side is evidence.new else None,
            witness=f"{agents[0]} {said} the environment variable {name}",
            touches=agents,
            direction=direction,
        )


def _grouped(found: Iterable[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    groups: dict[str, list[str]] = {}
    for key, agent in found:
        groups.setdefault(key, []).append(agent)
    return [(key, tuple(groups[key])) for key in sorted(groups)]


def _both(old: Tree, new: Tree, kind: str) -> Iterator[tuple[str, Tree, Tree]]:
    before, after = old.get(kind, {}), new.get(kind, {})
    if before != after:
        yield from ((name, before[name], after[name]) for name in sorted(before.keys() & after.keys()))


def _target(subject: str, about: Item, before: Json, after: Json, users: tuple[str, ...]) -> Finding:
    return Finding(
        subject=subject,
        about=about,
        before=before,
        after=after,
        witness=f"{subject} is now {_said(after)} (was: {_said(before)}): nobody can tell what that may do",
        touches=users,
        # What nobody reaches changes nobody's authority.
        direction=Direction.UNKNOWN if users else Direction.SAME,
    )


def _said(value: Json) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return "nothing" if value in (None, "") else str(value)


def _servers(
    owner: str, old: Mapping[str, Json] | None, new: Mapping[str, Json] | None, users: tuple[str, ...]
) -> Iterator[Finding]:
    old, new = old or {}, new or {}
    for key in ("command", "url"):
        if old.get(key) != new.get(key):
            item = Item("server", owner, key)
            yield _target(f"{owner} mcp.{key}", item, _plain(old.get(key)), _plain(new.get(key)), users)
    for key in ("env", "headers"):
        before, after = old.get(key, {}), new.get(key, {})
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if changed:
            # Which of them, never what they hold.
            said = {"changed": changed}
            yield Finding(
                subject=f"{owner} mcp.{key}",
                about=Item("server", owner, key),
                before={"names": sorted(before)},
                after={"names": sorted(after)} | said,
                witness=f"{owner} is now {'started' if key == 'env' else 'asked'} with {_differences(before, after)}",
                touches=users,
                direction=Direction.UNKNOWN if users else Direction.SAME,
            )


def _differences(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    """Which names came, went or have another value, never what they hold: ``another value of TOKEN, and without DEBUG``."""
    both = before.keys() & after.keys()
    found = (
        ("another value of ", {name for name in both if before[name] != after[name]}),
        ("the additional ", after.keys() - before.keys()),
        ("no ", before.keys() - after.keys()),
    )
    return " and ".join(said + ", ".join(sorted(names)) for said, names in found if names)


def _plain(value: Json) -> Json:
    return list(value) if isinstance(value, list | tuple) else value


def _decisions(evidence: Evidence) -> Iterator[Finding]:
    for key, was, policy in _code(evidence):
        if was.decide != policy.decide:
            users = tuple(
                agent for agent in sorted(evidence.moves.affected) if key in evidence.moves.new.applied(agent)
            )
            yield _target(f"{key} decide", evidence.policy(key), was.decide, policy.decide, users)


def _code(evidence: Evidence) -> Iterator[tuple[str, Policy, Policy]]:
    """The policies that are code on both sides, and differ."""
    for key, (was, now) in evidence.moves.policies.items():
        if was is not None and now is not None and was.effect == now.effect == "decide":
            yield key, was, now


def _hooks(evidence: Evidence, side: Side, other: Side, said: str) -> Iterator[Finding]:
    def hooks(entry: Tree) -> set[str]:
        lifecycle = entry.get("lifecycle", {})
        return {*lifecycle.get("install", ()), *lifecycle.get("teardown", ())}

    targets = {
        f"{owner}/{name}": (owner, name, hook)
        for owner, entry in side.extensions.items()
        for name, hook in entry.get("lifecycle", {}).items()
    }
    for key, agents in _grouped(
        (key, agent)
        for agent in evidence.agents
        for key in sorted(hooks(side.agents[agent]) - hooks(other.agents[agent]))
    ):
        owner, name, hook = targets[key]
        shown = {"phase": hook["phase"], "run": hook["run"]}
        yield Finding(
            subject=key,
            about=Item("hook", owner, name),
            before=shown if side is evidence.old else None,
            after=shown if side is evidence.new else None,
            witness=f"{agents[0]} {said} {hook['run']} at {hook['phase']}",
            touches=agents,
            direction=Direction.UNKNOWN,
        )


RULES = (
    Rule(
        "SYD108",
        "limit-raised",
        Axis.AUTHORITY,
        Level.ERROR,
        "limit",
        "raised",
        "A limit lets an agent do more of something than before, or is gone.",
        "limits: {max_model_rounds: 10}  →  limits: {max_model_rounds: 20}",
        limit_raised,
    ),
    Rule(
        "SYD109",
        "limit-lowered",
        Axis.AUTHORITY,
        Level.INFO,
        "limit",
        "lowered",
        "A limit lets an agent do less of something than before.",
        "limits: {max_model_rounds: 20}  →  limits: {max_model_rounds: 10}",
        limit_lowered,
    ),
    Rule(
        "SYD110",
        "secret-added",
        Axis.AUTHORITY,
        Level.ERROR,
        "environment variable",
        "added",
        "A server or layer of an agent reads an environment variable that it did not read.",
        'mcp: {env: {TOKEN: "${env:FILES_TOKEN}"}}',
        secret_added,
    ),
    Rule(
        "SYD111",
        "secret-removed",
        Axis.AUTHORITY,
        Level.INFO,
        "environment variable",
        "removed",
        "A server or layer of an agent no longer reads an environment variable.",
        'mcp: {env: {TOKEN: "${env:FILES_TOKEN}"}}  →  mcp: {}',
        secret_removed,
    ),
    Rule(
        "SYD117",
        "code-target-changed",
        Axis.AUTHORITY,
        Level.ERROR,
        "code of",
        "changed",
        "Other code runs, or another server is asked, under a name that stayed: `invoke`, `factory`, `decide`, `run`, "
        "`implementation`, or the command, address or environment of a server. What it does is not in the lock, "
        "so what it means is unknown.",
        "mcp: {command: [npx, files-server]}  →  mcp: {command: [npx, files-servers]}",
        code_target_changed,
    ),
    Rule(
        "SYD118",
        "hook-added",
        Axis.AUTHORITY,
        Level.ERROR,
        "hook",
        "added",
        "Code runs when the agent is opened or closed that did not run before.",
        'lifecycle: [{hook_id: open-pool, phase: install, run: "acme_crm.pool:open"}]',
        hook_added,
    ),
    Rule(
        "SYD119",
        "hook-removed",
        Axis.AUTHORITY,
        Level.WARN,
        "hook",
        "removed",
        "Code that ran when the agent was opened or closed no longer runs.",
        "lifecycle: [{hook_id: open-pool, phase: install, …}]  →  lifecycle: []",
        hook_removed,
    ),
)
