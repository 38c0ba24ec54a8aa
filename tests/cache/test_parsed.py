"""What was parsed before gives the same compilation: values, places, diagnostics and lock."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from pydantic_core import to_json

from symc.cli.parsed import Parsed
from symc.compose import compile
from symc.lock import encoded
from symc.source import Workspace, parse, read

ROOT = Path(__file__).parents[2]
SICK = {
    "a.yaml": b"kind: agent\nname: a\ngrants: [tool_cal]\ninstructions: hi\n",
    "b.yaml": b"kind: extension\nname: b\nversion: 1.0.0\nvars: {unread: 1}\ntools: &t []\nx-more: *t\n",
    "c.yaml": b"kind: [",
    "d.yaml": b'kind: extension\nname: d\nversion: 1.0.0\nx-n: [1.0, 1, 1e-7, -0.0, true, null, "", "1"]\n',
}


@pytest.mark.parametrize("files", [SICK, dict(read(ROOT / "manifests").files)], ids=["sick", "example"])
def test_a_compile_of_parsed_files_is_the_same(files: dict[str, bytes], tmp_path: Path) -> None:
    workspace = Workspace.of(files)
    cold = compile(workspace)
    first = Parsed.beside(tmp_path / "symc.lock", workspace)
    assert not first.data
    first.keep(cold.manifests)
    again = Parsed.beside(tmp_path / "symc.lock", workspace)
    accepted = {one.path for one in cold.manifests.agents.values()}
    accepted |= {one.path for one in cold.manifests.extensions.values()}
    assert accepted <= again.data.keys()
    warm = compile(workspace, parsed=again.data)
    assert warm == cold
    assert warm.diagnostics == cold.diagnostics
    if cold.lock is not None and warm.lock is not None:
        assert encoded(warm.lock) == encoded(cold.lock)


@pytest.mark.parametrize("path", sorted(SICK))
def test_data_comes_back_as_it_was(path: str, tmp_path: Path) -> None:
    sources = parse(Workspace.of({path: SICK[path]}))
    for document in sources.documents:
        digest = sha256(SICK[path]).hexdigest()
        parsed = Parsed.beside(tmp_path / "symc.lock", Workspace.of({path: SICK[path]}))
        parsed.cache.put("parsed", to_json({digest: document.data}))
        (found,) = Parsed.beside(tmp_path / "symc.lock", Workspace.of({path: SICK[path]})).data.values()
        assert repr(found) == repr(document.data)  # 1, 1.0 and True are equal, and different values


def test_a_changed_file_is_not_what_was_parsed(tmp_path: Path) -> None:
    before = Workspace.of({"d.yaml": SICK["d.yaml"]})
    Parsed.beside(tmp_path / "symc.lock", before).keep(compile(before).manifests)
    after = Workspace.of({"d.yaml": SICK["d.yaml"] + b"# more\n", "e.yaml": SICK["d.yaml"]})
    assert Parsed.beside(tmp_path / "symc.lock", after).data.keys() == {
        "e.yaml"
    }  # by content, whatever its name
