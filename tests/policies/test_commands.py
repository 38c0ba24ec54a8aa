"""`symc why`, `symc graph` and `symc policy test` on a small workspace and on the example (docs/policies.md §3)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from symc.cli.decisions import INVALID_ARGUMENTS
from symc.cli.frame import root
from symc.runtime.gates import Reason

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
        (["--tool", "ask_other", "--args", '{"message": "Hello"}'], "allow  grant:delegate"),
        # A call is refused by the tool's schema before any policy is asked; a tool is asked about without a call.
        (["--tool", "ask_other", "--args", "{}"], "deny  invalid_arguments"),
        (["--tool", "c_export", "--args", "{}"], "deny  invalid_arguments"),
        (["--tool", "c_export", "--args", '{"n": "9"}'], "deny  invalid_arguments"),
        (["--tool", "c_export_cache", "--args", '{"n": 9, "exp": "x"}'], "deny  invalid_arguments"),
        (["--tool", "c_export"], "ask-code  guard/code"),
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
    """As the runtime's gate does: the same word, and no policy besides."""
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", "{}")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "deny  invalid_arguments",
        '  no policy is asked: the value lacks the property "n" (rule /required)',
    ]
    result = symc("policy", "test", "desk", "--tool", "c_export")
    assert "a call must satisfy" in result.stderr
    assert '"n"' in result.stderr


def test_the_word_for_invalid_arguments_is_the_runtimes() -> None:
    assert str(Reason.INVALID_ARGUMENTS) == INVALID_ARGUMENTS


def test_what_is_not_granted_or_hidden_is_refused_before_its_arguments(desk: Path) -> None:
    only = DESK.replace("crm/export: [cache, audit]", "crm/export: [{chain: [audit], expose: only}]")
    (desk / "manifests" / "desk.yaml").write_text(only, encoding="utf-8")
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", "{}")
    assert result.stdout.splitlines()[0] == "deny  unexposed"


def nested(depth: int) -> str:
    return '{"n": ' + "[" * depth + "]" * depth + "}"


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (nested(300), "nested deeper than 200 levels"),
        (nested(20_000), "nested deeper than 200 levels"),
        ('{"n": NaN}', "not a JSON number"),
        ('{"n": 1e999}', "not a JSON number"),
        ('{"n": "\\ud800"}', "half of a surrogate pair"),
        ("{", "no JSON"),
        ("", "no JSON"),
        ("[1]", "a JSON object"),
    ],
    ids=lambda value: value[:12],
)
def test_arguments_that_are_none_name_their_option(given: str, said: str) -> None:
    result = symc("policy", "test", "desk", "--tool", "c_export", "--args", given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--args" in result.stderr
    assert "--through" not in result.stderr
    assert said in result.stderr


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
        (["desk", "--tool", "c_export", "--format", "github"], "no format github"),
        (["desk", "--tool", "c_export", "--format", "sarif"], "no format sarif"),
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
    nothing = symc("policy", "test", "other", "--cases", "cases.yaml")
    assert (nothing.exit_code, nothing.stderr) == (2, "no case for other in cases.yaml\n")


@pytest.mark.parametrize(
    ("rule", "hint"),
    [("crm/bluk", 'did you mean "crm/bulk"?'), ("invalid_argument", 'did you mean "invalid_arguments"?')],
)
def test_a_rule_that_does_not_exist_is_called_unknown(rule: str, hint: str, desk: Path) -> None:
    row = f"{{tool: c_export, args: {{n: 9}}, expect: deny, rule: {rule}}}"
    (desk / "cases.yaml").write_text(f"desk: [{row}]\n", encoding="utf-8")
    result = symc("policy", "test", "--cases", "cases.yaml")
    assert result.exit_code == 2
    assert f'there is no rule "{rule}"' in result.stderr
    assert hint in result.stderr


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["n: 9", "n: 8"], "2 cases, 1 not as expected"),
        (["n: 9"], "1 case, all as expected"),
        (["n: 9", "typo"], "2 cases, 1 could not be read"),
        (["n: 9", "n: 8", "typo", "typo"], "4 cases, 1 not as expected, 2 could not be read"),
        (["n: 9", "unknown"], "2 cases, 1 could not be decided"),
        (["typo"], "1 case, 1 could not be read"),
        (["invalid"], "1 case, all as expected"),
        ([], "0 cases, all as expected"),
    ],
)
def test_every_row_of_a_table_is_counted(desk: Path, rows: list[str], said: str) -> None:
    written = {
        "typo": "{tool: c_export, expcet: deny}",
        "unknown": "{tool: exprot, expect: deny}",
        "invalid": "{tool: c_export, args: {n: x}, expect: deny, rule: invalid_arguments}",
    }
    lines = [written.get(row, f"{{tool: c_export, args: {{{row}}}, expect: deny}}") for row in rows]
    (desk / "cases.yaml").write_text(f"desk: [{', '.join(lines)}]\n", encoding="utf-8")
    result = symc("policy", "test", "--cases", "cases.yaml", "--format", "json")
    assert result.stderr.splitlines()[-1] == said
    answer = json.loads(result.stdout)
    assert (answer["ok"], len(answer["diagnostics"])) == (
        said.endswith("all as expected"),
        sum(map(int, re.findall(r", (\d+)", said))),
    )


def test_a_table_that_is_no_yaml_has_no_cases(desk: Path) -> None:
    (desk / "cases.yaml").write_text("desk: [\n", encoding="utf-8")
    result = symc("policy", "test", "--cases", "cases.yaml")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, "the table could not be read")


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
