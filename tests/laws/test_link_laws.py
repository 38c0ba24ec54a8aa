"""Laws of link and select: cycles, composed order, and what an extension takes with it when it goes."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.compose import compile as compile_workspace
from symc.compose.knots import composed_order, knots, untied
from symc.composition import Agent
from symc.source import Workspace

NAMES = "abcdefg"
Graph = Mapping[str, tuple[str, ...]]
GRAPHS: st.SearchStrategy[Graph] = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple) for name in NAMES}
)
DAGS: st.SearchStrategy[Graph] = st.permutations(NAMES).flatmap(
    lambda order: st.fixed_dictionaries(
        {
            name: st.lists(st.sampled_from(order[:rank]), max_size=3, unique=True).map(tuple)
            if rank
            else st.just(())
            for rank, name in enumerate(order)
        }
    )
)


def _graph(references: Graph) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(references)
    graph.add_edges_from((name, other) for name, others in references.items() for other in others)
    return graph


@settings(max_examples=200, deadline=None)
@given(GRAPHS)
def test_every_knot_is_found_once_and_worded_by_a_way_round_it(references: Graph) -> None:
    found = knots(references)
    graph = _graph(references)
    expected = {
        frozenset(members)
        for members in nx.strongly_connected_components(graph)
        if len(members) > 1 or any(graph.has_edge(name, name) for name in members)
    }
    assert {knot.members for knot in found} == expected
    for knot in found:
        assert knot.path[0] == knot.path[-1] == min(knot.members)
        assert all(other in references[name] for name, other in knot.steps)
        assert len(set(knot.path)) == len(knot.path) - 1
        back = (
            nx.shortest_path_length(graph, other, knot.path[0])
            for other in references[knot.path[0]]
            if other in knot.members
        )
        assert len(knot.steps) == 1 + min(back)
    assert not knots(untied(references, found))


def _brute_force(references: Graph, names: set[str]) -> tuple[str, ...]:
    """X-20 read aloud: again and again the first by name of those whose requirements are all there."""
    order: list[str] = []
    while len(order) < len(names):
        order.append(min(n for n in names - set(order) if set(references[n]) <= set(order)))
    return tuple(order)


@settings(max_examples=200, deadline=None)
@given(DAGS, st.sets(st.sampled_from(NAMES), min_size=1))
def test_every_agent_sees_its_extensions_in_the_one_composed_order(
    references: Graph, roots: set[str]
) -> None:
    order = composed_order(references)
    assert order == _brute_force(references, set(NAMES))
    closed = roots | {other for root in roots for other in nx.descendants(_graph(references), root)}
    assert tuple(name for name in order if name in closed) == _brute_force(references, closed)


def _extension(name: str, requires: tuple[str, ...]) -> bytes:
    return (
        f'kind: extension\nname: {name}\nversion: "1"\nrequires: [{", ".join(requires)}]\n'
        f'tools: [{{name: do_{name}, description: D., invoke: "m:f"}}]\n'
        f"prompts: [{{fragment_id: p, text: Text of {name}.}}]\n"
        f"policies: [{{policy_id: q, actions: [delegate], ask: {{reason: R.}}}}]\n"
        f'lifecycle: [{{hook_id: h, phase: install, run: "m:f"}}]\n'
    ).encode()


def _composed(references: Graph, used: list[str]) -> Agent:
    files = {f"{name}.yaml": _extension(name, references[name]) for name in references}
    agent = f'kind: agent\nname: support\nextensions: [{", ".join(used)}]\ntools: ["*/*"]\n'
    files["support.yaml"] = agent.encode()
    lock = compile_workspace(Workspace.of(files)).lock
    assert lock is not None
    return lock.agents["support"]


@settings(max_examples=40, deadline=None)
@given(DAGS, st.sampled_from(NAMES))
def test_an_extension_takes_exactly_its_own_with_it(references: Graph, gone: str) -> None:
    """X-10: nothing else appears, disappears or moves."""
    free = {name: tuple(other for other in others if other != gone) for name, others in references.items()}
    before = _composed(free, list(NAMES))
    after = _composed({n: o for n, o in free.items() if n != gone}, [n for n in NAMES if n != gone])
    assert after.extensions == tuple(name for name in before.extensions if name != gone)
    assert after.prompt == tuple(each for each in before.prompt if each != f"{gone}/p")
    assert after.install == tuple(each for each in before.install if each != f"{gone}/h")
    assert dict(after.tools) == {name: tool for name, tool in before.tools.items() if name != f"do_{gone}"}
    assert set(before.extensions) - set(after.extensions) == {gone}
