"""Codes 1xx: the shape of manifests."""

from symc.diagnostics.record import Code, Level
