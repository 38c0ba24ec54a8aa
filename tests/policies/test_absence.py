"""`symc why` of what an agent has not, and every command about an agent of an abstract one (docs/policies.md §3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root

FILES = {
    "shelf": """\
kind: extension
name: shelf
version: "1.0"
tools:
  - {name: find_book, invoke: "desk:find", input_schema: {type: object}}
  - {name: delete_shelf, invoke: "desk:gone", input_schema: {type: object}}
  - {name: burn_book, invoke: "desk:gone", input_schema: {type: object}}
""",
    "cellar": """\
kind: extension
name: cellar
version: "1.0"
tools:
  - {name: dig, invoke: "desk:dig", input_schema: {type: object}}
""",
    "base": """\
kind: agent
name: base-library
abstract: true
prompts: [{fragment_id: rules, text: Be kind.}]
""",
    "lonely": "kind: agent\nname: lonely-base\nabstract: true\ninstructions: Nobody reads this.\n",
    "scout": "kind: agent\nname: scout\ninstructions: Look.\nextensions: [cellar]\ntools: [cellar/dig]\n",
    "desk": """\
kind: agent
name: desk
extends: [base-library]
extensions: [{use: shelf, prefix: s}]
tools: [shelf/find_book]
exclude: [shelf/burn_*]
variants: {shelf/find_book: [cache]}
delegates: [{agent: scout, may_exceed: ["cellar/*"]}]
""",
    "other": "kind: agent\nname: other\ninstructions: Rest.\n",
}


@pytest.fixture(autouse=True)
def _library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "manifests").mkdir()
    for name, text in FILES.items():
        (tmp_path / "manifests" / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    compiled = symc("compile")
    assert compiled.exit_code == 0, compiled.output


def symc(*arguments: str) -> Result:
    result = CliRunner().invoke(root, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize(
    ("item", "said", "hint"),
    [
        ("shelf/delete_shelf", "is brought by shelf, not selected  [manifests/shelf.yaml:6]", 'add "shelf/delete_shelf" to `tools`'),
        ("delete_shelf", "is brought by shelf, not selected", 'add "shelf/delete_shelf" to `tools`'),
        ("shelf/burn_book", 'excluded by "shelf/burn_*"  [manifests/desk.yaml:6]', "narrow `exclude`"),
        ("find_book", 'is selected, under the name "s_find_book"', "symc why desk s_find_book"),
        ("cellar/dig", 'is brought by cellar, which "desk" does not use', 'add "cellar" to `extensions`'),
        ("cellar", 'is an extension that "desk" does not use', 'add "cellar" to `extensions`'),
        ("scout", 'asks through the tool "ask_scout"', "symc why desk ask_scout"),
        ("cache", "is a layer, the wrapper that std brings; with it: s_find_book_cache", "symc why desk s_find_book_cache"),
        ("std/retry", 'no tool of "desk" stands on it', "docs/variants.md"),
        ("memory_read", 'is an effect, which is not granted to "desk"', "grants: [memory_read]"),
        ("base-library", 'is a base that "desk" extends', "symc show desk --origin"),
        ("other", 'is another agent, which "desk" does not ask', "symc show other"),
        ("memory_reed", 'has no tool, fragment, policy, grant or extension "memory_reed"', 'did you mean "memory_read"?'),
        ("shelf/delete_shelv", "has no tool", 'did you mean "shelf/delete_shelf"?'),
        ("wholly_unknown", "has no tool", "symc show desk --origin"),
    ],
)  # fmt: skip
def test_what_an_agent_has_not(item: str, said: str, hint: str) -> None:
    result = symc("why", "desk", item)
    assert (result.exit_code, result.stdout) == (2, "")
    first, last = result.stderr.splitlines()
    assert said in first
    assert last.startswith("  help: ")
    assert hint in last


@pytest.mark.parametrize(
    "command",
    [
        ("show", "base-library"),
        ("why", "base-library", "rules"),
        ("graph", "base-library"),
        ("policy", "test", "base-library", "--tool", "s_find_book"),
        ("digest", "base-library"),
        ("verify", "base-library"),
        ("run", "base-library", "hello"),
    ],
)
def test_an_abstract_agent_is_called_one(command: tuple[str, ...]) -> None:
    result = symc(*command)
    assert result.exit_code == 2
    assert '"base-library" is abstract' in result.stderr
    assert 'extends it: "desk"' in result.stderr


def test_an_abstract_agent_that_nobody_extends() -> None:
    assert "no agent extends it yet" in symc("show", "lonely-base").stderr
