"""Laws of the layout: one total order that no order of declaration changes, and a prefix that stays shared."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from symc.compose.layout import Layout, layout, render
from symc.compose.link import link
from symc.compose.typesetting import PlacedFragment, Typesetter
from symc.contracts.vocabulary import is_authored, is_learned, scopes_of
from symc.manifest.check import check
from symc.source import Workspace, parse

EXTENSIONS = ("a-ext", "b-ext", "z-ext")


@dataclass(frozen=True)
class Written:
    """A fragment and the document that holds it."""

    owner: str
    fragment: dict[str, Any]


def _fragment(learned_only: bool) -> st.SearchStrategy[dict[str, Any]]:
    tiers = ("profile", "session") if learned_only else ("platform", "operating", "profile", "session")

    def placed(tier: str) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries(
            {
                "tier": st.just(tier),
                "scope": st.sampled_from(scopes_of(tier)),
                "layer": st.just("l1") if learned_only else st.sampled_from(("l0", "l1")),
                "order": st.sampled_from((0, 1, 10, 100, 9999)),
                "text": st.text(alphabet="ab ß漢\n", max_size=6),
            }
        )

    return st.sampled_from(tiers).flatmap(placed)


def _written(owner: str) -> st.SearchStrategy[list[Written]]:
    each = _fragment(learned_only=owner in EXTENSIONS)
    return st.lists(each, max_size=3).map(
        lambda found: [Written(owner, {"fragment_id": f"f{i}", **one}) for i, one in enumerate(found)]
    )


WORKSPACES = st.tuples(*map(_written, ("desk", "base", "support", *EXTENSIONS))).map(
    lambda parts: [written for part in parts for written in part]
)


def laid_out(written: list[Written], shuffle: random.Random | None = None) -> Layout:
    """The layout of the agent; with ``shuffle`` files and fragments are declared in another order."""
    documents: dict[str, dict[str, Any]] = {
        "desk": {"kind": "workspace", "name": "desk"},
        "base": {"kind": "agent", "name": "base", "abstract": True},
        "support": {"kind": "agent", "name": "support", "extends": ["base"], "extensions": list(EXTENSIONS)},
        **{name: {"kind": "extension", "name": name, "version": "1"} for name in EXTENSIONS},
    }
    order = list(written)
    files = list(documents)
    if shuffle is not None:
        shuffle.shuffle(order)
        shuffle.shuffle(files)
        shuffle.shuffle(documents["support"]["extensions"])
    for one in order:
        owner = one.owner
        # A platform fragment of the base cannot be replaced, so the agent's have ids of their own.
        fragment = one.fragment | {"fragment_id": f"{owner}-{one.fragment['fragment_id']}"}
        documents[owner].setdefault("prompts", []).append(fragment)
    names = {name: f"{number}.yaml" for number, name in enumerate(files)}
    sources = parse(
        Workspace.of({names[name]: yaml.safe_dump(documents[name]).encode() for name in documents})
    )
    manifests = check(sources)
    assert (*sources.diagnostics, *manifests.diagnostics) == ()
    found = link(manifests)
    assert found.diagnostics == ()
    return layout(found.agents["support"], Typesetter(found))


def key(fragment: PlacedFragment) -> tuple[Any, ...]:
    """docs/prompts.md §2, written down a second time."""
    prompt, owned = fragment.source.prompt, fragment.source
    return (
        ["l0", "l1", "l2"].index(prompt.layer),
        0 if is_authored(prompt.tier) else 1,
        ["deployment", "tenant", "profile"].index(prompt.scope),
        ["platform", "operating", "profile", "session"].index(prompt.tier),
        prompt.order,
        ["workspace", "base", "agent", "extension"].index(owned.owner_class),
        owned.owner.encode(),
        prompt.fragment_id.encode(),
    )


@settings(max_examples=40, deadline=None)
@given(WORKSPACES, st.integers())
def test_the_order_is_total_and_no_declaration_changes_it(written: list[Written], seed: int) -> None:
    """O-16, O-17."""
    first = laid_out(written)
    keys = [key(fragment) for fragment in first.fragments]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) == len(written)
    second = laid_out(written, random.Random(seed))
    assert [fragment.id for fragment in second.fragments] == [fragment.id for fragment in first.fragments]
    assert render(second) == render(first)


@settings(max_examples=40, deadline=None)
@given(WORKSPACES)
def test_authored_text_comes_before_learned_text_inside_a_layer(written: list[Written]) -> None:
    for layer in ("l0", "l1"):
        learned = [
            is_learned(fragment.source.prompt.tier)
            for fragment in laid_out(written).fragments
            if fragment.source.prompt.layer == layer
        ]
        assert learned == sorted(learned)


@settings(max_examples=40, deadline=None)
@given(WORKSPACES)
def test_no_extension_comes_before_the_operator_of_its_layer(written: list[Written]) -> None:
    """Whatever order an extension claims."""
    seen_extension = set()
    for fragment in laid_out(written).fragments:
        layer = fragment.source.prompt.layer
        if fragment.source.owner_class == "extension":
            seen_extension.add(layer)
        elif is_authored(fragment.source.prompt.tier):
            assert layer not in seen_extension


@settings(max_examples=40, deadline=None)
@given(WORKSPACES, st.data())
def test_an_edit_of_a_tenants_text_leaves_the_shared_prefix(
    written: list[Written], data: st.DataObject
) -> None:
    """Two tenants that differ in tenant-scoped text share the bytes before the first of it, whatever is edited in it."""
    first = laid_out(written)
    narrow = [number for number, one in enumerate(written) if one.fragment["scope"] != "deployment"]
    if not narrow:
        return
    number = data.draw(st.sampled_from(narrow))
    edited = list(written)
    text = written[number].fragment["text"] + "edited"
    edited[number] = replace(written[number], fragment=written[number].fragment | {"text": text})
    second = laid_out(edited)
    plan = first.cache_plan.deployment
    assert second.cache_plan == first.cache_plan
    ids = [fragment.id for fragment in first.fragments]
    shared = render(replace(first, fragments=first.fragments[: ids.index(plan) + 1] if plan else ()))
    assert render(first).startswith(shared)
    assert render(second).startswith(shared)
