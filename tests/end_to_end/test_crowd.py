"""Many runs of the example at once (docs/contracts.md F-22, F-30, F-45)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.end_to_end.desk import ROOT, compiled


def test_two_hundred_runs_of_the_example_leave_nothing_behind(tmp_path: Path) -> None:
    """[F-22][F-30][F-45] No bleed, no task, no process, every stream closed, and no warning in development mode."""
    path = compiled(tmp_path).path
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "tests.end_to_end.crowd", str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # Development mode tells of slow callbacks, too: a busy machine is no fault.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    assert complaints == []
    assert json.loads(done.stdout) == {
        "ends": dict.fromkeys(("run", "stream", "break", "cancel"), 50),
        "tasks": 0,
        "streams left open": 0,
        "processes": 0,
        "unchanged": True,
    }
