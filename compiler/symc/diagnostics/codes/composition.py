"""Codes 3xx: composing tools, variants and prompts."""

from symc.diagnostics.record import Code, Level
