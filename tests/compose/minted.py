"""Minting on a page: an agent's `variants` over a small extension, compiled, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from symc.compose import Compilation, compile
from symc.compose.mint import MintedTool
from symc.source import Workspace

DESK = """\
kind: extension
name: crm
version: "1.0"
tools:
  - name: find
    description: Find one.
    invoke: "m:f"
    input_schema: {type: object, properties: {key: {type: string}}, required: [key]}
    output_schema: {type: object, properties: {id: {type: string}}}
    annotations: {readOnlyHint: true}
  - name: list
    description: List all.
    invoke: "m:f"
    input_schema: {type: object, properties: {limit: {type: integer}}}
tool_extensions:
  - {name: w, kind: wrapper, factory: "m:w"}
  - {name: v, kind: wrapper, factory: "m:v"}
  - {name: memo, kind: wrapper, factory: "m:memo", reserved_params: {exp: {type: number}}}
  - {name: near, kind: wrapper, factory: "m:near", requires_body_locality: true}
  - {name: told, kind: wrapper, factory: "m:told", description: "Told: {description}"}
  - {name: hinted, kind: wrapper, factory: "m:h", annotations: {idempotentHint: true}}
  - {name: far, kind: backend, factory: "m:far"}
  - {name: away, kind: backend, factory: "m:away", config_schema: {type: object, properties: {queue: {type: string}}}}
  - {name: own, kind: backend, factory: "m:own", input_schema: {type: object, properties: {job: {type: string}}}}
  - name: bulk
    kind: transformer
    factory: "m:bulk"
    input_schema:
      type: object
      properties: {params: {type: array, items: {$ref: "symc:input"}}}
      required: [params]
  - name: also
    kind: transformer
    factory: "m:also"
    inherit_properties: true
    input_schema: {type: object, properties: {note: {type: string}}, required: [note]}
    output_schema: {type: object, properties: {ok: {type: boolean}}}
    annotations: {readOnlyHint: false}
  - {name: plain, kind: transformer, factory: "m:plain", input_schema: {type: object, properties: {text: {type: string}}}}
  - name: tuned
    kind: wrapper
    factory: "m:tuned"
    config_schema:
      type: object
      properties: {level: {enum: [low, high]}, secret: {type: string, maxLength: 3}}
      required: [level]
      additionalProperties: false
"""


@dataclass(frozen=True)
class Outcome:
    """The minted tools by name, and the names of the diagnostics in report order."""

    compilation: Compilation
    tools: dict[str, MintedTool]
    faults: tuple[str, ...]

    @property
    def exposed(self) -> list[str]:
        return sorted(name for name, tool in self.tools.items() if tool.exposed)

    @property
    def hidden(self) -> list[str]:
        return sorted(name for name, tool in self.tools.items() if not tool.exposed)

    def message(self, name: str) -> str:
        """The only diagnostic of this name: message and hint."""
        (found,) = [d for d in self.compilation.diagnostics if d.name == name]
        return f"{found.message} | {found.hint.text if found.hint else ''}"


def outcome(variants: str, *, tools: str = "crm/find", desk: str = DESK, **keys: str) -> Outcome:
    """Compile agent `x` with these `tools` and `variants` (YAML flow); `keys` are further keys of the agent."""
    more = "".join(f"{key}: {value}\n" for key, value in keys.items() if key != "others")
    agent = f"kind: agent\nname: x\nextensions: [crm]\ntools: [{tools}]\nvariants: {variants}\n{more}"
    if "extensions" in keys:
        agent = agent.replace("extensions: [crm]\n", "", 1)
    files = {"crm.yaml": desk.encode(), "x.yaml": agent.encode()}
    if "others" in keys:
        files["others.yaml"] = keys["others"].encode()
    compilation = compile(Workspace.of(files))
    minted = compilation.agents["x"].tools if "x" in compilation.agents else ()
    return Outcome(
        compilation,
        {tool.name: tool for tool in minted},
        tuple(d.name for d in compilation.diagnostics if d.level == "error"),
    )
