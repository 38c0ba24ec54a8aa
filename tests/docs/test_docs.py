"""The documentation is held to the code: citations, links, examples, flags."""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from symc.cli.frame import COMMANDS, root
from symc.compose.built_in import built_in
from symc.composition import LOCK_VERSION
from tests.docs.pages import DOCS, ROOT, Page, Section, pages

PAGES = {page.name: page for page in pages()}
EXAMPLES = [section for page in PAGES.values() for section in page.examples()]

# Citations


CITING = [
    path
    for folder in ("compiler", "tests", "support_desk", "manifests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".yaml", ".json") and "found" not in path.parts
] + [ROOT / "pyproject.toml", ROOT / ".importlinter"]

# The text of a test that is about paths in prose.
NO_PAGES = {"docs/export_all.md", "docs/PAGE.md"}

HOMES = {"V": "variants", "P": "policies", "L": "lockfile", "X": "contracts", "F": "contracts", "O": "cases"}

_PLACE = r"(?:§\s?\d+|[A-Z]-?\d+|\d+)"
_CITATION = re.compile(
    rf"(?P<page>docs/[\w./-]+\.md)(?P<places>(?:[\s#]+{_PLACE}(?:(?:,[\s#]+| and |–|…|-){_PLACE})*)?)"
)
_RULE = re.compile(r"(?<![\w-])(?:[VPL]\d{1,2}|[XFO]-\d\d)\b")


def _citations() -> Iterator[tuple[str, str, str]]:
    """Citing file, page and places of every citation."""
    for path in CITING:
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in _CITATION.finditer(text):
            if match["page"] not in NO_PAGES:
                yield path.relative_to(ROOT).as_posix(), match["page"], match["places"]


def test_a_citation_names_a_page_with_that_section_or_rule() -> None:
    lost = set()
    found = 0
    for file, name, places in _citations():
        found += 1
        page = PAGES.get(name)
        if page is None:
            lost.add(f"{file}: there is no {name}")
            continue
        for section in re.findall(r"§\s?(\d+)|(?<![\w-])(\d+)\b", places):
            if (number := section[0] or section[1]) not in page.sections:
                lost.add(f"{file}: {name} has no §{number}")
        # Further rules of a list may stand in pages of their own.
        if (rule := re.match(r"[\s#]*([A-Z]-?\d+)", places)) and rule[1] not in page.rules:
            lost.add(f"{file}: {name} has no {rule[1]}")
    assert found > 200
    assert sorted(lost) == [], "\n".join(sorted(lost))


def test_a_rule_named_in_code_stands_in_its_page() -> None:
    lost = {
        f"{path.relative_to(ROOT).as_posix()}: {match[0]}"
        for path in CITING
        if path.suffix == ".py"
        for match in _RULE.finditer(path.read_text(encoding="utf-8"))
        if match[0] not in PAGES[f"docs/{HOMES[match[0][0]]}.md"].rules
    }
    assert sorted(lost) == [], "\n".join(sorted(lost))


# Links


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_link_leads_somewhere(page: Page) -> None:
    lost = []
    for target in page.links:
        path, _, anchor = target.partition("#")
        file = (page.path.parent / path).resolve() if path else page.path
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in Page.of(file).anchors):
            lost.append(target)
    assert lost == []


def test_the_index_names_every_page() -> None:
    index = PAGES["docs/README.md"]
    listed = {(index.path.parent / target.partition("#")[0]).resolve() for target in index.links}
    missing = [name for name, page in PAGES.items() if name.startswith("docs/") and page.path not in listed]
    assert [name for name in missing if name != index.name and not name.startswith("docs/errors/")] == []
    assert (DOCS / "errors" / "README.md").resolve() in listed


def test_the_map_of_the_package_is_true() -> None:
    page = PAGES["docs/architecture.md"].text
    package = ROOT / "compiler" / "symc"
    folders = {path.parent.name for path in package.glob("*/*.*") if path.parent.name != "__pycache__"}
    assert set(re.findall(r"^\| `… (\w+)/`", page, re.MULTILINE)) == folders
    modules = {path.name for path in package.glob("[a-z]*.py")}
    assert modules <= set(re.findall(r"`(\w+\.py)`", page))


def test_the_tool_extensions_that_ship_are_those_in_the_table() -> None:
    shipped = built_in(LOCK_VERSION).extensions["std"].body.tool_extensions
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+).*? \|.*?\| (.*) \|$", PAGES["docs/variants.md"].text, re.MULTILINE
    )
    documented = {name: (kind, set(re.findall(r"`([a-z_]+)`", config))) for name, kind, config in rows}
    for one in shipped:
        kind, words = documented[one.name]
        assert kind == one.kind
        assert set((one.config_schema or {}).get("properties", {})) <= words
    assert {one.name for one in shipped} <= documented.keys()


