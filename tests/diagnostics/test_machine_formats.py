"""JSON, GitHub annotations and SARIF: exact keys, exact escapes, the published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from symc.diagnostics import Diagnostic, LabelledSpan, Span
from symc.diagnostics.codes import TABLE
from symc.diagnostics.reference import link
from symc.diagnostics.renderers import github, sarif
from symc.diagnostics.renderers import json as json_format
from tests.diagnostics.samples import COLLISION, HERE, NEWS, PROSE, SOURCES, TWO_TOOLS, WEB, span

FOLDER = Path(__file__).parent
NASTY = COLLISION.at(
    span("a b%,:é.yaml", 2, 3, 1, 4),
    "100% of\r\n::error::x\u202e ${{ github.token }}, a:b",
    notes=("one\ntwo",),
)
WHOLE = PROSE.at(Span("a.yaml"), "m", secondary=(LabelledSpan(Span("b.yaml"), "its budget"),))
NOWHERE = NEWS.at(Span(""), "m")


def test_json_keys() -> None:
    written = json_format.render([TWO_TOOLS, NOWHERE], ok=False, reason="2 errors")
    here = {"file": HERE.file, "start": {"line": 7, "column": 11}, "end": {"line": 7, "column": 17}}
    there = {**here, "file": "manifests/extensions/wiki.yaml"}
    there["start"], there["end"] = {"line": 4, "column": 11}, {"line": 4, "column": 17}
    nowhere = {"file": "", "start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}}
    assert json.loads(written) == {
        "format": 1,
        "ok": False,
        "reason": "2 errors",
        "diagnostics": [
            {
                "code": "SYM301",
                "name": "tool-name-collision",
                "level": "error",
                "message": 'two tools of agent "support" are exposed as "search"',
                "subject": "support",
                "primary": here,
                "secondary": [
                    {**here, "label": "web/search"},
                    {**there, "label": "wiki/search, both selected by manifests/agents/support.yaml:9"},
                ],
                "notes": [],
                "hint": {
                    "text": "give one a prefix: {use: web, prefix: web}",
                    "edit": {**here, "replacement": "find"},
                },
            },
            {
                "code": "SYM399",
                "name": "some-news",
                "level": "info",
                "message": "m",
                "subject": "",
                "primary": nowhere,
                "secondary": [],
                "notes": [],
                "hint": None,
            },
        ],
    }


def test_json_of_nothing() -> None:
    assert json.loads(json_format.render([], ok=True)) == {
        "format": 1,
        "ok": True,
        "reason": "",
        "diagnostics": [],
    }


@pytest.mark.parametrize("written", [json_format.render([NASTY], ok=False), sarif.render([NASTY])])
def test_documents_are_ascii(written: str) -> None:
    assert written.isascii()
    assert written.endswith("}\n")


@pytest.mark.parametrize(
    ("found", "command"),
    [
        (
            TWO_TOOLS,
            (
                "::error file=manifests/extensions/web.yaml,line=7,endLine=7,col=11,title=SYM301 tool-name-collision::"
                'two tools of agent "support" are exposed as "search"'
                "%0Amanifests/extensions/web.yaml:7: web/search"
                "%0Amanifests/extensions/wiki.yaml:4: wiki/search, both selected by manifests/agents/support.yaml:9"
                "%0Ahelp: give one a prefix: {use: web, prefix: web}\n"
            ),
        ),
        (
            NASTY,
            (
                "::error file=a b%25%2C%3Aé.yaml,line=2,endLine=3,col=3,title=SYM301 tool-name-collision::"
                "100%25 of<U+000D>\\n::error::x<U+202E> ${{ github.token }}, a:b%0Aone%0Atwo\n"
            ),
        ),
        (WHOLE, "::warning file=a.yaml,title=SYM330 tool-name-in-prose::m%0Ab.yaml: its budget\n"),
        (NOWHERE, "::notice title=SYM399 some-news::m\n"),
    ],
)
def test_github(found: Diagnostic, command: str) -> None:
    assert github.render([found]) == command


def test_github_writes_one_line_for_each() -> None:
    assert github.render([NASTY, TWO_TOOLS, WHOLE]).count("\n") == 3


def _results(found: list[Diagnostic], sources: dict[str, str]) -> list[dict[str, Any]]:
    results = json.loads(sarif.render(found, sources))["runs"][0]["results"]
    assert isinstance(results, list)
    return results


def test_sarif_satisfies_the_published_schema() -> None:
    schema = json.loads((FOLDER / "sarif" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft4Validator(schema)
    every_code = [row.at(HERE, "m", subject="support", hint="h") for row in TABLE]
    for found in ([], [TWO_TOOLS, NASTY, WHOLE, NOWHERE], every_code):
        log = json.loads(sarif.render(found, SOURCES, pages="https://example.org/docs/errors/"))
        assert [error.message for error in validator.iter_errors(log)] == []
    # the schema does refuse: a check that always passes would prove nothing
    assert not validator.is_valid({"version": "2.1.0"})
    assert not validator.is_valid({**log, "runs": [{**log["runs"][0], "results": [{"level": "error"}]}]})


def test_sarif_result() -> None:
    (result,) = _results([TWO_TOOLS], SOURCES)
    assert len(result.pop("partialFingerprints")["symc/v1"]) == 32
    result.pop("ruleIndex", None)
    region = {"startLine": 7, "startColumn": 11, "endLine": 7, "endColumn": 17}
    location = {"artifactLocation": {"uri": HERE.file}, "region": region}
    assert result["locations"] == [{"physicalLocation": location}]
    assert [related["message"]["text"] for related in result["relatedLocations"]] == [
        "web/search",
        "wiki/search, both selected by manifests/agents/support.yaml:9",
    ]
    assert result["fixes"][0]["artifactChanges"] == [
        {
            "artifactLocation": {"uri": HERE.file},
            "replacements": [{"deletedRegion": region, "insertedContent": {"text": "find"}}],
        }
    ]
    assert (result["ruleId"], result["level"]) == ("SYM301", "error")


def test_sarif_places() -> None:
    nasty, whole, nowhere = _results([NASTY, WHOLE, NOWHERE], {})
    assert nasty["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b%25%2C%3A%C3%A9.yaml"
    assert whole["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert "locations" not in nowhere
    assert [result["level"] for result in (nasty, whole, nowhere)] == ["error", "warning", "note"]


def test_sarif_rules_are_rows_of_the_table() -> None:
    found = [row.at(HERE, "m") for row in reversed(TABLE)]
    run = json.loads(sarif.render(found, pages="https://example.org/e/"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["name"], rule["helpUri"]) for rule in rules] == [
        (row.code, row.name, "https://example.org/e/" + link(row)) for row in TABLE
    ]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [d.code for d in found]


def test_sarif_has_no_link_that_leads_nowhere() -> None:
    run = json.loads(sarif.render([TABLE[0].at(HERE, "m")]))["runs"][0]
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]


def test_a_fingerprint_survives_lines_above_and_changes_with_the_mistake() -> None:
    def fingerprint(source: str, line: int, subject: str = "support") -> str:
        place = span("a.yaml", line, 11, 17)
        (result,) = _results([COLLISION.at(place, f"line {line}", subject=subject)], {"a.yaml": source})
        return str(result["partialFingerprints"]["symc/v1"])

    same = fingerprint(WEB, 7)
    assert fingerprint("# a comment\n" + WEB, 8) == same
    assert fingerprint(WEB.replace("search", "find"), 7) != same
    assert fingerprint(WEB, 7, "triage") != same


def test_equal_mistakes_have_fingerprints_of_their_own() -> None:
    found = [COLLISION.at(HERE, "one"), COLLISION.at(HERE, "two")]
    prints = {result["partialFingerprints"]["symc/v1"] for result in _results(found, SOURCES)}
    assert len(prints) == 2
