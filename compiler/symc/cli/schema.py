"""``symc schema``: the JSON Schemas of manifests and lock, for editors and other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.generated import write_or_check


@click.command("schema")
@click.argument("kind", required=False)
@click.option("--check", is_flag=True, help="Check that the files are current.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default="schemas",
    show_default=True,
    help="Folder to write.",
)
@click.pass_context
def command(context: click.Context, kind: str | None, check: bool, output: Path) -> None:
    """Write the JSON Schemas; with KIND (workspace, agent, extension, lock) print that one."""
    from symc.lock.schema import lock_schema
    from symc.manifest.schemas import schemas

    known = {**schemas(), "lock": lock_schema()}
    texts = {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in known.items()}
    if kind is not None:
        if check:
            raise click.UsageError("--check is about all schemas; leave out the kind")
        if kind not in texts:
            click.echo(f'no schema "{kind}"\n  help: one of {", ".join(texts)}', err=True)
            context.exit(ExitCode.COULD_NOT)
        click.echo(texts[kind], nl=False)
        return
    pages = {f"{name}.schema.json": text for name, text in texts.items()}
    command = "symc schema" if output == Path("schemas") else f"symc schema --output {output}"
    context.exit(write_or_check(output, pages, check=check, command=command))
