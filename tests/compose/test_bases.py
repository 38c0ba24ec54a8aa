"""A base that nobody extends: what is wrong in every heir is told, what an heir could complete is not (docs/manifests.md §4)."""

from __future__ import annotations

import pytest

from symc.compose import compile
from symc.source import Workspace

CRM = """\
kind: extension
name: crm
version: "1.0"
tools:
  - {name: find, invoke: "m:find"}
  - {name: list, invoke: "m:list", input_schema: {type: object, properties: {exp: {type: number}}}}
tool_extensions:
  - {name: memo, kind: wrapper, factory: "m:memo", reserved_params: {exp: {type: number}}}
  - {name: log, kind: wrapper, factory: "m:log"}
  - {name: near, kind: wrapper, factory: "m:near", requires_body_locality: true}
  - {name: far, kind: backend, factory: "m:far"}
  - {name: away, kind: backend, factory: "m:away"}
"""
WIKI = """\
kind: extension
name: wiki
version: "1.0"
tools:
  - {name: read, invoke: "m:read"}
tool_extensions:
  - {name: log, kind: wrapper, factory: "m:log"}
  - {name: tidy, kind: wrapper, factory: "m:tidy"}
"""


def _found(base: str, **more: str) -> list[tuple[str, str]]:
    files = {"crm": CRM, "wiki": WIKI, "base": f"kind: agent\nname: base\nabstract: true\n{base}", **more}
    compiled = compile(Workspace.of({f"{name}.yaml": text.encode() for name, text in files.items()}))
    return [(one.name, one.message) for one in compiled.diagnostics]


WRONG = {
    "tools: [crm/fnd]": ("tool-unknown", '"fnd"'),
    "extensions: [crm]\ntools: [crm/fnd]": ("tool-unknown", '"fnd"'),
    "tools: [nowhere/find]": ("tool-unknown", '"nowhere"'),
    "tools: ['crm/q*']": ("row-selects-nothing", "crm/q*"),
    "tools: ['*/q*']": ("row-selects-nothing", "*/q*"),
    "exclude: [crm/fnd]": ("tool-unknown", '"fnd"'),
    "exclude: ['wiki/q*']": ("exclude-matches-nothing", "wiki/q*"),
    "tools: [crm/find]\nexclude: [crm/find]": ("selected-and-excluded", "crm/find"),
    "tools: [{tool: crm/find, as: a}, {tool: crm/find, as: b}]": ("tool-row-twice", "crm/find"),
    "variants: {crm/fnd: [log]}": ("variant-key-unknown", "crm/fnd"),
    "variants: {'*/q*': [tidy]}": ("variant-key-unselected", "*/q*"),
    "variants: {crm/find_memo: [tidy], crm/find: [memo]}": ("variant-key-is-variant", "crm/find_memo"),
    "variants: {crm/find: [tydi]}": ("tool-extension-unknown", "tydi"),
    "variants: {crm/find: [wiki/memo]}": ("tool-extension-unknown", "wiki/memo"),
    "variants: {crm/find: [{use: cache, config: {ttl: soon}}]}": ("variant-config", "/ttl"),
    "variants: {crm/find: [{use: tidy, config: {a: 1}}]}": ("variant-config", "tidy"),
    "variants: {crm/find: [far, near]}": ("variant-locality", "near"),
    "variants: {crm/find: [far, away]}": ("variant-second-backend", "far"),
    "variants: {crm/find: [[far], [away]]}": ("variant-second-backend", "far"),
    "variants: {crm/find: [{chain: [tidy], expose: only}, {chain: [memo]}]}": (
        "variant-only-mixed",
        "crm/find",
    ),
    "variants: {crm/list: [memo]}": ("variant-schema", "exp"),
    "extensions: [crm, wiki]\nvariants: {crm/find: [log]}": ("tool-extension-ambiguous", "log"),
}


@pytest.mark.parametrize("base", WRONG)
def test_what_is_wrong_in_every_heir_is_told(base: str) -> None:
    name, says = WRONG[base]
    ((told, message),) = _found(base + "\n")
    assert (told, says in message) == (name, True)


RIGHT = [
    "tools: [crm/find, wiki/read, '*/*']",  # an heir may use both extensions
    "variants: {crm/find: [tidy]}",  # and select the tool, and bring the tool extension
    "variants: {crm/find: [log]}",  # of which there are two: an heir may use one of them
    "extensions: [crm]\nvariants: {crm/find: [log]}",
    "variants: {'crm/*': [memo]}",  # not to be put on every tool, but an heir need not select that one
    "variants: {'crm/f*': [log], crm/find: [tidy]}",
    "exclude: [crm/find, 'wiki/*']",
    "tools: [{tool: crm/find, as: same}, {tool: wiki/read, as: same}]",  # an heir may exclude one
    "prompts: [{fragment_id: a, template: true, text: '{{ mood }}'}]",  # and declare the variable
    "limits: {tools: 0}\ntools: [crm/find]",
]


@pytest.mark.parametrize("base", RIGHT)
def test_what_an_heir_could_complete_is_not_told(base: str) -> None:
    assert _found(base + "\n") == []


def test_a_base_is_told_of_with_its_heirs_where_it_has_some() -> None:
    """Once, in their words."""
    heir = "kind: agent\nname: heir\nextends: [base]\nextensions: [crm]\n"
    assert [name for name, _ in _found("tools: [crm/fnd]\n", heir=heir)] == ["tool-unknown"]
    assert [name for name, _ in _found("tools: [wiki/read]\n", heir=heir)] == ["tool-of-unused-extension"]


def test_bases_of_bases_are_told_of_once() -> None:
    more = {name: f"kind: agent\nname: {name}\nabstract: true\nextends: [base]\n" for name in ("a", "b")}
    assert [name for name, _ in _found("tools: [crm/fnd]\n", **more)] == ["tool-unknown"]


def test_what_a_refused_extension_would_bring_is_not_missed() -> None:
    base = "tools: [gone/find]\nvariants: {gone/find: [vanished], crm/find: [vanished]}\n"
    gone = "kind: extension\nname: gone\nversion: '1'\nzzz: 1\n"
    assert [name for name, _ in _found(base, gone=gone)] == ["unknown-key"]
