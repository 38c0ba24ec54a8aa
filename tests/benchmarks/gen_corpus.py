#!/usr/bin/env python3
"""Generate a seeded workspace of agents and extensions, as large as you like (standard library only).

    python gen_corpus.py OUT [--extensions 2000] [--agents 500] [--seed 1] ...

Writes OUT/extensions/<aa>/<name>.yaml and OUT/agents/<name>.yaml, byte for byte the same for the same arguments. Texts,
templates, schemas and closures are of the sizes that people write. Extensions require others in one of three shapes:
``layers``, a few earlier ones in a lower layer; ``chain``, each the one before; ``hub``, all the first one. With
``--mistakes N``, N files have one mistake each.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

NOUNS: Final = (
    "ticket invoice order customer calendar email document repository branch deployment "
    "incident metric alert dashboard report contract vendor shipment payment refund "
    "schedule meeting note task project sprint release build artifact secret token user "
    "group role policy quota budget region cluster node volume snapshot"
).split()
VERBS: Final = (
    "search create update delete list fetch summarise classify route escalate approve "
    "reject assign archive export import validate translate merge rename"
).split()
WORDS: Final = (
    "the a an of to in for with when unless before after each every only never always "
    "agent user tool result call answer question context policy limit budget field value "
    "identifier record request response error message retry timeout owner reviewer customer "
    "confirm check cite quote prefer avoid return include exclude report state summarise "
    "explain refuse escalate continue stop plan step data source system current previous "
    "sensitive public private internal external short precise complete valid empty"
).split()
FIELD_TYPES: Final = ("string", "string", "string", "integer", "number", "boolean", "array", "object")
SCOPES: Final = ("deployment", "deployment", "deployment", "tenant")
TIERS: Final = ("session", "session", "session", "profile")
UNICODE_BITS: Final = ("café", "naïve", "Zürich", "→", "日本語", "✓", "“quoted”", "😀")
SHAPES: Final = ("layers", "chain", "hub")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What is generated; ``block_ratio`` is the share of prompts written as ``|`` blocks, the rest are quoted strings."""

    extensions: int = 2000
    agents: int = 500
    seed: int = 1
    tools: int = 6
    fragments: int = 4
    policies: int = 2
    layers: int = 4
    block_ratio: float = 1.0
    shape: str = "layers"
    cycle: bool = False
    mistakes: int = 0

    def write(self, out: Path) -> tuple[int, int]:
        """Write every file below ``out``; the number of files and of bytes."""
        numbers = [("Extension", i) for i in range(self.extensions)] + [
            ("Agent", i) for i in range(self.agents)
        ]
        wrong = set(random.Random(f"{self.seed}:mistakes").sample(range(len(numbers)), self.mistakes))
        total = 0
        for count, (kind, i) in enumerate(numbers):
            r = random.Random(f"{self.seed}:{kind}:{i}")
            document = self.extension(r, i) if kind == "Extension" else self.agent(r, i)
            if self.cycle and kind == "Extension" and i == 0 and self.extensions > 1:
                document["requires"] = [extension_name(self.extensions - 1)]
            text = _yaml(document, r, self.block_ratio)
            if count in wrong:
                text = MISTAKES[kind][count % len(MISTAKES[kind])](text)
            folder = out / "extensions" / f"{i % 64:02x}" if kind == "Extension" else out / "agents"
            folder.mkdir(parents=True, exist_ok=True)
            content = text.encode()
            (folder / f"{document['name']}.yaml").write_bytes(content)
            total += len(content)
        return len(numbers), total

    def extension(self, r: random.Random, i: int) -> Json:
        """Extension number ``i``; it requires only such with smaller numbers, so there is no cycle."""
        variables = sorted({r.choice(NOUNS) + "_hint" for _ in range(3)})
        used: set[str] = set()
        required = self._required(r, i)
        name = extension_name(i)
        document = {
            "kind": "extension",
            "name": name,
            "version": _version(i),
            "description": _sentence(r, 8, 20),
            "requires": [f"{extension_name(d)} >={_version(d)}" for d in required],
            "vars": {v: r.choice(NOUNS) for v in variables},
            "tools": [_tool(r, used) for _ in range(self.tools)],
            "prompts": [
                _fragment(r, f"p{n}", variables, tier=r.choice(TIERS), scope=r.choice(SCOPES))
                for n in range(self.fragments)
            ],
            "policies": [
                {
                    "policy_id": f"pol{n}",
                    "actions": ["tool_call"],
                    r.choice(("deny", "deny", "ask")): {
                        "tools": [f"{name}/{t}" for t in sorted(r.sample(sorted(used), min(2, len(used))))],
                        "reason": _sentence(r, 6, 14),
                    },
                }
                for n in range(self.policies)
            ],
        }
        if i % 7 == 0:
            document["tool_extensions"] = [
                {
                    "name": f"wrap{i}",
                    "kind": "wrapper",
                    "factory": "corpus.wrap:layer",
                    "reserved_params": {f"exp{i}": {"type": "number"}},
                }
            ]
        return document

    def agent(self, r: random.Random, i: int) -> Json:
        """Agent number ``i``: a handful of extensions, all their tools, variants where they bring a wrapper."""
        n = min(self.extensions, r.randint(3, 12))
        uses = sorted(r.sample(range(self.extensions), n)) if self.extensions else []
        return {
            "kind": "agent",
            "name": f"agent-{i:05d}",
            "description": _sentence(r, 8, 20),
            "provider": "none",
            "model": r.choice(("large", "medium", "small")),
            "extensions": [{"use": f"{extension_name(d)} >={_version(d)}", "prefix": f"x{d}"} for d in uses],
            "tools": [f"{extension_name(d)}/*" for d in uses],
            "variants": {
                f"{extension_name(d)}/{self._first_tool(d)}": [[f"wrap{d}"]] for d in uses if d % 7 == 0
            },
            "grants": ["model_call", "tool_call"],
            "prompts": [
                _fragment(r, "identity", [], tier="platform"),
                _fragment(r, "rules", [], tier="operating"),
            ],
            "policies": [
                {
                    "policy_id": "spend",
                    "actions": ["tool_call"],
                    "ask": {"tools": [f"{extension_name(uses[0])}/*"], "reason": _sentence(r)},
                }
            ]
            if uses
            else [],
            "limits": {"max_model_rounds": r.choice((8, 12, 16)), "tools": 200},
        }

    def _required(self, r: random.Random, i: int) -> list[int]:
        if self.shape == "chain":
            return [i - 1] if i else []
        if self.shape == "hub":
            return [0] if i else []
        pool = [d for d in range(max(0, i - 200), i) if d % self.layers < i % self.layers]
        return sorted(r.sample(pool, min(len(pool), r.choice((0, 0, 1, 1, 2, 3)))))

    def _first_tool(self, i: int) -> str:
        name: str = self.extension(random.Random(f"{self.seed}:Extension:{i}"), i)["tools"][0]["name"]
        return name


