"""JSON Schemas of tools: checking them, inlining their references, and checking arguments against them.

Pure, and a leaf: it knows diagnostics, canonical JSON and hidden characters, and nothing of manifests, pins or
compositions. The runtime uses ``Validator`` from here.
"""

from symc.schema.check import Locate, check
from symc.schema.inline import CannotInlineError, inline_refs
from symc.schema.survey import MAX_DEPTH, Tokens
from symc.schema.validator import UndecidedError, UnusableSchemaError, Validator, Violation

__all__ = [
    "MAX_DEPTH",
    "CannotInlineError",
    "Locate",
    "Tokens",
    "UndecidedError",
    "UnusableSchemaError",
    "Validator",
    "Violation",
    "check",
    "inline_refs",
]
