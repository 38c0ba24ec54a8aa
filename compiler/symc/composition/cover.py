"""Digests: which value of the lock is covered by which one (docs/lockfile.md §3, L10–L13).

*Exact cover*: every part has a digest over its own content, every entry one over the rest of itself — its scalars,
orders and chains, and the ids of its parts. ``seals`` names them all for a lock as a JSON tree; writing, verifying and
the digest of a whole composition are three uses of that one walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symc.canonical import JsonPath, canonical_bytes, digest, digest_of_bytes, pointer
from symc.composition.entries import OWN_KEYS, has_own_digest

Tree = Mapping[str, Any]

# Maps of parts, and the domain of a part's digest. An agent's tools are apart: most have nothing of their own.
_PARTS: Final[Mapping[str, str]] = {
    "fragments": "fragment",
    "lifecycle": "hook",
    "policies": "policy",
    "slots": "slot",
    "tool_extensions": "tool-extension",
    "tools": "tool",
}
_DERIVED: Final = frozenset({"digest", "effects", "from"})


@dataclass(frozen=True, slots=True)
class Seal:
    """One digest: ``path`` leads to the record that holds it, ``content`` is what it covers."""

    path: JsonPath
    domain: str
    record: dict[str, Any]
    content: dict[str, Any]

    @property
    def computed(self) -> str:
        """The digest of the content; raises ``CanonicalError`` for content that JSON cannot carry exactly."""
        return digest(self.domain, self.content)


def seals(tree: Tree) -> Iterator[Seal]:
    """Every digest of a lock (or of the part of one that an agent reaches), parts before the entry that holds them."""
    for name, entry in tree.get("agents", {}).items():
        yield from _agent_seals(("agents", name), entry)
    for name, entry in tree.get("bases", {}).items():
        yield from _entry_seals(("bases", name), "author", entry)
    for name, entry in tree.get("extensions", {}).items():
        yield from _entry_seals(("extensions", name), "extension", entry)
    if "workspace" in tree:
        yield from _entry_seals(("workspace",), "author", tree["workspace"])


def seal(tree: Tree, spell: Callable[[dict[str, Any]], bytes] = canonical_bytes) -> None:
    """Write every digest into the tree, among the other keys in order; ``spell`` gives the canonical bytes of an object."""
    for one in seals(tree):
        record = one.record
        sealed = sorted({**record, "digest": digest_of_bytes(one.domain, spell(one.content))}.items())
        record.clear()
        record.update(sealed)


def _entry_seals(path: JsonPath, domain: str, entry: dict[str, Any]) -> Iterator[Seal]:
    rest = _rest(path, entry)
    for kind in _PARTS.keys() & entry.keys():
        rest[kind] = sorted(entry[kind])
        for part_id, part in entry[kind].items():
            yield from _part_seals((*path, kind, part_id), _PARTS[kind], part)
    yield Seal(path, domain, entry, rest)


def _rest(path: JsonPath, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry without what nothing covers, and with its name, by which the others know it."""
    return {"name": path[-1], **{key: value for key, value in entry.items() if key not in _DERIVED}}


def _part_seals(path: JsonPath, domain: str, part: dict[str, Any]) -> Iterator[Seal]:
    content = {key: value for key, value in part.items() if key not in {"digest", "rendered"}}
    if domain == "tool":
        content["name"] = path[-1]  # L13
    yield Seal(path, domain, part, content)
    if "rendered" in part:
        yield _rendered_seal((*path, "rendered"), part["rendered"])


def _rendered_seal(path: JsonPath, rendered: dict[str, Any]) -> Seal:
    return Seal(path, "rendered", rendered, {"text": rendered["text"]})


def _agent_seals(path: JsonPath, entry: dict[str, Any]) -> Iterator[Seal]:
    tools, rendered = entry.get("tools", {}), entry.get("rendered", {})
    for name, tool in tools.items():
        if has_own_digest(tool):
            own = {key: tool[key] for key in OWN_KEYS if key in tool}
            yield Seal((*path, "tools", name), "bound-tool", tool, {**own, "name": name})
    for joined_id, text in rendered.items():
        yield _rendered_seal((*path, "rendered", joined_id), text)
    for kind in ("fragments", "policies", "slots"):
        for part_id, part in entry.get(kind, {}).items():
            yield from _part_seals((*path, kind, part_id), _PARTS[kind], part)
    rest = _rest(path, entry)
    for kind in ("fragments", "policies", "rendered", "slots"):
        if kind in rest:
            rest[kind] = sorted(rest[kind])
    if tools:
        rest["tools"] = {
            name: {key: value for key, value in tool.items() if key not in _NOT_IN_THE_REST}
            for name, tool in tools.items()
        }
    yield Seal(path, "agent", entry, rest)


