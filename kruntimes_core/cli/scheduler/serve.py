"""Runs a scheduler until a signal stops it, reloads its configuration, and shows the report of a dry run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Protocol, TextIO

import click

from kruntimes_core import __version__
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, standard_output
from kruntimes_core.cli.output.table import TableColumn, table
from kruntimes_core.cli.scheduler.assembly import SchedulerArguments, durations_of, scheduler_of
from kruntimes_core.cli.scheduler.command import SchedulerOptions
from kruntimes_core.cluster.client.connection import Connection, connect
from kruntimes_core.cluster.clock import Clock, SystemClock
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer
from kruntimes_core.cluster.dry_run.report import report_document
from kruntimes_core.cluster.garbage_collection import freeze_regularly
from kruntimes_core.cluster.observability.endpoints import (
    Endpoints,
    ListenAddress,
    Page,
    parse_address,
)
from kruntimes_core.cluster.observability.http_server import RequestProblems
from kruntimes_core.cluster.observability.log import Format, Log, log_loop_problems
from kruntimes_core.cluster.observability.log_writer import BackgroundWriter
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError


def serve(options: SchedulerOptions) -> Exit:
    """Run the scheduler. Raises `InputError` for whatever keeps it from starting."""
    durations_of(options)
    addresses = Addresses.of(options)
    configuration = configuration_from(options.config)
    profiles = build_profiles(configuration, PluginRegistry())
    writer = _log_writer()
    try:
        asyncio.run(_serve(SchedulerArguments(options, configuration, profiles), addresses, writer))
    finally:
        if isinstance(writer, BackgroundWriter):
            writer.close()
    return Exit.DONE


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a scheduler listens; None for what is switched off."""

    probes: ListenAddress | None
    metrics: ListenAddress | None
    debug: ListenAddress | None

    @classmethod
    def of(cls, options: SchedulerOptions) -> Addresses:
        """Those of the options. Raises `InputError`."""
        debug = parse_address(options.debug_bind_address, "--debug-bind-address")
        if debug is not None and not debug.on_loopback:
            raise InputError(
                f"{debug.flag} {debug} is not a loopback address: write 127.0.0.1:PORT,"
                " and reach it with kubectl port-forward"
            )
        return cls(
            parse_address(options.health_probe_bind_address, "--health-probe-bind-address"),
            parse_address(options.metrics_bind_address, "--metrics-bind-address"),
            debug,
        )


def _log_writer() -> BackgroundWriter | TextIO:
    """Standard error, written beside the loop. The descriptor is a copy: a plugin may close the original."""
    try:
        return BackgroundWriter(os.dup(sys.stderr.fileno()))
    except (OSError, ValueError):  # no descriptor: a stream in memory
        return sys.stderr


async def _serve(
    arguments: SchedulerArguments, addresses: Addresses, writer: BackgroundWriter | TextIO
) -> None:
    options, clock = arguments.options, SystemClock()
    log = Log(writer, clock, options.verbosity, Format(options.log_format))
    log_loop_problems(asyncio.get_running_loop(), log, clock)
    connection = await connect(options.kubeconfig, options.context, os.environ, clock)
    async with scheduler_of(arguments, connection, clock, log) as host:
        endpoints = _endpoints(host, clock, RequestProblems(log, clock))
        try:
            await endpoints.open(addresses.probes, addresses.metrics, addresses.debug)
            _say_started(options, connection, endpoints, log)
            Reloading(host, options.config, arguments.configuration, log).on_hangup()
            await _run(host, log)
        finally:
            await endpoints.close()
        log.info("stopped")
    if host.comparer is not None:
        print_report(host.comparer, clock, options.output or "table")


def _say_started(options: SchedulerOptions, connection: Connection, endpoints: Endpoints, log: Log) -> None:
    log.info(
        "started",
        version=__version__,
        server=connection.server,
        origin=connection.origin,
        dry_run=options.dry_run or None,
    )
    for what, (name, port) in sorted(endpoints.listening.items()):
        log.info("listening", endpoint=what, address=ListenAddress(name, port, what))


def _endpoints(host: Scheduler, clock: Clock, problems: RequestProblems) -> Endpoints:
    comparer = host.comparer
    return Endpoints(
        alive=host.alive,
        ready=host.ready,
        metrics=host.metrics.exposition,
        problems=problems,
        debug={REPORT_PATH: report_page(comparer, clock)} if comparer is not None else None,
    )


def _stop(host: Scheduler, log: Log, number: signal.Signals) -> None:
    log.info("stopping", signal=number.name)
    host.stop()


