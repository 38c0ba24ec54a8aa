"""Codes 5xx: pins, tool schemas, provider limits, secrets."""

from symc.diagnostics.record import Code, Level