_NOT_IN_THE_REST: Final = frozenset({"digest", "guarded_by", *OWN_KEYS})


def reached(tree: Tree, agent: str) -> dict[str, Any]:
    """The part of a lock that one agent reaches, itself in the form of a lock.

    It holds the agent and, through ``delegates``, its children; of each extension that they use the tools and tool
    extensions that they bind; of each author the fragments and slots in their prompts, and all policies. So what
    another agent selects does not change it.
    """
    agents = _delegation_closure(tree, agent)
    prompt: set[str] = set()
    used: dict[str, tuple[set[str], set[str]]] = {}
    authors: set[str] = set()
    for entry in agents.values():
        prompt.update(entry.get("prompt", ()))
        authors.update(entry.get("bases", ()))
        for name in entry.get("extensions", ()):
            used.setdefault(name, (set(), set()))
        for tool in entry.get("tools", {}).values():
            used.setdefault(tool["extension"], (set(), set()))[0].add(tool["raw"])
            for layer in tool.get("chain", ()):
                used.setdefault(layer["extension"], (set(), set()))[1].add(layer["name"])
    part: dict[str, Any] = {"agents": agents, "lock_version": tree["lock_version"]}
    part["extensions"] = {
        name: _narrowed(tree["extensions"][name], tools=tools, tool_extensions=factories)
        for name, (tools, factories) in used.items()
    }
    part["bases"] = {name: _author(_base(tree, name), name, prompt) for name in authors}
    if "workspace" in tree:
        part["workspace"] = _author(tree["workspace"], tree["workspace"]["name"], prompt)
    return part


def _delegation_closure(tree: Tree, agent: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    waiting = [agent]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = tree["agents"][name]
            waiting.extend(found[name].get("delegates", ()))
    return found


def _base(tree: Tree, name: str) -> Mapping[str, Any]:
    """The author of that name: a base of its own, or an agent that others extend."""
    entry: Mapping[str, Any] = tree.get("bases", {}).get(name) or tree["agents"][name]
    return entry


def _author(entry: Mapping[str, Any], name: str, prompt: set[str]) -> dict[str, Any]:
    kept = {key: entry[key] for key in ("from", "name", "policies") if key in entry}
    in_prompt = {
        kind: {part_id for part_id in entry.get(kind, ()) if f"{name}/{part_id}" in prompt}
        for kind in ("fragments", "slots")
    }
    return {**kept, **{kind: _some(entry[kind], ids) for kind, ids in in_prompt.items() if ids}}


def _narrowed(entry: Mapping[str, Any], **kept: set[str]) -> dict[str, Any]:
    narrow = {kind: _some(entry.get(kind, {}), ids) for kind, ids in kept.items()}
    return {key: value for key, value in {**entry, **narrow}.items() if value not in ({}, None)}


def _some(parts: Mapping[str, Any], ids: set[str]) -> dict[str, Any]:
    return {part_id: part for part_id, part in parts.items() if part_id in ids}


def digest_of(part: Tree, agent: str = "*", known: dict[int, str] | None = None) -> str:
    """The Merkle digest of a lock, or of what ``agent`` reaches of it: over every digest, by its place (L12).

    Computed from the contents; stored digests play no role. ``known`` keeps digests of records by identity between
    calls over one tree, whose parts many agents share.
    """
    cover: dict[str, str] = {}
    known = {} if known is None else known
    for one in seals(part):
        key = id(one.record)
        # An entry that `reached` made is new each time; a part of it is the lock's own.
        if len(one.path) > 2 and one.domain != "bound-tool":
            if key not in known:
                known[key] = one.computed
            cover[pointer(one.path)] = known[key]
        else:
            cover[pointer(one.path)] = one.computed
    return digest("composition", {"agent": agent, "cover": cover, "lock_version": part["lock_version"]})
