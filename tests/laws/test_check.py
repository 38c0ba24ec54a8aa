"""Laws of the check stage: it answers whatever is written, changes nothing, and says nothing twice."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symc.manifest.check import check
from symc.manifest.checked import Checked
from symc.manifest.keys import node_at, written_keys
from symc.manifest.model import Node
from symc.manifest.schemas import schemas
from symc.manifest.shape import MODELS
from symc.source import Workspace, parse

SCHEMAS = {kind: jsonschema_rs.validator_for(schema) for kind, schema in schemas().items()}

WORDS = [
    "crm", "crm >=1.4", "crm/*", "*/x", "m:f", "1.4.0", "${env:X}", "${env:", "https://example.test", "tool_call",
    "session", "platform", "l2", "tenant", "wrapper", "transformer", "install", "only", "a.md", "../../b.md", "", "A",
    "\u200b", "</extension-text>", "object", "string",
]  # fmt: skip

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 20000), st.sampled_from([0.5, 1.1]), st.sampled_from(WORDS)
)


def every_key() -> list[str]:
    """Every key of every model, and some of nobody's."""
    found: dict[str, None] = dict.fromkeys(["x-own", "allow", "at", "as_", "nonsense", "properties", "$ref"])
    pending: list[type[Node]] = list(MODELS.values())
    while pending:
        node = pending.pop()
        for key in written_keys(node):
            if key not in found:
                found[key] = None
                below = [node_at(node, (key, *more)) for more in ((), (0,), ("k",), ("k", 0))]
                pending += [one for one in below if one is not None]
    return list(found)


KEYS = every_key()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*KEYS, "crm/x", "k"]), inner, max_size=4),
    ),
    max_leaves=12,
)


@st.composite
def document(draw: st.DrawFn) -> dict[str, Any]:
    """A manifest whose keys are those of its kind, with anything as values."""
    kind = draw(st.sampled_from(sorted(MODELS)))
    keys = draw(st.lists(st.sampled_from([*written_keys(MODELS[kind]), "x-own"]), max_size=5, unique=True))
    found = (
        {"kind": kind, "name": "helper", "version": "1"}
        if kind == "extension"
        else {"kind": kind, "name": "helper"}
    )
    return found | {key: draw(VALUES) for key in keys if key != "kind"}


LAW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def workspace(*documents: Any) -> Workspace:
    # JSON is YAML.
    return Workspace.of({f"{i}.yaml": json.dumps(one).encode() for i, one in enumerate(documents)})


@LAW
@given(document(), document())
def test_whatever_is_written_is_answered(first: dict[str, Any], second: dict[str, Any]) -> None:
    sources = parse(workspace(first, second))
    before = [copy.deepcopy(one.data) for one in sources.documents]
    found = check(sources)

    assert [one.data for one in sources.documents] == before
    assert check(sources) == found
    assert len(set(found.diagnostics)) == len(found.diagnostics)
    assert list(found.diagnostics) == sorted(found.diagnostics, key=lambda one: one.sort_key)
    accepted: list[Checked[Any]] = [
        *found.agents.values(),
        *found.extensions.values(),
        *filter(None, [found.workspace]),
    ]
    assert found.diagnostics or len(accepted) == len(sources.documents)
    for manifest in accepted:
        assert SCHEMAS[manifest.document.data["kind"]].is_valid(manifest.document.data)
    for one in found.diagnostics:
        assert one.primary.file in ("0.yaml", "1.yaml")
        assert "\u200b" not in one.message
        assert "pydantic" not in one.message


@LAW
@given(document(), document())
def test_a_mistake_does_not_depend_on_its_neighbours(first: dict[str, Any], second: dict[str, Any]) -> None:
    shared = {"duplicate-name", "several-workspaces"}
    together = check(parse(workspace(first, second))).diagnostics
    alone = check(parse(workspace(first))).diagnostics
    assert [one for one in together if one.primary.file == "0.yaml" and one.name not in shared] == list(alone)


@LAW
@given(document())
def test_own_keys_change_nothing(written: dict[str, Any]) -> None:
    def with_own(value: Any) -> Any:
        return {**value, "x-note": None} if isinstance(value, dict) else value

    plain = check(parse(workspace(written)))
    noted = check(parse(workspace({**with_own(written), "limits": with_own(written.get("limits", {}))})))
    if "limits" in written or written["kind"] != "extension":
        assert [one.message for one in noted.diagnostics] == [one.message for one in plain.diagnostics]


SCHEMA_PARTS = st.recursive(
    st.sampled_from([True, "object", "string", "nope", 3, None, "\u200b", "a\u0301"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "enum", "minimum", "anyOf", "id", "title", "required"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)


@LAW
@given(SCHEMA_PARTS, SCHEMA_PARTS, st.sampled_from(["", "\u200b", "e\u0301", "\U0001f468\u200d\U0001f469"]))
def test_what_a_document_tells_as_a_whole_its_parts_would_tell(first: Any, second: Any, text: str) -> None:
    tools = [
        {"name": "a", "invoke": "m:f", "description": text, "input_schema": first},
        {"name": "b", "invoke": "m:f", "output_schema": second},
    ]
    written = {"kind": "extension", "name": "crm", "version": "1", "tools": tools}
    plain = json.dumps(written, ensure_ascii=False).encode()
    # The comment holds what sends every text and every schema through a search of its own.
    searched = plain + b"\n# \\ $ pattern\n"
    one, other = (check(parse(Workspace.of({"a.yaml": raw}))) for raw in (plain, searched))
    assert one.diagnostics == other.diagnostics