# Examples


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None)
        if origin is not None and Path(origin).is_relative_to(tmp_path):
            del sys.modules[name]


def _write(section: Section, folder: Path) -> None:
    for path, text in section.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")


@pytest.mark.parametrize("section", EXAMPLES, ids=str)
def test_a_complete_example_compiles_and_prints_what_is_shown(section: Section, project: Path) -> None:
    _write(section, project)
    runner = CliRunner()
    shown = [part for block in section.blocks("console") for part in _commands(block)]
    compiled = runner.invoke(root, ["compile", "--max-errors", "0"])
    if not any(command.startswith("symc compile") for command, _ in shown):
        assert (compiled.exit_code, compiled.output.count("\n")) == (0, 1), compiled.output
    for command, expected in shown:
        assert command.startswith("symc ")
        (project / "symc.lock").unlink(missing_ok=True) if command == "symc compile" else None
        result = runner.invoke(root, _words(command)[1:])
        assert result.output.rstrip() == expected.rstrip(), command


@pytest.mark.parametrize("section", [one for one in EXAMPLES if one.blocks("python")], ids=str)
def test_python_beside_an_example_runs(section: Section, project: Path) -> None:
    _write(section, project)
    compiled = CliRunner().invoke(root, ["compile"])
    assert compiled.exit_code == 0, compiled.output
    for block in section.blocks("python"):
        _run(block)


@pytest.mark.parametrize(
    ("name", "block"),
    [
        (name, block["text"])
        for name, page in PAGES.items()
        if name in ("docs/contracts.md", "docs/variants.md")
        for part in re.split(r"^(?=## )", page.text, flags=re.MULTILINE)
        if not re.search(r"^`[\w./-]+\.yaml`$", part, re.MULTILINE)
        for block in re.finditer(r"^```python\n(?P<text>.*?)^```$", part, re.DOTALL | re.MULTILINE)
    ],
)
def test_python_on_its_own_runs(name: str, block: str, project: Path) -> None:
    _run(block)


def _run(block: str) -> None:
    code = compile(block, "<example>", "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)
    answer = eval(code, {"__name__": "example"})
    if inspect.iscoroutine(answer):
        asyncio.run(answer)


def _commands(block: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command.strip(), output


def _words(command: str) -> list[str]:
    import shlex

    return shlex.split(command)


# Commands and flags


def _built() -> dict[str, click.Command]:
    """Every command by its words: `compile`, `policy test`."""
    found: dict[str, click.Command] = {}
    for name, (module, _) in COMMANDS.items():
        command = import_module(module).command
        assert isinstance(command, click.Command)
        if isinstance(command, click.Group):
            for inner, below in command.commands.items():
                found[f"{name} {inner}"] = below
        else:
            found[name] = command
    return found


BUILT = _built()


def _flags(command: click.Command) -> set[str]:
    return {
        flag
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for flag in (*parameter.opts, *parameter.secondary_opts)
    }


def _command_sections() -> dict[str, str]:
    parts = re.split(r"^## `symc ", PAGES["docs/commands.md"].text, flags=re.MULTILINE)[1:]
    return {part.split("`", 1)[0]: part for part in parts}


def test_every_command_has_its_section_and_no_other() -> None:
    names = {re.match(r"[a-z]+(?: [a-z]+)*", title) for title in _command_sections()}
    assert {match[0] for match in names if match} == set(BUILT)


@pytest.mark.parametrize("name", BUILT)
def test_the_flags_of_a_command_are_those_documented(name: str) -> None:
    section = next(
        text for title, text in _command_sections().items() if re.match(rf"{name}(?: [^a-z]|$)", title)
    )
    rows = re.findall(r"^\| (`-.*?) \|", section, re.MULTILINE)
    documented = {flag for row in rows for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", row)}
    assert documented == _flags(BUILT[name])


def test_a_flag_used_in_any_page_exists() -> None:
    lost = []
    for name, page in PAGES.items():
        for line in re.findall(r"symc ([a-z][^`\n]*)", page.text):
            words = re.split(r"[;&|#]|\s+—", line)[0].split()
            command: Any = BUILT.get(" ".join(words[:2])) or BUILT.get(words[0])
            used = {word.split("=")[0].rstrip(".,;:)") for word in words if word.startswith("--")}
            if command is not None and not used <= _flags(command) | {"--help"}:
                lost.append(f"{name}: symc {line}")
    assert lost == []
