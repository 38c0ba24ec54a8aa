"""``symc worker``: a worker of an execution backend (docs/extending.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symc.cli.frame import ExitCode
from symc.cli.loaded import CouldNotError, load_lock
from symc.cli.locked import lock_option
from symc.cli.reporting import Reporter, reporting_options

if TYPE_CHECKING:
    from symc.runtime import LoadedLock


@click.command("worker")
@click.option(
    "--backend", type=click.Choice(["celery", "process"]), required=True, help="The backend it serves."
)
@lock_option
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Working folder of servers; default: the folder of the lock.",
)
@click.option("--broker", help="celery: address of the broker; default: the one in the lock.")
@click.option(
    "--results", help="celery: address of the result store; default: the one in the lock, or the broker."
)
@click.option("--queue", help="celery: name of the queue; default: the one in the lock.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=2, show_default=True, help="celery: jobs at once."
)
@reporting_options
@click.pass_context
def command(
    context: click.Context,
    backend: str,
    lock: Path,
    root: Path | None,
    broker: str | None,
    results: str | None,
    queue: str | None,
    concurrency: int,
    reporter: Reporter,
) -> None:
    """Do jobs of the lock until the worker is stopped.

    The lock is verified first; a job for another lock is refused. A worker of `celery` waits for jobs in its queue. One
    of `process` reads them from stdin and ends with it: the backend starts its own, so this is for looking into one.
    """
    loaded = load_lock(lock, reporter)
    if backend == "process":
        from symc.std.process_worker import serve

        serve(loaded.path, root)
        return
    broker, results, queue = _addresses(context, loaded, broker, results, queue)
    _work(loaded, root, broker, results, queue, concurrency)


def _addresses(
    context: click.Context, loaded: LoadedLock, broker: str | None, results: str | None, queue: str | None
) -> tuple[str, str | None, str | None]:
    """What was given, and for the rest what the layers in the lock say; exit 2 where they do not agree."""
    found = sorted(set(_configured(loaded)), key=str)
    if broker is None and not found:
        _refuse(
            context, f"no tool in {loaded.path.name} has the backend celery", "give the address: --broker"
        )
    for at, (option, value) in enumerate((("--broker", broker), ("--results", results), ("--queue", queue))):
        if value is None and broker is None and len({one[at] for one in found}) > 1:
            _refuse(
                context,
                f"the tools in {loaded.path.name} name more than one {option[2:]}",
                f"choose: {option}",
            )
    if broker is not None:
        return broker, results, queue
    first = found[0]
    return _resolved(context, first[0]) or "", results or _resolved(context, first[1]), queue or first[2]


def _configured(loaded: LoadedLock) -> Iterator[tuple[str, str | None, str | None]]:
    for name in loaded.agents:
        for tool in loaded.lock.agents[name].tools.values():
            for layer in tool.chain:
                if (layer.extension, layer.name) == ("std", "celery"):
                    config: Mapping[str, Any] = layer.config or {}
                    yield config.get("broker", ""), config.get("results"), config.get("queue")


def _resolved(context: click.Context, address: str | None) -> str | None:
    from symc.pins.launch import REFERENCE

    if address is None or (reference := REFERENCE.fullmatch(address)) is None:
        return address
    if reference[1] not in os.environ:
        _refuse(context, f"{reference[1]} is not set", f"set {reference[1]}, or give the address")
    return os.environ[reference[1]]


def _refuse(context: click.Context, message: str, hint: str) -> None:
    click.echo(f"{message}\n  help: {hint}", err=True)
    context.exit(ExitCode.COULD_NOT)


def _work(
    loaded: LoadedLock,
    root: Path | None,
    broker: str,
    results: str | None,
    queue: str | None,
    concurrency: int,
) -> None:
    try:
        from celery.signals import worker_ready
    except ModuleNotFoundError as error:
        raise CouldNotError(
            f'"{error.name}" is not installed; the backend celery needs an extra: pip install "symc[celery]"'
        ) from None

    from symc.std.celery_app import DEFAULT_QUEUE, app_of, register, results_of
    from symc.std.logs import log_to_stderr

    log_to_stderr()
    queue = queue or DEFAULT_QUEUE
    app = app_of(broker, results_of(broker, results), queue)
    register(app, loaded, root=root)
    worker_ready.connect(lambda **_: click.echo("symc worker: ready", err=True), weak=False)
    # Workers of one machine need names of their own, or each takes the other's revocations for its own.
    app.worker_main(
        [
            "worker",
            "--pool=prefork",
            f"--concurrency={concurrency}",
            f"--queues={queue}",
            f"--hostname=symc-{os.getpid()}@%h",
            "--without-gossip",
            "--without-mingle",
            "--loglevel=WARNING",
        ]
    )
