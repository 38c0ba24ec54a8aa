"""Freeze: everything the stages found → the lock as one frozen value (docs/lockfile.md §2).

Nothing is decided here any more. What several agents share goes to its owner's entry, and of it only what some agent
reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symc import composition as lock
from symc.compose import parts
from symc.compose.guard import Guards
from symc.compose.layout import Layout, PlacedFragment
from symc.compose.link import LinkedAgent, Links
from symc.compose.mint import MintedTool
from symc.compose.typesetting import Typesetter
from symc.contracts.frozen import FrozenDict, freeze
from symc.manifest import model
from symc.manifest.checked import Checked

_ENV = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One agent (no abstract one) with the results of the stages before."""

    agent: LinkedAgent
    tools: tuple[MintedTool, ...] = ()
    layout: Layout = field(default_factory=Layout)
    guards: Guards = field(default_factory=Guards)


def freeze_lock(
    links: Links, agents: Iterable[Composed], typesetter: Typesetter, lock_version: int = lock.LOCK_VERSION
) -> lock.Lock:
    """The lock of these agents, none of which had an error.

    ``typesetter`` is the one that set their layouts: a template's default rendering belongs to its owner's entry.
    """
    composed = sorted(agents, key=lambda one: one.agent.name)
    freezer = _Freezer(links, composed, typesetter)
    names = {one.agent.name for one in composed}
    bases = {base.name: base for one in composed for base in one.agent.bases if base.name not in names}
    return lock.Lock(
        agents={one.agent.name: freezer.agent(one) for one in composed},
        bases={name: freezer.author(bases[name]) for name in sorted(bases)},
        extensions=freezer.extensions(),
        workspace=freezer.workspace(),
        lock_version=lock_version,
    )


