"""``symc pin`` as a person runs it (docs/policies.md P30, P31, docs/diagnostics.md §3)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.pin import command
from tests.pins.stub_server import tool

STUB = Path(__file__).with_name("stub_server.py")
SECRET = "s3cr3t-CANARY"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder to stand in, with an empty workspace."""
    (tmp_path / "manifests").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEMO", SECRET)
    return tmp_path


def _server(place: Path, name: str, behaviour: str, **env: str) -> None:
    lines = [
        "kind: extension",
        f"name: {name}",
        "mcp:",
        f"  command: {json.dumps([sys.executable, str(STUB), behaviour])}",
    ]
    if env:
        lines.append(f"  env: {json.dumps(env)}")
    (place / "manifests" / f"{name}.yaml").write_text("\n".join(lines) + "\n")


def _pin(place: Path, name: str = "stub") -> Path:
    return place / "manifests" / f"{name}.pin.json"


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert SECRET not in result.output
    return result


def _json(*arguments: str) -> tuple[int, list[tuple[str, str, int]]]:
    result = _run(*arguments, "--format", "json", "--quiet")
    data = json.loads(result.stdout)
    assert data["ok"] is (result.exit_code == 0)
    return result.exit_code, [
        (d["name"], d["primary"]["file"], d["primary"]["start"]["line"]) for d in data["diagnostics"]
    ]


def test_all_servers_are_pinned_and_a_second_time_nothing_is_written(place: Path) -> None:
    _server(place, "stub", "three-pages")
    _server(place, "other", "unknown-keys")
    result = _run()
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "2 servers pinned"
    assert f"stub: 3 tools, {Path('manifests/stub.pin.json')} written" in result.stderr
    assert "stub: page 3 of its tools" in result.stderr
    assert result.stdout == ""
    pinned = json.loads(_pin(place).read_text())
    assert pinned == {"tools": [tool("a"), tool("b"), tool("c")]}
    assert [one["name"] for one in json.loads(_pin(place, "other").read_text())["tools"]] == ["a", "b"]
    before = (_pin(place).read_bytes(), _pin(place).stat().st_mtime_ns)
    assert "is up to date" in _run("stub").stderr
    assert (_pin(place).read_bytes(), _pin(place).stat().st_mtime_ns) == before


def test_what_a_server_says_again_is_no_difference(place: Path) -> None:
    _server(place, "stub", "three-pages")
    _run()
    result = _run("--check")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        0,
        "1 server compared with its pin: nothing has changed",
    )


def test_a_difference_is_told_with_old_and_new_and_ends_with_1(place: Path) -> None:
    _server(place, "stub", "three-pages")
    _run()
    old = json.loads(_pin(place).read_text())
    old["tools"][0]["description"] = "Does something else."
    old["tools"][1]["name"] = "bb"
    _pin(place).write_text(json.dumps(old, indent=2) + "\n")
    before = _pin(place).read_bytes()
    result = _run("--check")
    assert result.exit_code == 1
    assert "-Does something else." in result.stderr
    assert "+Does a." in result.stderr
    assert result.stderr.splitlines()[-1] == "1 server compared with its pin: 3 differences"
    file = "manifests/stub.pin.json"
    assert _json("--check") == (
        1,
        [("pin-tool-added", file, 1), ("pin-drift", file, 4), ("pin-tool-removed", file, 15)],
    )
    assert _pin(place).read_bytes() == before
    # Re-pinned on purpose, it is as the server says.
    assert _run().exit_code == 0
    assert _run("--check").exit_code == 0


BAD = {
    "stuck-cursor": "server-cursor",
    "empty-cursor": "server-cursor",
    "repeated-name": "pin-duplicate-tool",
    "error-on-page-two": "server-error",
    "silence": "server-silent",
    "garbage": "server-garbage",
    "crash-on-list": "server-exited",
    "no-schema": "pin-schema-missing",
    "odd-numbers": "pin-invalid",
}


@pytest.mark.parametrize("behaviour", BAD)
def test_a_bad_server_leaves_the_old_pin_and_the_others_are_pinned(behaviour: str, place: Path) -> None:
    _server(place, "bad", behaviour)
    _server(place, "good", "fine")
    _pin(place, "bad").write_text('{"tools": []}')
    code, found = _json("--timeout", "2")
    assert code == 2
    assert [name for name, _, _ in found] == [BAD[behaviour]]
    assert found[0][1] in {"manifests/bad.yaml", "manifests/bad.pin.json"}
    assert _pin(place, "bad").read_text() == '{"tools": []}'
    assert _pin(place, "good").exists()
    assert sorted(file.name for file in (place / "manifests").iterdir()) == [
        "bad.pin.json",
        "bad.yaml",
        "good.pin.json",
        "good.yaml",
    ]


