"""``python -m symc.cli``: the same as ``symc``."""

from symc.cli import main

main()
