"""The lockfile: canonical bytes from a lock, a lock from bytes, and the checks in between (docs/lockfile.md)."""

from symc.lock.errors import LockError
from symc.lock.reading import loads
from symc.lock.verifying import digest_lines, expect_digest, verify
from symc.lock.writing import dumps, encoded, tree

__all__ = ["LockError", "digest_lines", "dumps", "encoded", "expect_digest", "loads", "tree", "verify"]