@dataclass(slots=True)
class _Freezer:
    """What is known of the whole lock while its entries are made: who is reached by whom."""

    links: Links
    composed: Sequence[Composed]
    typesetter: Typesetter
    frozen: parts.Frozen = field(default_factory=parts.Frozen)
    # By owner and id: every fragment and slot that stands in some prompt.
    placed: dict[str, dict[str, PlacedFragment]] = field(default_factory=dict)
    # By joined id: the text of a template with the variables its owner and the workspace give it.
    renderings: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.composed:
            for fragment in one.layout.fragments:
                owned = self.placed.setdefault(fragment.source.owner, {})
                owned.setdefault(fragment.source.prompt.fragment_id, fragment)

    def agent(self, one: Composed) -> lock.Agent:
        agent, body = one.agent, one.agent.manifest.body
        own_fragments, own_slots = self._prompts(agent.name)
        return lock.Agent(
            name=agent.name,
            source=agent.manifest.path,
            description=body.description,
            provider=agent.provider,
            model=agent.model,
            bases=tuple(base.name for base in agent.bases),
            extensions=agent.closure,
            prefixes=FrozenDict({name: use.prefix for name, use in sorted(agent.uses.items()) if use.prefix}),
            grants=one.guards.grants,
            limits=parts.limits(agent.limits),
            vars=freeze(one.layout.vars),
            env=self._environment(one),
            prompt=tuple(fragment.id for fragment in one.layout.fragments),
            fragments=own_fragments,
            slots=own_slots,
            rendered=self._differing(one.layout),
            cache_plan=one.layout.cache_plan,
            tools={tool.name: self._tool(tool, one.guards) for tool in sorted(one.tools, key=_name)},
            policies=self._policies(body.policies),
            effects=dict(sorted(one.guards.effects.items())),
            install=tuple(self._hooks(agent.closure, "install")),
            # unwound in exactly the reverse order.
            teardown=tuple(reversed(list(self._hooks(agent.closure, "teardown")))),
            delegates=dict(sorted(one.guards.delegates.items())),
        )

    def _differing(self, layout: Layout) -> dict[str, str]:
        """The texts of templates that this agent sees otherwise than by default."""
        templates = [fragment for fragment in layout.fragments if fragment.source.prompt.template]
        differing = {one.id: one.text for one in templates if one.text != self._rendering(one)}
        return dict(sorted(differing.items()))

    def author(self, document: Checked[Any]) -> lock.Author:
        """A base or the workspace: its policies, and what of its prompt some agent has."""
        fragments, slots = self._prompts(document.name)
        return lock.Author(
            name=document.name,
            source=document.path,
            fragments=fragments,
            slots=slots,
            policies=self._policies(document.body.policies),
        )

    def workspace(self) -> lock.Author | None:
        document = self.links.manifests.workspace
        if document is None or not self.composed:
            return None
        author = self.author(document)
        return author if author.fragments or author.slots or author.policies else None

    def extensions(self) -> dict[str, lock.Extension]:
        bound: dict[str, set[str]] = {name: set() for one in self.composed for name in one.agent.closure}
        for tool in (tool for one in self.composed for tool in one.tools):
            bound.setdefault(tool.base.extension.name, set()).add(tool.base.raw)
            for layer in tool.chain:
                bound.setdefault(layer.registration.extension, set())
        return {name: self._extension(self.links.extensions[name], bound[name]) for name in sorted(bound)}

    def _extension(self, document: Checked[model.Extension], bound: set[str]) -> lock.Extension:
        body = document.body
        fragments, _ = self._prompts(document.name)
        return lock.Extension(
            name=document.name,
            source=document.path,
            version=body.version or "",
            description=body.description,
            requires=body.requires,
            implementation=body.implementation or "",
            vars=freeze(body.vars),
            mcp=parts.server(body.mcp),
            tools={
                tool.name: parts.tool(tool, self.frozen)
                for tool in sorted(body.tools, key=_name)
                # Of a server's tools, those that nobody selected reach nobody.
                if body.mcp is None or tool.name in bound
            },
            fragments=fragments,
            policies=self._policies(body.policies),
            hooks={
                hook.hook_id: lock.Hook(hook_id=hook.hook_id, phase=hook.phase, run=hook.run)
                for hook in sorted(body.lifecycle, key=lambda hook: hook.hook_id)
            },
            tool_extensions={
                one.name: parts.tool_extension(one, self.frozen)
                for one in sorted(body.tool_extensions, key=_name)
            },
        )

    def _prompts(self, owner: str) -> tuple[dict[str, lock.Fragment], dict[str, lock.Slot]]:
        placed = sorted(self.placed.get(owner, {}).items())
        fragments = {
            key: parts.fragment(one.source.prompt, self._rendering(one))
            for key, one in placed
            if not one.is_slot
        }
        slots = {key: parts.slot(one.source.prompt) for key, one in placed if one.is_slot}
        return fragments, slots

    def _rendering(self, fragment: PlacedFragment) -> str | None:
        """A template's text with what its owner and the workspace say; None for plain text, and where that fails."""
        if not fragment.source.prompt.template:
            return None
        key = fragment.id
        if key not in self.renderings:
            self.renderings[key] = self.typesetter.default_text(fragment.source)
        return self.renderings[key]

    def _policies(self, items: Iterable[model.Policy]) -> dict[str, lock.Policy]:
        ordered = sorted(items, key=lambda item: item.policy_id)
        return {item.policy_id: parts.policy(item, self.frozen) for item in ordered}

    def _tool(self, tool: MintedTool, guards: Guards) -> lock.BoundTool:
        return lock.BoundTool(
            name=tool.name,
            extension=tool.base.extension.name,
            raw=tool.base.raw,
            selected_by=tool.base.selected_by,
            chain=tuple(
                lock.Layer(
                    extension=layer.registration.extension,
                    name=layer.registration.tool_extension.name,
                    config=None if layer.config is None else freeze(layer.config),
                )
                for layer in tool.chain
            ),
            exposed=tool.exposed,
            description=tool.description,
            input_schema=self.frozen(tool.input_schema),
            output_schema=self.frozen.some(tool.output_schema),
            annotations=self.frozen.some(tool.annotations),
            adaptations=tool.adaptations,
            overrides=("description",) if tool.base.description is not None and not tool.chain else (),
            guarded_by=guards.guarded_by.get(tool.name, ()),
        )

    def _hooks(self, closure: Iterable[str], phase: str) -> Iterator[str]:
        """The hooks of a phase in composed order: extension by extension, within one as declared."""
        for name in closure:
            for hook in self.links.extensions[name].body.lifecycle:
                if hook.phase == phase:
                    yield f"{name}/{hook.hook_id}"

    def _environment(self, one: Composed) -> tuple[str, ...]:
        """The variables named by the servers whose tools the agent has, and by the configs of its layers."""
        texts: list[str] = []
        for name in {tool.base.extension.name for tool in one.tools}:
            server = self.links.extensions[name].body.mcp
            if server is not None:
                texts.extend(server.command or ())
                texts.extend((server.url or "", *server.env.values(), *server.headers.values()))
        for layer in (layer for tool in one.tools for layer in tool.chain):
            texts.extend(_strings(layer.config))
        return tuple(sorted({name for text in texts for name in _ENV.findall(text)}))


def _name(item: Any) -> str:
    name: str = item.name
    return name


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