async def _run(host: Scheduler, log: Log) -> None:
    stop_on_signals(partial(_stop, host, log), signal.SIGTERM, signal.SIGINT)
    freezing = asyncio.create_task(freeze_regularly(lambda: host.deciding))
    try:
        await host.run()
    except BaseExceptionGroup as group:
        raise _first(group) from group
    finally:
        freezing.cancel()


def _first(error: BaseException) -> BaseException:
    """The defect that ended the host: what else is in the group are parts that ended with it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


_AT_ONCE = frozenset({"plugins", "profiles", "allow_no_capacity_filter"})
"""What a reload changes; all else counts from the next start."""


class Decider(Protocol):
    """What places Runs by profiles."""

    def reload(self, profiles: Profiles) -> None:
        """Place Runs by these from now on."""


class Reloading:
    """Reads on a thread beside the loop, so that a plugin that hangs while it is built holds up no Run."""

    def __init__(self, host: Decider, path: str | None, started_with: Configuration, log: Log) -> None:
        """path: of the configuration; None for the defaults, with the plugins that are installed then."""
        self._host = host
        self._path = path
        self._started_with = started_with
        self._log = log
        self._thread: Thread | None = None

    def on_hangup(self) -> None:
        """Reload at each SIGHUP; but a process with a terminal gets one when that closes, and ends."""
        if not _has_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.begin)

    def begin(self) -> None:
        """Read the configuration, and use it if it is valid. The log says which."""
        if self._thread is not None and self._thread.is_alive():
            self._refused("it is still being read")
            return
        loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._read, args=(loop,), name="kruntimes-reloading", daemon=True)
        self._thread.start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            configuration = self._configuration()
            use = partial(self._use, configuration, build_profiles(configuration, PluginRegistry()))
        except InputError as error:
            use = partial(self._refused, str(error))
        # Once the loop is closed, nothing is decided any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(use)

    def _configuration(self) -> Configuration:
        """Raises `InputError`."""
        if self._path is not None and Path(self._path).exists() and not Path(self._path).is_file():
            raise InputError(f"{self._path}: no file, and can be read once only: start anew")
        return configuration_from(self._path)

    def _use(self, configuration: Configuration, profiles: Profiles) -> None:
        self._host.reload(profiles)
        later = ",".join(
            field.alias or name
            for name, field in Configuration.model_fields.items()
            if name not in _AT_ONCE and getattr(configuration, name) != getattr(self._started_with, name)
        )
        plugins = sum(len(profile.plugins) for profile in profiles.all)
        self._log.info(
            "the configuration was reloaded",
            profiles=len(profiles.all),
            plugins=plugins,
            not_before_a_restart=later or None,
        )

    def _refused(self, why: str) -> None:
        self._log.warning("the configuration was not reloaded", why=why)


def _has_terminal() -> bool:
    """Whether this process belongs to a terminal, which may go away."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


REPORT_PATH = "/dry-run"
"""Where the debug address serves the report: it names Runs."""
_COLUMNS = [TableColumn(name) for name in ("KIND", "PLUGIN", "REASON", "RUNS", "CLEAR", "LAST")]


def print_report(comparer: DryRunComparer, clock: Clock, form: str) -> None:
    """Write the report to standard output, as a table or as JSON."""
    document = _document(comparer, clock)
    if form == "json":
        write_json(document)
        return
    for line in report_lines(document, standard_output()):
        click.echo(line)


def report_page(comparer: DryRunComparer, clock: Clock) -> Page:
    """The report as a page: a table, or JSON with `?output=json`."""

    def page(query: Mapping[str, str]) -> tuple[str, str]:
        document = _document(comparer, clock)
        if query.get("output") == "json":
            return json.dumps(document, indent=2) + "\n", "application/json"
        return "\n".join(report_lines(document, Screen())) + "\n", "text/plain"

    return page


def report_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """What was compared in a line or two, and a table of the differences, the most frequent first."""
    yield (
        f"dry run from {document['from']} to {document['to']}: {document['agreed']} agreed,"
        f" {document['differed']} differed, {document['open']} open"
    )
    skipped = [f"{number} {why}" for why, number in document["notCompared"].items() if number]
    if skipped:
        yield f"not compared: {', '.join(skipped)}"
    if document["differences"]:
        yield from table(_COLUMNS, [_row(one) for one in document["differences"]], screen)


def _document(comparer: DryRunComparer, clock: Clock) -> dict[str, Any]:
    return report_document(comparer.report, comparer.held, clock.now().wall)


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    last = one["last"]
    said = f"{last['namespace']}/{last['run']}: {last['ours']} here, {last['theirs']} there"
    return one["kind"], one["plugin"], one["reason"], one["count"], one["clear"], said
