"""Codes 9xx: symc itself."""

from symc.diagnostics.record import Code

BUG = Code(
    "SYM901",
    "bug",
    "symc met a case that it does not handle. It says so, writes nothing and exits with 101.",
    "symc compile",
    "Run the command again with SYMC_TRACEBACK=1 and report what it prints.",
)
