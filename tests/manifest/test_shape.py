"""Keys, types and values of manifests: each mistake by name and place, each with a valid neighbour (docs/manifests.md §1, §3–5)."""

from __future__ import annotations

import pytest

from tests.manifest.written import AGENT, EXTENSION, WORKSPACE, manifests, mended, only, places

TOOL = "tools:\n- {name: find, invoke: 'm:f', "

FAULTS: list[tuple[str, list[str]]] = [
    # kind
    ("name: helper\n", ["kind-missing 1:1"]),
    ("knd: agent\nname: helper\n", ["kind-missing 1:1"]),
    ("kind: agnet\nname: helper\n", ["kind-unknown 1:7"]),
    ("kind: 1\n", ["kind-unknown 1:7"]),
    ("kind: null\n", ["kind-unknown 1:7"]),
    ("kind: [agent]\n", ["kind-unknown 1:7"]),
    # unknown keys, at every level (O-24)
    (AGENT + "allowed_tools: [crm/read]\n", ["unknown-key 3:1"]),
    (EXTENSION + "polices: []\n", ["unknown-key 4:1"]),
    ("kind: extension\nname: files\nmcp: {comand: [x]}\n", ["unknown-key 3:7"]),
    (AGENT + "extensions: [{use: crm, prefx: a}]\n", ["unknown-key 3:25"]),
    (AGENT + "limits: {tool: 3}\n", ["unknown-key 3:10"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, teir: session}]\n", ["unknown-key 3:37"]),
    (AGENT + "prompts: [{fragment_id: a, layer: l2, slot: {max_char: 1}}]\n", ["unknown-key 3:46"]),
    (AGENT + "policies: [{policy_id: a, deny: {tool: [crm/x]}}]\n", ["unknown-key 3:34"]),
    (
        AGENT + "policies: [{policy_id: a, deny: {tools: [{variant: crm/x, chian: [a]}]}}]\n",
        ["unknown-key 3:59"],
    ),
    (AGENT + "tools: [{tool: crm/x, as_: y}]\n", ["unknown-key 3:23"]),
    (AGENT + "variants: {crm/x: [{use: a, cfg: {}}]}\n", ["unknown-key 3:29"]),
    (AGENT + "variants: {crm/x: [{chain: [a], expsoe: all}]}\n", ["unknown-key 3:33"]),
    (AGENT + "variants: {crm/x: [{chain: [a], at: []}]}\n", ["unknown-key 3:33"]),
    (AGENT + "delegates: [{agent: b, may_exeed: []}]\n", ["unknown-key 3:24"]),
    (EXTENSION + TOOL + "input: {}}\n", ["unknown-key 5:31"]),
    (EXTENSION + TOOL + "title: Find}\n", ["unknown-key 5:31"]),
    (EXTENSION + "lifecycle: [{hook_id: a, phase: install, run: 'm:f', order: 1}]\n", ["unknown-key 4:54"]),
    (
        EXTENSION + "tool_extensions: [{name: a, kind: wrapper, factory: 'm:f', config: {}}]\n",
        ["unknown-key 4:60"],
    ),
    (WORKSPACE + "tools: []\n", ["unknown-key 3:1"]),
    # keys that are missing; one that is only misspelt is said once
    ("kind: agent\n", ["missing-key 1:7"]),
    ("kind: agent\nnmae: helper\n", ["unknown-key 2:1"]),
    ("kind: extension\nname: crm\n", ["missing-key 2:7"]),
    (EXTENSION + "tools: [{invoke: 'm:f'}]\n", ["missing-key 4:9"]),
    (EXTENSION + "tools: [{name: find}]\n", ["missing-key 4:9"]),
    (AGENT + "prompts: [{text: t}]\n", ["missing-key 3:11"]),
    (AGENT + "prompts: [{fragmnet_id: a, text: t}]\n", ["unknown-key 3:12"]),
    (AGENT + "prompts: [{fragment_id: a, layer: l2, slot: {}}]\n", ["missing-key 3:45"]),
    (AGENT + "extensions: [{prefix: a}]\n", ["missing-key 3:14"]),
    (AGENT + "tools: [{as: a}]\n", ["missing-key 3:9"]),
    (AGENT + "delegates: [{may_exceed: []}]\n", ["missing-key 3:13"]),
    (AGENT + "variants: {crm/x: [{config: {}}]}\n", ["missing-key 3:20"]),
    (AGENT + "variants: {crm/x: [{expose: all}]}\n", ["missing-key 3:20"]),
    (EXTENSION + "lifecycle: [{hook_id: a, run: 'm:f'}]\n", ["missing-key 4:13"]),
    (EXTENSION + "tool_extensions: [{name: a, kind: wrapper}]\n", ["missing-key 4:19"]),
    # numbers and truth values where text is due (O-26)
    ("kind: extension\nname: crm\nversion: 1.10\n", ["not-quoted 3:10"]),
    ("kind: extension\nname: true\nversion: '1'\n", ["not-quoted 2:7"]),
    (AGENT + "tools: [017, 5]\n", ["invalid-pattern 3:9", "not-quoted 3:14"]),
    (AGENT + "model: 5\n", ["not-quoted 3:8"]),
    (AGENT + "extensions: [1.5]\n", ["not-quoted 3:14"]),
    (AGENT + "delegates: [7]\n", ["not-quoted 3:13"]),
    (AGENT + "variants: {crm/x: [1]}\n", ["not-quoted 3:20"]),
    (
        "kind: extension\nname: files\nmcp: {command: [run], env: {PORT: 8080}}\npin: 1\n",
        ["not-quoted 3:35", "not-quoted 4:6"],
    ),
    # whole numbers: no bool, no text, no YAML 1.1 spelling
    (AGENT + "limits: {tools: true}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: '3'}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: 1_000}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: 017}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: 3.0}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: 3.5}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: many}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: 22:22}\n", ["wrong-type 3:17"]),
    (AGENT + "limits: {tools: -1}\n", ["out-of-range 3:17"]),
    (AGENT + "limits: {max_model_rounds: 0}\n", ["out-of-range 3:28"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, order: -1}]\n", ["out-of-range 3:44"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, order: 10000}]\n", ["out-of-range 3:44"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, order: true}]\n", ["wrong-type 3:44"]),
    (AGENT + "prompts: [{fragment_id: a, layer: l2, slot: {max_chars: 0}}]\n", ["out-of-range 3:57"]),
    (AGENT + "policies: [{policy_id: a, decide: 'm:f', timeout: 0}]\n", ["out-of-range 3:51"]),
    (AGENT + "policies: [{policy_id: a, decide: 'm:f', timeout: 5s}]\n", ["wrong-type 3:51"]),
    (AGENT + "policies: [{policy_id: a, decide: 'm:f', timeout: true}]\n", ["wrong-type 3:51"]),
    (WORKSPACE + "lock_version: one\n", ["wrong-type 3:15"]),
    # truth values
    (AGENT + "abstract: yes\n", ["wrong-type 3:11"]),
    (AGENT + "abstract: 1\n", ["wrong-type 3:11"]),
    (AGENT + "abstract: 'true'\n", ["wrong-type 3:11"]),
    # closed lists of words
    (AGENT + "provider: antropic\n", ["unknown-value 3:11"]),
    (AGENT + "provider: Anthropic\n", ["unknown-value 3:11"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, layer: L1}]\n", ["unknown-value 3:44"]),
    (AGENT + "variants: {crm/x: [{chain: [a], expose: most}]}\n", ["unknown-value 3:41"]),
    (WORKSPACE + "rules: {SYM301: eror}\n", ["unknown-value 3:17"]),
    (WORKSPACE + "rules: {SYM301: off, SYM302: false}\n", ["wrong-type 3:30"]),
    (EXTENSION + "lifecycle: [{hook_id: a, phase: start, run: 'm:f'}]\n", ["unknown-value 4:33"]),
    (EXTENSION + "tool_extensions: [{name: a, kind: wraper, factory: 'm:f'}]\n", ["unknown-value 4:35"]),
    # keys without a value: null is no list, and nothing else either
    (AGENT + "tools:\n", ["null-value 3:7"]),
    (AGENT + "tools: null\nexclude: ~\n", ["null-value 3:8", "null-value 4:10"]),
    (AGENT + "instructions:\n", ["null-value 3:14"]),
    (AGENT + "extensions: [null]\n", ["null-value 3:14"]),
    (AGENT + "prompts: [{fragment_id: a, text: t, slot: null}]\n", ["null-value 3:43"]),
    (AGENT + "policies: [{policy_id: a, actions: , deny: {tools: [crm/x]}}]\n", ["null-value 3:36"]),
    (AGENT + "variants: {crm/x: }\n", ["null-value 3:19"]),
    (AGENT + "vars:\n", ["null-value 3:6"]),
    ("kind: extension\nname:\nversion: '1'\n", ["null-value 2:6"]),
    # lists and mappings
    (AGENT + "tools: crm/*\n", ["wrong-type 3:8"]),
    (AGENT + "prompts: safety.md\n", ["wrong-type 3:10"]),
    (AGENT + "prompts: [safety.md]\n", ["wrong-type 3:11"]),
    (AGENT + "prompts: {fragment_id: a, text: t}\n", ["wrong-type 3:10"]),
    (AGENT + "instructions: [a]\n", ["wrong-type 3:15"]),
    (AGENT + "limits: 5\n", ["wrong-type 3:9"]),
    (AGENT + "variants: [a]\n", ["wrong-type 3:11"]),
    (AGENT + "vars: [a]\n", ["wrong-type 3:7"]),
    (AGENT + "delegates: [[a]]\n", ["wrong-type 3:13"]),
    (AGENT + "policies: [{policy_id: a, deny: [crm/x]}]\n", ["wrong-type 3:33"]),
    (EXTENSION + "tools: [{name: find, invoke: 'm:f', input_schema: object}]\n", ["wrong-type 4:51"]),
    ("kind: extension\nname: files\nmcp: https://example.test\n", ["wrong-type 3:6"]),
    ("kind: extension\nname: files\nmcp: {command: npx -y server}\n", ["wrong-type 3:16"]),
    # an unquoted [ is a list to YAML
    (AGENT + "tools:\n- [ab]\n", ["unquoted-pattern 4:3"]),
    (AGENT + "exclude:\n- [ab]\n", ["unquoted-pattern 4:3"]),
    (AGENT + "policies: [{policy_id: a, deny: {tools: [[ab]]}}]\n", ["unquoted-pattern 3:42"]),
    (AGENT + "delegates: [{agent: b, may_exceed: [[ab]]}]\n", ["unquoted-pattern 3:37"]),
    (AGENT + "tools: [{tool: [ab]}]\n", ["unquoted-pattern 3:16"]),
]

