"""Names, ids, versions, requirements, targets, patterns, effects; one namespace (docs/manifests.md §2)."""

from __future__ import annotations

import pytest

from tests.manifest.written import AGENT, EXTENSION, WORKSPACE, manifests, mended, only, places


def agent(name: str) -> str:
    return f"kind: agent\nname: {name}\n"


@pytest.mark.parametrize("name", ["a", "a1", "acme-desk", "acme.desk", "a.b-c.d", "a" * 64, "no", "a-1"])
def test_a_name_is_accepted(name: str) -> None:
    assert list(manifests({"a.yaml": agent(f"'{name}'")}).agents) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A",
        "1a",
        "-a",
        "a-",
        "a--b",
        "a.-b",
        "a_b",
        "a b",
        "a/b",
        "ä",
        "a" * 65,
        r"a\n",
        r"a\u200b",
        "a*",
        "[a]",
    ],
)
def test_a_name_is_refused(name: str) -> None:
    found = manifests({"a.yaml": agent(f'"{name}"')})
    assert [one.name for one in found.diagnostics] == ["invalid-name"]
    assert found.agents == {}


@pytest.mark.parametrize("name", ["std", "symc"])
def test_names_of_symc_are_reserved(name: str) -> None:
    assert places(agent(name)) == ["reserved-name 2:7"]
    assert places(f"kind: extension\nname: {name}\nversion: '1'\n") == ["reserved-name 2:7"]
    assert places(f"kind: workspace\nname: {name}\n") == ["reserved-name 2:7"]
    assert places(agent(f"{name}x")) == []


def test_the_rule_of_a_name_is_said_and_a_spelling_that_keeps_it() -> None:
    found = only(agent("My Desk"))
    assert found.message == (
        'the agent "My Desk" must be lower-case letters and digits, starting with a letter, '
        "in parts joined by single `.` or `-`"
    )
    assert found.hint is not None
    assert found.hint.text == "write my-desk"


def test_what_is_hidden_in_a_name_is_shown() -> None:
    found = only(agent(r'"de\u200bsk"'))
    assert found.message == 'the agent "de<U+200B>sk" holds zero-width space (U+200B)'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AGENT + "prompts: [{fragment_id: A, text: t}]\n", ["invalid-name 3:25"]),
        (AGENT + "policies: [{policy_id: a b, decide: 'm:f'}]\n", ["invalid-name 3:24"]),
        (EXTENSION + "lifecycle: [{hook_id: a-, phase: install, run: 'm:f'}]\n", ["invalid-name 4:23"]),
        (EXTENSION + "tools: [{name: a.b, invoke: 'm:f'}]\n", ["invalid-name 4:16"]),
        (EXTENSION + "tools: [{name: 1a, invoke: 'm:f'}]\n", ["invalid-name 4:16"]),
        (
            EXTENSION + "tool_extensions: [{name: a-b, kind: wrapper, factory: 'm:f'}]\n",
            ["invalid-name 4:26"],
        ),
        (
            EXTENSION + f"tool_extensions: [{{name: {'a' * 33}, kind: wrapper, factory: 'm:f'}}]\n",
            ["invalid-name 4:26"],
        ),
        (AGENT + "extensions: [{use: crm, prefix: a-b}]\n", ["invalid-name 3:33"]),
        (AGENT + "tools: [{tool: crm/x, as: a b}]\n", ["invalid-name 3:27"]),
        (AGENT + "variants: {crm/x: [{chain: [a], as: a.b}]}\n", ["invalid-name 3:37"]),
        # ids twice, and ids that differ only in case, with the place of the first
        (
            AGENT + "prompts:\n- {fragment_id: a, text: t}\n- {fragment_id: a, text: u}\n",
            ["duplicate-id 5:17"],
        ),
        (
            AGENT + "policies:\n- {policy_id: a, decide: 'm:f'}\n- {policy_id: a, decide: 'm:g'}\n",
            ["duplicate-id 5:15"],
        ),
        (
            EXTENSION + "tools:\n- {name: a, invoke: 'm:f'}\n- {name: a, invoke: 'm:f'}\n",
            ["duplicate-id 6:10"],
        ),
        (
            EXTENSION + "tools:\n- {name: a, invoke: 'm:f'}\n- {name: A, invoke: 'm:f'}\n",
            ["case-only-difference 6:10"],
        ),
        (
            EXTENSION
            + "lifecycle:\n- {hook_id: a, phase: install, run: 'm:f'}\n- {hook_id: a, phase: teardown, run: 'm:f'}\n",
            ["duplicate-id 6:13"],
        ),
        (
            EXTENSION
            + "tool_extensions:\n- {name: a, kind: wrapper, factory: 'm:f'}\n- {name: a, kind: backend, factory: 'm:f'}\n",
            ["duplicate-id 6:10"],
        ),
    ],
)
def test_ids_are_refused(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        AGENT + "prompts: [{fragment_id: a_b.c-d, text: t}]\n",
        EXTENSION + "tools: [{name: A-b_c, invoke: 'm:f'}, {name: _x, invoke: 'm:f'}]\n",
        EXTENSION + f"tool_extensions: [{{name: {'a' * 32}, kind: wrapper, factory: 'm:f'}}]\n",
        # one id in two sections, or of two owners, is two things
        AGENT + "prompts: [{fragment_id: a, text: t}]\npolicies: [{policy_id: a, decide: 'm:f'}]\n",
    ],
)
def test_ids_are_accepted(text: str) -> None:
    assert places(text) == []


