"""The example of docs/diff.md is real, and the page of rules is current."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from symc.cli.frame import root
from symc.diff import reference
from symc.diff.model import Axis, Rule
from symc.diff.rules import TABLE

ROOT = Path(__file__).parents[2]
EDITS = {
    "extensions/guardrails.yaml": ('"*/delete_*"', '"crm/delete_*"'),
    "extensions/crm.yaml": ("by name. Be", "by name. Never promise a refund. Be"),
    "agents/triage.yaml": ("max_model_rounds: 3", "max_model_rounds: 30"),
}


def test_the_example_is_what_symc_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    shown = re.search(r"^```console\n\$ symc diff main\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown is not None
    shutil.copytree(ROOT / "manifests", tmp_path / "manifests")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(root, ["compile", "--output", "main.lock"]).exit_code == 0
    for file, (before, after) in EDITS.items():
        path = Path("manifests") / file
        text = path.read_text(encoding="utf-8")
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
    assert CliRunner().invoke(root, ["diff", "main.lock"]).stdout == shown[1]


def test_the_page_of_rules_is_current() -> None:
    for name, text in reference.pages().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.name)
def test_a_rule_is_explained_by_code_and_name(rule: Rule) -> None:
    page = reference.explain(rule.code)
    assert page == reference.explain(rule.name.upper()) == reference.explain(f" {rule.code.lower()} ")
    assert page is not None
    assert page.startswith(f"{rule.code} {rule.name} ({rule.axis}, {rule.level})\n")
    assert rule.example in page.replace("\n    ", "\n").replace("    ", "")


def test_an_unknown_rule_is_not_explained() -> None:
    assert reference.explain("SYD999") is None


def test_authority_is_never_lowered() -> None:
    levels = reference.levels()
    for rule in TABLE:
        legal = levels[rule.code]
        assert legal == levels[rule.name]
        assert rule.level in legal
        if rule.axis is Axis.AUTHORITY:
            assert "off" not in legal
            assert rule.level != "error" or legal == ("error",)
    assert levels["tool-description-changed"] == ("error", "warn")
    assert levels["tool-added"] == ("error", "warn", "info", "off")
