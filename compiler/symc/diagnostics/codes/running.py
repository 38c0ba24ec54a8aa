"""Codes 7xx: the runtime."""

from symc.diagnostics.record import Code, Level