def test_a_duplicate_shows_both_places() -> None:
    found = only(AGENT + "prompts:\n- {fragment_id: a, text: t}\n- {fragment_id: a, text: u}\n")
    assert [(str(one.span.start.line), one.label) for one in found.secondary] == [
        ("4", '"a" is given here first')
    ]


def test_all_of_a_third_of_a_name_are_said() -> None:
    text = AGENT + "prompts:\n" + "- {fragment_id: a, text: t}\n" * 3
    assert places(text) == ["duplicate-id 5:17", "duplicate-id 6:17"]


REQUIREMENTS = {
    "crm": True,
    "crm >=1.4": True,
    "crm >=1.4,<2": True,
    "crm >=1.4, <2": True,
    "crm ==1.*": True,
    "crm ~=1.4": True,
    "crm>=1.4": False,
    "crm  >=1.4": False,
    "crm ": False,
    " crm": False,
    "crm 1.4": False,
    "crm >=": False,
    "crm ^1.4": False,
    "Crm": False,
    "crm[extra]": False,
    "": False,
}


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_requirements(text: str) -> None:
    sound = REQUIREMENTS[text]
    assert places(EXTENSION + f"requires: ['{text}']\n") == ([] if sound else ["invalid-requirement 4:12"])
    assert places(AGENT + f"extensions: ['{text}']\n") == ([] if sound else ["invalid-requirement 3:14"])
    assert places(AGENT + f"extensions: [{{use: '{text}'}}]\n") == (
        [] if sound else ["invalid-requirement 3:20"]
    )
    assert places(WORKSPACE + f"extensions: ['{text}']\n") == ([] if sound else ["invalid-requirement 3:14"])


MEANT = {
    "crm ^1.4": "crm >=1.4, <2",
    "crm ^0.4.2": "crm >=0.4.2, <0.5",
    "crm ~1.4": "crm ~=1.4",
    "crm ~1": "crm ==1.*",
    "crm 1.4": "crm ==1.4",
    "crm v1.4": "crm ==1.4",
    "crm@1.4": "crm ==1.4",
    "crm =1.4": "crm ==1.4",
    "crm => 1.4": "crm >=1.4",
    "crm 1.x": "crm ==1.*",
    "Crm >=1": "crm >=1",
    "my_crm": "my-crm",
    "crm>=1,<2": "crm >=1, <2",
}


@pytest.mark.parametrize("text", MEANT)
def test_what_other_tools_write_is_told_in_our_words(text: str) -> None:
    row = f"\n- {text}" if "," in text else f" [{text}]"
    written = AGENT + f"extensions:{row}\n"
    (found,) = manifests({"a.yaml": written}).diagnostics
    assert found.name == "invalid-requirement"
    assert found.hint is not None
    assert found.hint.text == f'write "{MEANT[text]}"'
    assert found.hint.edit is not None
    assert places(mended(written, [found.hint.edit])) == []


