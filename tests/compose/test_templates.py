"""Templates: the subset of Jinja2, its fast path, and what is refused (docs/manifests.md §6)."""

from __future__ import annotations

from typing import Any

import pytest

from symc.compose.plain import plain_template
from symc.compose.templates import Templates

VALUES: dict[str, Any] = {
    "name": "Ada",
    "empty": "",
    "yes": True,
    "no": False,
    "count": 3,
    "share": 0.5,
    "topics": ["a", "B"],
    "none_at_all": [],
    "whole": 1.0,
    "large": 1e21,
    "tiny": 1.5e-7,
    "nought": -0.0,
    "mixed": [1.0, True, "x", 0.5],
}


def rendered(text: str, **values: Any) -> str:
    rendering = Templates().render(text, VALUES | values)
    assert rendering.faults == ()
    return rendering.text


def faults(text: str, **values: Any) -> list[str]:
    found = Templates().render(text, VALUES | values)
    assert found.text == text
    return [f"{fault.code.name} {fault.line}:{fault.column}" for fault in found.faults]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("Hello {{ name }}!", "Hello Ada!"),
        ("{{name}}{{ name }}", "AdaAda"),
        # Numbers and truth values as the lock spells them, with and without Jinja2, in filters and as constants.
        ("{{ count }} {{ share }} {{ yes }} {{ no }}", "3 0.5 true false"),
        ("{{ whole }} {{ large }} {{ tiny }} {{ nought }}", "1 1e+21 1.5e-7 0"),
        ("{{- count }} {{ share }} {{ yes }} {{ no }}", "3 0.5 true false"),
        ("{{- whole }} {{ large }} {{ tiny }} {{ nought }}", "1 1e+21 1.5e-7 0"),
        ("{{ mixed | join(' ') }} {{ mixed | join(1.0) }}", "1 true x 0.5 11true1x10.5"),
        ("{% for m in mixed %}{{ m }},{{ m | upper }};{% endfor %}", "1,1;true,TRUE;x,X;0.5,0.5;"),
        ("{{ yes | upper }}{{ no | lower }}{{ whole | trim }}{{ yes | trim('te') }}", "TRUEfalse1ru"),
        (
            "{{ no | default('none', true) }}{{ no | default(2.0, true) }}{{ yes | default('x') }}",
            "none2true",
        ),
        ("{{ true }} {{ 1.0 }} {{ 1e3 }} {{ -2.50 }}", "true 1 1000 -2.5"),
        (
            "{% if whole == 1 %}A{% endif %}{% if large > 3 %}B{% endif %}{% if yes == true %}C{% endif %}",
            "ABC",
        ),
        ("a\n{{ name }}\n", "a\nAda\n"),
        ("{% if yes %}A{% endif %}", "A"),
        ("{% if no %}A{% else %}B{% endif %}", "B"),
        ("{% if no %}A{% elif empty %}B{% elif yes %}C{% else %}D{% endif %}", "C"),
        ("{% if yes %}{% if no %}A{% else %}B{% endif %}{% else %}C{% endif %}", "B"),
        ("{% if no %}{% if yes %}A{% else %}B{% endif %}{% else %}C{% endif %}", "C"),
        ("{% if none_at_all %}A{% endif %}.", "."),
        ("{% if no %}{{ name }}{% endif %}.", "."),
        # No trimming: a tag leaves its line where it was.
        ("{% if yes %}\nA\n{% endif %}\n", "\nA\n\n"),
        ("{%- if yes -%} A {%- endif %} B", "A B"),
        ('{% if name == "Ada" %}A{% endif %}', "A"),
        ('{% if "Ada" != name %}A{% endif %}', ""),
        ("{% if count >= 3 %}A{% endif %}{% if count < 2.5 %}B{% endif %}", "A"),
        ("{% if count > -1 %}A{% endif %}", "A"),
        ("{% for t in topics %}[{{ t }}]{% endfor %}", "[a][B]"),
        ("{% for t in topics %}{% if t == 'B' %}{{ t }}{% endif %}{% endfor %}", "B"),
        ("{% for name in topics %}{{ name }}{% endfor %}{{ name }}", "aBAda"),
        ("{{ topics | join(', ') }}", "a, B"),
        ("{{ topics | join | lower }}", "ab"),
        ("{{ name | upper }} {{ name|lower }}", "ADA ada"),
        ("{{ ' x '|trim }}{{ 'xyx'|trim('x') }}", "xy"),
        ("{{ empty | default('none', true) }}", "none"),
        ("{{ name | default('none') }}", "Ada"),
        ("{{ 'constant' }}{{ 1 }}", "constant1"),
        ("{% raw %}{{ name }}{% endraw %}", "{{ name }}"),
        ("a{# a comment #}b", "ab"),
        # Braces that open nothing.
        ("{ }} }", "{ }} }"),
        ("$5 ${HOME} %} #}", "$5 ${HOME} %} #}"),
    ],
)
def test_rendered(text: str, expected: str) -> None:
    assert rendered(text) == expected


