"""The published JSON Schema of the lock, from the tables that write and read it (schemas/lock.schema.json)."""

from __future__ import annotations

from typing import Any

from symc.composition import LOCK_VERSION, records
from symc.composition.entries import agent_schema
from symc.composition.form import closed_object


def lock_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a lock of the newest version.

    It describes structure. References, digests and derived values are checked by :func:`symc.lock.verify`.
    """
    lock = closed_object(
        {
            "agents": _by_name(agent_schema()),
            "bases": _by_name(records.AUTHOR.schema),
            "extensions": _by_name(records.EXTENSION.schema),
            "lock_version": {"const": LOCK_VERSION},
            "workspace": records.WORKSPACE.schema,
        },
        ("agents", "lock_version"),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"symc.lock, version {LOCK_VERSION}",
        **lock,
    }


def _by_name(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}
