"""Codes 0xx: reading and YAML."""

from symc.diagnostics.record import Code, Level