@pytest.mark.parametrize("text", ["crm >=", "crm latest", "4crm", "crm " + "^" + "1." * 200])
def test_what_nobody_can_guess_is_told_with_an_example(text: str) -> None:
    (found,) = manifests({"a.yaml": AGENT + f"extensions: ['{text}']\n"}).diagnostics
    assert found.hint is not None
    assert '"crm >=1.4, <2"' in found.hint.text


@pytest.mark.parametrize(("text", "better"), [("1.4.x", "1.4"), ("^2", "2"), ("latest", "1.0.0")])
def test_a_version_that_is_none_is_told_with_one_that_is(text: str, better: str) -> None:
    (found,) = manifests({"a.yaml": f"kind: extension\nname: x\nversion: '{text}'\n"}).diagnostics
    assert found.name == "invalid-version"
    assert found.hint is not None
    assert found.hint.text.startswith(f'write "{better}";')


@pytest.mark.parametrize("text", ["crm>=1.4", "crm  >=1.4", "crm >= 1.4 "])
def test_a_space_is_put_right_by_the_edit(text: str) -> None:
    written = AGENT + f"extensions:\n- {text}\n"
    found = manifests({"a.yaml": written}).diagnostics
    edits = [one.hint.edit for one in found if one.hint and one.hint.edit]
    assert places(mended(written, edits)) == []


VERSIONS = {
    "1": True,
    "1.4.0": True,
    "2.0rc1": True,
    "1!2.0+local": True,
    "one": False,
    "": False,
    "1.4.x": False,
}


@pytest.mark.parametrize("text", VERSIONS)
def test_versions(text: str) -> None:
    expected = [] if VERSIONS[text] else ["invalid-version 3:10"]
    assert places(f"kind: extension\nname: crm\nversion: '{text}'\n") == expected


TARGETS = {
    "m:f": True,
    "acme_crm.tools:lookup": True,
    "a.b.c:D.e": True,
    "acme.tools.lookup": False,
    "acme-crm.tools:lookup": False,
    "m:": False,
    ":f": False,
    "m:f:g": False,
    "m..n:f": False,
    "m:f()": False,
    "m: f": False,
    "": False,
    "m/n.py:f": False,
}


@pytest.mark.parametrize("text", TARGETS)
def test_targets(text: str) -> None:
    def at(place: str) -> list[str]:
        return [] if TARGETS[text] else [f"invalid-target {place}"]

    assert places(EXTENSION + f"implementation: '{text}'\n") == at("4:17")
    assert places(EXTENSION + f"tools: [{{name: a, invoke: '{text}'}}]\n") == at("4:27")
    assert places(EXTENSION + f"lifecycle: [{{hook_id: a, phase: install, run: '{text}'}}]\n") == at("4:47")
    assert places(EXTENSION + f"tool_extensions: [{{name: a, kind: wrapper, factory: '{text}'}}]\n") == at(
        "4:53"
    )
    assert places(AGENT + f"policies: [{{policy_id: a, decide: '{text}'}}]\n") == at("3:35")


def test_a_target_without_colon_is_mended() -> None:
    text = EXTENSION + "implementation: acme.tools.lookup\n"
    hint = only(text).hint
    assert hint is not None
    assert hint.edit is not None
    assert mended(text, [hint.edit]) == EXTENSION + 'implementation: "acme.tools:lookup"\n'


