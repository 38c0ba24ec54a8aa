"""Codes 4xx: grants, policies, delegation."""

from symc.diagnostics.record import Code, Level
