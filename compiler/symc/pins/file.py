"""The pin file: one canonical text for one answer, written whole or not at all (docs/policies.md P30)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from symc.lock.writing import render


def text_of(answer: Mapping[str, Any]) -> str:
    """The pin's text: raw tools sorted by name, keys sorted, RFC 8785 numbers, hidden characters escaped, LF.

    Equal answers have equal texts, whatever order the server gave them in.
    """
    return render({"tools": sorted(answer["tools"], key=lambda tool: str(tool["name"]))})


def write(path: Path, text: str) -> bool:
    """Write the pin if its bytes differ, and say whether they did; killed at any moment, it leaves the old or the new.

    A pin that is a link is written through to what it points at. Raises ``OSError``.
    """
    target = path.resolve()
    content = text.encode()
    with suppress(FileNotFoundError):
        if target.read_bytes() == content:
            return False
    target.parent.mkdir(parents=True, exist_ok=True)
    # The name starts with a dot: a file left by a crash is none that a compile reads.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    return True
