"""`symc diff` on files, commits, standard input and working trees; every exit code (docs/diff.md)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root
from symc.diff.renderers.markdown import MARKER

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="install git")

OS = """\
kind: extension
name: os
version: "1.0"
tools:
  - {name: read, description: Read., invoke: "acme.os:read", input_schema: {type: object}}
  - {name: write, description: Write., invoke: "acme.os:write", input_schema: {type: object}}
"""
DESK = """\
kind: agent
name: desk
instructions: Be brief.
extensions: [os]
tools: [os/read]
"""
WIDER = DESK.replace("[os/read]", "[os/read, os/write]")
FORMATS = ("text", "markdown", "json", "github", "accept")


def symc(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(root, arguments, input=stdin, catch_exceptions=False)


def git(*arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write(text: str) -> None:
    Path("manifests/desk.yaml").write_text(text)


def commit(text: str) -> None:
    write(text)
    assert symc("compile").exit_code == 0
    git("add", "-A")
    git("commit", "-qm", "change")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a lock on main, and a branch topic."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("manifests").mkdir()
    Path("manifests/os.yaml").write_text(OS)
    git("init", "-q", "-b", "main")
    commit(DESK)
    git("checkout", "-q", "-b", "topic")
    return tmp_path


def verdict(*arguments: str, stdin: bytes | None = None) -> str:
    result = symc("diff", *arguments, "--format", "json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return str(json.loads(result.stdout)["verdict"])


def test_a_commit_against_the_working_tree() -> None:
    assert verdict("main") == "SAME AUTHORITY"
    write(WIDER)
    assert verdict("main") == "WIDENING"
    assert verdict("HEAD") == "WIDENING"


def test_two_commits_two_files_and_standard_input() -> None:
    old = Path("symc.lock").read_bytes()
    Path("old.lock").write_bytes(old)
    commit(WIDER)
    assert verdict("main", "topic") == verdict("HEAD~1", "HEAD") == "WIDENING"
    assert verdict("topic", "main") == "NARROWING"
    assert verdict("old.lock", "symc.lock") == "WIDENING"
    assert verdict("old.lock", "-", stdin=Path("symc.lock").read_bytes()) == "WIDENING"
    assert verdict("-", stdin=old) == "WIDENING"


def test_without_sides_the_merge_base_is_compared_with_the_working_tree() -> None:
    git("checkout", "-q", "main")
    commit(WIDER)  # what others merged meanwhile is not this branch's change
    git("checkout", "-q", "topic")
    assert verdict("--base", "main") == "SAME AUTHORITY"
    write(WIDER)
    assert verdict("--base", "main") == "WIDENING"


def test_nothing_is_written_by_comparing() -> None:
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if ".git" not in path.parts}
    write(DESK)
    symc("diff", "main")
    after = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if ".git" not in path.parts}
    before.pop(Path("manifests/desk.yaml"))
    after.pop(Path("manifests/desk.yaml"))
    assert before == after
    assert git("stash", "list") == ""


def test_a_folder_inside_the_repository(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    Path("apps").mkdir()
    shutil.move("manifests", "apps/manifests")
    shutil.move("symc.lock", "apps/symc.lock")
    git("add", "-A")
    git("commit", "-qm", "moved")
    assert verdict("HEAD", "-w", "apps/manifests") == "SAME AUTHORITY"
    monkeypatch.chdir(project / "apps" / "manifests")
    assert verdict("HEAD", "-w", ".") == "SAME AUTHORITY"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "arguments",
    [
        ("--base", "nowhere"),
        ("nosuch",),
        ("-dash",),
        ("main", "nosuch.lock"),
        ("manifests",),
        ("broken.lock",),
        ("main", "broken.lock"),
        ("newer.lock",),
        ("main", "-w", "nofolder"),
        ("empty",),
    ],
    ids=" ".join,
)
def test_a_side_that_cannot_be_read(form: str, arguments: tuple[str, ...]) -> None:
    git("checkout", "-q", "--orphan", "empty")
    git("rm", "-q", "--cached", "symc.lock")
    git("commit", "-qm", "no lock")
    git("checkout", "-q", "-f", "topic")
    Path("broken.lock").write_text("<<<<<<< ours\n")
    Path("newer.lock").write_text('{"agents": {}, "lock_version": 99}')
    words = ("--", *arguments) if arguments[0] == "-dash" else arguments
    result = symc("diff", "--format", form, *words)
    assert result.exit_code == 2
    assert "could not compare" in result.stdout
    assert "no changes" not in result.output
    if form == "json":
        assert json.loads(result.stdout)["verdict"] is None
    if form == "markdown":
        assert result.stdout.startswith(MARKER)


def test_a_working_tree_that_does_not_compile() -> None:
    write(DESK.replace("os/read", "os/raed"))
    result = symc("diff", "main", "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["verdict"] is None
    assert "manifests/desk.yaml:5" in result.stderr


def test_no_base_says_what_a_shallow_clone_lacks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(WIDER)
    git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{project}", str(project / "clone"))
    monkeypatch.chdir(project / "clone")
    assert symc("diff", "--base", "origin/topic").exit_code == 0
    result = symc("diff", "--base", "origin/main")
    assert result.exit_code == 2
    assert "fetch-depth: 0" in result.stderr


def helped(*arguments: str) -> str:
    """The next step that a comparison which could not be made ends with."""
    result = symc("diff", *arguments)
    assert result.exit_code == 2
    return result.stderr.splitlines()[-1].removeprefix("  help: ")


def test_no_base_names_one_that_is_there() -> None:
    """Without origin/HEAD: what this very clone has, else the last commit; the advice works."""
    assert helped() == "compare with the last commit: symc diff HEAD"
    assert verdict("HEAD") == "SAME AUTHORITY"
    git("update-ref", "refs/remotes/origin/main", "main")
    assert helped() == (
        "name another base: symc diff --base origin/main; or compare with the last commit: symc diff HEAD"
    )
    assert verdict("--base", "origin/main") == "SAME AUTHORITY"


def test_no_base_before_the_first_commit_and_without_shared_history() -> None:
    git("checkout", "-q", "--orphan", "fresh")
    assert "no commit yet" in symc("diff", "--base", "main").stdout
    git("commit", "-qm", "fresh")
    assert helped("--base", "main") == "compare with that commit itself: symc diff main"


@pytest.mark.parametrize(
    ("word", "said", "hint"),
    [
        (
            "before-the-change.lock",
            'there is no file "before-the-change.lock"',
            "write a lock with symc compile, or name a commit: symc diff HEAD",
        ),
        ("old/symc.lock", 'there is no file "old/symc.lock"', "write a lock with symc compile"),
        ("syncm.lock", 'there is no file "syncm.lock"', 'did you mean "symc.lock"?'),
        ("./symc.loc", 'there is no file "./symc.loc"', 'did you mean "symc.lock"?'),
        ("manifests", '"manifests" is a folder', "symc diff HEAD -w manifests"),
        ("release", '"release" is neither a file nor a commit', 'did you mean "origin/release"?'),
        ("HEAD~70", '"HEAD~70" is neither a file nor a commit', "git log lists the commits that are here"),
    ],
)
def test_a_word_that_is_no_side_says_what_is_missing(word: str, said: str, hint: str) -> None:
    git("update-ref", "refs/remotes/origin/release", "main")
    for arguments in ((word,), ("main", word)):
        assert said in symc("diff", *arguments).stdout
        assert hint in helped(*arguments)
        assert "fetch-depth" not in helped(*arguments)


def test_a_name_that_is_a_file_and_a_branch_is_asked_back() -> None:
    shutil.copy("symc.lock", "main")
    result = symc("diff", "main")
    assert result.exit_code == 2
    assert "./main" in result.stderr
    assert verdict("./main") == "SAME AUTHORITY"


def test_an_unknown_commit_gets_the_nearest() -> None:
    assert 'did you mean "main"?' in symc("diff", "mian").stderr


def test_both_sides_cannot_be_standard_input() -> None:
    assert symc("diff", "-", "-").exit_code == 2


@pytest.mark.parametrize(
    ("manifest", "fail_on", "code"),
    [
        (DESK, "any", 0),
        (WIDER, None, 0),
        (WIDER, "none", 0),
        (WIDER, "widening", 1),
        (DESK.replace("[os/read]", "[]"), "widening", 0),
        (DESK.replace("[os/read]", "[]"), "authority", 1),
        (DESK.replace("os/read]", "{tool: os/read, as: view}]"), "authority", 0),
        (DESK.replace("os/read]", "{tool: os/read, as: view}]"), "interface", 1),
        (DESK.replace("brief", "kind"), "interface", 0),
        (DESK.replace("brief", "kind"), "behaviour", 1),
        (DESK + "description: For people.\n", "behaviour", 0),
        (DESK + "description: For people.\n", "any", 1),
    ],
)
def test_fail_on(manifest: str, fail_on: str | None, code: int) -> None:
    write(manifest)
    options = () if fail_on is None else ("--fail-on", fail_on)
    assert symc("diff", "main", *options).exit_code == code


def test_ci_annotates_fails_and_fills_the_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    write(WIDER)
    result = symc("diff", "--base", "main", "--ci")
    assert result.exit_code == 1
    assert "::error file=manifests/desk.yaml,line=5,col=18,title=SYD101 grant-widened::" in result.stdout
    assert (tmp_path / "summary.md").read_text().startswith(MARKER)


def test_digests_that_change_are_those_of_symc_digest() -> None:
    old = symc("digest", "desk").stdout.strip()
    commit(WIDER)
    new = symc("digest", "desk").stdout.strip()
    document = json.loads(symc("diff", "main", "--format", "json").stdout)
    assert document["digests"] == [{"agent": "desk", "before": old, "after": new}]
    assert symc("diff", "main", "--verbose").stdout.splitlines()[-1] == f"  desk: {old[:19]} → {new[:19]}"
    assert "DIGESTS" not in symc("diff", "main").stdout
    assert json.loads(symc("diff", "HEAD", "--format", "json").stdout)["digests"] == []


def test_only_the_file_is_named_where_the_new_side_is_no_working_tree() -> None:
    commit(WIDER)
    result = symc("diff", "main", "topic", "--format", "github")
    assert "::error file=manifests/desk.yaml,title=SYD101" in result.stdout


def test_rules_of_the_workspace() -> None:
    write(DESK.replace("brief", "kind"))
    rules = "kind: workspace\nname: acme\nrules: {fragment-text-changed: error, SYD206: off}\n"
    Path("manifests/workspace.yaml").write_text(rules)
    changes = json.loads(symc("diff", "main", "--format", "json").stdout)["changes"]
    assert [(one["name"], one["level"]) for one in changes] == [("fragment-text-changed", "error")]
    Path("manifests/workspace.yaml").write_text(rules.replace("SYD206: off", "deny-removed: warn"))
    assert symc("compile").exit_code == 1


# Acceptances


def stanzas() -> str:
    return symc("diff", "main", "--format", "accept").stdout


def accept(text: str) -> None:
    with Path("symc.accept.yaml").open("a") as file:
        file.write(text.replace('reason: ""', "reason: Wanted.").replace('by: ""', "by: desk owners"))


def test_an_accepted_change_passes_and_still_shows() -> None:
    write(WIDER)
    accept(stanzas())
    result = symc("diff", "main", "--fail-on", "widening")
    assert result.exit_code == 0
    assert result.stdout.startswith("WIDENING — ")
    assert "accepted: Wanted. (desk owners)" in result.stdout
    assert stanzas() == "# nothing to accept\n"


@pytest.mark.parametrize("content", ["", "\n", "# nothing to accept\n"])
def test_a_file_without_stanzas_accepts_nothing(content: str) -> None:
    """What a shell leaves of the file before `symc diff --format accept > symc.accept.yaml` writes it."""
    write(WIDER)
    Path("symc.accept.yaml").write_text(content)
    assert symc("diff", "main", "--fail-on", "widening").exit_code == 1
    accept(stanzas())
    assert symc("diff", "main", "--fail-on", "widening").exit_code == 0


def test_stanzas_can_be_appended() -> None:
    write(WIDER)
    accept(stanzas())
    write(WIDER + "limits: {max_model_rounds: 99}\n")
    assert symc("diff", "main", "--fail-on", "widening").exit_code == 1
    accept(stanzas())
    assert symc("diff", "main", "--fail-on", "widening").exit_code == 0


def test_an_acceptance_holds_for_one_exact_change() -> None:
    write(WIDER + "limits: {max_model_rounds: 50}\n")
    accept(stanzas())
    write(WIDER + "limits: {max_model_rounds: 51}\n")
    result = symc("diff", "main", "--fail-on", "widening")
    assert result.exit_code == 1
    assert "acceptance-unused" in result.stderr


def test_lines_do_not_matter_to_an_acceptance() -> None:
    write(WIDER)
    accept(stanzas())
    write("# a comment\n\n" + WIDER)
    assert symc("diff", "main", "--fail-on", "widening").exit_code == 0


def test_an_unused_acceptance_is_an_error_whatever_fails() -> None:
    write(WIDER)
    accept(stanzas())
    write(DESK)
    assert symc("diff", "main").exit_code == 1


def test_what_is_merged_is_inert() -> None:
    write(WIDER)
    accept(stanzas())
    commit(WIDER)
    git("checkout", "-q", "-b", "next")
    # The change is made: its stanza is not judged, and accepts nothing.
    assert symc("diff", "topic", "--fail-on", "widening").exit_code == 0
    commit(DESK)
    write(WIDER)
    assert symc("diff", "next", "--fail-on", "widening").exit_code == 1
    accept(symc("diff", "next", "--format", "accept").stdout)
    assert symc("diff", "next", "--fail-on", "widening").exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accept: [{fingerprint: x, rule: grant-widened, reason: '', by: me}]", '"reason"'),
        ("accept: [{fingerprint: x, rule: grant-widened, reason: why}]", '"by"'),
        ("accept: [{fingerprint: x, rule: grant-widend, reason: why, by: me}]", '"grant-widend"'),
        ("accept: [{fingerprint: x, rule: SYD101, reason: why, by: me, when: now}]", '"when"'),
        ("accept: [sha256]", "mapping"),
        ("accept: everything", "list"),
        ("acept: []", '"acept"'),
        ("- 1", "mapping"),
    ],
)
def test_an_acceptance_that_is_none_is_refused(text: str, said: str) -> None:
    Path("symc.accept.yaml").write_text(text)
    result = symc("diff", "main")
    assert result.exit_code == 2
    assert "could not compare" in result.stdout
    assert said in result.stderr
    assert text == "- 1" or "acceptance-invalid" in result.stderr


def test_merged_acceptances_are_not_judged_where_history_is_unknown() -> None:
    write(WIDER)
    accept(stanzas())
    shutil.copy("symc.lock", "old.lock")
    write(DESK)
    assert symc("diff", "old.lock").exit_code == 0


# What a machine may lack


def test_without_git_commits_are_not_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = symc("diff")
    assert result.exit_code == 2
    assert "git is not installed" in result.stdout
    result = symc("diff", "main")
    assert result.exit_code == 2
    assert '"main" is neither a file nor a commit' in result.stdout
    assert verdict("symc.lock") == "SAME AUTHORITY"


def test_outside_a_repository_there_is_no_base(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    result = symc("diff")
    assert result.exit_code == 2
    assert "no git repository" in result.stdout


def test_a_pipe_is_no_lock_and_is_not_waited_for() -> None:
    os.mkfifo("pipe")
    result = symc("diff", "pipe")
    assert result.exit_code == 2
    assert "no regular file" in result.stdout


def test_acceptances_that_may_not_be_read() -> None:
    Path("symc.accept.yaml").mkdir()
    assert symc("diff", "main").exit_code == 2
    Path("symc.accept.yaml").rmdir()
    Path("symc.accept.yaml").write_bytes(b"\xff")
    assert symc("diff", "main").exit_code == 2


def test_a_lock_that_is_found_out_late() -> None:
    """Its outer form is sound; what differs is not."""
    Path("odd.lock").write_text(
        Path("symc.lock").read_text().replace('"limits": {', '"limits": {"rounds": 3,')
    )
    result = symc("diff", "odd.lock")
    assert result.exit_code == 2
    assert "could not compare" in result.stdout
    assert "lock-structure" in result.stderr


def test_a_job_without_a_summary_gets_the_page_of_what_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert symc("diff", "nosuch", "--ci").exit_code == 2
    assert "could not compare" in (tmp_path / "summary.md").read_text()
