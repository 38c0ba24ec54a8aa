"""An MCP server on stdin and stdout that behaves as its first argument says; standard library only.

Run by the tests of ``symc.pins.discover``. It answers what it is asked and nothing more, so that each fault is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PAGES = {None: ("a", "two"), "two": ("b", "three"), "three": ("c", None)}
"""Cursor → the tool of its page, and the cursor of the next one."""


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


def page(behaviour: str, cursor: str | None) -> dict[str, Any]:
    """The result of ``tools/list``."""
    if behaviour == "three-pages" or (behaviour == "error-on-page-two" and cursor is None):
        name, following = PAGES[cursor]
        return {"tools": [tool(name)], **({"nextCursor": following} if following else {})}
    if behaviour == "stuck-cursor":
        return {"tools": [tool(f"t{time.monotonic_ns()}")], "nextCursor": "again"}
    if behaviour == "empty-cursor":
        return {"tools": [tool("a")], "nextCursor": ""}
    if behaviour == "number-cursor":
        return {"tools": [], "nextCursor": 7}
    if behaviour == "endless":
        return {"tools": [], "nextCursor": str(time.monotonic_ns())}
    if behaviour == "endless-megabytes":
        return {"tools": [tool("a", description="x" * (9 * 2**20))], "nextCursor": str(time.monotonic_ns())}
    if behaviour == "repeated-name":
        return {"tools": [tool("a"), tool("b"), tool("a", description="Another.")]}
    if behaviour == "no-list":
        return {"tools": {"a": tool("a")}}
    if behaviour == "no-schema":
        return {"tools": [{"name": "a", "description": "A."}]}
    if behaviour == "odd-numbers":
        return {"tools": [tool("a", inputSchema={"type": "object", "maxProperties": 2**60})]}
    if behaviour == "unknown-keys":
        return {
            "tools": [tool("b", x={"y": [1]}), tool("a", annotations={"readOnlyHint": True, "x-cost": 1.50})]
        }
    if behaviour == "described":
        return {"tools": [tool("send_note", description=os.environ["DESCRIPTION"])]}
    if behaviour == "environment":
        shown = {key: os.environ.get(key, "") for key in ("DEMO_TOKEN", "UNASKED")}
        return {
            "tools": [tool("env", description=json.dumps(shown)), tool("cwd", description=str(Path.cwd()))]
        }
    return {"tools": [tool("a")]}


def answer(behaviour: str, message: dict[str, Any]) -> dict[str, Any] | None:
    """The result of one request; None for none."""
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"] if behaviour != "odd-version" else "1999-01-01",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stub", "version": str(time.monotonic_ns())},
        }
    return page(behaviour, params.get("cursor")) if method == "tools/list" else None


def main() -> None:
    behaviour = sys.argv[1]
    if pid_file := os.environ.get("PID_FILE"):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(pid_file).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
    if behaviour == "garbage":
        print("Listening on port 3000", flush=True)
    if behaviour == "crash-at-once":
        print(f"no such folder, token {os.environ.get('DEMO_TOKEN')}", file=sys.stderr, flush=True)
        sys.exit(3)
    if behaviour == "deaf":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        if behaviour == "silence" or (behaviour == "silent-list" and message["method"] == "tools/list"):
            continue
        if "id" not in message:
            continue
        if behaviour == "crash-on-list" and message["method"] == "tools/list":
            print("Traceback: boom", file=sys.stderr, flush=True)
            os._exit(1)
        if behaviour == "garbage-on-list" and message["method"] == "tools/list":
            print('{"half": ', flush=True)
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        params = message.get("params") or {}
        result = answer(behaviour, message)
        if behaviour == "error-on-page-two" and params.get("cursor"):
            reply["error"] = {"code": -32603, "message": "the database is away"}
        elif behaviour == "refusal" and message["method"] == "initialize":
            reply["error"] = {"code": -32600, "message": f"bad token {os.environ.get('DEMO_TOKEN')}"}
        elif result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
