"""Two branches of manifests: their locks merged by git itself, and held to the merged manifests (docs/lockfile.md §7, L40)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from symc.cli.frame import root

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="install git")

Files = dict[str, str]
Edit = Callable[[Files], Files]


def _text(word: str) -> str:
    return "".join(f"      Line {number} of {word}.\n" for number in range(12))


def _fragment(name: str) -> str:
    return f"  - fragment_id: {name}\n    text: |\n{_text(name)}"


def _tool(name: str) -> str:
    return f"  - {{name: {name}, invoke: 'acme.tools:{name}', input_schema: {{type: object}}}}\n"


def _extension(name: str, fragments: tuple[str, ...], tools: tuple[str, ...]) -> str:
    head = f'kind: extension\nname: {name}\nversion: "1.0"\n'
    return f"{head}tools:\n{''.join(map(_tool, tools))}prompts:\n{''.join(map(_fragment, fragments))}"


def _agent(name: str, extension: str) -> str:
    head = f'kind: agent\nname: {name}\nextensions: [{extension}]\ntools: ["{extension}/*"]\n'
    return f"{head}instructions: |\n{_text(name)}"


BASE: Files = {
    "alpha.yaml": _agent("alpha", "crm"),
    "beta.yaml": _agent("beta", "web"),
    "gamma.yaml": _agent("gamma", "web"),
    "crm.yaml": _extension("crm", ("aaa", "mmm", "zzz"), ("b_tool", "y_tool")),
    "web.yaml": _extension("web", ("one", "two"), ("search",)),
}


def edited(file: str, word: str, line: int = 5) -> Edit:
    """One line of the text of ``word``."""

    def edit(files: Files) -> Files:
        before = f"Line {line} of {word}."
        assert before in files[file]
        return files | {file: files[file].replace(before, f"Edited {line} of {word}.")}

    return edit


def appended(file: str, text: str, *, after: str = "") -> Edit:
    """Text at the end of a file, or after the line that starts with ``after``."""

    def edit(files: Files) -> Files:
        head, mark, rest = files[file].partition(after) if after else (files[file], "", "")
        return files | {file: head + mark + text + rest}

    return edit


def added(file: str, text: str) -> Edit:
    return lambda files: files | {file: text}


def both(*edits: Edit) -> Edit:
    def edit(files: Files) -> Files:
        for one in edits:
            files = one(files)
        return files

    return edit


def _policy(name: str) -> str:
    return f"policies:\n  - {{policy_id: {name}, deny: {{tools: ['web/search']}}}}\n"


ZETA = both(
    added("zeta.yaml", _extension("zeta", ("first",), ("go",))),
    lambda files: files | {"gamma.yaml": files["gamma.yaml"].replace("[web]", "[web, zeta]")},
)

CASES: dict[str, tuple[Edit, Edit]] = {
    "1 text of two agents": (edited("alpha.yaml", "alpha"), edited("beta.yaml", "beta")),
    "2 two fragments of one extension": (edited("crm.yaml", "aaa"), edited("crm.yaml", "zzz")),
    "3 one fragment, far apart lines": (edited("crm.yaml", "mmm", 1), edited("crm.yaml", "mmm", 10)),
    "4 adjacent fragments": (edited("crm.yaml", "aaa", 11), edited("crm.yaml", "mmm", 0)),
    "5 a fragment more here, an edit there": (
        appended("alpha.yaml", "prompts:\n  - {fragment_id: more, text: More.}\n"),
        edited("beta.yaml", "beta"),
    ),
    "6 two new tools, apart": (
        appended("crm.yaml", _tool("a_tool"), after="tools:\n"),
        appended("crm.yaml", _tool("z_tool"), after="tools:\n"),
    ),
    "7 a new fragment and an edit of the first": (
        appended("crm.yaml", _fragment("new")),
        edited("crm.yaml", "aaa"),
    ),
    "8 policies of two agents": (
        appended("alpha.yaml", _policy("budget")),
        appended("gamma.yaml", _policy("quiet")),
    ),
    "9 a new extension and an edit of another": (ZETA, edited("crm.yaml", "aaa")),
    "10 both add a tool at the same place": (
        appended("crm.yaml", _tool("m_tool"), after="tools:\n"),
        appended("crm.yaml", _tool("n_tool"), after="tools:\n"),
    ),
    "11 a new agent and an edit of the last": (
        added("omega.yaml", _agent("omega", "web")),
        edited("gamma.yaml", "gamma"),
    ),
}
CONFLICTS = frozenset(name for name in CASES if name.split()[0] in ("3", "6", "10"))


def symc(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(root, arguments, catch_exceptions=False)
    return result.exit_code, result.stderr


def compiled(files: Files, lock: str) -> None:
    """Leave the manifests there, and their lock under a name of its own."""
    shutil.rmtree("manifests", ignore_errors=True)
    Path("manifests").mkdir()
    for name, text in files.items():
        (Path("manifests") / name).write_text(text)
    assert symc("compile", "--output", lock)[0] == 0


@pytest.mark.parametrize("case", CASES)
def test_two_branches(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = CASES[case]
    compiled(BASE, "base")
    compiled(one(BASE), "ours")
    compiled(other(BASE), "theirs")
    compiled(other(one(BASE)), "symc.lock")  # the merged manifests stay
    run = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], capture_output=True, check=False
    )
    Path("symc.lock").write_bytes(run.stdout)
    assert (run.returncode == 0) == (case not in CONFLICTS)
    if run.returncode == 0:
        assert symc("compile", "--check")[0] == 0
        return
    code, said = symc("compile", "--check")
    assert (code, "conflict marker" in said) == (1, True)
    code, said = symc("diff", "symc.lock")
    assert (code, "could not compare" in said) == (2, True)
    assert symc("compile")[0] == 0  # L20: the cure
    assert symc("compile", "--check")[0] == 0


def test_at_least_eight_of_eleven_merge() -> None:
    assert len(CASES) == 11
    assert len(CASES) - len(CONFLICTS) >= 8


def test_both_sides_taken_of_one_fragment_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody resolved the conflict of the digests by taking one: the lock is not what the manifests say."""
    monkeypatch.chdir(tmp_path)
    one, other = CASES["3 one fragment, far apart lines"]
    compiled(BASE, "base")
    compiled(one(BASE), "ours")
    compiled(other(BASE), "theirs")
    compiled(other(one(BASE)), "symc.lock")
    run = subprocess.run(
        ["git", "merge-file", "-p", "--ours", "ours", "base", "theirs"], capture_output=True, check=True
    )
    Path("symc.lock").write_bytes(run.stdout)
    code, said = symc("compile", "--check")
    assert code == 1
    assert "lock-digest" in said
    assert "run: symc compile" in said
