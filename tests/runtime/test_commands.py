"""`symc verify` and `symc run` on small locks (docs/contracts.md §2, docs/diagnostics.md §3)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root
from symc.lock import digest_lines
from symc.runtime import load
from tests.runtime import shop
from tests.runtime.workbench import SHOP, agent, extension, tool, write_lock

TEXT = {"type": "string"}


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, without keys, and with the import path put back."""
    shop.log.clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def written(folder: Path, *, invoke: str = f"{SHOP}:echo", **more: Any) -> Path:
    """The lock of an agent with one tool, under a rule that asks."""
    hooks = [{"hook_id": "h", "phase": "install", "run": f"{SHOP}:install_crm"}]
    asks = {"policy_id": "asks", "ask": {"tools": ["crm/pay"], "reason": "Money."}}
    crm = extension(
        "crm",
        tools=[tool("find", invoke, key=TEXT), tool("pay")],
        lifecycle=hooks,
        policies=[asks],
    )
    slot = {"fragment_id": "who", "layer": "l2", "tier": "profile", "slot": {"max_chars": 9}}
    desk = agent("desk", "crm/*", instructions="You answer.", prompts=[slot], **more)
    return write_lock(folder, crm, desk, agent("other", description="Another."))


def symc(*arguments: str, typed: str = "") -> Result:
    result = CliRunner().invoke(root, list(arguments), input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# verify


def test_verify_says_that_all_would_start(tmp_path: Path) -> None:
    """No hook has run."""
    written(tmp_path)
    result = symc("verify")
    assert result.exit_code == 0
    assert result.stderr == "2 agents, 2 tools: as in the lock, ready to start\n"
    assert shop.log == []
    assert symc("verify", "other").stderr == "1 agent, 0 tools: as in the lock, ready to start\n"


def test_verify_tells_every_difference(tmp_path: Path) -> None:
    written(tmp_path, invoke=f"{SHOP}:not_async")
    result = symc("verify", "--format", "json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert [one["name"] for one in told["diagnostics"]] == ["target-signature"]
    assert told["diagnostics"][0]["primary"]["file"] == "symc.lock"
    assert told["reason"] == "1 difference — not every agent would start"
    text = symc("verify", "desk")
    assert f'"{SHOP}:not_async" is not async' in text.stderr
    assert text.stderr.endswith("1 difference — desk would not start\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("verify", "dsk"), 2, 'did you mean "desk"?'),
        (("verify", "--lock", "nowhere.lock"), 2, "there is no lock"),
        (("verify", "--expect", "sha256:" + "0" * 64), 2, "lock-expectation"),
        (("run", "dsk", "hello"), 2, 'did you mean "desk"?'),
        (("run", "desk", "hello", "--expect", "sha256:" + "0" * 64), 2, "lock-expectation"),
        (("run", "desk", "hello", "--slot", "desk/who"), 2, 'has no "="'),
        (("run", "desk", "hello", "--slot", "desk/why=x"), 2, "slot-unknown"),
        (("run", "desk", "hello", "--slot", "desk/who=longer than nine"), 2, "has 16 characters"),
        (("run", "desk", "hello", "--provider", "anthropic"), 2, "names no model; pass --model"),
        (("run", "desk", "hello", "--provider", "openai", "--model", "m"), 2, "set OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_done(arguments: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    written(tmp_path)
    result = symc(*arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert result.stdout == ""


def test_verify_of_an_edited_lock(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("You answer.", "You lie."), encoding="utf-8")
    result = symc("verify")
    assert result.exit_code == 1
    assert "lock-digest" in result.stderr
    assert symc("verify", "other").exit_code == 0


@pytest.mark.parametrize("call", ["find {bad", 'find {"key": bad}', 'call find {"key": "x"} more'])
def test_a_call_that_is_no_json_is_called_one(call: str, tmp_path: Path) -> None:
    written(tmp_path)
    result = symc("run", "desk", call)
    assert "the arguments are not JSON" in result.stderr


@pytest.mark.parametrize("prompt", ["hello {you", "find", "what does {x} mean?"])
def test_what_names_no_tool_is_no_call(prompt: str, tmp_path: Path) -> None:
    written(tmp_path)
    result = symc("run", "desk", prompt)
    assert result.exit_code == 0
    assert "1 message and these tools: find, pay." in result.stdout


def test_the_digest_may_be_expected(tmp_path: Path) -> None:
    lines = dict(line.split("  ")[::-1] for line in digest_lines(load(written(tmp_path)).lock))
    assert symc("verify", "--expect", lines["*"]).exit_code == 0
    assert symc("run", "desk", "hi", "--expect", lines["desk"]).exit_code == 0
    assert symc("verify", "desk", "--expect", lines["desk"]).exit_code == 0
    assert symc("verify", "desk", "--expect", lines["other"]).exit_code == 1
    of_an_agent = symc("verify", "--expect", lines["desk"])
    assert of_an_agent.exit_code == 2
    assert f"symc verify desk --expect {lines['desk']}" in of_an_agent.stderr


def test_code_beside_the_lock_is_found(tmp_path: Path) -> None:
    written(tmp_path, invoke="beside_the_lock:find")
    assert "there is no module" in symc("verify").stderr
    (tmp_path / "beside_the_lock.py").write_text(
        "async def find(arguments):\n    return 'found ' + arguments['key']\n", encoding="utf-8"
    )
    try:
        assert symc("verify").exit_code == 0
        assert symc("run", "desk", 'find {"key": "it"}').stdout == "found it\n"
    finally:
        sys.modules.pop("beside_the_lock", None)


# run


def test_run_without_a_key_says_so(tmp_path: Path) -> None:
    written(tmp_path)
    result = symc("run", "desk", "hello")
    assert result.exit_code == 0
    assert "the scripted provider stands in, no model is asked" in result.stderr
    assert "these tools: find, pay" in result.stdout
    assert shop.log == ["install_crm"]


def test_run_names_the_key_of_the_locks_provider(tmp_path: Path) -> None:
    written(tmp_path, provider="openai")
    assert symc("run", "desk", "hello").stderr.startswith("OPENAI_API_KEY is not set")


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_run_shows_the_answer_and_what_happened(stream: tuple[str, ...], tmp_path: Path) -> None:
    written(tmp_path)
    result = symc("run", "desk", 'find {"key": "a"}\ncall find {"key": 1}\nfind {nothing}', *stream)
    assert result.exit_code == 0
    answers = result.stdout.splitlines()
    assert answers[0] == '{"key": "a"}'
    assert answers[1].startswith("not executed: invalid_arguments: /key must be a string")
    assert answers[2].startswith("not executed: invalid_arguments: the arguments are not JSON")
    assert '  find {"key": "a"}  done' in result.stderr.splitlines()
    assert '  find {"key": 1}  failed: not executed: invalid_arguments' in result.stderr
    assert result.stderr.endswith("2 model rounds, 3 tool calls\n")
    quiet = symc("run", "desk", 'find {"key": "a"}', "--quiet", *stream)
    assert (quiet.stdout, quiet.stderr) == ('{"key": "a"}\n', "")


@pytest.mark.parametrize(
    ("flags", "typed", "answer"),
    [
        ((), "", "not executed: approval_required: crm/asks: Money."),
        (("--ask",), "y\n", "{}"),
        (("--ask",), "n\n", "not executed: approval_refused: crm/asks: Money."),
        (("--ask",), "", "not executed: approval_refused: crm/asks: Money."),
    ],
)
def test_run_puts_questions_to_the_person(
    flags: tuple[str, ...], typed: str, answer: str, tmp_path: Path
) -> None:
    written(tmp_path)
    result = symc("run", "desk", "pay {}", *flags, typed=typed)
    assert result.stdout == f"{answer}\n"
    if flags:
        assert "desk wants to call pay {}" in result.stderr
        assert "Money. — allow it once?" in result.stderr


def test_run_fills_slots(tmp_path: Path) -> None:
    written(tmp_path)
    plain = symc("run", "desk", "hello").stdout
    filled = symc("run", "desk", "hello", "--slot", "desk/who=Ada").stdout
    assert plain != filled


def test_a_talk_goes_line_by_line(tmp_path: Path) -> None:
    """What was said before goes along; an empty line ends it."""
    written(tmp_path)
    result = symc("run", "desk", typed='hello\nfind {"key": "a"}\nhello\n\nnever read\n')
    assert result.exit_code == 0
    lines = [line for line in result.stdout.splitlines() if "characters" in line or "key" in line[:6]]
    assert [line.split(" message")[0][-2:].strip() for line in lines if "message" in line] == ["1", "7"]
    assert result.stderr.count("model round") == 3
    assert shop.log == ["install_crm", 'echo {"key": "a"}']


def test_a_pipe_is_not_prompted(tmp_path: Path) -> None:
    written(tmp_path)
    result = symc("run", "desk", typed='find {"key": "a"}\nfind {"key": "b"}\n')
    assert result.stdout == '{"key": "a"}\n{"key": "b"}\n'
    assert not [
        line for line in result.stderr.splitlines() if line.startswith(">") or "ends the talk" in line
    ]


def test_verbose_shows_what_audit_logs(tmp_path: Path) -> None:
    write_lock(
        tmp_path,
        extension("crm", tools=[tool("find")]),
        agent("desk", "crm/find", variants={"crm/find": [{"use": "audit", "config": {"level": "debug"}}]}),
    )
    logged = symc("run", "desk", "find_audit {}", "--verbose").stderr.splitlines()
    (line,) = [json.loads(each) for each in logged if each.startswith("{")]
    assert (line["tool"], line["outcome"], line["level"]) == ("find_audit", "answered", "debug")
    assert "{" not in symc("run", "desk", "find_audit {}").stderr.replace("find_audit {}", "")


def test_a_run_that_fails_is_told_and_the_agent_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symc.runtime.providers import scripted

    def fails(_request: Any) -> str:
        raise OSError("the line is dead")

    monkeypatch.setattr(scripted, "_shown", fails)
    hooks = [{"hook_id": "h", "phase": "teardown", "run": f"{SHOP}:teardown_crm"}]
    write_lock(tmp_path, extension("crm", lifecycle=hooks), agent("desk", extensions=["crm"]))
    result = symc("run", "desk", "hello")
    assert result.exit_code == 2
    assert "the run failed: OSError: the line is dead" in result.stderr
    assert shop.log == ["teardown_crm"]