SOUND: list[str] = [
    AGENT,
    EXTENSION,
    WORKSPACE,
    "kind: workspace\n",
    AGENT + "limits: {tools: 0, max_model_rounds: 1, prompt_chars: 1, extension_prompt_chars: 1}\n",
    AGENT + "prompts:\n- {fragment_id: a, text: t, order: 0}\n- {fragment_id: b, text: '', order: 9999}\n",
    AGENT
    + "policies: [{policy_id: a, decide: 'm:f', timeout: 0.5}, {policy_id: b, decide: 'm:f', timeout: 3}]\n",
    AGENT + "tools: []\nexclude: []\nprompts: []\nvariants: {}\nvars: {}\nlimits: {}\n",
    AGENT + "abstract: true\nprovider: none\nmodel: off\ndescription: 'no'\n",
    WORKSPACE + "rules: {SYM301: off, tool-name-in-prose: warn}\nlock_version: 1\n",
    EXTENSION + TOOL + "input_schema: {type: object, properties: {a: {default: null}}}}\n",
    EXTENSION + TOOL + "annotations: {title: null}}\n",
    # x- keys are free wherever keys are fixed
    "x-anything: {a: [null, 1]}\n" + AGENT + "x-owner:\nlimits: {x-why: 1, tools: 2}\n",
    AGENT + "extensions: [{use: crm, x-a: 1}]\nprompts: [{fragment_id: a, text: t, x-b: null}]\n",
    AGENT + "variants: {crm/x: [{chain: [{use: a, x-a: 1}], x-b: 2}]}\nvars: {x_c: 1}\n",
    AGENT
    + "policies: [{policy_id: a, x-p: 1, deny: {tools: [{variant: crm/x, chain: [a], x-v: 1}], x-d: 1}}]\n",
]


