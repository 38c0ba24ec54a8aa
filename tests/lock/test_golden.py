"""Golden locks: the bytes of a lock version never change, and every later release reads them (L30).

`tests/locks/v<N>/` holds, for each version, locks and the digests of what they hold. A change of what is written for
unchanged manifests is a new version, with a folder of its own; these files are never written again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from symc.composition import LOCK_VERSION
from symc.lock import digest_lines, dumps, loads, verify
from symc.lock.reading import OLDEST_READ
from tests.lock.sample import LOCK

LOCKS = Path(__file__).parents[1] / "locks"
GOLDEN = sorted(LOCKS.glob("v*/*.lock"))


def test_every_version_that_is_read_has_golden_locks() -> None:
    assert {path.parent.name for path in GOLDEN} >= {f"v{n}" for n in range(OLDEST_READ, LOCK_VERSION + 1)}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_golden_lock_means_what_it_meant(path: Path) -> None:
    lock = loads(path.read_bytes())
    verify(lock)
    assert f"v{lock.lock_version}" == path.parent.name
    assert "\n".join(digest_lines(lock)) + "\n" == path.with_suffix(".digests").read_text(encoding="utf-8")
    if lock.lock_version == LOCK_VERSION:
        assert dumps(lock).encode() == path.read_bytes()


def test_the_lock_of_everything_is_written_as_it_was() -> None:
    assert dumps(LOCK).encode() == (LOCKS / "v1/everything.lock").read_bytes()
