"""Fifty mistakes of different kinds over twenty files: all in one report, in order, none twice, in the author's words."""

from __future__ import annotations

import re

from symc.compose import compile
from symc.source import Workspace

# Each file with the mistakes in it: (line, name of the code).
FILES: dict[str, tuple[str, tuple[tuple[int, str], ...]]] = {
    "a01.yaml": (
        "kind: extension\nname: Bad Name\nversion: 1.10\ntols: []\n",
        ((2, "invalid-name"), (3, "not-quoted"), (4, "unknown-key")),
    ),
    "a02.yaml": (
        'kind: extension\nname: two\nversion: "one"\nrequires: ["two>=1"]\nimplementation: nowhere\n',
        ((3, "invalid-version"), (4, "invalid-requirement"), (5, "invalid-target")),
    ),
    "a03.yaml": (
        'kind: extension\nname: three\nversion: "1"\ntools:\n  - {name: a b, invoke: "m:f"}\n  - {name: c}\n',
        ((5, "invalid-name"), (6, "missing-key")),
    ),
    "a04.yaml": (
        ('kind: extension\nname: four\nversion: "1"\nprompts:\n'
        "  - {fragment_id: x, text: a, tier: platform}\n  - {fragment_id: y}\n  - {fragment_id: z, text: a, order: 10000}\n"),
        ((5, "extension-widening"), (6, "exactly-one"), (7, "out-of-range")),
    ),
    "a05.yaml": (
        ('kind: extension\nname: five\nversion: "1"\npolicies:\n'
        "  - {policy_id: p, allow: {tools: ['*/x']}}\n  - {policy_id: q, actions: [tool_cal], decide: 'm:f'}\n"
        "  - {policy_id: r, deny: {reason: none}}\n"),
        ((5, "allow-is-no-authority"), (6, "unknown-effect"), (7, "rule-without-subject")),
    ),
    "a06.yaml": ("kind: extension\nname: six\nname: seis\n", ((3, "duplicate-key"),)),
    "a07.yaml": ("kind: extension\nname: !!str seven\n<<: {}\n", ((2, "explicit-tag"), (3, "merge-key"))),
    "a08.yaml": ("kind: extension\n1: eight\n", ((2, "non-string-key"),)),
    "a09.yaml": ("", ((1, "empty-file"),)),
    "a10.yaml": ("- one\n- two\n", ((1, "not-a-mapping"),)),
    "a11.yaml": ("kind: extension\n---\nkind: agent\n", ((2, "second-document"),)),
    "a12.yaml": ("kind: agnet\nname: twelve\n", ((1, "kind-unknown"),)),
    "a13.yaml": ("name: thirteen\n", ((1, "kind-missing"),)),
    "a14.yaml": (
        "kind: extension\nname: fourteen\nmcp: {comand: [x]}\n",
        ((3, "unknown-key"),),
    ),
    "a15.yaml": (
        "kind: extension\nname: fifteen\nmcp: {command: [run], env: {TOKEN: ghp_16C7e42F292c6912E7710c838347Ae178B4a}}\n",
        ((3, "secret-literal"), (3, "pin-missing")),
    ),
    "good.yaml": (
        ('kind: extension\nname: good\nversion: "1.0"\ntools:\n'
        '  - {name: find, invoke: "m:f", input_schema: {type: object}}\n'
        '  - {name: list, invoke: "m:f", input_schema: {type: object, properties: {a: {$ref: "#/nowhere"}}}}\n'),
        ((6, "schema-ref-dangling"),),
    ),
    "wiki.yaml": (
        ('kind: extension\nname: wiki\nversion: "1.0"\ntools:\n  - {name: find, invoke: "m:f", input_schema: {type: object}}\n'
        "tool_extensions:\n  - {name: log, kind: wrapper, factory: 'm:f'}\n"
        "  - {name: memo, kind: wrapper, factory: 'm:f', reserved_params: {exp: {type: number}}}\n"
        "  - {name: far, kind: backend, factory: 'm:f'}\n"
        "  - {name: near, kind: wrapper, factory: 'm:f', requires_body_locality: true}\n"),
        (),
    ),
    "b01.yaml": (
        "kind: agent\nname: one\nextensions:\n  - gone\n  - {use: wiki >=2}\n  - {use: wiki, prefix: Bad-Prefix}\n",
        ((6, "invalid-name"),),
    ),
    "b02.yaml": (
        ("kind: agent\nname: second\nextends: [nobody]\nextensions: [wiki, missing]\ntools: [wiki/nope, other/find, wiki/find]\n"
        "exclude: [wiki/gone]\ngrants: [memory_raed]\n"),
        ((7, "unknown-effect"),),
    ),
    "b03.yaml": (
        "kind: agent\nname: third\nextends: [nobody]\nextensions: [wikki]\n",
        ((3, "agent-unknown"), (4, "extension-unknown")),
    ),
    "b04.yaml": (
        "kind: agent\nname: fourth\nextensions: [wiki >=2]\ntools: [wiki/fnd, wiki/find]\nexclude: [wiki/gone]\n",
        ((3, "requirement-not-met"), (4, "tool-unknown"), (5, "tool-unknown")),
    ),
    "b05.yaml": (
        ("kind: agent\nname: fifth\nextensions: [wiki]\ntools: [wiki/find]\nvariants:\n"
        "  wiki/find: [[far, near], [memo, memo], [lgo]]\n  wiki/gone: [log]\n"),
        ((6, "variant-locality"), (6, "variant-schema"), (6, "tool-extension-unknown"), (7, "variant-key-unknown")),
    ),
    "b06.yaml": (
        ("kind: agent\nname: sixth\nextensions: [wiki]\ntools: [wiki/find]\nvariants:\n"
        "  wiki/find: [log, [memo]]\nlimits: {max_model_rounds: 0}\nprovider: openia\n"),
        ((6, "mixed-chains"), (7, "out-of-range"), (8, "unknown-value")),
    ),
    "b07.yaml": (
        ("kind: agent\nname: seventh\ninstructions: a\u200bb\nprompts:\n  - {fragment_id: f, tier: platform, file: nowhere.md}\n"
        "  - {fragment_id: g, tier: platform, file: 'a\\b.md'}\n  - {fragment_id: h, tier: profile, layer: l2, text: no}\n"),
        ((3, "hidden-text"), (5, "file-missing"), (6, "path-separator"), (7, "slot-placement")),
    ),
    "b08.yaml": (
        ("kind: agent\nname: eighth\nextensions: [wiki]\ntools: [wiki/find]\npolicies:\n"
        "  - {policy_id: p, deny: {tools: [wiki/fnd]}}\n  - {policy_id: q, deny: {tools: ['*/zap*']}}\n"
        "delegates: [ninht]\nvars: {tone: warm}\n"),
        ((6, "policy-tool-unknown"), (8, "agent-unknown")),
    ),
    "b09.yaml": (
        ("kind: agent\nname: ninth\nprompts:\n  - {fragment_id: t, tier: operating, template: true, text: 'Be {{ tone }}.'}\n"
        "  - {fragment_id: u, tier: operating, template: true, text: '{{ a.b }}'}\n"),
        ((4, "template-undeclared"), (5, "template-not-allowed")),
    ),
    "b10.yaml": (
        "kind: agent\nname: tenth\nextensions: [wiki]\ntools: [wiki/find, {tool: wiki/find, as: find}, {tool: wiki/find, as: get}]\n",
        ((4, "tool-row-twice"),),
    ),
}  # fmt: skip