@pytest.mark.parametrize(("text", "expected"), FAULTS)
def test_a_fault_is_said_at_its_place(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize("text", SOUND)
def test_its_neighbour_is_sound(text: str) -> None:
    assert places(text) == []


@pytest.mark.parametrize("text", [text for text, _ in FAULTS])
def test_an_edit_makes_its_mistake_go_away(text: str) -> None:
    pin = {"a.pin.json": '{"tools": []}'}
    found = manifests({"a.yaml": text} | pin).diagnostics
    edits = [one.hint.edit for one in found if one.hint and one.hint.edit]
    rest = [one.code for one in found if not (one.hint and one.hint.edit)]
    assert [one.code for one in manifests({"a.yaml": mended(text, edits)} | pin).diagnostics] == rest


@pytest.mark.parametrize("text", [text for text, _ in FAULTS])
def test_no_message_shows_an_internal(text: str) -> None:
    for one in manifests({"a.yaml": text}).diagnostics:
        said = " ".join([one.message, *one.notes, one.hint.text if one.hint else ""])
        for word in (
            "pydantic",
            "None",
            "NoneType",
            "dict",
            "tuple",
            "str,",
            "as_",
            "<class",
            "Extra inputs",
        ):
            assert word not in said.replace("`as_`", ""), said
        assert not one.message.endswith(".")


def test_own_keys_are_not_part_of_the_manifest() -> None:
    agent = manifests({"a.yaml": AGENT + "x-a: 1\nlimits: {x-b: 1, tools: 2}\n"}).agents["helper"]
    assert agent.body.limits.tools == 2
    assert agent.body == manifests({"a.yaml": AGENT + "limits: {tools: 2}\n"}).agents["helper"].body


def test_own_keys_do_not_hide_a_mistake() -> None:
    assert places(AGENT + "x-a: 1\nlimits: {x-b: 1, tol: 2}\n") == ["unknown-key 4:18"]


def test_headers_may_start_with_x() -> None:
    text = "kind: extension\nname: a\nmcp: {url: 'https://example.test', headers: {x-api-version: '1'}}\n"
    files = {"a.yaml": text, "a.pin.json": '{"tools": []}'}
    server = manifests(files).extensions["a"].body.mcp
    assert server is not None
    assert server.headers == {"x-api-version": "1"}


@pytest.mark.parametrize(
    ("text", "hint", "replacement"),
    [
        ("kind: extension\nname: crm\nversion: 1.10\n", 'quote it: "1.10"', '"1.10"'),
        ("kind: agnet\nname: a\n", "did you mean agent?", "agent"),
        (AGENT + "polices: []\n", "did you mean `policies`?", "policies"),
        (AGENT + "allowed_tools: []\n", "did you mean `tools`?", "tools"),
        (AGENT + "system_prompt: Be kind.\n", "did you mean `instructions`?", "instructions"),
        (AGENT + "abstract: yes\n", "write true", "true"),
        (AGENT + "limits: {tools: 1_000}\n", "write 1000", "1000"),
        (AGENT + "tools: crm/*\n", "write [crm/*]", "[crm/*]"),
        (AGENT + "provider: Anthropic\n", "did you mean anthropic?", "anthropic"),
    ],
)
def test_a_hint_says_the_next_step(text: str, hint: str, replacement: str) -> None:
    found = only(text).hint
    assert found is not None
    assert found.text == hint
    assert found.edit is not None
    assert found.edit.replacement == replacement


def test_a_key_of_another_kind_is_said_to_be_one() -> None:
    assert only(EXTENSION + "instructions: Be kind.\n").notes[0] == "`instructions` is a key of `kind: agent`"


def test_a_value_of_env_is_never_repeated() -> None:
    text = "kind: extension\nname: files\nmcp: {command: [run], env: {PIN: 271828}}\n"
    found = manifests({"a.yaml": text, "a.pin.json": '{"tools": []}'}).diagnostics
    assert [one.name for one in found] == ["not-quoted"]
    assert "271828" not in repr(found)


def test_all_mistakes_of_a_document_are_said_at_once() -> None:
    text = AGENT + (
        "grants: [memory_raed]\n"
        "prompts:\n"
        "- {fragment_id: a, teir: session, text: t}\n"
        "- {fragment_id: B, text: t}\n"
        "tools: [crm]\n"
    )
    assert places(text) == [
        "unknown-effect 3:10",
        "unknown-key 5:20",
        "invalid-name 6:17",
        "invalid-pattern 7:9",
    ]


def test_nothing_more_is_said_of_an_entry_whose_shape_is_refused() -> None:
    text = AGENT + "prompts:\n- {fragment_id: A, teir: session}\n- {fragment_id: a, text: t}\n"
    assert places(text) == ["unknown-key 4:20"]


def test_a_value_that_an_alias_repeats_is_never_edited() -> None:
    text = "kind: extension\nname: crm\nversion: &v 1.10\nx-again: *v\ndescription: *v\n"
    found = manifests({"a.yaml": text}).diagnostics
    assert [one.name for one in found] == ["not-quoted", "not-quoted"]
    assert [one.hint.edit for one in found if one.hint] == [None, None]


def test_an_edit_never_takes_an_anchor_away() -> None:
    text = "kind: extension\nname: crm\nversion: &v 1.10\nx-again: *v\n"
    hint = only(text).hint
    assert hint is not None
    assert hint.edit is None


def test_a_message_shows_what_is_hidden_and_ends() -> None:
    text = AGENT + r'tools: ["a\u200bb"]' + "\n" + f"exclude: [{'x' * 5000}]\n"
    found = manifests({"a.yaml": text}).diagnostics
    assert [one.name for one in found] == ["invalid-pattern", "invalid-pattern"]
    assert "a<U+200B>b" in found[0].message
    assert len(found[1].message) < 500