def test_a_variable_that_is_not_set(place: Path) -> None:
    _server(place, "stub", "fine", TOKEN="${env:SYMC_TEST_NOT_SET}")
    assert _json() == (2, [("env-missing", "manifests/stub.yaml", 4)])
    assert not _pin(place).exists()


def test_a_secret_stays_out_of_everything(place: Path) -> None:
    _server(place, "stub", "crash-at-once", DEMO_TOKEN="${env:DEMO}")
    result = _run("--verbose")
    assert result.exit_code == 2
    assert "token ${env:DEMO}" in result.stderr
    _server(place, "stub", "environment", DEMO_TOKEN="${env:DEMO}")
    assert _json() == (2, [("pin-holds-secret", "manifests/stub.yaml", 4)])
    assert not _pin(place).exists()


def test_a_secret_in_the_manifest_is_refused_before_anything_starts(place: Path) -> None:
    _server(place, "stub", "fine", API_TOKEN="hunter2-hunter2")
    result = _run()
    assert result.exit_code == 2
    assert "secret-literal" in result.stderr
    assert "starting" not in result.stderr


@pytest.mark.parametrize(
    "damaged", ["<<<<<<< ours\n", "{}", '{"tools": [{"name": "x"}]}', '{"tools": 1, "tools": 2}', ""]
)
def test_a_damaged_pin_is_cured_by_pinning(damaged: str, place: Path) -> None:
    _server(place, "stub", "fine")
    _pin(place).write_text(damaged)
    assert _run("--check").exit_code == 1
    assert _pin(place).read_text() == damaged
    assert _run().exit_code == 0
    assert json.loads(_pin(place).read_text()) == {"tools": [tool("a")]}


def test_the_manifest_says_where_the_pin_is(place: Path) -> None:
    _server(place, "stub", "fine")
    manifest = place / "manifests" / "stub.yaml"
    manifest.write_text(manifest.read_text() + "pin: pins/of-stub.json\n")
    assert _run().exit_code == 0
    assert (place / "manifests" / "pins" / "of-stub.json").exists()


def test_a_server_runs_in_the_folder_that_holds_the_workspace(place: Path) -> None:
    _server(place, "stub", "environment")
    assert _run().exit_code == 0
    assert {t["name"]: t["description"] for t in json.loads(_pin(place).read_text())["tools"]}["cwd"] == str(
        place
    )


def test_a_pin_that_links_out_of_the_workspace_is_not_written_through(place: Path) -> None:
    _server(place, "stub", "fine")
    outside = place / "outside.json"
    outside.write_text("untouched")
    _pin(place).symlink_to(outside)
    assert _run().exit_code == 2
    assert outside.read_text() == "untouched"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stbu"], 'no extension "stbu" with an MCP server; did you mean "stub"?'),
        (["plain"], 'extension "plain" has no MCP server to pin'),
        (["--timeout", "0"], "--timeout"),
        (["--workspace", "nowhere"], "nowhere"),
    ],
)
def test_what_it_could_not_do(arguments: list[str], said: str, place: Path) -> None:
    _server(place, "stub", "fine")
    (place / "manifests" / "plain.yaml").write_text('kind: extension\nname: plain\nversion: "1.0"\n')
    result = _run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_without_servers_there_is_nothing_to_do(place: Path) -> None:
    (place / "manifests" / "agent.yaml").write_text("kind: agent\nname: a\n")
    result = _run()
    assert (result.exit_code, result.stderr) == (0, "no extension has an MCP server; nothing to pin\n")


def test_mistakes_in_other_manifests_do_not_matter(place: Path) -> None:
    _server(place, "stub", "fine")
    (place / "manifests" / "agent.yaml").write_text("kind: agent\nname: a\nallowed_tools: [x]\n")
    _server(place, "broken", "fine")
    broken = place / "manifests" / "broken.yaml"
    broken.write_text(broken.read_text().replace("command", "comand"))
    assert _json("stub") == (0, [])
    assert _json() == (2, [("unknown-key", "manifests/broken.yaml", 4)])


def test_without_the_extra_it_says_what_to_install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in sys.modules if name.partition(".")[0] == "mcp" or name.startswith("symc.pins.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = CliRunner().invoke(command, [])
    assert result.exit_code != 0
    assert '"mcp' in result.stderr
    assert 'pip install "symc[pins]"' in result.stderr
