"""Two branches: what merges with `git merge-file`, and what it then is (L40)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from symc.composition import Agent, BoundTool, Extension, Fragment, Lock, Policy, Selector, Tool
from symc.guarding import tool_guards
from symc.lock import dumps, loads, verify

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="install git")


def _text(word: str) -> str:
    return "".join(f"Line {number} of {word}.\n" for number in range(12))


def _fragment(name: str) -> Fragment:
    return Fragment(fragment_id=name, text=_text(name))


def _tool(name: str) -> Tool:
    return Tool(name=name, description=f"Does {name}.", invoke=f"m:{name}")


def _extension(name: str, fragments: tuple[str, ...], tools: tuple[str, ...]) -> Extension:
    return Extension(
        name=name,
        source=f"extensions/{name}.yaml",
        version="1.0",
        fragments={key: _fragment(key) for key in fragments},
        tools={key: _tool(key) for key in tools},
    )


@dataclass(frozen=True)
class Manifests:
    """What two branches edit; `lock` is what it compiles to."""

    agents: dict[str, Agent]
    extensions: dict[str, Extension]

    @property
    def lock(self) -> Lock:
        agents = {}
        for name, agent in sorted(self.agents.items()):
            used = [self.extensions[key] for key in agent.extensions]
            prompt = (
                *(f"{name}/{key}" for key in sorted(agent.fragments)),
                *(f"{one.name}/{key}" for one in used for key in sorted(one.fragments)),
            )
            tools = {
                key: BoundTool(
                    name=key,
                    extension=one.name,
                    raw=key,
                    selected_by=f"{one.name}/*",
                    description=tool.description,
                )
                for one in used
                for key, tool in one.tools.items()
            }
            owners: list[Any] = [agent, *used]
            policies = {f"{o.name}/{key}": policy for o in owners for key, policy in o.policies.items()}
            guards = tool_guards(policies, tools.values())
            agents[name] = replace(
                agent,
                prompt=prompt,
                tools={key: replace(tool, guarded_by=guards[key]) for key, tool in tools.items()},
            )
        return Lock(agents=agents, extensions=self.extensions)

    def agent(self, name: str, **fields: Any) -> Manifests:
        return replace(self, agents={**self.agents, name: replace(self.agents[name], **fields)})

    def extension(self, name: str, **fields: Any) -> Manifests:
        return replace(self, extensions={**self.extensions, name: replace(self.extensions[name], **fields)})


def _agent(name: str, *extensions: str) -> Agent:
    return Agent(
        name=name,
        source=f"agents/{name}.yaml",
        extensions=extensions,
        fragments={"instructions": replace(_fragment("instructions"), tier="operating", order=0)},
    )


BASE = Manifests(
    agents={"alpha": _agent("alpha", "crm"), "beta": _agent("beta", "web"), "gamma": _agent("gamma", "web")},
    extensions={
        "crm": _extension("crm", ("aaa", "mmm", "zzz"), ("b_tool", "y_tool")),
        "web": _extension("web", ("one", "two"), ("search",)),
    },
)

Edit = Callable[[Manifests], Manifests]


def agent_text(name: str, line: int = 5) -> Edit:
    def edit(manifests: Manifests) -> Manifests:
        fragment = manifests.agents[name].fragments["instructions"]
        return manifests.agent(name, fragments={"instructions": _edited(fragment, line)})

    return edit


def fragment_text(extension: str, name: str, line: int = 5) -> Edit:
    def edit(manifests: Manifests) -> Manifests:
        fragments = manifests.extensions[extension].fragments
        return manifests.extension(extension, fragments={**fragments, name: _edited(fragments[name], line)})

    return edit


def _edited(fragment: Fragment, line: int) -> Fragment:
    return replace(fragment, text=fragment.text.replace(f"Line {line} of", f"Edited {line} of"))


def new_fragment(extension: str, name: str) -> Edit:
    return lambda m: m.extension(
        extension, fragments={**m.extensions[extension].fragments, name: _fragment(name)}
    )


def agent_fragment(agent: str, name: str) -> Edit:
    return lambda m: m.agent(agent, fragments={**m.agents[agent].fragments, name: _fragment(name)})


def new_tool(extension: str, name: str) -> Edit:
    return lambda m: m.extension(extension, tools={**m.extensions[extension].tools, name: _tool(name)})


def agent_policy(agent: str, policy_id: str) -> Edit:
    policy = Policy(
        policy_id=policy_id, effect="deny", actions=("tool_call",), tools=(Selector(pattern="*/search"),)
    )
    return lambda m: m.agent(agent, policies={policy_id: policy})


def new_extension(name: str) -> Edit:
    def edit(manifests: Manifests) -> Manifests:
        added = replace(
            manifests, extensions={**manifests.extensions, name: _extension(name, ("first",), ("go",))}
        )
        return added.agent("gamma", extensions=(*manifests.agents["gamma"].extensions, name))

    return edit


def new_agent(name: str) -> Edit:
    return lambda m: replace(m, agents={**m.agents, name: _agent(name, "web")})


# L40, number by number, and whether the two merge: at least eight of the eleven do.
CASES: dict[str, tuple[Edit, Edit, bool]] = {
    "1 text of two agents": (agent_text("alpha"), agent_text("beta"), True),
    "2 two fragments of one extension": (fragment_text("crm", "aaa"), fragment_text("crm", "zzz"), True),
    # One digest stands for the fragment: whoever merges must see that two people changed it.
    "3 one fragment, far apart lines": (
        fragment_text("crm", "mmm", 1),
        fragment_text("crm", "mmm", 10),
        False,
    ),
    "4 adjacent fragments": (fragment_text("crm", "aaa", 11), fragment_text("crm", "mmm", 0), True),
    "5 a fragment more here, an edit there": (agent_fragment("alpha", "more"), agent_text("beta"), True),
    # The extension's digest covers the ids of its parts, and the agent's those of its tools.
    "6 two new tools, apart": (new_tool("crm", "a_tool"), new_tool("crm", "z_tool"), False),
    "7 a new fragment and an edit of the first": (
        new_fragment("crm", "new"),
        fragment_text("crm", "aaa"),
        True,
    ),
    "8 policies of two agents": (agent_policy("alpha", "budget"), agent_policy("gamma", "quiet"), True),
    "9 a new extension and an edit of another": (new_extension("zeta"), fragment_text("crm", "aaa"), True),
    "10 both add a tool at the same place": (new_tool("crm", "m_tool"), new_tool("crm", "n_tool"), False),
    "11 a new agent and an edit of the last": (new_agent("omega"), agent_text("gamma"), True),
}


def merged(base: Lock, ours: Lock, theirs: Lock, folder: Path) -> tuple[str, bool]:
    """The text that git makes of two branches, and whether it merged without a conflict."""
    for name, lock in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_text(dumps(lock), encoding="utf-8", newline="\n")
    run = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False
    )
    return run.stdout.decode(), run.returncode == 0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
def test_two_branches(tmp_path: Path, case: str, swapped: bool) -> None:
    one, other, clean = CASES[case]
    if swapped:
        one, other = other, one
    text, merges = merged(BASE.lock, one(BASE).lock, other(BASE).lock, tmp_path)
    assert merges == clean
    if merges:
        # What `compile --check` would say of the merged manifests.
        assert text == dumps(other(one(BASE)).lock)
        verify(loads(text))


def test_at_least_eight_of_eleven_merge() -> None:
    assert sum(clean for _, _, clean in CASES.values()) >= 8
    assert len(CASES) == 11


def test_a_conflict_that_someone_resolved_by_taking_sides_is_refused(tmp_path: Path) -> None:
    """Both texts, one digest: the digest says so."""
    from symc.lock import LockError

    one, other, _ = CASES["3 one fragment, far apart lines"]
    ours, theirs = one(BASE).lock, other(BASE).lock
    for name, lock in (("ours", ours), ("base", BASE.lock), ("theirs", theirs)):
        (tmp_path / name).write_text(dumps(lock), encoding="utf-8", newline="\n")
    run = subprocess.run(
        ["git", "merge-file", "-p", "--ours", "ours", "base", "theirs"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    with pytest.raises(LockError) as error:
        verify(loads(run.stdout))
    assert [one.name for one in error.value.diagnostics] == ["lock-digest"]