PATTERNS = {
    "crm/lookup": True,
    "crm/*": True,
    "*/delete_*": True,
    "*/*": True,
    "crm/a/b": True,
    "crm/[ab]?": True,
    "a.b-c/x": True,
    "lookup": False,
    "*": False,
    "crm/": False,
    "/x": False,
    "cr*/x": False,
    "Crm/x": False,
    "crm/[ab": False,
    "crm/[b-a]": False,
    "": False,
}


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns(text: str) -> None:
    def at(place: str) -> list[str]:
        return [] if PATTERNS[text] else [f"invalid-pattern {place}"]

    assert places(AGENT + f"tools: ['{text}']\n") == at("3:9")
    assert places(AGENT + f"exclude: ['{text}']\n") == at("3:11")
    assert places(AGENT + f"variants: {{'{text}': [a]}}\n") == at("3:12")
    assert places(AGENT + f"policies: [{{policy_id: a, deny: {{tools: ['{text}']}}}}]\n") == at("3:42")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # one tool must be named
        (AGENT + "tools: [{tool: 'crm/*', as: x}]\n", ["invalid-pattern 3:16"]),
        (AGENT + "tools: [{tool: crm, as: x}]\n", ["invalid-pattern 3:16"]),
        (
            AGENT + "policies: [{policy_id: a, deny: {tools: [{variant: '*/x', chain: [a]}]}}]\n",
            ["invalid-pattern 3:52"],
        ),
        # effects, actions, and what a delegate may exceed
        (AGENT + "grants: [memory_raed, memory_read]\n", ["unknown-effect 3:10"]),
        (AGENT + "grants: [Tool_call]\n", ["unknown-effect 3:10"]),
        (AGENT + "policies: [{policy_id: a, decide: 'm:f', actions: [tool]}]\n", ["unknown-effect 3:52"]),
        (AGENT + "delegates: [{agent: b, may_exceed: [memory_red]}]\n", ["unknown-effect 3:37"]),
        (
            AGENT + "delegates: [{agent: b, may_exceed: ['web/*', delegate, 'x*/y']}]\n",
            ["invalid-pattern 3:56"],
        ),
        (AGENT + "delegates: [b, {agent: c, may_exceed: ['*/*', memory_write]}]\ngrants: [delegate]\n", []),
    ],
)
def test_patterns_and_effects_where_they_stand(text: str, expected: list[str]) -> None:
    assert places(text) == expected


def test_an_unknown_effect_is_corrected_by_the_edit() -> None:
    text = AGENT + "grants: [memory_raed]\n"
    hint = only(text).hint
    assert hint is not None
    assert hint.edit is not None
    assert places(mended(text, [hint.edit])) == []


def test_extensions_agents_and_the_workspace_share_one_namespace() -> None:
    files = {
        "a.yaml": agent("x"),
        "b.yaml": "kind: extension\nname: x\nversion: '1'\n",
        "c.yaml": "kind: workspace\nname: x\n",
    }
    found = manifests(files)
    assert places(files) == ["duplicate-name b.yaml:2:7", "duplicate-name c.yaml:2:7"]
    assert [one.secondary[0].span.file for one in found.diagnostics] == ["a.yaml", "a.yaml"]
    assert found.poisoned == {"x", "a", "b", "c"}  # also by their files
    assert (found.workspace, found.agents, found.extensions) == (None, {}, {})


def test_a_workspace_without_a_name_is_called_workspace() -> None:
    assert places({"a.yaml": agent("workspace"), "b.yaml": "kind: workspace\n"}) == [
        "duplicate-name b.yaml:1:7"
    ]
    found = manifests({"b.yaml": "kind: workspace\n"}).workspace
    assert found is not None
    assert found.name == "workspace"


def test_a_refused_document_takes_its_name_all_the_same() -> None:
    files = {"a.yaml": agent("x") + "tool: []\n", "b.yaml": agent("x")}
    assert places(files) == ["unknown-key a.yaml:3:1", "duplicate-name b.yaml:2:7"]
    assert manifests(files).poisoned == {"x", "a", "b"}


def test_there_is_one_workspace_at_most() -> None:
    files = {
        "a.yaml": "kind: workspace\nname: one\n",
        "b.yaml": "kind: workspace\nname: two\n",
        "c.yaml": agent("x"),
    }
    found = manifests(files)
    assert places(files) == ["several-workspaces b.yaml:1:7"]
    assert found.workspace is None
    assert found.workspace_refused
    assert list(found.agents) == ["x"]


def test_a_refused_document_drops_out_and_its_name_is_poisoned() -> None:
    found = manifests({"a.yaml": agent("bad") + "tool: []\n", "b.yaml": agent("good")})
    assert list(found.agents) == ["good"]
    assert found.poisoned == {"bad"}
    assert not found.workspace_refused
