"""The pytest plugin, run inside an inner pytest (docs/prompts.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

AGENT = """\
kind: agent
name: desk
instructions: Answer.
prompts:
  - {fragment_id: rules, tier: platform, order: 10, text: "Be kind."}
  - {fragment_id: hours, tier: platform, order: 20, text: "Open at nine."}
  - {fragment_id: tone, tier: operating, order: 30, text: "Be brief."}
"""
OTHER = "kind: agent\nname: other\ninstructions: Wait.\n"
TEST = """\
import pytest

@pytest.mark.parametrize("agent", ["desk", "other"])
def test_prompt(agent, prompt_layout, snapshot):
    assert prompt_layout(agent) == snapshot

def test_rendered(prompt_layout, snapshot):
    assert prompt_layout("desk").rendered == snapshot

def test_tools(tool_surface, snapshot):
    assert tool_surface("desk") == snapshot

def test_policies(policy_graph, snapshot):
    assert policy_graph("desk") == snapshot
"""


class Desk:
    """A folder with a workspace and its snapshot tests."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makepyfile(test_desk=TEST)
        self.write({"desk.yaml": AGENT, "other.yaml": OTHER})

    def write(self, files: Mapping[str, str]) -> None:
        folder = self.pytester.path / "manifests"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode())

    def run(self, *options: str) -> pytest.RunResult:
        # A process of its own, with the plugins that matter here: what else is installed costs seconds a run.
        plugins = ["-p", "syrupy", "-p", "symc.testing.plugin", *(["-p", "xdist"] if "-n" in options else [])]
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugins, *options)

    def snapshot(self, name: str) -> Path:
        return self.pytester.path / "__snapshots__" / "test_desk" / name


@pytest.fixture(autouse=True)
def _few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    # An inner run that takes itself for a worker of the outer one leaves its report to others.
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def desk(pytester: pytest.Pytester) -> Desk:
    found = Desk(pytester)
    found.run("--snapshot-update").assert_outcomes(passed=5)
    return found


def test_create_and_match(desk: Desk) -> None:
    names = sorted(path.name for path in desk.snapshot("").iterdir())
    assert names == [
        "test_policies.md",
        "test_prompt[desk].md",
        "test_prompt[other].md",
        "test_rendered.txt",
        "test_tools.md",
    ]
    assert (
        desk.snapshot("test_rendered.txt").read_bytes()
        == b"Be kind.\n\nOpen at nine.\n\nAnswer.\n\nBe brief."
    )
    desk.run().assert_outcomes(passed=5)


def test_an_edit_shows_the_fragment_and_its_lines(desk: Desk) -> None:
    desk.write({"desk.yaml": AGENT.replace("Open at nine.", "Open at ten.")})
    result = desk.run()
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*edited   desk/hours:*", "*- Open at nine.*", "*+ Open at ten.*"])
    result.stdout.no_fnmatch_line("*edited   desk/tone*")


def test_a_move_says_from_where_to_where_past_whom_and_what_it_breaks(desk: Desk) -> None:
    desk.write({"desk.yaml": AGENT.replace("order: 20", "order: 5")})
    result = desk.run("-k", "prompt")
    result.stdout.fnmatch_lines(
        [
            "*moved    desk/hours: from place 2 to place 1, past desk/rules*",
            "*100% of the cached prefix is invalidated*",
        ]
    )


def test_the_share_of_the_prefix_counts_from_the_first_changed_character(desk: Desk) -> None:
    # "Be kind.\n\nOpen at nine.\n\nAnswer.\n\nBe brief." has 43 characters; the first 34 stay.
    desk.write({"desk.yaml": AGENT.replace("Be brief.", "So brief.")})
    desk.run("-k", "prompt").stdout.fnmatch_lines(["*21% of the cached prefix is invalidated*"])


def test_the_frame_of_learned_text_is_part_of_the_prefix(desk: Desk) -> None:
    # The text stays and stands where it stood; the model reads it in a frame now.
    desk.write({"desk.yaml": AGENT.replace("tier: operating", "tier: session")})
    desk.run("-k", "prompt").stdout.fnmatch_lines(["*21% of the cached prefix is invalidated*"])


