"""Codes 9xx: symc itself."""

from symc.diagnostics.record import Code, Level
