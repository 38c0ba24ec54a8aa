"""The pytest plugin ``symc``: fixtures over a compiled workspace (docs/prompts.md §7).

def test_support(prompt_layout, snapshot):
    assert prompt_layout("support") == snapshot
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from symc.compose import Compilation
    from symc.testing.surfaces import PolicyGraph, PromptLayout, ToolSurface


_RUNNING = pytest.StashKey[pytest.Item]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the ini option ``symc_workspace``."""
    parser.addini("symc_workspace", "Folder of manifests, relative to the root folder.", default="manifests")


@pytest.fixture(scope="session")
def symc_workspace(pytestconfig: pytest.Config) -> Compilation:
    """The workspace named by the ini option, compiled once a session; its mistakes fail the test that asks for it."""
    from symc.compose import compile as compile_workspace
    from symc.source import WorkspaceError, read

    folder = pytestconfig.rootpath / str(pytestconfig.getini("symc_workspace"))
    try:
        workspace = read(folder)
    except WorkspaceError as error:
        said = str(error)
    else:
        said = ""
    if said:  # outside of the handler: the test's report is about the folder, and not about an exception
        pytest.fail(f"{said}; set symc_workspace in the pytest configuration", pytrace=False)
    compilation = compile_workspace(workspace)
    if not compilation.ok:
        from symc.diagnostics.renderers import text

        prefix = _prefix(folder, pytestconfig.rootpath)
        found = [diagnostic.relocated(prefix) for diagnostic in compilation.diagnostics]
        sources = {prefix + path: content for path, content in compilation.texts.items()}
        pytest.fail(text.render(found, sources), pytrace=False)
    return compilation


@pytest.fixture
def prompt_layout(symc_workspace: Compilation) -> Callable[[str], PromptLayout]:
    """The prompt of an agent, by name: compare it (or its ``.rendered`` bytes) with ``snapshot``."""
    from symc.testing.surfaces import PromptLayout, composition_of

    return lambda agent: PromptLayout.of(composition_of(symc_workspace, agent))


@pytest.fixture
def tool_surface(symc_workspace: Compilation) -> Callable[[str], ToolSurface]:
    """The tools of an agent as its model sees them, by name: compare with ``snapshot``."""
    from symc.testing.surfaces import ToolSurface, composition_of

    return lambda agent: ToolSurface.of(composition_of(symc_workspace, agent))


@pytest.fixture
def policy_graph(symc_workspace: Compilation) -> Callable[[str], PolicyGraph]:
    """What guards what in an agent, by name: compare with ``snapshot``."""
    from symc.testing.surfaces import PolicyGraph, composition_of

    return lambda agent: PolicyGraph.of(composition_of(symc_workspace, agent))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Remember the running test: what changed in a surface goes into its report, whole."""
    item.config.stash[_RUNNING] = item
    try:
        yield
    finally:
        del item.config.stash[_RUNNING]


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> Generator[None, list[list[str] | None], list[list[str] | None]]:
    """Say what changed in a surface, fragment by fragment, instead of two walls of text.

    pytest cuts a long explanation, so the assertion shows the headlines and a section of the report shows all.
    """
    results = yield
    if op != "==":
        return results
    from symc.testing.surfaces import Surface

    for mine, other in ((left, right), (right, left)):
        if isinstance(mine, Surface):
            lines = mine.explain(other)
            running = config.stash.get(_RUNNING, None)
            if running is not None:
                running.add_report_section("call", "symc", "\n".join(lines))
            return [[lines[0], *(line for line in lines[1:] if line and not line.startswith(" "))]]
    return results


def _prefix(folder: Path, root: Path) -> str:
    return folder.relative_to(root).as_posix() + "/" if folder.is_relative_to(root) else f"{folder}/"
