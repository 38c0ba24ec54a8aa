"""The composition: one frozen value for what an agent is — prompt, tools, vetoes, lifecycle, grants.

``parts`` holds the values, ``whole`` the lock and the closure of one agent, ``form`` their form in JSON and ``cover`` the
digests over it (docs/lockfile.md §2–3).
"""

from symc.composition.parts import (
    DELEGATE_INPUT,
    LOCK_VERSION,
    Agent,
    Author,
    BoundTool,
    CachePlan,
    Delegate,
    Effect,
    Extension,
    Fragment,
    Hook,
    Json,
    Layer,
    Limits,
    Policy,
    Selector,
    Server,
    Slot,
    Tool,
    ToolExtension,
)
from symc.composition.whole import Composition, Lock, Stored

__all__ = [
    "DELEGATE_INPUT",
    "LOCK_VERSION",
    "Agent",
    "Author",
    "BoundTool",
    "CachePlan",
    "Composition",
    "Delegate",
    "Effect",
    "Extension",
    "Fragment",
    "Hook",
    "Json",
    "Layer",
    "Limits",
    "Lock",
    "Policy",
    "Selector",
    "Server",
    "Slot",
    "Stored",
    "Tool",
    "ToolExtension",
]
