"""The README is true: its console blocks are replayed, its graph and its claims compared with what symc says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """Every command of the README with the output shown for it."""
    found: list[tuple[str, str]] = []
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip("\n")))
    return found


def _nothing(_folder: Path) -> None:
    """The example as it is."""


def _two_slips(folder: Path) -> None:
    _edit(folder / "manifests/agents/support.yaml", "crm/lookup_customer: [{", "crm/lookup_custmer: [{")
    _edit(folder / "manifests/agents/support.yaml", "[audit], expose", "[audti], expose")


def _widened(folder: Path) -> None:
    git = ["git", "-c", "user.name=desk", "-c", "user.email=desk@example.test"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "reviewed"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True)
    _edit(folder / "manifests/agents/support.yaml", "exclude: [crm/lookup_internal_notes]", "exclude: []")
    _edit(folder / "manifests/agents/support.yaml", "expose: only, ", "")


def _stale(folder: Path) -> None:
    _edit(folder / "manifests/agents/safety.md", "Never", "Do not")
    _edit(
        folder / "manifests/agents/triage.yaml",
        "tools: [crm/lookup_customer]",
        "tools: [crm/lookup_customer, crm/refund_order]",
    )


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


# What stands before the command in the tour, by command and the first words of its output.
PREPARED: dict[tuple[str, str], Callable[[Path], None]] = {
    ("symc compile", "error[SYM304"): _two_slips,
    ("symc diff HEAD", "WIDENING"): _widened,
    ("symc compile --check", "error[SYM611"): _stale,
}


@pytest.mark.parametrize(("command", "shown"), steps(), ids=[command for command, _ in steps()])
def test_a_command_says_what_is_shown(command: str, shown: str, tmp_path: Path) -> None:
    if command.startswith("export "):
        return
    for name in ("manifests", "support_desk"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "symc.lock", tmp_path / "symc.lock")
    for (wanted, begins), prepare in PREPARED.items():
        if command == wanted and shown.startswith(begins):
            prepare(tmp_path)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "symc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symc.cli "$@"\n')
    script.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    environment |= {
        "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
        "KNOWLEDGE_TOKEN": "demo",
        "NO_COLOR": "1",
    }
    ran = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    # A terminal shows both streams; which line of which comes first is the terminal's matter.
    said = sorted(line for line in (ran.stdout + "\n" + ran.stderr).splitlines() if line.strip())
    wanted_lines = sorted(line for line in shown.splitlines() if line.strip())
    missing = [line for line in wanted_lines if line not in said]
    assert missing == [], "\n".join(said)


def test_the_graph_is_what_the_command_draws() -> None:
    drawn = subprocess.run(
        [sys.executable, "-m", "symc.cli", "graph", "triage"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"```mermaid\n{drawn.stdout}```" in README


def test_two_commands_and_no_more() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    assert blocks[0].rstrip().endswith("symc compile")
    assert "pytest" in blocks[1]


def test_every_folder_of_the_map_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README):
        assert (ROOT / target.replace("%5B", "[").replace("%5D", "]")).exists(), target
