"""An agent whose every tool has the backend `celery`: what the tests of it are written in, whatever the broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symc.runtime import LoadedLock
from tests.runtime.workbench import agent, extension, locked, tool
from tests.std.desk import TOOLS

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
TOOL_PROPERTIES: dict[str, dict[str, Any]] = {
    "pid": {},
    "echo": {"key": TEXT},
    "fail": {},
    "die": {},
    "append": {"line": TEXT, "trace": TEXT},
    "slow": {"seconds": NUMBER, "trace": TEXT},
    "stuck": {"seconds": NUMBER, "trace": TEXT},
    "variable": {"name": TEXT},
}

RULES = [
    {
        "policy_id": "no-x",
        "deny": {
            "tools": ["crm/echo"],
            "when": {"properties": {"key": {"const": "x"}}, "required": ["key"]},
            "reason": "x is private",
        },
    },
    {"policy_id": "careful", "ask": {"tools": ["crm/echo"], "reason": "Look first."}},
]


def bureau(folder: Path, broker: str, timeout: float = 20, instructions: str = "Work.") -> LoadedLock:
    """The lock; every tool is `NAME_celery`, `slow` is `slow_late_celery` with a deadline of 1.5 s as well."""
    backend = {"use": "celery", "config": {"broker": broker, "timeout": timeout}}
    short = {"use": "celery", "config": {"broker": broker, "timeout": 1.5}}
    tools = [tool(name, f"{TOOLS}:{name}", properties) for name, properties in TOOL_PROPERTIES.items()]
    late = [tool("late", f"{TOOLS}:slow", TOOL_PROPERTIES["slow"])]
    proxied = [{"use": "proxy", "config": {"url": "${env:STD_PROXY}"}}, backend]
    lifecycle = [
        {"hook_id": "open", "phase": "install", "run": f"{TOOLS}:install"},
        {"hook_id": "close", "phase": "teardown", "run": f"{TOOLS}:teardown"},
    ]
    return locked(
        folder,
        extension("crm", tools=[*tools, *late], lifecycle=lifecycle),
        agent(
            "desk",
            "crm/*",
            instructions=instructions,
            policies=RULES,
            variants={
                "crm/*": [backend],
                "crm/late": [short],
                "crm/variable": proxied,
                "crm/echo": ["batch", "audit", backend],
            },
        ),
    )
