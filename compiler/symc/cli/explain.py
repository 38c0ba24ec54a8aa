"""``symc explain``: what a code means, and the reference pages made from the same table."""

from __future__ import annotations

from pathlib import Path

import click

from symc.cli.asked import at_most_one
from symc.cli.frame import ExitCode
from symc.cli.generated import write_or_check


@click.command("explain")
@click.argument("code", required=False)
@click.option("--check", is_flag=True, help="Check that the generated pages under docs/ are current.")
@click.option("--write", is_flag=True, help="Write the generated pages under docs/.")
@click.pass_context
def command(context: click.Context, code: str | None, check: bool, write: bool) -> None:
    """Explain CODE: a diagnostic code or name (SYM301, tool-name-collision) or a diff rule (SYD101, grant-widened).

    Without CODE: one line for each code.
    """
    from symc.diagnostics import reference
    from symc.diagnostics.codes import TABLE
    from symc.diff import reference as rules

    at_most_one({"check": check, "write": write}, "the first writes nothing")
    if code is not None and (check or write):
        raise click.UsageError("--check and --write are about all pages; leave out the code")
    if check or write:
        pages = {f"errors/{name}": text for name, text in reference.pages().items()} | rules.pages()
        context.exit(write_or_check(Path("docs"), pages, check=check, command="symc explain --write"))
    table = [
        *((row.code, row.name, row.purpose) for row in TABLE),
        *((row.code, row.name, row.purpose) for row in rules.TABLE),
    ]
    if code is None:
        for known, name, purpose in table:
            click.echo(f"{known}  {name}: {purpose}")
        return
    page = reference.explain(code) or rules.explain(code)
    if page is None:
        from symc.diagnostics.suggest import did_you_mean

        nearest = did_you_mean(code, [word for known, name, _ in table for word in (known, name)])
        hint = f'did you mean "{nearest}"?' if nearest else "symc explain lists all codes"
        click.echo(f'no code or rule "{code}"\n  help: {hint}', err=True)
        context.exit(ExitCode.COULD_NOT)
    click.echo(page, nl=False)
