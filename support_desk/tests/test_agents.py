"""Snapshot tests of the example's agents, as a user of symc writes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from symc.testing.surfaces import PolicyGraph, PromptLayout, ToolSurface

AGENTS = ("researcher", "support", "triage")


@pytest.mark.parametrize("agent", AGENTS)
def test_prompt(
    agent: str, prompt_layout: Callable[[str], PromptLayout], snapshot: SnapshotAssertion
) -> None:
    assert prompt_layout(agent) == snapshot


def test_what_support_is_sent(
    prompt_layout: Callable[[str], PromptLayout], snapshot: SnapshotAssertion
) -> None:
    assert prompt_layout("support").rendered == snapshot


@pytest.mark.parametrize("agent", AGENTS)
def test_tools(agent: str, tool_surface: Callable[[str], ToolSurface], snapshot: SnapshotAssertion) -> None:
    assert tool_surface(agent) == snapshot


@pytest.mark.parametrize("agent", AGENTS)
def test_policies(
    agent: str, policy_graph: Callable[[str], PolicyGraph], snapshot: SnapshotAssertion
) -> None:
    assert policy_graph(agent) == snapshot
