#!/usr/bin/env python3
"""Generate a seeded corpus of agent and extension manifests (standard library only).

    python gen_corpus.py OUT [--extensions 2000] [--agents 500] [--seed 1]
                         [--tools 6] [--fragments 4] [--policies 2]
                         [--layers 4] [--block-ratio 1.0] [--cycle] [--json]

Writes OUT/extensions/<aa>/<name>.yaml and OUT/agents/<name>.yaml.
The output is byte-identical for the same arguments. Extensions form a DAG:
extension i requires only extensions with a smaller index in a lower layer
(layer = index modulo --layers), so a compile never meets a cycle (use --cycle to add one, for error tests).
--json writes the same data as .json too, for checking a parser's result.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import re
from collections.abc import Callable
from typing import Any

NOUNS = [
    "ticket",
    "invoice",
    "order",
    "customer",
    "calendar",
    "email",
    "document",
    "repository",
    "branch",
    "deployment",
    "incident",
    "metric",
    "alert",
    "dashboard",
    "report",
    "contract",
    "vendor",
    "shipment",
    "payment",
    "refund",
    "schedule",
    "meeting",
    "note",
    "task",
    "project",
    "sprint",
    "release",
    "build",
    "artifact",
    "secret",
    "token",
    "user",
    "group",
    "role",
    "policy",
    "quota",
    "budget",
    "region",
    "cluster",
    "node",
    "volume",
    "snapshot",
]
VERBS = [
    "search",
    "create",
    "update",
    "delete",
    "list",
    "fetch",
    "summarise",
    "classify",
    "route",
    "escalate",
    "approve",
    "reject",
    "assign",
    "archive",
    "export",
    "import",
    "validate",
    "translate",
    "merge",
    "rename",
]
WORDS = [
    "the",
    "a",
    "an",
    "of",
    "to",
    "in",
    "for",
    "with",
    "when",
    "unless",
    "before",
    "after",
    "each",
    "every",
    "only",
    "never",
    "always",
    "agent",
    "user",
    "tool",
    "result",
    "call",
    "answer",
    "question",
    "context",
    "policy",
    "limit",
    "budget",
    "field",
    "value",
    "identifier",
    "record",
    "request",
    "response",
    "error",
    "message",
    "retry",
    "timeout",
    "owner",
    "reviewer",
    "customer",
    "confirm",
    "check",
    "cite",
    "quote",
    "prefer",
    "avoid",
    "return",
    "include",
    "exclude",
    "report",
    "state",
    "summarise",
    "explain",
    "refuse",
    "escalate",
    "continue",
    "stop",
    "plan",
    "step",
    "data",
    "source",
    "system",
    "current",
    "previous",
    "sensitive",
    "public",
    "private",
    "internal",
    "external",
    "short",
    "precise",
    "complete",
    "valid",
    "empty",
]
FIELD_TYPES = ("string", "string", "string", "integer", "number", "boolean", "array", "object")
SCOPES = ("deployment", "deployment", "deployment", "tenant")
TIERS = ("session", "session", "session", "profile")
UNICODE_BITS = ("café", "naïve", "Zürich", "→", "日本語", "✓", "“quoted”", "😀")


def sentence(r: random.Random, lo: int = 6, hi: int = 16) -> str:
    ws = [r.choice(WORDS) for _ in range(r.randint(lo, hi))]
    if r.random() < 0.06:
        ws[r.randrange(len(ws))] = r.choice(UNICODE_BITS)
    s = " ".join(ws)
    return s[0].upper() + s[1:] + r.choice((".", ".", ".", ":", "?"))


def prompt(r: random.Random, vars_: list[str]) -> str:
    lines = []
    for _ in range(r.randint(5, 20)):
        k = r.random()
        if k < 0.55:
            lines.append(sentence(r))
        elif k < 0.75:
            lines.append("- " + sentence(r, 4, 12))
        elif k < 0.83:
            lines.append("")
        elif k < 0.93 and vars_:
            lines.append(f"Use {{{{ {r.choice(vars_)} }}}} as the {r.choice(NOUNS)} {r.choice(NOUNS)}.")
        elif vars_:
            v = r.choice(vars_)
            lines.append(f"{{% if {v} %}}" + sentence(r, 4, 8) + "{% endif %}")
        else:
            lines.append("## " + sentence(r, 2, 4))
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines or [sentence(r)]) + "\n"


def field_schema(r: random.Random, depth: int = 0) -> dict[str, Any]:
    t = r.choice(FIELD_TYPES if depth < 1 else FIELD_TYPES[:6])
    s: dict[str, Any] = {"type": t, "description": sentence(r, 4, 10)}
    if t == "string":
        k = r.random()
        if k < 0.25:
            s["enum"] = sorted({r.choice(NOUNS) for _ in range(r.randint(2, 5))})
        elif k < 0.45:
            s["pattern"] = f"^[a-z][a-z0-9_-]{{0,{r.choice((15, 31, 63))}}}$"
        else:
            s["maxLength"] = r.choice((64, 256, 1024))
    elif t == "integer":
        s["minimum"] = r.randint(0, 5)
        s["maximum"] = r.randint(10, 1000)
    elif t == "number":
        s["minimum"] = round(r.uniform(0, 1), 3)
        s["default"] = round(r.uniform(1, 20), 2)
    elif t == "boolean":
        s["default"] = r.random() < 0.5
    elif t == "array":
        s["items"] = {"type": r.choice(("string", "integer"))}
        s["maxItems"] = r.choice((5, 20, 100))
    else:
        s["properties"] = {r.choice(NOUNS): field_schema(r, depth + 1) for _ in range(r.randint(1, 3))}
        s["additionalProperties"] = False
    return s


def tool(r: random.Random, used: set[str]) -> dict[str, Any]:
    while True:
        name = f"{r.choice(VERBS)}_{r.choice(NOUNS)}"
        if name not in used:
            used.add(name)
            break
    props = {}
    for _ in range(r.randint(2, 6)):
        props[r.choice(NOUNS) + r.choice(("", "_id", "_name", "_count"))] = field_schema(r)
    return {
        "name": name,
        "description": sentence(r, 10, 24),
        "invoke": f"corpus.tools:{name}",
        "input_schema": {
            "type": "object",
            "properties": props,
            "required": sorted(r.sample(sorted(props), r.randint(0, len(props)))),
            "additionalProperties": False,
        },
    }


def ext_name(i: int) -> str:
    return f"{NOUNS[i % len(NOUNS)]}-{VERBS[(i // len(NOUNS)) % len(VERBS)]}-{i:05d}"


def version(i: int) -> str:
    return f"{1 + i % 4}.{i % 10}.{i % 7}"


def fragment(r: random.Random, fragment_id: str, variables: list[str], **fields: Any) -> dict[str, Any]:
    text = prompt(r, variables)
    found = {"fragment_id": fragment_id, **fields, "order": r.randint(0, 200), "text": text}
    if "{{" in text or "{%" in text:
        found["template"] = True
    return found


def extension(r: random.Random, i: int, a: argparse.Namespace) -> dict[str, Any]:
    variables = sorted({r.choice(NOUNS) + "_hint" for _ in range(3)})
    used: set[str] = set()
    pool = [d for d in range(max(0, i - 200), i) if d % a.layers < i % a.layers]
    deps = sorted(r.sample(pool, min(len(pool), r.choice((0, 0, 1, 1, 2, 3)))))
    name = ext_name(i)
    document = {
        "kind": "extension",
        "name": name,
        "version": version(i),
        "description": sentence(r, 8, 20),
        "requires": [f"{ext_name(d)} >={version(d)}" for d in deps],
        "vars": {v: r.choice(NOUNS) for v in variables},
        "tools": [tool(r, used) for _ in range(a.tools)],
        "prompts": [
            fragment(r, f"p{n}", variables, tier=r.choice(TIERS), scope=r.choice(SCOPES))
            for n in range(a.fragments)
        ],
        "policies": [
            {
                "policy_id": f"pol{n}",
                "actions": ["tool_call"],
                r.choice(("deny", "deny", "ask")): {
                    "tools": [f"{name}/{t}" for t in sorted(r.sample(sorted(used), min(2, len(used))))],
                    "reason": sentence(r, 6, 14),
                },
            }
            for n in range(a.policies)
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


def first_tool(i: int, a: argparse.Namespace) -> str:
    return str(extension(random.Random(f"{a.seed}:Extension:{i}"), i, a)["tools"][0]["name"])


def agent(r: random.Random, i: int, a: argparse.Namespace) -> dict[str, Any]:
    n = min(a.extensions, r.randint(3, 12))
    uses = sorted(r.sample(range(a.extensions), n)) if a.extensions else []
    return {
        "kind": "agent",
        "name": f"agent-{i:05d}",
        "description": sentence(r, 8, 20),
        "provider": "none",
        "model": r.choice(("large", "medium", "small")),
        "extensions": [{"use": f"{ext_name(d)} >={version(d)}", "prefix": f"x{d}"} for d in uses],
        "tools": [f"{ext_name(d)}/*" for d in uses],
        "variants": {f"{ext_name(d)}/{first_tool(d, a)}": [[f"wrap{d}"]] for d in uses if d % 7 == 0},
        "grants": ["model_call", "tool_call"],
        "prompts": [fragment(r, "identity", [], tier="platform"), fragment(r, "rules", [], tier="operating")],
        "policies": [
            {
                "policy_id": "spend",
                "actions": ["tool_call"],
                "ask": {"tools": [f"{ext_name(uses[0])}/*"], "reason": sentence(r)},
            }
        ]
        if uses
        else [],
        "limits": {"max_model_rounds": r.choice((8, 12, 16)), "tools": 200},
    }


PLAIN = re.compile(r"^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$")
RESERVED = {"yes", "no", "on", "off", "true", "false", "null", "y", "n", "~"}


def scalar(v: Any) -> str:
    if v is True:
        return "true"
    if v is False:
        return "false"
    if isinstance(v, (int, float)):
        return repr(v)
    if PLAIN.match(v) and v.lower() not in RESERVED and ": " not in v:
        return str(v)
    return json.dumps(v, ensure_ascii=False)


def emit(v: Any, ind: int, out: list[str], block_ok: Callable[[], bool]) -> None:
    """Write a value's lines, as a person would: block style, two-space indent."""
    pad = " " * ind
    if isinstance(v, dict):
        for k, x in v.items():
            emit_kv(f"{pad}{scalar(k)}:", x, ind, out, block_ok)
    else:
        for x in v:
            if isinstance(x, dict) and x:
                sub: list[str] = []
                emit(x, ind + 2, sub, block_ok)
                sub[0] = pad + "- " + sub[0][ind + 2 :]
                out.extend(sub)
            else:
                emit_kv(f"{pad}-", x, ind, out, block_ok)


