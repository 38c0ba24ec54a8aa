"""Many runs of one agent at once, half of them left in the middle (docs/contracts.md F-22, F-45)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_two_hundred_runs_leave_nothing_behind() -> None:
    """[F-22][F-30][F-36][F-45] No bleed, no task, every stream and tool closed, and no warning in development mode."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "tests.runtime.crowd"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Development mode tells of slow callbacks, too: a busy machine is no fault.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert complaints == []
    found = json.loads(done.stdout)
    assert found.pop("tools") > 100
    assert found == {
        "ends": {"run": 34, "stream": 34, "break": 33, "aclose": 33, "forget": 33, "cancel in the tool": 33},
        "tasks": 0,
        "streams left open": 0,
        "tools left open": 0,
        "unchanged": True,
    }