def test_all_are_told_at_once_in_order_and_once() -> None:
    workspace = Workspace.of({path: text.encode() for path, (text, _) in FILES.items()})
    found = compile(workspace).diagnostics
    wanted = {(path, line, name) for path, (_, rows) in FILES.items() for line, name in rows}
    reported = [(d.primary.file, d.primary.start.line, d.name) for d in found]
    assert wanted - set(reported) == set()
    assert len(wanted) >= 50
    assert len({name for _, _, name in wanted}) >= 40
    assert len(FILES) >= 20
    # Nothing but what was planted, and nothing twice.
    assert set(reported) - wanted == set()
    assert len(found) == len(set(found))
    # In order: by file, then by place.
    places = [(d.primary.file, d.primary.start) for d in found]
    assert places == sorted(places)


def test_no_message_shows_an_internal() -> None:
    workspace = Workspace.of({path: text.encode() for path, (text, _) in FILES.items()})
    internal = re.compile(
        r"pydantic|Traceback|\bNone\b|<class|object at 0x|symc\.[a-z]+\.|ValueError|dict\b|tuple\b"
    )
    for diagnostic in compile(workspace).diagnostics:
        said = [diagnostic.message, *diagnostic.notes, diagnostic.hint.text if diagnostic.hint else ""]
        for text in said:
            assert not internal.search(text), text
        assert "ghp_" not in repr(diagnostic)
