"""``symc init --from``: the configuration of another client becomes manifests that compile, without its secrets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from symc.cli.pin import command as pin_command
from symc.compose import compile as compile_workspace
from symc.pins.adopt import AdoptionError, adopt
from symc.source import read

STUB = Path(__file__).with_name("stub_server.py")
SECRETS = ("hunter2", "ghp_", "s3cr3t", "k-12")


def _adopted(config: Any) -> dict[str, Any]:
    text = config if isinstance(config, str) else json.dumps(config)
    files = adopt(text.encode())
    assert not any(secret in content for secret in SECRETS for content in files.values())
    return {path: yaml.safe_load(content) for path, content in files.items()}


def _mcp(config: Any, name: str = "s") -> Any:
    return _adopted(config)[f"extensions/{name}.yaml"]["mcp"]


CLAUDE = {
    "mcpServers": {
        "s": {
            "command": "npx",
            "args": ["-y", "server@1.0", "${ROOT:-/srv}/data"],
            "env": {"GITHUB_TOKEN": "ghp_" + "a1B2c3D4e5F6" * 3, "LOG": "debug", "N": 3, "FLAG": True},
        }
    }
}
VS_CODE = """{
  // what VS Code writes
  "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
  "servers": {
    "s": {
      "type": "stdio", /* the default */
      "command": "server",
      "args": ["${workspaceFolder}/data", "https://not-a.comment.test//x"],
      "env": {"API_KEY": "${input:api-key}", "HOME_DIR": "${userHome}/x", "OTHER": "${env:OTHER}"},
    },
  },
}"""
CURSOR = {
    "mcpServers": {
        "s": {
            "url": "https://user:hunter2@example.test/mcp?api_key=k-123456&page=2",
            "headers": {"Authorization": "Bearer s3cr3t-token", "X-Api-Key": "k-12", "Accept": "text/plain"},
        }
    }
}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            CLAUDE,
            {
                "command": ["npx", "-y", "server@1.0", "${env:ROOT}/data"],
                "env": {"GITHUB_TOKEN": "${env:GITHUB_TOKEN}", "LOG": "debug", "N": "3", "FLAG": "true"},
            },
        ),
        (
            VS_CODE,
            {
                "command": ["server", "./data", "https://not-a.comment.test//x"],
                "env": {"API_KEY": "${env:API_KEY}", "HOME_DIR": "${env:HOME}/x", "OTHER": "${env:OTHER}"},
            },
        ),
        (
            CURSOR,
            {
                "url": "https://user:${env:S_PASSWORD}@example.test/mcp?api_key=${env:S_API_KEY}&page=2",
                "headers": {
                    "Authorization": "Bearer ${env:S_AUTHORIZATION}",
                    "X-Api-Key": "${env:S_X_API_KEY}",
                    "Accept": "text/plain",
                },
            },
        ),
        (
            {"mcpServers": {"s": {"command": "s", "args": ["--token", "hunter2", "--key=name", "--api-key=k-12", "-v", "x"]}}},
            {"command": ["s", "--token", "${env:S_TOKEN}", "--key=name", "--api-key=${env:S_API_KEY}", "-v", "x"]},
        ),
        ({"mcp": {"servers": {"s": {"command": "s"}}}}, {"command": ["s"]}),
        ({"mcpServers": {"s": {"type": "http", "url": "https://example.test/mcp"}}}, {"url": "https://example.test/mcp"}),
    ],
)  # fmt: skip
def test_shapes(config: Any, expected: Any) -> None:
    assert _mcp(config) == expected


def test_one_name_for_two_secrets_becomes_two() -> None:
    config = {
        "mcpServers": {
            "a": {"command": "s", "env": {"TOKEN": "hunter2-a", "SAME_TOKEN": "hunter2"}},
            "b": {"command": "s", "env": {"TOKEN": "hunter2-b", "SAME_TOKEN": "hunter2"}},
        }
    }
    adopted = _adopted(config)
    assert adopted["extensions/a.yaml"]["mcp"]["env"] == {
        "TOKEN": "${env:A_TOKEN}",
        "SAME_TOKEN": "${env:SAME_TOKEN}",
    }
    assert adopted["extensions/b.yaml"]["mcp"]["env"] == {
        "TOKEN": "${env:B_TOKEN}",
        "SAME_TOKEN": "${env:SAME_TOKEN}",
    }


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("files", "files"),
        ("File System", "file-system"),
        ("my_server", "my-server"),
        ("a..b", "a-b"),
        ("42", "mcp-42"),
        ("検索", "mcp"),
        ("std", "std-2"),
        ("assistant", "assistant-2"),
        ("x" * 100, "x" * 56),
    ],
)
def test_names_become_legal(key: str, name: str) -> None:
    files = adopt(json.dumps({"mcpServers": {key: {"command": "s"}}}))
    text = files[f"extensions/{name}.yaml"]
    assert yaml.safe_load(text)["name"] == name
    assert ("was called" in text) is (key != name)


def test_names_stay_distinct() -> None:
    files = _adopted(
        {"mcpServers": {"a b": {"command": "s"}, "a-b": {"command": "s"}, "A_B": {"command": "s"}}}
    )
    assert {path for path in files if path.startswith("extensions/")} == {
        "extensions/a-b.yaml",
        "extensions/a-b-2.yaml",
        "extensions/a-b-3.yaml",
    }


def test_the_agent_uses_every_server_that_is_not_disabled() -> None:
    config = {
        "mcpServers": {
            "a": {"command": "s"},
            "b-c": {"command": "s"},
            "d": {"command": "s", "disabled": True},
        }
    }
    agent = _adopted(config)["agents/assistant.yaml"]
    assert agent["extensions"] == [{"use": "a", "prefix": "a"}, {"use": "b-c", "prefix": "b_c"}]
    assert agent["tools"] == ["a/*", "b-c/*"]
    assert "extensions/d.yaml.disabled" in adopt(json.dumps(config)), "a compile passes over it"
    assert "extensions/d.yaml" not in adopt(json.dumps(config))
    assert _adopted({"mcpServers": {"a": {"command": "s"}}})["agents/assistant.yaml"]["extensions"] == ["a"]


def test_what_has_no_place_is_said() -> None:
    text = adopt(
        json.dumps({"mcpServers": {"s": {"type": "sse", "url": "https://x.test", "cwd": "/x", "timeout": 5}}})
    )["extensions/s.yaml"]
    assert "# not taken over: cwd, timeout" in text
    assert "# was of type sse" in text


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (b"\xff\xfe", "it is not UTF-8 text"),
        ("{", "it is not JSON: line 1, column 2"),
        ("[]", 'it has no servers: neither "mcpServers" nor "servers"'),
        ('{"mcpServers": {}}', "it has no servers"),
        ('{"mcpServers": {"s": 1}}', 'the server "s" is no object'),
        ('{"mcpServers": {"s": {}}}', 'the server "s" has neither a command nor an address'),
        ('{"mcpServers": {"s": {"command": ["x"]}}}', '`command` of the server "s" is no text'),
        (
            '{"mcpServers": {"s": {"command": "x", "args": "y"}}}',
            '`args` of the server "s" is no list of texts',
        ),
        (
            '{"mcpServers": {"s": {"command": "x", "env": {"A": {}}}}}',
            '`env` of the server "s" is no object of texts',
        ),
        ('{"mcpServers": {"s": {"command": 7}}}', '`command` of the server "s" is no text'),
        (
            '{"mcpServers": {"s": {"command": "x", "args": 7}}}',
            '`args` of the server "s" is no list of texts',
        ),
        ('{"mcpServers": {"s": {"command": "\\ud800"}}}', "half a surrogate pair"),
        ('{\n/* a\n b */ "x": ]', "it is not JSON: line 3, column 12"),
        ('{"a": ' + "9" * 5_000 + "}", "it has no servers"),
        ("[" * 100_000, "it is "),
        ("," + "/" * 50_000, "it is not JSON"),
        ("/* " * 50_000, "it is not JSON"),
        ('"\\' * 50_000, "it is not JSON"),
        (",/* */" * 20_000, "it is not JSON"),
    ],
)
def test_refused(config: str | bytes, said: str) -> None:
    with pytest.raises(AdoptionError) as caught:
        adopt(config)
    assert said in str(caught.value)


def test_the_result_pins_and_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = {"command": sys.executable, "args": [str(STUB), "three-pages"]}
    config = {"mcpServers": {"one": server, "Two Words": {**server, "env": {"TOKEN": "hunter2-hunter2"}}}}
    for path, text in adopt(json.dumps(config)).items():
        target = tmp_path / "manifests" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", "s3cr3t-token")
    assert CliRunner().invoke(pin_command, [], catch_exceptions=False).exit_code == 0
    compilation = compile_workspace(read(tmp_path / "manifests"))
    assert [diagnostic.message for diagnostic in compilation.diagnostics] == []
    assert compilation.lock is not None
    (agent,) = compilation.lock.agents.values()
    assert sorted(agent.tools) == ["one_a", "one_b", "one_c", "two_words_a", "two_words_b", "two_words_c"]
