"""What is mutated: the example workspace, the small workspaces of the cases, and what they compile to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from symc.compose import compile as compile_workspace
from symc.lock import dumps
from symc.source import Workspace, parse, read

_ROOT = Path(__file__).parents[2]
_EXAMPLE = _ROOT / "manifests"
_CASES = _ROOT / "tests" / "cases"
SMALL: Final = 6_000
"""Bytes of a workspace that is mutated often: a compile of it takes a few milliseconds."""

SOUND: Final[dict[str, dict[str, bytes]]] = {
    "sound.desk": {
        "desk.yaml": b"""\
kind: workspace
name: desk
lock_version: 1
extensions: [guard]
vars: {tone: calm}
prompts: [{fragment_id: rules, layer: l0, tier: platform, file: rules.md}]
rules: {tool-name-in-prose: info}
""",
        "rules.md": "Never lie. Sei höflich 🏴\u200d☠️.\n".encode(),
        "guard.yaml": b"""\
kind: extension
name: guard
version: "1"
policies:
  - {policy_id: big, deny: {tools: ["*/export_*"], when: {properties: {n: {type: integer, minimum: 9}}, required: [n]}}}
  - {policy_id: code, actions: [tool_call], decide: "guard:decide", timeout: 2}
""",
        "crm.yaml": b"""\
kind: extension
name: crm
version: "1.4"
requires: ["guard >=1"]
vars: {topics: [a, b]}
tools:
  - &t {name: lookup, description: Find., invoke: "m:f", input_schema: {type: object, properties: {q: {type: string}}}}
  - {name: export_all, description: All., invoke: "m:f", input_schema: {type: object, properties: {n: {type: integer}}}}
prompts:
  - {fragment_id: t, template: true, text: "Be {{ tone }}.{% for x in topics %}{{ x | upper }}{% endfor %}"}
  - {fragment_id: u, text: "`crm_lookup` first."}
lifecycle: [{hook_id: open, phase: install, run: "m:open"}]
tool_extensions:
  - {name: memo, kind: wrapper, factory: "m:memo", reserved_params: {exp: {type: number}}, config_schema: {type: object}}
""",
        "base.yaml": b"kind: agent\nname: base\nabstract: true\ninstructions: |\n  Base.\nlimits: {prompt_chars: 900}\n",
        "helper.yaml": b"kind: agent\nname: helper\nextends: [base]\nextensions: [crm]\ntools: [crm/lookup]\n",
        "agent.yaml": b"""\
kind: agent
name: front
provider: openai
extends: [base]
extensions: [{use: crm, prefix: crm}]
tools: ["crm/*", {tool: crm/export_all, as: dump, description: Everything.}]
variants:
  crm/lookup: [{chain: [memo, {use: audit}], expose: only, as: find}]
prompts: [{fragment_id: who, layer: l2, tier: profile, scope: profile, slot: {max_chars: 20}}]
policies: [{policy_id: soft, ask: {tools: [crm/lookup], reason: Sure?}}]
grants: [memory_read]
delegates: [{agent: helper, may_exceed: ["crm/lookup"]}]
vars: {crm.topics: [c]}
""",
    },
    "sound.server": {
        "files.yaml": b"""\
kind: extension
name: files
mcp: {command: [npx, server, "${env:ROOT}"], env: {TOKEN: "${env:TOKEN}"}}
policies: [{policy_id: inside, deny: {tools: [files/write], when: {properties: {path: {type: string}}, required: [path]}}}]
""",
        "files.pin.json": b"""\
{"tools": [
 {"name": "read", "description": "Read.", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
 {"name": "write", "title": "W", "annotations": {"destructiveHint": true},
  "inputSchema": {"type": "object", "properties": {"path": {"$ref": "#/$defs/p"}, "mode": {"enum": ["a", 1, null]}}, "$defs": {"p": {"type": "string"}}},
  "outputSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}, "_meta": {"x": [1.5, 1e21]}}
]}
""",
        "agent.yaml": b'kind: agent\nname: clerk\nextensions: [files]\ntools: ["files/*"]\nexclude: [files/write]\n',
    },
    "sound.small": {
        "a.yaml": b"kind: agent\nname: a\ninstructions: Help.\ngrants: [memory_read]\nlimits: {max_model_rounds: 3}\n",
    },
}
"""Workspaces that compile, with a little of everything."""


@dataclass(frozen=True)
class Seeds:
    """Workspaces by name, each a mapping of path to bytes."""

    workspaces: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @classmethod
    def of_the_repository(cls) -> Seeds:
        """The example first, then every folder of ``tests/cases`` that holds a small workspace of some sense."""
        found = {"example": dict(read(_EXAMPLE).files)}
        for folder in sorted(_CASES.glob("*/*/manifests")):
            files = dict(read(folder).files)
            if files and sum(map(len, files.values())) < SMALL:
                found[folder.parent.name] = files
        return cls({**found, **SOUND})

    @cached_property
    def small(self) -> tuple[str, ...]:
        """The names of all but the example, those of sound workspaces more often."""
        names = [name for name in self.workspaces if name != "example"]
        return (*names, *(name for name in names if name in SOUND for _ in range(len(names) // 8)))

    @cached_property
    def texts(self) -> tuple[bytes, ...]:
        """Every file once."""
        return tuple({text: None for files in self.workspaces.values() for text in files.values()})

    @cached_property
    def data(self) -> tuple[Any, ...]:
        """What the manifests say that can be read."""
        sources = [parse(Workspace.of(files)) for files in self.workspaces.values()]
        return tuple(document.data for one in sources for document in one.documents)

    @cached_property
    def pins(self) -> tuple[bytes, ...]:
        """The pin files."""
        return tuple(
            {
                text: None
                for files in self.workspaces.values()
                for path, text in files.items()
                if path.endswith(".json")
            }
        )

    @cached_property
    def small_locks(self) -> tuple[bytes, ...]:
        """The locks that are mutated: the example's is large, and holds little that others do not."""
        return tuple(lock for lock in self.locks if len(lock) < 2 * SMALL)

    @cached_property
    def locks(self) -> tuple[bytes, ...]:
        """The locks of the workspaces that compile, the example's first."""
        found: dict[bytes, None] = {}
        for files in self.workspaces.values():
            lock = compile_workspace(Workspace.of(files)).lock
            if lock is not None:
                found[dumps(lock).encode()] = None
        return tuple(found)
