"""``symc.pins.file``: one text for one answer; the old pin or the new, never a mixture."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from symc.pins.file import text_of, write

TOOLS: list[dict[str, Any]] = [
    {"name": "b", "inputSchema": {"type": "object", "maxProperties": 10.0}, "x": {"z": 1, "y": [2.5, None]}},
    {"name": "Z", "inputSchema": {}},
    {"name": "a", "inputSchema": {}, "description": "hidden\u200b text, caf\u00e9"},
]


def test_the_text_is_canonical() -> None:
    assert text_of({"tools": TOOLS[:1], "nextCursor": "x"}) == (
        "{\n"
        '  "tools": [\n'
        "    {\n"
        '      "inputSchema": {\n'
        '        "maxProperties": 10,\n'
        '        "type": "object"\n'
        "      },\n"
        '      "name": "b",\n'
        '      "x": {\n'
        '        "y": [\n'
        "          2.5,\n"
        "          null\n"
        "        ],\n"
        '        "z": 1\n'
        "      }\n"
        "    }\n"
        "  ]\n"
        "}\n"
    )


def test_order_makes_no_difference_and_nothing_is_lost() -> None:
    text = text_of({"tools": TOOLS})
    assert [tool["name"] for tool in json.loads(text)["tools"]] == ["Z", "a", "b"]  # by code point
    assert json.loads(text)["tools"] == sorted(TOOLS, key=lambda tool: str(tool["name"]))
    assert "\u200b" not in text
    assert "\\u200b" in text
    assert "caf\u00e9" in text
    for seed in range(5):
        shuffled = [dict(random.Random(seed).sample(list(tool.items()), len(tool))) for tool in TOOLS]
        random.Random(seed).shuffle(shuffled)
        assert text_of({"tools": shuffled}) == text


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "x.pin.json"
    assert write(path, "{}\n")
    before = path.stat().st_mtime_ns
    assert not write(path, "{}\n")
    assert path.stat().st_mtime_ns == before
    assert write(path, "[]\n")
    assert path.read_bytes() == b"[]\n"
    assert [file.name for file in path.parent.iterdir()] == ["x.pin.json"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target = tmp_path / "real.json"
    target.write_text("old")
    link = tmp_path / "x.pin.json"
    link.symlink_to(target)
    assert write(link, "new\n")
    assert link.is_symlink()
    assert target.read_text() == "new\n"


def test_a_failed_write_leaves_the_old_pin_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.pin.json"
    path.write_text("old\n")

    def fail(_: Path, __: Path) -> Path:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write(path, "new\n")
    assert path.read_text() == "old\n"
    assert [file.name for file in tmp_path.iterdir()] == ["x.pin.json"]
