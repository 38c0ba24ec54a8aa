"""Hidden characters where no prose stands: targets, patterns, commands, addresses, configs, keys (docs/prompts.md §3)."""

from __future__ import annotations

import pytest

from symc.manifest import submission, texts
from tests.manifest.written import AGENT, EXTENSION, WORKSPACE, manifests, marked, only, place, places

MEMO = "tool_extensions: [{name: memo, kind: wrapper, factory: 'acme:memo'}]\n"


@pytest.mark.parametrize(
    "text",
    [
        # what a server is started with, and where it is reached
        EXTENSION + "mcp: {command: [npx, 'pkg§\u200b@1']}\n",
        EXTENSION + "mcp: {command: [npx], env: {A: 'x§\u202ey'}}\n",
        EXTENSION + "mcp: {command: [npx], env: {§'A\u200b': x}}\n",
        EXTENSION + "mcp: {url: 'https://exa§\u200bmple.test/'}\n",
        EXTENSION + "mcp: {url: 'https://example.test/', headers: {Accept: 'a§\u2800'}}\n",
        # an escape is seen to be one, and what it writes is hidden from whoever reads the lock
        EXTENSION + 'mcp: {command: [npx, "pkg§\\u200b"]}\n',
        # what an agent takes
        AGENT + "model: 'm§\u200b1'\n",
        AGENT + "tools: ['*/t§\u200b']\n",
        AGENT + "exclude: ['*/t§\u200b']\n",
        AGENT + "tools: [crm/a, {tool: 'crm/t§\u200b', as: t}]\n",
        AGENT + "variants: {§'*/t\u200b': [memo]}\n",
        AGENT + "variants: {crm/t: ['memo§\u200b']}\n",
        AGENT + "variants: {crm/t: [[{use: 'memo§\u200b'}]]}\n",
        AGENT + "variants: {crm/t: [{use: memo, config: {k: [1, 'v§\u200b']}}]}\n",
        AGENT + "variants: {crm/t: [{use: memo, config: {§'k\u200b': 1}}]}\n",
        AGENT + "extends: ['base§\u200b']\n",
        AGENT + "delegates: ['other§\u200b']\n",
        AGENT + "delegates: [{agent: other, may_exceed: ['*/t§\u200b']}]\n",
        AGENT + "policies: [{policy_id: p, deny: {tools: ['*/t§\u200b']}}]\n",
        AGENT + "policies: [{policy_id: p, deny: {tools: [{variant: crm/t, chain: ['memo§\u200b']}]}}]\n",
        WORKSPACE + "rules: {§'tool-name-in-prose\u200b': error}\n",
        WORKSPACE + "x-owner: 'Desk§\u202e'\n",
    ],
)
def test_what_is_hidden_is_refused_wherever_it_stands(text: str) -> None:
    written, where = marked(text)
    found = [place(one) for one in manifests({"a.yaml": written}).diagnostics if one.name != "pin-missing"]
    assert found == [f"hidden-text {where}"]


@pytest.mark.parametrize(
    "text",
    [
        EXTENSION + "implementation: §'acme:X\u200b'\n",
        EXTENSION + "tools: [{name: t, invoke: §'acme:t\u200b', input_schema: {type: object}}]\n",
        EXTENSION + "lifecycle: [{hook_id: a, phase: install, run: §'acme:r\u200b'}]\n",
        EXTENSION + MEMO.replace("'acme:memo'", "§'acme:memo\u200b'"),
        EXTENSION + "policies: [{policy_id: p, actions: [tool_call], decide: §'acme:d\u200b'}]\n",
        EXTENSION + "requires: [§'other\u200b']\n",
        EXTENSION + "description: §'d\u200b'\n",
        AGENT + "extensions: [{use: §'crm\u200b'}]\n",
        AGENT + "grants: [§'memory_read\u200b']\n",
        AGENT + "provider: §'open\u200bai'\n",
        AGENT + "§'mo\u200bdel': m\n",
    ],
)
def test_what_another_check_refuses_is_said_once(text: str) -> None:
    written, where = marked(text)
    found = [one for one in manifests({"a.yaml": written}).diagnostics if one.name != "pin-missing"]
    assert len(found) == 1
    assert found[0].primary.start.line == int(where.partition(":")[0])


def test_an_alias_repeats_nothing() -> None:
    text = (
        AGENT
        + "variants: {crm/a: [{use: memo, config: &c {k: 'v\u200b'}}], crm/b: [{use: memo, config: *c}]}\n"
    )
    assert places(text) == ["hidden-text 3:49"]


def test_a_value_that_may_be_a_secret_is_not_repeated() -> None:
    found = manifests(
        {"a.yaml": EXTENSION + "mcp: {command: [npx], env: {A: 'swordfish\u200b'}}\n"}
    ).diagnostics
    hidden = next(one for one in found if one.name == "hidden-text")
    assert hidden.message == "`A` holds zero-width space (U+200B)"


def test_a_key_is_named_by_what_it_stands_in() -> None:
    one = only(AGENT + "variants: {crm/t: [{use: memo, config: {'k\u200b': 1}}]}\n")
    assert one.message == "a key of `config` holds zero-width space (U+200B)"


def test_a_clean_document_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(texts, "_texts", walked)
    assert places(AGENT + "tools: ['*/t']   # nothing that hides: naïve, 日本語 👩‍👧\n") == []
    with pytest.raises(AssertionError):
        places(AGENT + "tools: ['*/t\u200b']\n")
    assert submission.Submission(next(iter(manifests({"a.yaml": AGENT}).agents.values())).document).shows_all
