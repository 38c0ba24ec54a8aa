"""Codes 6xx: the lockfile."""

from symc.diagnostics.record import Code, Level