def extension_name(i: int) -> str:
    """The name of extension number ``i``."""
    return f"{NOUNS[i % len(NOUNS)]}-{VERBS[(i // len(NOUNS)) % len(VERBS)]}-{i:05d}"


def _replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


MISTAKES: Final[Mapping[str, tuple[Callable[[str], str], ...]]] = {
    "Extension": (
        _replaced("\ndescription:", "\ndescripton:"),
        _replaced("\nversion: ", "\nversion: one."),
        _replaced("invoke: corpus.tools:", "invoke: corpus.tools."),
        _replaced("\nkind: extension", "\nkind: extensoin"),
        _replaced("    order: ", "    order: first "),
        _replaced("type: object", "type: objekt"),
        _replaced("\npolicies:", "\npolicies: &p *q\nx-policies:"),
    ),
    "Agent": (
        _replaced('/*"', '/no_such_tool"'),
        _replaced("tool_call]", "tool_cal]"),
        _replaced("provider: none", "provider: nobody"),
        _replaced("tier: platform", "tier: plattform"),
    ),
}
"""What goes wrong in a file, by its kind."""


def _version(i: int) -> str:
    return f"{1 + i % 4}.{i % 10}.{i % 7}"


def _sentence(r: random.Random, lo: int = 6, hi: int = 16) -> str:
    words = [r.choice(WORDS) for _ in range(r.randint(lo, hi))]
    if r.random() < 0.06:
        words[r.randrange(len(words))] = r.choice(UNICODE_BITS)
    text = " ".join(words)
    return text[0].upper() + text[1:] + r.choice((".", ".", ".", ":", "?"))


def _prompt(r: random.Random, variables: list[str]) -> str:
    lines: list[str] = []
    for _ in range(r.randint(5, 20)):
        k = r.random()
        if k < 0.55:
            lines.append(_sentence(r))
        elif k < 0.75:
            lines.append("- " + _sentence(r, 4, 12))
        elif k < 0.83:
            lines.append("")
        elif k < 0.93 and variables:
            lines.append(f"Use {{{{ {r.choice(variables)} }}}} as the {r.choice(NOUNS)} {r.choice(NOUNS)}.")
        elif variables:
            v = r.choice(variables)
            lines.append(f"{{% if {v} %}}" + _sentence(r, 4, 8) + "{% endif %}")
        else:
            lines.append("## " + _sentence(r, 2, 4))
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines or [_sentence(r)]) + "\n"


def _fragment(r: random.Random, fragment_id: str, variables: list[str], **fields: str) -> Json:
    text = _prompt(r, variables)
    found = {"fragment_id": fragment_id, **fields, "order": r.randint(0, 200), "text": text}
    if "{{" in text or "{%" in text:
        found["template"] = True
    return found


