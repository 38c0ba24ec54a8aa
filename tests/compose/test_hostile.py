"""Templates and schemas made to hurt: a diagnostic with a place, within a second (docs/manifests.md §6 and §7)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any

import pytest

from symc.compose import Compilation, compile
from symc.lock import dumps
from symc.source import Workspace

SLOW_MACHINE = 3 if os.environ.get("CI") == "true" else 1


def _within_a_second(files: Mapping[str, bytes]) -> Compilation:
    start = time.process_time()
    found = compile(Workspace.of(files))
    assert time.process_time() - start < SLOW_MACHINE
    return found


# Templates.


def _template(text: str, **values: Any) -> Compilation:
    given = {"x": "y", "z": ["a", "b"], "n": 1, "yes": True} | values
    agent = (
        f"kind: agent\nname: a\nvars: {json.dumps(given)}\n"
        "prompts: [{fragment_id: f, template: true, file: f.md}]\n"
    )
    return _within_a_second({"a.yaml": agent.encode(), "f.md": text.encode()})


# As they stand in the collections of server-side template injections.
ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ x.__class__ }}",
    "{{ x['__class__'] }}",
    "{{ x|attr('__class__') }}",
    "{{ x|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ [].__class__.__base__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ config.items() }}",
    "{{ request.application.__globals__.__builtins__.__import__('os').popen('id').read() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ url_for.__globals__ }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ dict.__base__.__subclasses__() }}",
    "{{ x.format(x) }}",
    "{{ '{0.__class__}'.format(x) }}",
    "{{ '{0.__class__}'|format(x) }}",
    "{{ x.format_map({}) }}",
    "{{ z.append(1) }}",
    "{{ z|map(attribute='__class__')|list }}",
    "{{ z|map('attr', '__class__')|list }}",
    "{{ z|selectattr('__class__')|list }}",
    "{{ z|groupby('__class__') }}",
    "{{ z|sort(attribute='__class__') }}",
    "{{ z|join(attribute='__class__') }}",
    "{{ x|xmlattr }}",
    "{{ x|pprint }}",
    "{% set s = x.__class__ %}{{ s }}",
    "{% for c in ().__class__.__base__.__subclasses__() %}{{ c }}{% endfor %}",
    "{% if x.__class__ %}a{% endif %}",
    "{% import 'os' as os %}{{ os }}",
    "{% include '/etc/passwd' %}",
    "{% extends '/etc/passwd' %}",
    "{% from 'os' import system %}",
    "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{{ m() }}",
    "{% call m() %}{% endcall %}",
    "{% filter attr('__class__') %}a{% endfilter %}",
    "{% with a = x.__class__ %}{{ a }}{% endwith %}",
    "{% block b %}{{ self.b.__globals__ }}{% endblock %}",
    "{% autoescape true %}{{ x }}{% endautoescape %}",
    "{% do z.append(1) %}",
    "{% trans %}{{ x }}{% endtrans %}",
    "{% debug %}",
    "{{ range(10) }}",
    "{{ loop }}",
    "{{ undefined.a.b }}",
    "{{ x is callable }}",
    "{{ (x).real }}",
    "{{ 1.0.__class__ }}",
    "{{ x.__class__",
]

ENDLESS = {
    "a loop over a range": "{% for i in range(10**12) %}{% endfor %}",
    "a loop in a loop": "{% for i in z %}{% for j in z %}{% for k in z %}a{% endfor %}{% endfor %}{% endfor %}",
    "a loop that calls itself": "{% for i in z recursive %}{{ loop(z) }}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "a long text": "{{ 'a' * 10 ** 10 }}",
    "a wide field": "{{ '%1000000000d' | format(1) }}",
    "a wide centre": "{{ x | center(10 ** 9) }}",
    "an indent": "{{ x | indent(10 ** 9) }}",
    "lorem ipsum": "{{ lipsum(10 ** 9) }}",
    "opened": "{{" * 100_000,
    "opened tags": "{%" * 100_000,
    "comments that do not end": "{#" * 100_000,
    "names": "{{ x }}" * 100_000,
    "names without a value": "".join(f"{{{{ v{n} }}}}" for n in range(100_000)),
    "filters": "{{ x | upper }}" * 100_000,
    "conditions": "{% if yes %}a{% endif %}" * 100_000,
    "conditions in conditions": "{% if yes %}" * 100_000,
    "loops": "{% for i in z %}{{ i }}{% endfor %}" * 100_000,
    "parentheses": "{{ " + "(" * 100_000 + "x" + ")" * 100_000 + " }}",
    "minuses": "{{ " + "-" * 100_000 + "1 }}",
    "negations": "{{ " + "not " * 100_000 + "x }}",
    "a row of filters": "{{ x" + " | trim" * 100_000 + " }}",
    "a row of attributes": "{{ x" + ".a" * 100_000 + " }}",
    "blanks": "{{" + " " * 1_000_000,
    "lines": "\n" * 300_000 + "{{ x.y }}",
    "a number": "{{ " + "9" * 1_000_000 + " }}",
}  # fmt: skip

GIANT: dict[str, tuple[str, dict[str, Any]]] = {
    "a loop": ("{% for i in z %}" + "a" * 900 + "{% endfor %}", {"z": ["a"] * 100_000}),
    "a joined list": ("{{ z | join('" + "a" * 100 + "') }}", {"z": ["a"] * 100_000}),
    "lists in a loop": ("{% for i in z %}{{ z | join }}{% endfor %}", {"z": ["a" * 10] * 2_000}),
    "a letter that becomes two": ("{{ x | upper }}", {"x": "ß" * 900_000}),
}


@pytest.mark.parametrize("text", ESCAPES)
def test_a_way_out_of_the_sandbox_is_refused_at_its_line(text: str) -> None:
    found = _template(f"First line.\n{text}\n")
    assert not found.ok
    (place,) = {(one.primary.file, one.primary.start.line) for one in found.diagnostics}
    assert place == ("f.md", 2)
    assert {one.name for one in found.diagnostics} <= {
        "template-not-allowed",
        "template-syntax",
        "template-undeclared",
    }


@pytest.mark.parametrize("case", ENDLESS)
def test_what_would_not_end_is_refused_within_a_second(case: str) -> None:
    found = _template(ENDLESS[case])
    assert not found.ok
    assert {one.primary.file for one in found.diagnostics if one.name.startswith("template")} == {"f.md"}
    assert all(one.primary.start.line for one in found.diagnostics)
    assert all(len(one.message) < 1_000 for one in found.diagnostics)


@pytest.mark.parametrize("case", GIANT)
def test_a_giant_is_refused_before_it_is_written(case: str) -> None:
    text, values = GIANT[case]
    found = _template("First line.\n" + text, **values)
    assert [one.name for one in found.diagnostics if one.name.startswith("template")] == [
        "template-too-large"
    ]
    (large,) = (one for one in found.diagnostics if one.name == "template-too-large")
    assert (large.primary.file, large.primary.start.line) == ("f.md", 2)


def test_so_many_tags_and_no_more() -> None:
    assert _template("{{ x }}{{ z | join }}{{ n }}{% if yes %}{% endif %}" * 100).ok
    found = _template("{{ x }}{{ z | join }}{{ n }}{% if yes %}{% endif %}" * 100 + "\n{{ x }}")
    assert [(one.name, one.primary.start.line) for one in found.diagnostics] == [("template-too-large", 2)]
    assert _template("{{ x }}" * 496 + "{{ z | join }}{{ n }}{% if yes %}{% endif %}").ok


MARKUP = "{{ 7 * 7 }} {% for i in range(9) %}x{% endfor %} {# gone #} {{ x }} ${env:HOME} {{ ''.__class__ }}"


def test_text_of_others_with_markup_stays_text() -> None:
    """What a server says, a fragment that is no template, and a value that is put in: none is read as a template."""
    tool = {"name": "t", "description": MARKUP, "inputSchema": {"type": "object", "title": MARKUP}}
    files = {
        "files.yaml": "kind: extension\nname: files\nmcp: {command: [x]}\n"
        "prompts: [{fragment_id: f, file: f.md}]\n",
        "files.pin.json": json.dumps({"tools": [tool]}),
        "f.md": MARKUP,
        "a.yaml": "kind: agent\nname: a\nextensions: [files]\ntools: ['files/*']\n"
        f"vars: {{v: {json.dumps(MARKUP)}}}\n"
        "prompts: [{fragment_id: g, template: true, text: 'Say {{ v }}, {{ v | trim }}.'}]\n",
    }
    found = _within_a_second({path: text.encode() for path, text in files.items()})
    assert found.ok, found.diagnostics
    assert found.lock is not None
    lock = json.loads(dumps(found.lock))
    spelt = json.dumps(lock, ensure_ascii=False)
    kept = json.dumps(MARKUP, ensure_ascii=False)[1:-1]
    assert spelt.count(kept) >= 5
    assert f"Say {kept}, {kept}." in spelt
    assert "49" not in {word.strip('",') for word in spelt.split()}


# Schemas.

DEEP = {
    "properties": ('{"properties": {"a": ', "}}"),
    "items": ('{"items": ', "}"),
    "allOf": ('{"allOf": [', "]}"),
    "not": ('{"not": ', "}"),
    "$defs": ('{"$defs": {"a": ', "}}"),
    "enum": ('{"enum": [', "]}"),
}
LONG = 3_000
CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(LONG)}
TREE = {
    f"d{n}": {"type": "object", "properties": {key: {"$ref": f"#/$defs/d{n + 1}"} for key in "xyz"}}
    for n in range(40)
}
ALL = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(40)}
START = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}}
REFERENCES: dict[str, dict[str, Any]] = {
    "itself": {"type": "object", "$ref": "#"},
    "a property that is the whole": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "a long chain": {**START, "$defs": {**CHAIN, f"d{LONG}": {"type": "string"}}},
    "a long circle": {**START, "$defs": {**CHAIN, f"d{LONG}": {"$ref": "#/$defs/d0"}}},
    "a tree of three to the power of forty": {**START, "$defs": {**TREE, "d40": {"type": "string"}}},
    "all of three to the power of forty": {**START, "$defs": {**ALL, "d40": {"type": "string"}}},
    "a circle of two": {
        **START,
        "$defs": {"d0": {"$ref": "#/$defs/d1"}, "d1": {"$ref": "#/$defs/d0"}},
    },
}
COSTLY = [
    "^(a+)+$",
    "(a|a)*$",
    "((a*)*)*b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(?=a)(a+)+$",
    "a{1,1000}{1,1000}",
    "(((a{1,100}){1,100}){1,100})",
    "(" * 200 + "a" + "+)*" * 200,
    "a" * 100_000,
    "[a-z]" * 20_000,
    "(?:a?){500}a{500}",
    "\\p{L}" * 5_000,
]
TEXT = "a" * 5_000 + "!"


def _pinned(pin: bytes, provider: str) -> Compilation:
    return _within_a_second(
        {
            "files.yaml": b"kind: extension\nname: files\nmcp: {command: [server]}\n",
            "files.pin.json": pin,
            "desk.yaml": b"kind: agent\nname: desk\nextensions: [files]\ntools: [files/*]\nprovider: "
            + provider.encode()
            + b"\n",
        }
    )


def _own_tool(schema: object, when: object = None, row: object = "crm/*") -> Compilation:
    tool = {"name": "t", "description": "d", "invoke": "m:f", "input_schema": schema}
    crm: dict[str, Any] = {"kind": "extension", "name": "crm", "version": "1", "tools": [tool]}
    if when is not None:
        crm["policies"] = [{"policy_id": "p", "deny": {"tools": ["crm/t"], "when": when}}]
    desk = {"kind": "agent", "name": "desk", "extensions": ["crm"], "tools": [row], "provider": "openai"}
    return _within_a_second({"crm.yaml": json.dumps(crm).encode(), "desk.yaml": json.dumps(desk).encode()})


@pytest.mark.parametrize("form", DEEP)
@pytest.mark.parametrize("levels", [90, 5_000])
def test_a_deep_schema_of_a_pin(form: str, levels: int) -> None:
    before, after = DEEP[form]
    schema = before * levels + '"x"' + after * levels
    found = _pinned(f'{{"tools": [{{"name": "t", "inputSchema": {schema}}}]}}'.encode(), "openai")
    assert not found.ok
    assert {one.primary.file for one in found.diagnostics} == {"files.pin.json"}


@pytest.mark.parametrize("form", DEEP)
def test_a_deep_schema_of_a_manifest(form: str) -> None:
    before, after = DEEP[form]
    schema = before * 5_000 + '"x"' + after * 5_000
    tool = f'{{"name": "t", "description": "d", "invoke": "m:f", "input_schema": {schema}}}'
    text = f'{{"kind": "extension", "name": "crm", "version": "1", "tools": [{tool}]}}'
    found = _within_a_second({"crm.yaml": text.encode()})
    assert [one.name for one in found.diagnostics] == ["nesting-too-deep"]


@pytest.mark.parametrize("case", REFERENCES)
@pytest.mark.parametrize("provider", ["none", "openai", "gemini"])
def test_references_that_multiply_or_lead_round(case: str, provider: str) -> None:
    """Sound or refused, and told: what is inlined for a provider that has no references has an end, too."""
    pin = json.dumps({"tools": [{"name": "t", "inputSchema": REFERENCES[case]}]}).encode()
    found = _pinned(pin, provider)
    assert found.ok or found.diagnostics
    when = {"properties": {"a": {"type": "string", "pattern": COSTLY[0]}}, "required": ["a"]}
    judged = _own_tool(REFERENCES[case], when)
    assert judged.ok or judged.diagnostics


@pytest.mark.parametrize("pattern", COSTLY, ids=lambda pattern: pattern[:20])
def test_a_costly_pattern(pattern: str) -> None:
    """In a schema, with a default to hold against it; and in a ``when``, beside a value that it may match."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern, "default": TEXT}}}
    found = _pinned(json.dumps({"tools": [{"name": "t", "inputSchema": schema}]}).encode(), "openai")
    assert found.ok or {one.name for one in found.diagnostics} == {"schema-pattern"}
    listed = {"type": "object", "properties": {"a": {"type": "string", "enum": [TEXT]}}}
    judged = _own_tool(
        listed, {"properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}
    )
    assert judged.ok or judged.diagnostics


@pytest.mark.parametrize(
    "pattern",
    ["crm/" + "*a" * 30 + "b", "crm/" + "*" * 10_000, "*" * 50_000, "crm/" + "[a-z]*" * 200, "crm/(a+)+$"],
    ids=lambda pattern: pattern[:12],
)
def test_a_costly_selector(pattern: str) -> None:
    found = _own_tool({"type": "object"}, row=pattern)
    assert {one.name for one in found.diagnostics} <= {
        "invalid-pattern",
        "row-selects-nothing",
        "tool-unknown",
    }
    assert not found.ok


def test_many_names_against_a_costly_selector() -> None:
    tools = [
        {"name": "a" * 55 + str(n), "description": "d", "invoke": "m:f", "input_schema": {"type": "object"}}
        for n in range(300)
    ]
    crm = {"kind": "extension", "name": "crm", "version": "1", "tools": tools}
    desk = {"kind": "agent", "name": "desk", "extensions": ["crm"], "tools": ["crm/" + "*a" * 25 + "*b"]}
    found = _within_a_second({"crm.yaml": json.dumps(crm).encode(), "desk.yaml": json.dumps(desk).encode()})
    assert [one.name for one in found.diagnostics if one.primary.file == "desk.yaml"] == [
        "row-selects-nothing"
    ]
