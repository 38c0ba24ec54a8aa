"""Codes 2xx: references between manifests."""

from symc.diagnostics.record import Code, Level