def _field_schema(r: random.Random, depth: int = 0) -> Json:
    kind = r.choice(FIELD_TYPES if depth < 1 else FIELD_TYPES[:6])
    schema: Json = {"type": kind, "description": _sentence(r, 4, 10)}
    if kind == "string":
        k = r.random()
        if k < 0.25:
            schema["enum"] = sorted({r.choice(NOUNS) for _ in range(r.randint(2, 5))})
        elif k < 0.45:
            schema["pattern"] = f"^[a-z][a-z0-9_-]{{0,{r.choice((15, 31, 63))}}}$"
        else:
            schema["maxLength"] = r.choice((64, 256, 1024))
    elif kind == "integer":
        schema["minimum"] = r.randint(0, 5)
        schema["maximum"] = r.randint(10, 1000)
    elif kind == "number":
        schema["minimum"] = round(r.uniform(0, 1), 3)
        schema["default"] = round(r.uniform(1, 20), 2)
    elif kind == "boolean":
        schema["default"] = r.random() < 0.5
    elif kind == "array":
        schema["items"] = {"type": r.choice(("string", "integer"))}
        schema["maxItems"] = r.choice((5, 20, 100))
    else:
        schema["properties"] = {r.choice(NOUNS): _field_schema(r, depth + 1) for _ in range(r.randint(1, 3))}
        schema["additionalProperties"] = False
    return schema


def _tool(r: random.Random, used: set[str]) -> Json:
    while True:
        name = f"{r.choice(VERBS)}_{r.choice(NOUNS)}"
        if name not in used:
            used.add(name)
            break
    properties: Json = {}
    for _ in range(r.randint(2, 6)):
        properties[r.choice(NOUNS) + r.choice(("", "_id", "_name", "_count"))] = _field_schema(r)
    return {
        "name": name,
        "description": _sentence(r, 10, 24),
        "invoke": f"corpus.tools:{name}",
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": sorted(r.sample(sorted(properties), r.randint(0, len(properties)))),
            "additionalProperties": False,
        },
    }


_PLAIN: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$")
_RESERVED: Final = {"yes", "no", "on", "off", "true", "false", "null", "y", "n", "~"}


def _scalar(value: Any) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        return repr(value)
    if _PLAIN.match(value) and value.lower() not in _RESERVED and ": " not in value:
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _emit(value: Any, indent: int, out: list[str], as_block: Callable[[], bool]) -> None:
    """Write a value's lines, as a person would: block style, two-space indent."""
    pad = " " * indent
    if isinstance(value, dict):
        for key, item in value.items():
            _emit_item(f"{pad}{_scalar(key)}:", item, indent, out, as_block)
        return
    for item in value:
        if isinstance(item, dict) and item:
            inner: list[str] = []
            _emit(item, indent + 2, inner, as_block)
            inner[0] = pad + "- " + inner[0][indent + 2 :]
            out.extend(inner)
        else:
            _emit_item(f"{pad}-", item, indent, out, as_block)


def _emit_item(head: str, item: Any, indent: int, out: list[str], as_block: Callable[[], bool]) -> None:
    if isinstance(item, dict) and item:
        out.append(head)
        _emit(item, indent + 2, out, as_block)
    elif isinstance(item, list) and item:
        if all(isinstance(each, str) for each in item):
            out.append(f"{head} [{', '.join(_scalar(each) for each in item)}]")
        else:
            out.append(head)
            _emit(item, indent + 2, out, as_block)
    elif isinstance(item, dict | list):
        out.append(f"{head} {'{}' if isinstance(item, dict) else '[]'}")
    elif isinstance(item, str) and item.endswith("\n") and item.count("\n") > 1 and as_block():
        out.append(f"{head} |")
        pad = " " * (indent + 2)
        out.extend(pad + line if line else "" for line in item[:-1].split("\n"))
    else:
        out.append(f"{head} {_scalar(item)}")


def _yaml(document: Json, r: random.Random, block_ratio: float) -> str:
    out = [f"# {document['kind']} {document['name']}: generated, do not edit"]
    for key, value in document.items():
        if key in ("tools", "prompts", "policies"):
            out.append(f"\n# {key}")
        _emit({key: value}, 0, out, lambda: block_ratio >= 1 or r.random() < block_ratio)
    return "\n".join(out) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    for name in ("extensions", "agents", "seed", "tools", "fragments", "policies", "layers", "mistakes"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Corpus(), name))
    parser.add_argument("--block-ratio", type=float, default=1.0)
    parser.add_argument("--shape", choices=SHAPES, default="layers")
    parser.add_argument("--cycle", action="store_true", help="make extension 0 require the last one")
    arguments = vars(parser.parse_args())
    files, size = Corpus(**{key: value for key, value in arguments.items() if key != "out"}).write(
        arguments["out"]
    )
    sys.stdout.write(f"{files} files, {size} bytes\n")


if __name__ == "__main__":
    main()