def emit_kv(head: str, x: Any, ind: int, out: list[str], block_ok: Callable[[], bool]) -> None:
    if isinstance(x, dict) and x:
        out.append(head)
        emit(x, ind + 2, out, block_ok)
    elif isinstance(x, list) and x:
        if all(isinstance(e, str) for e in x):
            out.append(f"{head} [{', '.join(scalar(e) for e in x)}]")
        else:
            out.append(head)
            emit(x, ind + 2, out, block_ok)
    elif isinstance(x, (dict, list)):
        out.append(f"{head} {'{}' if isinstance(x, dict) else '[]'}")
    elif isinstance(x, str) and x.endswith("\n") and x.count("\n") > 1 and block_ok():
        out.append(f"{head} |")
        p = " " * (ind + 2)
        out.extend(p + ln if ln else "" for ln in x[:-1].split("\n"))
    else:
        out.append(f"{head} {scalar(x)}")


def to_yaml(doc: dict[str, Any], r: random.Random, block_ratio: float) -> str:
    out = [f"# {doc['kind']} {doc['name']}: generated, do not edit"]
    for k, v in doc.items():
        if k in ("tools", "prompts", "policies"):
            out.append(f"\n# {k}")
        emit({k: v}, 0, out, lambda: block_ratio >= 1 or r.random() < block_ratio)
    return "\n".join(out) + "\n"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--extensions", type=int, default=2000)
    p.add_argument("--agents", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tools", type=int, default=6)
    p.add_argument("--fragments", type=int, default=4)
    p.add_argument("--policies", type=int, default=2)
    p.add_argument("--layers", type=int, default=4, help="longest chain of requires, in extensions")
    p.add_argument(
        "--block-ratio",
        type=float,
        default=1.0,
        help="share of prompts as | blocks, the rest as quoted strings",
    )
    p.add_argument("--cycle", action="store_true", help="make extension 0 require the last one")
    p.add_argument("--json", action="store_true")
    a = p.parse_args()
    total = 0
    jobs = [("Extension", i) for i in range(a.extensions)] + [("Agent", i) for i in range(a.agents)]
    for kind, i in jobs:
        r = random.Random(f"{a.seed}:{kind}:{i}")
        doc = extension(r, i, a) if kind == "Extension" else agent(r, i, a)
        if a.cycle and kind == "Extension" and i == 0 and a.extensions > 1:
            doc["requires"] = [ext_name(a.extensions - 1)]
        name = doc["name"]
        d = a.out / "extensions" / f"{i % 64:02x}" if kind == "Extension" else a.out / "agents"
        d.mkdir(parents=True, exist_ok=True)
        text = to_yaml(doc, r, a.block_ratio).encode()
        (d / f"{name}.yaml").write_bytes(text)
        if a.json:
            (d / f"{name}.json").write_text(json.dumps(doc, ensure_ascii=False), encoding="utf-8")
        total += len(text)
    print(f"{len(jobs)} files, {total} bytes")


if __name__ == "__main__":
    main()
