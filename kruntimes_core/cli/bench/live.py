"""From the options of `kruntimes bench` to what is shown of it."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

import click

from kruntimes_core.cli.bench.options import BenchOptions
from kruntimes_core.cli.bench.page import check_page, write_page
from kruntimes_core.cli.bench.tables import report
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import standard_output
from kruntimes_core.cli.output.text import printable
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.lab.bench.live.bench import measure
from kruntimes_core.lab.bench.live.load import Load, Mode
from kruntimes_core.lab.bench.live.report.document import bench_document
from kruntimes_core.lab.bench.live.report.results import Results
from kruntimes_core.lab.bench.live.scheduler.process import SchedulerEndedError
from kruntimes_core.lab.bench.live.settings import Settings


def live(options: BenchOptions) -> Exit:
    """Measure, and show. Raises `InputError` for whatever keeps it from measuring."""
    if options.html is not None:
        check_page(Path(options.html))
    with tempfile.TemporaryDirectory(prefix="kruntimes-bench-") as folder:
        try:
            results = asyncio.run(_measured(_settings(options), Path(folder)))
        except SchedulerEndedError as error:
            for line in error.lines:
                click.echo(f"  {printable(line)}", err=True)
            raise
        except asyncio.CancelledError:
            return Exit.INTERRUPTED
    _show(options, results)
    return Exit.DONE if results.passed else Exit.ANSWER_IS_NO


def _show(options: BenchOptions, results: Results) -> None:
    if options.form == "json":
        write_json(bench_document(results, options.window))
    else:
        for line in report(results, options.window, standard_output()):
            click.echo(line)
    if options.html is not None:
        write_page(Path(options.html), results)


async def _measured(settings: Settings, folder: Path) -> Results:
    """Measure until the end or a signal, which lets it clean up; a second one ends it at once."""
    log = Log(sys.stderr, SystemClock(), Level.WARNING)
    work = asyncio.create_task(measure(settings, folder, _tell, log), name="bench")

    def stop(number: signal.Signals) -> None:
        _tell(f"{number.name}: cleaning up")
        work.cancel()

    stop_on_signals(stop, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return await work


def _tell(line: str) -> None:
    click.echo(printable(line), err=True)


def _settings(options: BenchOptions) -> Settings:
    return Settings(
        load=load_of(options),
        command=options.scheduler_cmd,
        external=options.external,
        pid=options.scheduler_pid,
        config=options.config,
        kubeconfig=options.kubeconfig,
        context=options.context,
        repeat=options.repeat,
        ceiling_patches=options.ceiling_patches,
        in_flight=options.in_flight,
        patience_seconds=options.patience,
        anywhere=options.yes_load_this_cluster,
    )


def load_of(options: BenchOptions) -> Load:
    """What is asked for, with the defaults of the load."""
    duration = options.duration
    default = Load()
    return Load(
        mode=Mode(options.mode),
        runs=options.runs or default.runs,
        rate=options.rate or default.rate,
        seconds=options.seconds or default.seconds,
        pods=options.pods,
        slots=options.slots,
        duration=(duration.shortest, duration.longest) if duration and duration.longest else None,
        hopeless=options.hopeless,
        waiting_elsewhere=options.waiting_elsewhere,
        namespaces=options.namespaces,
        runtimes=options.runtimes,
        heartbeat_seconds=options.heartbeat,
        cohorts=options.cohorts,
        seed=options.seed,
    )