def test_added_and_removed_fragments_are_named(desk: Desk) -> None:
    without = AGENT.replace(
        '  - {fragment_id: hours, tier: platform, order: 20, text: "Open at nine."}\n', ""
    )
    desk.write(
        {"desk.yaml": without + '  - {fragment_id: sign, tier: operating, order: 40, text: "Sign."}\n'}
    )
    desk.run("-k", "prompt").stdout.fnmatch_lines(
        ["*added    desk/sign: place 4 *", "*removed  desk/hours: it was at place 2 *"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "trailing blanks  \nand more \t",
        "",
        "\n",
        "two\n\n",
        "a fence\n```text\n## 9. desk/rules\n````\nend",
        "# heading\n## 1. desk/rules\n\nl1 · x",
        "wide: 日本語 and 🏴‍☠️",
    ],
    ids=["blanks", "empty", "newline", "newlines", "fences", "headings", "wide"],
)
def test_texts_survive_to_the_character(desk: Desk, text: str) -> None:
    import json

    desk.write({"desk.yaml": AGENT.replace('"Open at nine."', json.dumps(text, ensure_ascii=False))})
    desk.run("--snapshot-update").assert_outcomes(passed=5)
    desk.run().assert_outcomes(passed=5)
    assert (
        desk.snapshot("test_rendered.txt").read_bytes().decode()
        == f"Be kind.\n\n{text}\n\nAnswer.\n\nBe brief."
    )


def test_a_crlf_checkout_of_the_manifests_changes_no_snapshot(desk: Desk) -> None:
    desk.write({"desk.yaml": AGENT.replace("\n", "\r\n"), "other.yaml": OTHER.replace("\n", "\r\n")})
    desk.run().assert_outcomes(passed=5)


@pytest.mark.parametrize("hidden", ["\x85", "\u2028", "\u202e"])
def test_hidden_characters_never_reach_a_snapshot(desk: Desk, hidden: str) -> None:
    desk.write({"desk.yaml": AGENT.replace("Open at nine.", f"Open{hidden}at nine.")})
    result = desk.run()
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*error*SYM*"])


def test_two_workers_lose_nothing(pytester: pytest.Pytester) -> None:
    desk = Desk(pytester)
    desk.run("-n", "2", "--snapshot-update").assert_outcomes(passed=5)
    assert len(list(desk.snapshot("").iterdir())) == 5
    desk.run("-n", "2").assert_outcomes(passed=5)


def test_updating_one_leaves_the_others(desk: Desk) -> None:
    before = desk.snapshot("test_prompt[other].md").read_bytes()
    desk.write(
        {"desk.yaml": AGENT.replace("Be kind.", "Be firm."), "other.yaml": OTHER.replace("Wait", "Stay")}
    )
    desk.run("--snapshot-update", "-k", "test_prompt and desk and not other").assert_outcomes(
        passed=1, deselected=4
    )
    assert b"Be firm." in desk.snapshot("test_prompt[desk].md").read_bytes()
    assert desk.snapshot("test_prompt[other].md").read_bytes() == before
    assert len(list(desk.snapshot("").iterdir())) == 5


def test_a_missing_snapshot_fails_and_says_how_to_write_it(desk: Desk) -> None:
    desk.snapshot("test_prompt[desk].md").unlink()
    result = desk.run()
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*there is none yet*", "*--snapshot-update*"])


def test_an_unused_snapshot_fails(desk: Desk) -> None:
    desk.snapshot("test_gone.md").write_bytes(desk.snapshot("test_tools.md").read_bytes())
    result = desk.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*1 snapshot unused*"])


def test_a_workspace_that_does_not_compile_shows_its_mistakes(desk: Desk) -> None:
    desk.write({"desk.yaml": AGENT.replace("tier: platform", "tier: plattform")})
    result = desk.run()
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*manifests/desk.yaml:5:*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_unknown_agent_is_told_the_nearest(desk: Desk) -> None:
    desk.pytester.makepyfile(test_typo='def test_x(prompt_layout):\n    prompt_layout("desc")\n')
    desk.run("test_typo.py").stdout.fnmatch_lines(['*no agent "desc"*did you mean "desk"*'])


def test_the_workspace_is_named_by_the_ini_option(pytester: pytest.Pytester) -> None:
    desk = Desk(pytester)
    (pytester.path / "manifests").rename(pytester.path / "agents")
    desk.run("--snapshot-update", "-o", "symc_workspace=agents").assert_outcomes(passed=5)
    result = desk.run("-o", "symc_workspace=nowhere")
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*symc_workspace*"])
    result.stdout.no_fnmatch_line("*another exception occurred*")
    result.stdout.no_fnmatch_line("*Traceback*")


def test_two_layouts_compare_by_their_page(pytester: pytest.Pytester) -> None:
    desk = Desk(pytester)
    pytester.makepyfile(
        test_desk="""
        def test_same(prompt_layout):
            assert prompt_layout("desk") == prompt_layout("desk")
            assert prompt_layout("desk") != prompt_layout("other")
        """
    )
    desk.run().assert_outcomes(passed=1)
