"""Parts: the items of manifests → the parts of a composition, one to one (docs/lockfile.md §2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symc import composition as lock
from symc.contracts.frozen import FrozenDict, freeze
from symc.manifest import model


class Frozen:
    """Schemas already frozen, by identity: a tool that an agent takes as it is shares its extension's schema."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        # The source is kept with its frozen form, so that no other object takes over its identity.
        self._kept: dict[int, tuple[Any, FrozenDict]] = {}

    def __call__(self, schema: Mapping[str, Any]) -> FrozenDict:
        """The frozen form of a JSON object."""
        kept = self._kept.get(id(schema))
        if kept is None:
            kept = self._kept[id(schema)] = (schema, freeze(schema))
        return kept[1]

    def some(self, schema: Mapping[str, Any] | None) -> FrozenDict | None:
        """The frozen form, or None of None."""
        return None if schema is None else self(schema)


def fragment(prompt: model.Prompt, rendered: str | None) -> lock.Fragment:
    """A static fragment; ``rendered`` is a template's default rendering."""
    return lock.Fragment(
        fragment_id=prompt.fragment_id,
        text=prompt.text or "",
        layer=prompt.layer,
        tier=prompt.tier,
        scope=prompt.scope,
        order=prompt.order,
        template=prompt.template,
        truncated=prompt.truncated,
        rendered=rendered,
    )


def slot(prompt: model.Prompt) -> lock.Slot:
    """A slot: a prompt that has limits and no text."""
    assert prompt.slot is not None
    return lock.Slot(
        fragment_id=prompt.fragment_id,
        tier=prompt.tier,
        scope=prompt.scope,
        order=prompt.order,
        max_chars=prompt.slot.max_chars,
        required=prompt.slot.required,
    )


def policy(item: model.Policy, frozen: Frozen) -> lock.Policy:
    """A policy with its defaults in place: one that names tools guards calls of them."""
    rule = item.deny or item.ask
    if rule is None:
        return lock.Policy(
            policy_id=item.policy_id,
            effect="decide",
            actions=_sorted(item.actions),
            decide=item.decide or "",
            timeout=item.timeout,
        )
    names_tools = bool(rule.tools)
    return lock.Policy(
        policy_id=item.policy_id,
        effect="deny" if item.deny else "ask",
        actions=_sorted(item.actions) or (("tool_call",) if names_tools else ()),
        tools=tuple(selector(one) for one in rule.tools) if names_tools else None,
        when=rule.when if isinstance(rule.when, bool) else frozen.some(rule.when),
        reason=rule.reason,
    )


def selector(written: str | model.VariantSelector) -> lock.Selector:
    """What a rule names."""
    if isinstance(written, str):
        return lock.Selector(pattern=written)
    return lock.Selector(variant=written.variant, chain=written.chain)


def _sorted(names: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(sorted(set(names or ())))


def tool(item: model.Tool, frozen: Frozen) -> lock.Tool:
    """A tool as its extension declares it, or as its pin says."""
    return lock.Tool(
        name=item.name,
        description=item.description,
        title=item.title,
        invoke=item.invoke or "",
        origin=item.origin,
        input_schema=frozen(item.input_schema),
        output_schema=frozen.some(item.output_schema),
        annotations=frozen.some(item.annotations),
    )


def tool_extension(item: model.ToolExtension, frozen: Frozen) -> lock.ToolExtension:
    """A registration."""
    return lock.ToolExtension(
        name=item.name,
        kind=item.kind,
        factory=item.factory,
        description=item.description,
        reserved_params=frozen(item.reserved_params),
        requires_body_locality=item.requires_body_locality,
        config_schema=frozen.some(item.config_schema),
        input_schema=frozen.some(item.input_schema),
        inherit_properties=item.inherit_properties,
        output_schema=frozen.some(item.output_schema),
        annotations=frozen.some(item.annotations),
    )


def server(item: model.Server | None) -> lock.Server | None:
    """How a server is reached."""
    if item is None:
        return None
    return lock.Server(
        command=item.command or (), env=freeze(item.env), url=item.url or "", headers=freeze(item.headers)
    )


def limits(item: model.Limits) -> lock.Limits:
    """Limits with the default number of rounds in place (F-10)."""
    return lock.Limits(
        max_model_rounds=10 if item.max_model_rounds is None else item.max_model_rounds,
        prompt_chars=item.prompt_chars,
        extension_prompt_chars=item.extension_prompt_chars,
        tools=item.tools,
    )
