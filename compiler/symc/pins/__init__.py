"""Pins: what MCP servers said, committed. The pure side reads, checks and compares; the live side asks servers.

``model`` and ``drift`` are pure and need nothing installed; ``discover`` (extra ``pins``) talks to servers.
"""

from symc.pins.drift import Drift, drift
from symc.pins.model import FIELDS, PinnedTool, normal, tools_of

__all__ = ["FIELDS", "Drift", "PinnedTool", "drift", "normal", "tools_of"]
