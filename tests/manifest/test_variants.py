"""The forms of ``variants``, and the other shorthands an agent is written in (docs/variants.md V2, V6; docs/manifests.md §4)."""

from __future__ import annotations

import pytest

from symc.manifest.model import Agent, Delegate, ToolRow, Use
from tests.manifest.written import AGENT, manifests, marked, only, places


def agent(text: str) -> Agent:
    return manifests({"a.yaml": AGENT + text}).agents["helper"].body


Chains = list[tuple[list[tuple[str, dict[str, object] | None]], str, str | None, tuple[str | int, ...]]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[a]", [([("a", None)], "all", None, ())]),
        ("[a, b, a]", [([("a", None), ("b", None), ("a", None)], "all", None, ())]),
        ("[a, {use: b, config: {n: 1}}]", [([("a", None), ("b", {"n": 1})], "all", None, ())]),
        ("[{use: crm/a}]", [([("crm/a", None)], "all", None, ())]),
        (
            "[[a], [a, b]]",
            [([("a", None)], "all", None, (0,)), ([("a", None), ("b", None)], "all", None, (1,))],
        ),
        (
            "[[a], {chain: [b], expose: leaf}]",
            [([("a", None)], "all", None, (0,)), ([("b", None)], "leaf", None, (1, "chain"))],
        ),
        ("[{chain: [a], expose: only, as: x}]", [([("a", None)], "only", "x", (0, "chain"))]),
    ],
)
def test_v2_one_chain_or_several(value: str, expected: Chains) -> None:
    chains = agent(f"variants: {{crm/x: {value}}}\n").variants["crm/x"]
    assert [
        ([(one.use, one.config) for one in chain.chain], chain.expose, chain.as_, chain.at)
        for chain in chains
    ] == [(elements, expose, name, ("variants", "crm/x", *at)) for elements, expose, name, at in expected]


def test_the_place_of_each_element_is_known() -> None:
    checked = manifests({"a.yaml": AGENT + "variants:\n  crm/x: [[a], {chain: [b, {use: c}]}]\n"}).agents[
        "helper"
    ]
    spans = [
        checked.span(*chain.at, number).start.column
        for chain in checked.body.variants["crm/x"]
        for number in range(len(chain.chain))
    ]
    assert spans == [12, 25, 28]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[a, §[b]]", "mixed-chains"),
        ("[[a], §b]", "mixed-chains"),
        ("[{use: a}, §{chain: [b]}]", "mixed-chains"),
        ("[a, b, §{chain: [b]}, [c]]", "mixed-chains"),
        ("§[]", "empty-list"),
        ("[§[]]", "empty-list"),
        ("[[a], {chain: §[]}]", "empty-list"),
        ("§audit", "wrong-type"),
        ("§{chain: [a]}", "wrong-type"),
        ("[[a], [§[b]]]", "wrong-type"),
        ("[[§1]]", "not-quoted"),
        ("[{chain: §a}]", "wrong-type"),
        ("[{use: a, config: §[b]}]", "wrong-type"),
        ("[{use: a, config: §null}]", "null-value"),
        ("[[a], {chain: [{use: a, §confg: {}}]}]", "unknown-key"),
        ("[{chain: [a], as: §5}]", "not-quoted"),
        # a reference to the environment is a whole string in a config
        ("[{use: a, config: {url: '${env:URL}', deep: [{x: '${env:X}'}]}}]", ""),
        ("[{use: a, config: {text: '$5 ${HOME}', none: null}}]", ""),
        ("[{use: a, config: {url: §'https://${env:HOST}/'}}]", "invalid-env-reference"),
        ("[{chain: [{use: a, config: {deep: [{x: §'${env:}'}]}}]}]", "invalid-env-reference"),
    ],
)
def test_chains_are_refused(value: str, expected: str) -> None:
    text, at = marked(AGENT + f"variants:\n  crm/x: {value}\n")
    assert places(text) == ([f"{expected} {at}"] if at else [])


def test_a_mixture_shows_both_forms() -> None:
    found = only(AGENT + "variants:\n  crm/x: [a, [b]]\n")
    assert found.message == 'the list of "crm/x" starts with a tool extension, and this item is a chain'
    assert [(one.span.start.column, one.label) for one in found.secondary] == [
        (11, "a tool extension: the first item")
    ]


def test_every_faulty_key_is_said() -> None:
    text = AGENT + "variants:\n  crm/a: []\n  crm/b: [x, [y]]\n  crm/c: [{use: 1}]\n  crm: [a]\n"
    assert places(text) == ["empty-list 4:10", "mixed-chains 5:14", "not-quoted 6:17", "invalid-pattern 7:3"]


def test_extensions_and_delegates_have_one_long_form() -> None:
    body = agent(
        "extensions: [crm, files >=1, {use: web, prefix: w}]\ndelegates: [b, {agent: c, may_exceed: ['*/x']}]\n"
    )
    assert body.extensions == (Use(use="crm"), Use(use="files >=1"), Use(use="web", prefix="w"))
    assert body.delegates == (Delegate(agent="b"), Delegate(agent="c", may_exceed=("*/x",)))


def test_rows_of_tools_stay_as_they_are_written() -> None:
    body = agent("tools: [crm/*, {tool: crm/x, as: find, description: Find.}]\n")
    assert body.tools == (
        "crm/*",
        ToolRow.model_validate({"tool": "crm/x", "as": "find", "description": "Find."}),
    )


def test_the_document_itself_is_not_touched() -> None:
    text = AGENT + "extensions: [crm]\nvariants: {crm/x: [a]}\ndelegates: [b]\n"
    data = manifests({"a.yaml": text}).agents["helper"].document.data
    assert data["extensions"] == ["crm"]
    assert data["variants"] == {"crm/x": ["a"]}
    assert data["delegates"] == ["b"]
