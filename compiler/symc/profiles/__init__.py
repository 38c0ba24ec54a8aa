"""Provider profiles: what each provider allows of tools, dated and sourced, and how an agent's tools fit."""

from symc.profiles.adapt import Schema
from symc.profiles.check import ExposedTool, Fitted, Seen, check
from symc.profiles.profile import ADAPTATIONS, PROFILES, RULES, Profile, Rule, profile
from symc.profiles.schemas import Examined, Fault, examine

__all__ = [
    "ADAPTATIONS",
    "PROFILES",
    "RULES",
    "Examined",
    "ExposedTool",
    "Fault",
    "Fitted",
    "Profile",
    "Rule",
    "Schema",
    "Seen",
    "check",
    "examine",
    "profile",
]
