"""The command line: one module per command, heavy imports inside the commands."""

import sys


def main() -> None:
    """Run ``symc`` with the arguments of this process and exit with the code of docs/diagnostics.md."""
    if sys.argv[1:] == ["--version"]:
        # Answered before click is imported: scripts ask for it often.
        from symc._version import VERSION

        sys.stdout.write(f"symc {VERSION}\n")
        return
    if sys.argv[1:2] == ["compile"]:
        from symc.cli.replay import replay

        if replay(sys.argv[2:]):
            return
    from symc.cli.frame import run

    run(sys.argv[1:])
