"""`symc why`, `symc graph` and `symc policy test` on a small workspace and on the example (docs/policies.md §3)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from symc.cli.frame import root

EXAMPLE = Path(__file__).parents[2]
CRM = """\
kind: extension
name: crm
version: "1.0"
requires: [guard]
tools:
  - name: export
    invoke: acme.crm:export
    input_schema: {type: object, properties: {n: {type: integer}}, required: [n]}
prompts:
  - {fragment_id: etiquette, text: Be kind.}
policies:
  - policy_id: bulk
    deny:
      tools: [crm/export]
      when: {properties: {n: {type: integer, minimum: 9}}, required: [n]}
      reason: Too much.
"""
GUARD = """\
kind: extension
name: guard
version: "1.0"
policies:
  - {policy_id: code, actions: [tool_call], decide: "acme.guard:decide", timeout: 2}
"""
DESK = """\
kind: agent
name: desk
instructions: Help.
extensions: [{use: crm, prefix: c}]
tools: [crm/*]
variants:
  crm/export: [cache, audit]
grants: [memory_read]
delegates: [{agent: other, may_exceed: [memory_write]}]
"""
OTHER = """\
kind: agent
name: other
grants: [memory_write]
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "manifests").mkdir()
    for name, text in (("crm", CRM), ("guard", GUARD), ("desk", DESK), ("other", OTHER)):
        (tmp_path / "manifests" / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def symc(*arguments: str) -> Result:
    result = CliRunner().invoke(root, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# why


def why(item: str) -> list[str]:
    result = symc("why", "desk", item)
    assert result.exit_code == 0, result.output
    return [re.sub(r"  +", "  ", line.strip()) for line in result.stdout.splitlines()]


@pytest.mark.usefixtures("desk")
def test_why_a_variant() -> None:
    assert why("c_export_cache") == [
        "c_export_cache  (variant)",
        "is  crm/export + cache",
        "brought by  crm, as export  [manifests/crm.yaml:6]",
        "used by  desk  [manifests/desk.yaml:4]",
        'selected by  "crm/*"  [manifests/desk.yaml:5]',
        "named by  the prefix c of crm  [manifests/desk.yaml:4]",
        "derives from  c_export through cache  [manifests/desk.yaml:7]",
        "layer  std/cache, a wrapper",
        "gives rise to  c_export_cache_audit  [manifests/desk.yaml:7]",
        "guarded by  crm/bulk: deny where its `when` holds — Too much.  [manifests/crm.yaml:12]",
        "guarded by  guard/code, over every tool_call: asks acme.guard:decide  [manifests/guard.yaml:5]",
    ]


@pytest.mark.usefixtures("desk")
def test_why_a_tool_by_its_raw_identity() -> None:
    assert why("crm/export")[:2] == ["c_export  (tool)", "is  crm/export"]
    assert why("crm/export") == why("c_export")


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("item", ["guard/code", "code"])
def test_why_a_policy_of_a_required_extension(item: str) -> None:
    assert why(item) == [
        "guard/code  (policy)",
        "brought by  guard (an extension)  [manifests/guard.yaml:5]",
        "required by  crm  [manifests/crm.yaml:4]",
        "used by  desk  [manifests/desk.yaml:4]",
        "says  asks acme.guard:decide  [manifests/guard.yaml:5]",
        "guards  every tool_call",
    ]


@pytest.mark.usefixtures("desk")
def test_why_a_fragment() -> None:
    assert why("crm/etiquette") == [
        "crm/etiquette  (fragment)",
        "brought by  crm (an extension)  [manifests/crm.yaml:10]",
        "used by  desk  [manifests/desk.yaml:4]",
        "stands  2 of 2 in the prompt",
        "placed by  layer l1, tier session, scope deployment, order 100",
        "is  text",
    ]


@pytest.mark.usefixtures("desk")
def test_why_a_grant() -> None:
    assert why("memory_read") == [
        "memory_read  (grant)",
        "granted by  desk  [manifests/desk.yaml:8]",
        "guarded by  nothing",
    ]
    assert why("tool_call")[1] == "granted by  the baseline: an agent that selects tools may call them"


@pytest.mark.usefixtures("desk")
def test_why_a_delegate() -> None:
    assert why("ask_other") == [
        "ask_other  (delegate)",
        'calls  agent "other"  [manifests/other.yaml:2]',
        "delegated by  desk; may exceed memory_write  [manifests/desk.yaml:9]",
        "guarded by  nothing",
    ]


@pytest.mark.usefixtures("desk")
def test_why_an_extension() -> None:
    assert why("guard") == [
        "guard  (extension)",
        "required by  crm  [manifests/crm.yaml:4]",
        "used by  desk  [manifests/desk.yaml:4]",
    ]


def test_why_a_rule_that_reaches_nothing_and_a_tool_with_a_name_of_its_own(desk: Path) -> None:
    (desk / "manifests" / "desk.yaml").write_text(
        "kind: agent\n"
        "name: desk\n"
        "extensions: [crm]\n"
        "tools: [{tool: crm/export, as: out}]\n"
        "delegates: [other, {agent: other, may_exceed: [memory_write]}, third]\n"
        "policies:\n"
        "  - {policy_id: none, ask: {}, actions: [memory_read]}\n"
        "  - {policy_id: some, ask: {tools: [crm/export]}}\n",
        encoding="utf-8",
    )
    (desk / "manifests" / "third.yaml").write_text("kind: agent\nname: third\n", encoding="utf-8")
    assert why("none")[-1] == "guards  nothing of this agent"
    assert why("some")[-1] == "guards  out"
    assert "named by  `as: out`  [manifests/desk.yaml:4]" in why("out")
    assert [line for line in why("ask_other") if "delegated" in line] == [
        "delegated by  desk; may exceed nothing  [manifests/desk.yaml:5]",
        "delegated by  desk; may exceed memory_write  [manifests/desk.yaml:5]",
    ]


@pytest.mark.usefixtures("desk")
def test_why_not() -> None:
    result = symc("why", "desk", "c_exprot")
    assert result.exit_code == 2
    assert 'did you mean "c_export"?' in result.stderr
    result = symc("why", "dsek", "c_export")
    assert result.exit_code == 2
    assert 'did you mean "desk"?' in result.stderr


def test_why_answers_beside_errors(desk: Path) -> None:
    (desk / "manifests" / "other.yaml").write_text(OTHER + "oops: 1\n", encoding="utf-8")
    result = symc("why", "desk", "c_export")
    assert result.exit_code == 0
    assert result.stdout.startswith("c_export  (tool)")
    assert "1 error" in result.stderr


# graph


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("format_", "start"), [("mermaid", "flowchart LR"), ("dot", "digraph"), ("json", "{")]
)
def test_graph(format_: str, start: str) -> None:
    result = symc("graph", "desk", "--format", format_)
    assert result.exit_code == 0
    assert result.stdout.startswith(start)
    assert "c_export_cache_audit" in result.stdout


def test_no_graph_of_a_workspace_with_errors(desk: Path) -> None:
    (desk / "manifests" / "other.yaml").write_text(OTHER + "oops: 1\n", encoding="utf-8")
    result = symc("graph", "desk")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "unknown-key" in result.stderr
    assert symc("graph", "desk", "--workspace", "nowhere").exit_code == 2


# policy test


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["--tool", "c_export", "--args", '{"n": 9}'], "deny  crm/bulk"),
        (["--tool", "c_export_cache_audit", "--args", '{"n": 9, "exp": 1}'], "deny  crm/bulk"),
        (["--tool", "c_export", "--args", '{"n": 8}'], "ask-code  guard/code"),
        (["--tool", "ask_other"], "allow  grant:delegate"),
    ],
)
def test_policy_test(arguments: list[str], first: str) -> None:
    result = symc("policy", "test", "desk", *arguments)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == first


@pytest.mark.usefixtures("desk")
def test_policy_test_as_json() -> None:
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", '{"n": 9}', "--format", "json")
    assert json.loads(result.stdout) == {
        "format": 1,
        "decision": "deny",
        "rules": ["crm/bulk"],
        "reasons": ["crm/bulk: Too much."],
        "code": [],
    }


@pytest.mark.usefixtures("desk")
def test_arguments_that_never_reach_a_policy_are_told() -> None:
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", "{}")
    assert result.exit_code == 0
    assert "refused before any policy is asked" in result.stderr
    assert "`n`" in result.stderr or '"n"' in result.stderr


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["desk"], "give either --tool or --cases"),
        (["--cases", "manifests/desk.yaml", "--args", "{}1"], "belong to --tool"),
        (["--tool", "c_export"], "name the agent"),
        (["desk", "--tool", "c_exprot"], 'did you mean "c_export"?'),
        (["dsek", "--tool", "c_export"], 'did you mean "desk"?'),
        (["desk", "--tool", "c_export", "--args", "{"], "no JSON"),
        (["desk", "--tool", "c_export", "--args", "[1]"], "a JSON object"),
        (["desk", "--tool", "c_export", "--through", "other"], 'agent "other" does not delegate to "desk"'),
        (["--cases", "nowhere.yaml"], "does not exist"),
    ],
)
def test_what_policy_test_cannot_do(arguments: list[str], said: str) -> None:
    result = symc("policy", "test", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_nothing_is_decided_in_a_workspace_with_errors(desk: Path) -> None:
    (desk / "manifests" / "other.yaml").write_text(OTHER + "oops: 1\n", encoding="utf-8")
    result = symc("policy", "test", "desk", "--tool", "c_export")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing decided" in result.stderr


def test_a_question_that_a_person_answers_names_the_code_that_is_asked_as_well(desk: Path) -> None:
    policy = "policies: [{policy_id: careful, ask: {tools: [crm/export]}}]\n"
    (desk / "manifests" / "desk.yaml").write_text(DESK + policy, encoding="utf-8")
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", '{"n": 1}')
    assert result.stdout.splitlines() == [
        "ask  desk/careful",
        "  desk/careful",
        "  code is asked as well: guard/code",
    ]


def test_a_table(desk: Path) -> None:
    table = desk / "cases.yaml"
    table.write_text(
        "desk:\n"
        "  - {tool: c_export, args: {n: 9}, expect: deny, rule: crm/bulk}\n"
        "  - {tool: c_export, args: {n: 8}, expect: ask-code}\n"
        "other: []\n",
        encoding="utf-8",
    )
    result = symc("policy", "test", "--cases", "cases.yaml")
    assert (result.exit_code, result.stderr) == (0, "2 cases, all as expected\n")
    table.write_text(
        "desk: [{tool: c_export, args: {n: 9}, expect: deny, rule: guard/code}]\n", encoding="utf-8"
    )
    result = symc("policy", "test", "--cases", "cases.yaml")
    assert result.exit_code == 1
    assert "deny by guard/code is expected, and it is deny by crm/bulk" in result.stderr
    assert symc("policy", "test", "other", "--cases", "cases.yaml").exit_code == 0


@pytest.mark.parametrize(
    "table",
    [
        "desk: 1\n",
        "desk: [1]\n",
        "desk: [{tool: c_export}]\n",
        "desk: [{tool: c_export, expcet: deny}]\n",
        "desk: [{tool: c_export, expect: maybe}]\n",
        "desk: [{tool: c_export, expect: [deny]}]\n",
        "desk: [{tool: 1, expect: deny}]\n",
        "desk: [{tool: c_export, expect: deny, args: 1}]\n",
        "desk: [{tool: c_export, expect: deny, through: other}]\n",
        "desk: [{tool: c_export, expect: deny, through: [other]}]\n",
        "desk: [{tool: c_export, expect: deny, through: [nobody]}]\n",
        "desk: [{tool: nothing, expect: deny}]\n",
        "nobody: [{tool: c_export, expect: deny}]\n",
        "desk: [{tool: c_export, expect: deny}]\ndesk: []\n",
        "[1]\n",
        "",
        "\x00",
    ],
)
def test_a_table_that_is_none(desk: Path, table: str) -> None:
    (desk / "cases.yaml").write_text(table, encoding="utf-8")
    result = symc("policy", "test", "--cases", "cases.yaml")
    assert result.exit_code == 2
    assert "cases.yaml" in result.stderr


# The example


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLE / "manifests", tmp_path / "manifests")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("example")
def test_the_examples_decisions_are_as_its_table_says() -> None:
    result = symc("policy", "test", "--cases", str(EXAMPLE / "support_desk" / "policy-cases.yaml"))
    assert result.exit_code == 0, result.stderr


@pytest.mark.usefixtures("example")
def test_why_on_the_example() -> None:
    answer = symc("why", "support", "lookup_customer_cache").stdout
    for fact in (
        "crm, as lookup_customer  [manifests/extensions/crm.yaml:",
        'selected by    "crm/lookup_*"  [manifests/agents/support.yaml:',
        "derives from   lookup_customer through cache  [manifests/agents/support.yaml:",
        "guarded by     guardrails/card-numbers, over every tool_call",
    ):
        assert fact in answer


def test_help_names_the_commands() -> None:
    assert isinstance(root.get_command(click.Context(root), "why"), click.Command)
    assert "deny, ask, allow" in symc("policy", "test", "--help").stdout
