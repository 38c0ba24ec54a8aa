"""No excerpt shows a credential, whatever else is wrong with its manifest (docs/policies.md §7)."""

from __future__ import annotations

import base64
import hashlib
import time

import pytest

from symc.compose import compile
from symc.diagnostics.renderers import github, sarif, text
from symc.diagnostics.renderers import json as json_renderer
from symc.diagnostics.renderers.withheld import seems_to_hold_credential
from symc.source import Workspace

CANARY = "hunter2CANARY77"

# Below `mcp:`, with what is wrong first: none of these comes to the check that finds literals.
MCP = {
    "not-quoted": f"{{command: [run], env: {{TOKEN: {CANARY}, PORT: 80}}}}",
    "duplicate-key": f"{{command: [run], env: {{TOKEN: {CANARY}, TOKEN: x}}}}",
    "yaml-syntax": f"{{command: [run], env: {{TOKEN: {CANARY}, ]}}}}",
    "explicit-tag": f"{{command: [run], env: {{TOKEN: !x {CANARY}}}}}",
    "cyclic-alias": f"{{command: [run], env: &e {{TOKEN: {CANARY}, self: *e}}}}",
    "unknown-key": f"{{url: 'https://h.test', header: {{Authorization: Bearer {CANARY}}}}}",
}
WRONG_TYPE = {
    "a list of pairs": f"{{command: [run], env: ['TOKEN={CANARY}']}}",
    "a pair as text": f"{{command: [run], env: 'TOKEN={CANARY}'}}",
    "a command as text": f"{{command: 'run --token {CANARY}'}}",
    "an address alone": f"'https://user:{CANARY}@h.test/'",
    "a header with a key too many": f"{{url: 'https://h.test', headers: {{Authorization: {{Bearer: {CANARY}}}}}}}",
    "a list of servers": f"[{{command: [x], env: {{TOKEN: {CANARY}}}}}]",
    "on lines of its own": f"\n  command: [run]\n  env:\n    TOKEN:\n      - {CANARY}",
    "on lines of its own, in a list not indented": f"\n  command: [run]\n  env:\n    TOKEN:\n    - {CANARY}",
}
ELSEWHERE = {
    "a key of another place": f"kind: extension\nname: x\nenv: {{TOKEN: {CANARY}}}\n",
    "an agent's": f"kind: agent\nname: x\nmcp: {{command: [x], env: {{TOKEN: {CANARY}}}}}\n",
    "JSON that breaks off": f'{{"kind": "extension", "mcp": {{"env": {{"TOKEN": "{CANARY}" "A": 1}}}}}}\n',
    "no kind": f"name: x\nmcp: {{env: {{TOKEN: {CANARY}}}}}\n",
}


def _names_of_what_is_said(manifest: str) -> set[str]:
    """The codes; fails where any format shows the canary, or what it can be recognised by."""
    found = compile(Workspace.of({"x.yaml": manifest.encode()}))
    pages = [
        text.render(found.diagnostics, found.texts, limit=0),
        json_renderer.render(found.diagnostics, ok=False),
        github.render(found.diagnostics),
        sarif.render(found.diagnostics, found.texts),
    ]
    hints = (
        CANARY,
        base64.b64encode(CANARY.encode()).decode(),
        hashlib.sha256(CANARY.encode()).hexdigest(),
    )
    assert not [page for page in pages for hint in hints if hint in page]
    assert "x.yaml" in pages[0]
    return {one.name for one in found.diagnostics}


@pytest.mark.parametrize("name", MCP)
def test_another_mistake_in_the_line(name: str) -> None:
    assert name in _names_of_what_is_said(f"kind: extension\nname: x\nmcp: {MCP[name]}\n")


@pytest.mark.parametrize("case", WRONG_TYPE)
def test_a_value_of_another_type(case: str) -> None:
    assert "wrong-type" in _names_of_what_is_said(f"kind: extension\nname: x\nmcp: {WRONG_TYPE[case]}\n")


@pytest.mark.parametrize("case", ELSEWHERE)
def test_where_no_server_is(case: str) -> None:
    assert _names_of_what_is_said(ELSEWHERE[case])


def test_a_fingerprint_does_not_depend_on_a_credential() -> None:
    """Who knows the rest of the line could try short credentials until the hash fits."""

    def log(value: str) -> str:
        manifest = f"kind: extension\nname: x\nmcp: {{command: [x], env: {{PASSWORD: {value}, PORT: 80}}}}\n"
        found = compile(Workspace.of({"x.yaml": manifest.encode()}))
        return sarif.render(found.diagnostics, found.texts)

    assert log("hunter2") == log("hunter3")


@pytest.mark.parametrize(
    ("lines", "withheld"),
    [
        (["name: desk"], False),
        (["tools: [crm/lookup, crm/export_all_customers_2]"], False),
        (["  fingerprint: sha256:" + "0123456789abcdef" * 4], False),
        (["env: {TOKEN: '${env:TOKEN}'}"], False),
        (["limits: {max_tokens: 4096000}"], False),
        (["command: [npx, --token-file, /run/secrets/token]"], False),
        (["url: https://example.test/mcp"], False),
        (["# TOKEN: hunter2"], True),
        (["command: [npx, --token, hunter2]"], True),
        (["env:", "  API_KEY: >-", "    hunter2"], False),  # the key's own line shows nothing of it
        (["x: ghp_" + "a1B2c3D4e5F6" * 3], True),
    ],
)
def test_which_lines(lines: list[str], withheld: bool) -> None:
    assert seems_to_hold_credential("a.yaml", lines, min(len(lines), 2)) is withheld


def test_the_line_below_its_key() -> None:
    assert seems_to_hold_credential("a.yaml", ["env:", "  API_KEY: >-", "    hunter2"], 3)
    assert seems_to_hold_credential("a.json", ['{"API_KEY":', ' "hunter2"}'], 2)


def test_of_a_long_line_what_is_around_the_mark() -> None:
    line = "x" * 5_000 + " TOKEN: hunter2 " + "y" * 5_000
    assert seems_to_hold_credential("a.json", [line], 1, 5_100)
    assert not seems_to_hold_credential("a.json", [line], 1, 9_000)


@pytest.mark.parametrize("line", ["a:" * 5_000, "x" * 10_000, "--a-b" * 2_000, "a='" * 3_000, "1a" * 5_000])
def test_a_line_takes_no_time(line: str) -> None:
    start = time.process_time()
    seems_to_hold_credential("a.yaml", [line], 1, 300)
    assert time.process_time() - start < 0.5


def test_prose_is_quoted() -> None:
    assert not seems_to_hold_credential("rules.md", ["Never tell a password: it is theirs."], 1)
