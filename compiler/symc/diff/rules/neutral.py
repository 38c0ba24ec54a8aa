"""Neutral rules: what differs between two locks and changes nothing for anybody (docs/diff.md §2)."""

from __future__ import annotations

from collections.abc import Iterator

from symc.diagnostics import Level
from symc.diff.evidence import Evidence
from symc.diff.model import Axis, Finding, Item, Json, Rule
from symc.diff.rules.vetoes import policy_json, rewritten
from symc.diff.side import Tree

_PROVENANCE = ("bases", "extensions", "from", "prefixes")
_EFFECTLESS = ("description", "requires", "vars", "version")
_QUIET = {
    "tools": ("origin",),
    "tool_extensions": (
        "annotations",
        "config_schema",
        "inherit_properties",
        "input_schema",
        "output_schema",
        "reserved_params",
    ),
}
_OF_A_ROW = ("selected_by", "overrides", "adaptations")


def provenance_only(evidence: Evidence) -> Iterator[Finding]:
    """Where things come from and what selected them, where that is all that changed about them."""
    for section, names in sorted(evidence.differing.items()):
        for name in names:
            old, new = evidence.old.authors.get(name), evidence.new.authors.get(name)
            if old is None or new is None:
                yield from _came_or_went(evidence, section, name)
                continue
            before, after = ({key: entry[key] for key in _PROVENANCE if key in entry} for entry in (old, new))
            rows = _rows(old, new)
            if before != after or rows:
                changed = [key for key in _PROVENANCE if before.get(key) != after.get(key)]
                yield Finding(
                    subject=name,
                    about=_entry(section, name),
                    before={key: before.get(key) for key in changed} | {k: v[0] for k, v in rows.items()},
                    after={key: after.get(key) for key in changed} | {k: v[1] for k, v in rows.items()},
                )


def version_without_effect(evidence: Evidence) -> Iterator[Finding]:
    """Versions, descriptions for people and other words about an entry that nothing follows from."""
    yield from _parts_without_effect(evidence)
    for section in ("agents", "extensions"):
        for name in evidence.differing[section]:
            old, new = evidence.old.authors.get(name), evidence.new.authors.get(name)
            if old is None or new is None:
                continue
            keys = _EFFECTLESS if section == "extensions" else ("description",)
            changed = [key for key in keys if old.get(key) != new.get(key)]
            if changed:
                yield Finding(
                    subject=name,
                    about=_entry(section, name),
                    before={key: old.get(key) for key in changed},
                    after={key: new.get(key) for key in changed},
                )


def _parts_without_effect(evidence: Evidence) -> Iterator[Finding]:
    """What a tool says of its origin, and what a layer accepts as config: its agents' tools are compared themselves."""
    for owner in evidence.extensions:
        for kind, keys in _QUIET.items():
            old, new = (side.extensions[owner].get(kind, {}) for side in (evidence.old, evidence.new))
            for name in sorted(old.keys() & new.keys()) if old != new else ():
                changed = [key for key in keys if old[name].get(key) != new[name].get(key)]
                if changed:
                    yield Finding(
                        subject=f"{owner}/{name}",
                        about=Item("tool" if kind == "tools" else "layer", owner, name),
                        before={key: old[name].get(key) for key in changed},
                        after={key: new[name].get(key) for key in changed},
                    )


def lock_version_changed(evidence: Evidence) -> Iterator[Finding]:
    """The version of the lock itself."""
    before, after = (side.tree.get("lock_version") for side in (evidence.old, evidence.new))
    if before != after:
        yield Finding(subject="lock_version", about=Item("lock"), before=before, after=after)


def policy_rewritten_equivalent(evidence: Evidence) -> Iterator[Finding]:
    """Policies that have other words, or another name, and stop what they stopped."""
    for veto in rewritten(evidence):
        yield Finding(
            subject=veto.policy_id,
            about=Item("lock"),
            before=policy_json(veto.old),
            after=policy_json(veto.new),
        )


def unreached_changed(evidence: Evidence) -> Iterator[Finding]:
    """Tools and tool extensions of an extension that no agent of either side has."""
    for owner in evidence.extensions:
        for kind, users in (("tools", evidence.users), ("tool_extensions", evidence.stacked)):
            old, new = (side.extensions[owner].get(kind, {}) for side in (evidence.old, evidence.new))
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) == new.get(name):
                    continue
                if not users(owner, name, evidence.old) and not users(owner, name, evidence.new):
                    yield Finding(
                        subject=f"{owner}/{name}",
                        about=Item("tool" if kind == "tools" else "layer", owner, name),
                        before=old.get(name, {}).get("digest"),
                        after=new.get(name, {}).get("digest"),
                    )


def _came_or_went(evidence: Evidence, section: str, name: str) -> Iterator[Finding]:
    """An extension or base that came or went: what it brings is told where it is used."""
    if section not in ("bases", "extensions"):
        return
    added = name in evidence.new.authors
    yield Finding(
        subject=name,
        about=_entry(section, name),
        before=None if added else {"from": evidence.old.source(name)},
        after={"from": evidence.new.source(name)} if added else None,
    )


def _rows(old: Tree, new: Tree) -> dict[str, tuple[Json, ...]]:
    """What of the rows that select the tools of an agent differs, by tool."""
    before, after = old.get("tools", {}), new.get("tools", {})
    if before == after:
        return {}
    found = {}
    for name in sorted(before.keys() & after.keys()):
        changed = [key for key in _OF_A_ROW if before[name].get(key) != after[name].get(key)]
        if changed:
            found[name] = tuple({key: tools[name].get(key) for key in changed} for tools in (before, after))
    return found


def _entry(section: str, name: str) -> Item:
    return Item({"agents": "agent", "extensions": "extension"}.get(section, "author"), name)


RULES = (
    Rule(
        "SYD401",
        "provenance-only",
        Axis.NEUTRAL,
        Level.INFO,
        "origin of",
        "changed",
        "A thing stands in another manifest, or another row selects it; what it is stayed the same.",
        "agents/support.yaml is moved to agents/desk/support.yaml",
        provenance_only,
    ),
    Rule(
        "SYD402",
        "version-without-effect",
        Axis.NEUTRAL,
        Level.INFO,
        "words about",
        "changed",
        "A version, a description for people or a requirement changed, and nothing follows from it.",
        'version: "1.4.0"  →  version: "1.4.1"',
        version_without_effect,
    ),
    Rule(
        "SYD403",
        "lock-version-changed",
        Axis.NEUTRAL,
        Level.INFO,
        "",
        "changed",
        "The lock is written in another version.",
        "symc compile --upgrade-lock",
        lock_version_changed,
    ),
    Rule(
        "SYD404",
        "policy-rewritten-equivalent",
        Axis.NEUTRAL,
        Level.INFO,
        "veto",
        "rewritten",
        "A policy has other words or another name, and stops what it stopped.",
        "deny {tools: [crm/a, crm/b]}  →  deny {tools: [crm/b, crm/a]}",
        policy_rewritten_equivalent,
    ),
    Rule(
        "SYD406",
        "unreached-changed",
        Axis.NEUTRAL,
        Level.INFO,
        "unused",
        "changed",
        "A tool or tool extension changed that no agent has, before or now.",
        "a new tool in an extension, and no row that selects it",
        unreached_changed,
    ),
)
