"""``symc init``: a workspace to start from, or one made of the servers of an existing MCP configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from symc.cli.frame import ExitCode
from symc.cli.project import DEFAULT_FOLDER, beside

_WORKSPACE = """\
kind: workspace
name: {name}
lock_version: {version}
"""
_AGENT = """\
kind: agent
name: assistant
provider: none                      # anthropic | openai | gemini | bedrock: whose limits are checked
instructions: |
  You are a helpful assistant.
extensions: [clock]
tools: [clock/now]                  # least authority: what is not named here, the agent does not have
"""
_EXTENSION = """\
kind: extension
name: clock
version: "1.0"
tools:
  - name: now
    description: Tell the time in a time zone.
    invoke: clock:now               # the async function `now(arguments) -> str` in clock.py, beside the lock
    input_schema:
      type: object
      properties: {zone: {type: string, description: "Such as Europe/Paris."}}
prompts:
  - fragment_id: manners
    text: |
      Call `now` before you speak about dates.
"""
_CODE = """\
\"\"\"The code behind `clock`; the lock names it as `clock:now`, and it is found beside the lock.\"\"\"

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo


async def now(arguments: Mapping[str, Any]) -> str:
    \"\"\"The time in a time zone; a zone that does not exist is an error, which the model is told.\"\"\"
    zone = ZoneInfo(arguments.get("zone", "UTC"))
    return datetime.now(zone).isoformat(timespec="minutes")
"""
_ATTRIBUTES = "symc.lock text eol=lf linguist-language=JSON linguist-generated=false\n"
_IGNORE = ".symc_cache/\n"


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=DEFAULT_FOLDER)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An MCP configuration (.mcp.json, .vscode/mcp.json, .cursor/mcp.json) whose servers become extensions.",
)
@click.pass_context
def command(context: click.Context, folder: Path, source: Path | None) -> None:
    """Write a first workspace into FOLDER, and the code of its one tool beside it; no file that exists is changed.

    Also adds `symc.lock` to .gitattributes and the cache to .gitignore beside it.
    """
    root = beside(folder).parent
    files = _first_workspace(folder) if source is None else _adopted(source, context)
    code = {root / "clock.py": _CODE} if source is None else {}
    targets = {folder / path: text for path, text in files.items()} | code
    taken = [path for path in targets if path.exists()]
    if taken:
        click.echo(f"{taken[0]} exists; nothing was written", err=True)
        click.echo("  help: name a folder in another place: symc init PLACE/manifests", err=True)
        context.exit(ExitCode.COULD_NOT)
    for target, text in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        click.echo(f"wrote {target}", err=True)
    for name, line in ((".gitattributes", _ATTRIBUTES), (".gitignore", _IGNORE)):
        _append(root / name, line)
    pins = [path for path in files if "\nmcp:" in files[path]]
    suffix = "" if folder == Path(DEFAULT_FOLDER) else f" {folder}"
    option = "" if folder == Path(DEFAULT_FOLDER) else f" --workspace {folder}"
    click.echo(
        f"next: symc pin{option} && symc compile{suffix}" if pins else f"next: symc compile{suffix}", err=True
    )


def _first_workspace(folder: Path) -> dict[str, str]:
    from symc.composition import LOCK_VERSION
    from symc.contracts.names import EXTENSION_NAME

    name = folder.resolve().parent.name.lower().replace("_", "-").replace(" ", "-")
    name = name if EXTENSION_NAME.accepts(name) and name not in ("assistant", "clock") else "workspace"
    return {
        "workspace.yaml": _WORKSPACE.format(name=name, version=LOCK_VERSION),
        "agents/assistant.yaml": _AGENT,
        "extensions/clock.yaml": _EXTENSION,
    }


def _adopted(source: Path, context: click.Context) -> Mapping[str, str]:
    from symc.pins.adopt import AdoptionError, adopt

    try:
        return adopt(source.read_bytes())
    except AdoptionError as error:
        click.echo(f"cannot take over {source}: {error}", err=True)
        context.exit(ExitCode.COULD_NOT)


def _append(path: Path, line: str) -> None:
    present = path.read_text(encoding="utf-8") if path.is_file() else ""
    if line.strip() in present.splitlines():
        return
    glue = "" if not present or present.endswith("\n") else "\n"
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(glue + line)
    click.echo(f"added a line to {path}", err=True)
