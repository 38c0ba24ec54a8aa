"""Cases from public bug reports, as far as the check stage decides them: O-19, O-22, O-24, O-26, O-29."""

from __future__ import annotations

import pytest

from symc.manifest.check import check
from symc.source import Workspace, parse
from tests.manifest.written import manifests, place, places


def test_o_19_line_ends_of_a_checkout_make_no_difference() -> None:
    files = {
        "agents/a.yaml": "kind: agent\nname: a\ninstructions: |\n  One.\n  Two.\nprompts:\n- {fragment_id: b, file: b.md}\n",
        "agents/b.md": "Three.\nFour.\n",
    }
    crlf = {path: text.replace("\n", "\r\n") for path, text in files.items()}
    one, other = manifests(files).agents["a"].body, manifests(crlf).agents["a"].body
    assert one == other
    assert one.instructions == "One.\nTwo.\n"
    assert one.prompts[0].text == "Three.\nFour.\n"
    backslash = {**files, "agents/a.yaml": files["agents/a.yaml"].replace("b.md", "prompts\\b.md")}
    assert places(backslash) == ["path-separator agents/a.yaml:7:26"]


@pytest.mark.parametrize("more", ["", ", override: true", ", priority: 1000"])
def test_o_22_an_allow_is_reported_and_grants_nothing(more: str) -> None:
    text = f"kind: extension\nname: os\nversion: '1'\npolicies:\n- {{policy_id: shell, allow: {{tools: [os/shell]}}{more}}}\n"
    found = manifests({"os.yaml": text})
    assert found.diagnostics[0].name == "allow-is-no-authority"
    assert found.extensions == {}


def test_o_24_a_misspelt_key_never_fails_open() -> None:
    files = {
        "a.yaml": "kind: agent\nname: a\nallowed_tools: [crm/read]\n",
        "b.yaml": "kind: extension\nname: b\nversion: '1'\npolices: []\n",
        "c.yaml": "kind: extension\nname: c\nmcp: {comand: x}\n",
    }
    found = manifests(files)
    assert [place(one, with_file=True) for one in found.diagnostics] == [
        "unknown-key a.yaml:3:1",
        "unknown-key b.yaml:4:1",
        "unknown-key c.yaml:3:7",
    ]
    assert [one.hint.text for one in found.diagnostics if one.hint] == [
        "did you mean `tools`?",
        "did you mean `policies`?",
        "did you mean `command`?",
    ]
    assert (found.agents, found.extensions) == ({}, {})


def test_o_26_words_and_numbers_are_never_converted() -> None:
    text = (
        "kind: extension\nname: no\nversion: 1.10\nenforcement: off\nrequires: [on, y, 017]\n"
        "prompts:\n- {fragment_id: a, text: 22:22, order: 1_000}\n- {fragment_id: b, text: 2026-11-30, order: 017}\n"
    )
    assert places(text) == [
        "not-quoted 3:10",
        "unknown-key 4:1",
        "invalid-requirement 5:19",
        "wrong-type 7:40",
        "wrong-type 8:45",
    ]
    kept = (
        manifests(
            {
                "a.yaml": text.replace("1.10", '"1.10"')
                .replace("enforcement", "x-enforcement")
                .replace(", 017]", "]")
                .replace("1_000", "1000")
                .replace("order: 017", "order: 17")
            }
        )
        .extensions["no"]
        .body
    )
    assert (kept.version, kept.requires) == ("1.10", ("on", "y"))
    assert [(one.text, one.order) for one in kept.prompts] == [("22:22", 1000), ("2026-11-30", 17)]


def test_o_29_values_of_the_environment_stay_references() -> None:
    text = (
        "kind: extension\nname: demo\n"
        "mcp:\n  command: [demo, '--url=https://u:${env:DEMO_TOKEN}@host.test', '$$', costs $5]\n"
        "  env: {TOKEN: '${env:DEMO_TOKEN}'}\n"
    )
    files = {"demo.yaml": text, "demo.pin.json": '{"tools": []}'}
    found = manifests(files)
    assert found.diagnostics == ()
    server = found.extensions["demo"].body.mcp
    assert server is not None
    assert server.command == ("demo", "--url=https://u:${env:DEMO_TOKEN}@host.test", "$$", "costs $5")
    assert server.env == {"TOKEN": "${env:DEMO_TOKEN}"}

    canary = "s3cr3t-CANARY-0123456789"
    refused = check(
        parse(
            Workspace.of(
                {
                    "demo.yaml": text.replace("'${env:DEMO_TOKEN}'", canary).encode(),
                    "demo.pin.json": b'{"tools": []}',
                }
            )
        )
    )
    assert [one.name for one in refused.diagnostics] == ["secret-literal"]
    assert canary not in repr(refused.diagnostics)