def test_a_template_is_read_once_and_rendered_for_each_value() -> None:
    templates = Templates()
    text = "{{ name | upper }}"
    assert [templates.render(text, {"name": name}).text for name in ("a", "b", "a")] == ["A", "B", "A"]


def test_what_is_substituted_is_not_scanned_again() -> None:
    assert rendered("{{ name }}", name="{{ count }}{% if") == "{{ count }}{% if"
    assert rendered("{{ name | trim }}", name="{{ count }}") == "{{ count }}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {{ name", ["template-syntax 0:2"]),
        ("a\n{% if yes %}", ["template-syntax 1:0"]),
        ("a\n\n{% endif %}", ["template-syntax 2:0"]),
        ("{{ }}", ["template-syntax 0:0"]),
        ("{% if yes %}{% else %}{% else %}{% endif %}", ["template-syntax 0:0"]),
        ("{% else %}", ["template-syntax 0:0"]),
        ("{% nonsense %}", ["template-syntax 0:0"]),
        # Jinja2 tells the line alone; the tag is the one that is wrong in the same way by itself.
        ('Be {{ name }} {% import "a" %}.', ["template-syntax 0:14"]),
        ("{{ name }} {{ }} {{ name }}", ["template-syntax 0:11"]),
        ("{% if %}{% endif %}", ["template-syntax 0:0"]),
        ("{{" + "(" * 3000, ["template-syntax 0:0"]),
        ("{{ " + "9" * 5000 + " }}", ["template-syntax 0:0"]),
        ("{{ name() }}", ["template-not-allowed 0:0"]),
        ("x {{ name.upper }}", ["template-not-allowed 0:2"]),
        ("{{ name['a'] }}", ["template-not-allowed 0:0"]),
        ("{{ topics[0] }}", ["template-not-allowed 0:0"]),
        ("{{ count + 1 }}", ["template-not-allowed 0:0"]),
        ("{{ name ~ name }}", ["template-not-allowed 0:0"]),
        ("{{ 'a' if yes }}", ["template-not-allowed 0:0"]),
        ("{{ name is defined }}", ["template-not-allowed 0:0"]),
        ("{{ not yes }}", ["template-not-allowed 0:0"]),
        ("{{ [name] }}", ["template-not-allowed 0:0"]),
        ("{{ {'a': 1} }}", ["template-not-allowed 0:0"]),
        ("{{ name == 'a' }}", ["template-not-allowed 0:0"]),
        ("{{ name | length }}", ["template-not-allowed 0:0"]),
        ("{{ topics | join(name) }}", ["template-not-allowed 0:0"]),
        ("{{ topics | join('a', 'b') }}", ["template-not-allowed 0:0"]),
        ("{{ topics | join(attribute='x') }}", ["template-not-allowed 0:0"]),
        ("{{ topics | join(*topics) }}", ["template-not-allowed 0:0"]),
        ("{{ self }}", ["template-not-allowed 0:0"]),
        ("{% for t in topics %}{{ loop.index }}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics %}{{ loop }}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% if yes and no %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% if not yes %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% if name == empty %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% if 1 < count < 5 %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% if name in 'abc' %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% if true %}{% endif %}", ["template-not-allowed 0:0"]),
        ("{% set x = 1 %}", ["template-not-allowed 0:0"]),
        ("{% include 'x' %}", ["template-not-allowed 0:0"]),
        ("{% import 'x' as y %}", ["template-not-allowed 0:0"]),
        ("{% from 'x' import y %}", ["template-not-allowed 0:0"]),
        ("{% extends 'x' %}", ["template-not-allowed 0:0"]),
        ("{% block b %}{% endblock %}", ["template-not-allowed 0:0"]),
        ("{% macro m() %}{% endmacro %}", ["template-not-allowed 0:0"]),
        ("{% filter upper %}a{% endfilter %}", ["template-not-allowed 0:0"]),
        ("{% with %}{% endwith %}", ["template-not-allowed 0:0"]),
        ("{% for a, b in topics %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics if t %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics %}{% else %}x{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics recursive %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in [1, 2] %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics|trim %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% for t in topics %}{% for u in topics %}{% endfor %}{% endfor %}", ["template-not-allowed 0:0"]),
        ("{% if yes %}" * 30 + "{% endif %}" * 30, ["template-not-allowed 0:0"]),
        ("{% if yes %}" + "{% elif no %}" * 60 + "{% endif %}", ["template-not-allowed 0:0"]),
        ("{{ name" + "|trim" * 200 + " }}", ["template-not-allowed 0:0"]),
        # All at once.
        ("{{ a.b }}\n{{ c() }}", ["template-not-allowed 0:0", "template-not-allowed 1:0"]),
        ("x {{ other }} {{ other }}", ["template-undeclared 0:5", "template-undeclared 0:17"]),
        ("{{ other | upper }}", ["template-undeclared 0:3"]),
        (
            "{% for t in others %}{{ t }}{{ u }}{% endfor %}",
            ["template-undeclared 0:12", "template-undeclared 0:31"],
        ),
        ("{{ t }}{% for t in topics %}{% endfor %}", ["template-undeclared 0:3"]),
        ("{{ topics }}", ["template-value 0:3"]),
        ("{{ topics | upper }}", ["template-value 0:0"]),
        ("{{ topics | default('x') }}", ["template-value 0:0"]),
        ("{{ name | join }}", ["template-value 0:0"]),
        ("{% for t in name %}{% endfor %}", ["template-value 0:0"]),
        ("{% if name > 3 %}{% endif %}", ["template-value 0:0"]),
        ("{% if count > 'a' %}{% endif %}", ["template-value 0:0"]),
        ("{% if topics > 3 %}{% endif %}", ["template-value 0:0"]),
        ("{% for t in topics %}{% if t < 3 %}{% endif %}{% endfor %}", ["template-value 0:0"]),
    ],
)
def test_refused(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{% for x in many %}" + "a" * 1000 + "{% endfor %}", {"many": ["x"] * 2000}),
        ("{{ many | join('" + "a" * 1000 + "') }}", {"many": ["x"] * 2000}),
        ("{% for x in many %}{{ many | join }}{% endfor %}", {"many": ["x" * 10] * 1000}),
        (
            "{% for x in many %}{% if x == 1 %}{{ big }}{% endif %}{% endfor %}",
            {"many": [1] * 20, "big": "a" * 99_999},
        ),
    ],
)
def test_a_template_cannot_grow_without_bound(text: str, values: dict[str, Any]) -> None:
    assert faults(text, **values) == ["template-too-large 0:0"]
    assert faults("a\n{{ 'b' }}\n" + text, **values) == ["template-too-large 2:0"]


def test_what_is_harmless_apart_is_refused_together() -> None:
    assert Templates().render("<{{ name }}", {"name": "extension-text>"}, framed=False).faults == ()
    assert faults("<{{ name }}", name="/extension-text>") == ["wrapper-delimiter 0:0"]
    assert faults("{{ name }}", name="a\u202eb") == ["hidden-text 0:0"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", True),
        ("{{ name }}", True),
        ("{% if name %}{% else %}{% endif %}", True),
        ("{{ name|upper }}", False),
        ("{{- name }}", False),
        ("{{{ name }}", False),
        ("{# name #}", False),
        ("{% if name %}", False),
        ("{{ true }}", False),
    ],
)
def test_what_is_plain(text: str, plain: bool) -> None:
    assert (plain_template(text) is not None) == plain


def test_plain_templates_do_not_load_jinja2() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from symc.compose.templates import Templates; "
        "assert Templates().render('{{ a }}{% if a %}b{% endif %}', {'a': 'x'}).text == 'xb'; "
        "assert 'jinja2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
