"""Mutations: from sound bytes to damaged ones, the same for the same seed.

Two kinds. Bytes are cut, doubled, flipped, spliced with words that readers stumble over: that is for parsers. Values are
replaced inside the data that a text stands for: what is behind the parsers sees a well-formed text that means nonsense.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

WORDS: Final[tuple[bytes, ...]] = tuple(
    word.encode("utf-8", "surrogatepass")
    for word in (
        *("{", "}", "[", "]", ": ", "- ", "? ", "| ", "|2-\n", ">+\n", "&a ", "*a", "<<: ", "!!str ", "!x ", "%YAML 1.1\n"),
        *("---\n", "...\n", "# ", '"', "'", "\\", "\\u", "\\ud800", "\\x00", "\t", "\r", "\r\n", "\n", "\n\n", " ", "  "),
        *("\x00", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\ufeff", "\u200b", "\u202e", "\U000e0041", "\ud800", "é", "e\u0301", "🏴", "ß"),
        *("null", "~", "true", "no", "1.10", "017", "0x1F", "1_000", "1e999", "-0", ".inf", ".nan", "NaN", "-Infinity"),
        *("9007199254740993", "1" * 400, "9" * 5000, "1e-400", "22:22", "2026-11-30", "::error::", "](x)", "<!--", "```"),
        *("name: ", "kind: agent\n", "kind: extension\n", "kind: workspace\n", "extends: [a]\n", "x-y: 1\n", "tools: []\n"),
        *("*/", "crm/", "../", "/etc/passwd", "${env:X}", "{{ x }}", "{% for i in x %}", "{% endfor %}", "std", "symc"),
        *("{% autoescape true %}", "{% set x = 1 %}", "{% with %}", "{% macro m() %}", "{% block b %}", "{% include 'x' %}", "{% raw %}"),
        *("{% call m() %}", "{% import 'x' as y %}", "{% filter upper %}", "{% elif x %}", "{% else %}", "{% endif %}", "{#", "-%}", "|join(', ')"),
        *('"$ref": "#"', '"$ref": "#/properties/a"', '"pattern": "(a+)+$"', '"$schema": "x"', '"digest": ', "sha256:", "from"),
    )
)  # fmt: skip
"""What readers stumble over, and what means something to this one."""

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 10**15, 2**53, 1e300, "", " ", "a", "A", "a.b", "a-b", "a_b", "a/b", "a" * 70, "*"),
    *("*/*", "crm/*", "crm/[", "std/audit", "audit", "crm >=1", "crm ==9", ">=1", "9" * 5000, "crm >=" + "9" * 5000, "../a.md", "/a.md", "a.md", "mod:fn", "mod"),
    *("{{ x }}", "{{ x", "{% if x %}a{% endif %}", "${env:X}", "${env:}", "https://u:p@h/", "l0", "l2", "platform", "profile"),
    *("session", "tenant", "deny", "ask", "tool_call", "model_call", "only", "\u200b", "\x1b[2J", "\n", "é", "\ud83d\ude00"),
    *([], {}, [[]], [{}], ["a"], ["a", "a"], [None], [1], {"a": 1}, {"a": {}}, {"": ""}, {"use": "audit"}, {"chain": ["audit"]}),
    *({"type": "object"}, {"type": "array"}, {"$ref": "#"}, {"$ref": "symc:input"}, {"allOf": [{}]}, {"type": ["string", "null"]}),
    *({"pattern": "(a+)+$"}, {"enum": []}, {"minimum": 5, "maximum": 1}, {"properties": {"a": False}}, {"not": {}}, {"const": None}),
    *({"$schema": "http://json-schema.org/draft-04/schema#"}, {"$dynamicRef": "#a"}, {"$id": "x"}, {"$defs": {"a": {"$ref": "#/$defs/a"}}}),
)  # fmt: skip
"""What a key may be given in place of its value."""

_KEYS: Final = tuple(value for value in VALUES if isinstance(value, str))


def damaged(text: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """The text after one to four cuts, flips, copies and splices; ``others`` are texts to take pieces of."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        text = random.choice(_CUTS)(text, others, random)
    return text


def nonsense(data: Any, others: Sequence[Any], random: Random) -> Any:
    """A copy of the data with one to three values replaced, moved, doubled, renamed or removed."""
    data = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _replace_one(data, others, random)
    return data


def written(data: Any) -> bytes:
    """The data as JSON, which is YAML, too."""
    return json.dumps(data, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")


_Cut = Callable[[bytes, Sequence[bytes], Random], bytes]


def _place(text: bytes, random: Random) -> int:
    return random.randrange(len(text) + 1)


def _flip(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    if not text:
        return text
    at = random.randrange(len(text))
    return text[:at] + bytes([text[at] ^ (1 << random.randrange(8))]) + text[at + 1 :]


def _drop(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    at = _place(text, random)
    return text[:at] + text[at + random.choice((1, 1, 2, 5, 20, 200)) :]


def _double(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    at, to = sorted((_place(text, random), _place(text, random)))
    return text[:to] + text[at:to] + text[to:]


def _word(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    at = _place(text, random)
    return text[:at] + random.choice(WORDS) + text[at + random.choice((0, 0, 1, 4)) :]


def _noise(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    at = _place(text, random)
    return text[:at] + random.randbytes(random.choice((1, 2, 8))) + text[at:]


def _splice(text: bytes, others: Sequence[bytes], random: Random) -> bytes:
    other = random.choice(others)
    at, to = sorted((_place(other, random), _place(other, random)))
    here = _place(text, random)
    return text[:here] + other[at : min(to, at + 400)] + text[here:]


def _line(text: bytes, _others: Sequence[bytes], random: Random) -> bytes:
    lines = text.split(b"\n")
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    what = random.randrange(4)
    if what == 0:
        lines[at], lines[to] = lines[to], lines[at]
    elif what == 1:
        lines.insert(to, lines[at])
    elif what == 2:
        del lines[at]
    else:
        lines[at] = random.choice((b" ", b"  ", b"\t", b"- ")) + lines[at]
    return b"\n".join(lines)


_CUTS: Final[tuple[_Cut, ...]] = (_flip, _drop, _double, _word, _word, _noise, _splice, _line, _line)


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Each container of the data with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [data]
    for container in waiting:  # grows while it is walked
        keys = container.keys() if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def _replace_one(data: Any, others: Sequence[Any], random: Random) -> None:
    places = _places(data)
    if not places:
        return
    container, key = random.choice(places)
    what = random.randrange(8)
    if what < 3:
        container[key] = copy.deepcopy(random.choice(VALUES))
    elif what == 3:
        del container[key]
    elif what == 4:
        from_container, from_key = random.choice(places)
        container[key] = copy.deepcopy(from_container[from_key])
    elif what == 5:
        foreign = _places(random.choice(others))
        if foreign:
            from_container, from_key = random.choice(foreign)
            value = copy.deepcopy(from_container[from_key])
            if isinstance(container, dict):
                container[str(from_key)] = value
            else:
                container.insert(key, value)
    elif what == 6 and isinstance(container, dict):
        container[str(random.choice([k for _, k in places]))] = container.pop(key)
    elif isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    else:
        container[random.choice(_KEYS)] = container[key]
