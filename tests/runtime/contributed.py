"""Providers in code, beside their manifests: one that agrees, and ways not to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from symc.contracts import (
    ExtensionContribution,
    LifecycleContribution,
    LifecyclePhase,
    PolicyContribution,
    PromptFragment,
    ToolContribution,
)
from tests.runtime import shop

SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


class Provider:
    """Contributes one member of each kind; `changes` replace fields of members, or drop or add them."""

    def __init__(self, **changes: Any) -> None:
        self.name = changes.pop("name", "crm")
        self._changes = changes

    def contribute(self) -> ExtensionContribution:
        changes, owner = self._changes, self.name
        return ExtensionContribution.build(
            owner,
            tools=changes.get(
                "tools",
                [
                    replace(
                        ToolContribution("find", owner, shop.echo, "Does find.", SCHEMA),
                        **changes.get("tool", {}),
                    )
                ],
            ),
            prompts=[replace(PromptFragment("tone", "Be kind.\n", owner), **changes.get("prompt", {}))],
            policies=[
                PolicyContribution(
                    "watch", owner, shop.allows, changes.get("actions", frozenset({"tool_call"}))
                )
            ],
            lifecycle=[
                LifecycleContribution(
                    "start", owner, changes.get("phase", LifecyclePhase.INSTALL), shop.install_crm
                )
            ],
        )


agrees = Provider()
other_name = Provider(name="srm")
other_description = Provider(tool={"description": "Finds."})
other_schema = Provider(tool={"input_schema": {**SCHEMA, "required": []}})
other_tool = Provider(tool={"name": "fetch"})
no_tool = Provider(tools=[])
other_text = Provider(prompt={"text": "Be kind."})
other_order = Provider(prompt={"order": 99, "tier": "profile"})
other_actions = Provider(actions=frozenset())
other_phase = Provider(phase=LifecyclePhase.TEARDOWN)
widening = Provider(prompt={"tier": "platform"})
no_provider = object()
