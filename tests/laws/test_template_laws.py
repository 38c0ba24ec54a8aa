"""Laws of templates: the fast path and the sandbox write the same bytes, and nothing else gets through."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from symc.canonical import canonical_bytes
from symc.compose.plain import plain_template
from symc.compose.templates import Templates

# fmt: off
PIECES = [
    "{{ a }}", "{{b}}", "{{ if }}", "{{\na\t}}", "{% if a %}", "{% if b %}", "{% elif b %}", "{% else %}", "{%else%}",
    "{% endif %}", "{", "}", "{{", "}}", "{%", "%}", "x", "\n", " ", "{#", "#}", "{{ a~b }}", "-", "{{- a -}}",
    "{% raw %}", "{% endraw %}", "{{ a or b }}", "ß", "\xa0", "{{\xa0a }}", "$", "{{ l }}", "_", "{{ a|upper }}",
    "{% for t in l %}", "{{ t }}", "{% endfor %}", "{{ l|join(', ') }}", "{% if c > 3 %}",
]
# fmt: on
SCALARS = st.one_of(
    st.text(max_size=5), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False)
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)


@cache
def sandbox() -> ImmutableSandboxedEnvironment:
    found = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, finalize=spelt
    )
    found.filters["upper"] = lambda value: spelt(value).upper()
    return found


def spelt(value: Any) -> str:
    """A value as the lock writes it; text without its quotes."""
    return value if isinstance(value, str) else canonical_bytes(value).decode()


@settings(max_examples=200, deadline=None)
@given(TEXTS, SCALARS, SCALARS)
def test_a_plain_template_is_what_jinja_makes_of_it(text: str, a: Any, b: Any) -> None:
    template = plain_template(text)
    values = {"a": a, "b": b, "l": "l", "t": "t", "_": "_", "x": "x"}
    if template is not None and not any(mention.name not in values for mention in template.mentions):
        assert template.render(values) == sandbox().from_string(text).render(values)


@settings(max_examples=200, deadline=None)
@given(TEXTS, SCALARS, SCALARS, st.lists(st.text(max_size=3), max_size=3), st.integers(0, 9))
def test_what_is_accepted_is_rendered_as_jinja_does(
    text: str, a: Any, b: Any, items: list[str], c: int
) -> None:
    values = {"a": a, "b": b, "l": items, "c": c}
    rendering = Templates().render(text, values)
    if not any(fault.code.name.startswith("template") for fault in rendering.faults):
        expected = sandbox().from_string(text).render(values)
        assert rendering.text == (text if rendering.faults else expected)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="{}%#-'\"abif|().[]\n \\", max_size=40))
def test_no_text_makes_reading_raise(text: str) -> None:
    rendering = Templates().render(text, {"a": "x", "b": ["y"]})
    assert rendering.faults or isinstance(rendering.text, str)


@settings(max_examples=100, deadline=None)
@given(TEXTS, SCALARS)
def test_remembering_changes_nothing(text: str, a: Any) -> None:
    values = {"a": a, "b": False, "l": ["x"], "c": 1}
    templates = Templates()
    first = templates.render(text, values)
    templates.render(text, values | {"a": "other"})
    assert templates.render(text, values) == first == Templates().render(text, values)
