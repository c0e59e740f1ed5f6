"""Runs a scheduler until a signal stops it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from kruntimes_core import __version__
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.scheduler.assembly import SchedulerArguments, durations_of, scheduler_of
from kruntimes_core.cli.scheduler.command import SchedulerOptions
from kruntimes_core.cli.scheduler.debug_pages import REPORT_PATH, decider_pages, print_report, report_page
from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster.client.connection import Connection, connect
from kruntimes_core.cluster.clock import Clock, SystemClock
from kruntimes_core.cluster.garbage_collection import freeze_regularly
from kruntimes_core.cluster.observability.endpoints import (
    Endpoints,
    ListenAddress,
    parse_address,
)
from kruntimes_core.cluster.observability.http_server import RequestProblems
from kruntimes_core.cluster.observability.log import Format, Log, log_loop_problems
from kruntimes_core.cluster.observability.log_writer import BackgroundWriter
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.framework.configuration import configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError


def serve(options: SchedulerOptions) -> Exit:
    """Run the scheduler. Raises `InputError` for whatever keeps it from starting."""
    durations_of(options)
    addresses = Addresses.of(options)
    configuration = configuration_from(options.config)
    clock, writer = SystemClock(), _log_writer()
    log = Log(writer, clock, options.verbosity, Format(options.log_format))
    plugin_worker = ThreadPluginWorker(log)
    registry = PluginRegistry()
    try:
        profiles = plugin_worker.build(configuration, registry)
        arguments = SchedulerArguments(options, configuration, profiles, plugin_worker)
        arguments.require_descriptors()
        asyncio.run(_serve(arguments, registry, addresses, clock, log))
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
    arguments: SchedulerArguments, registry: PluginRegistry, addresses: Addresses, clock: Clock, log: Log
) -> None:
    options = arguments.options
    log_loop_problems(asyncio.get_running_loop(), log, clock)
    connection = await connect(options.kubeconfig, options.context, os.environ, clock)
    async with scheduler_of(arguments, connection, clock, log) as host:
        build = arguments.plugin_worker.build
        reloading = Reloading(host, options.config, arguments.configuration, registry, build, log)
        endpoints = _endpoints(host, clock, reloading, RequestProblems(log, clock))
        try:
            await endpoints.open(addresses.probes, addresses.metrics, addresses.debug)
            _say_started(options, connection, endpoints, log)
            reloading.on_hangup()
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


def _endpoints(host: Scheduler, clock: Clock, reloading: Reloading, problems: RequestProblems) -> Endpoints:
    comparer = host.comparer
    report = {REPORT_PATH: report_page(comparer, clock)} if comparer is not None else {}
    return Endpoints(
        alive=host.alive,
        ready=host.ready,
        metrics=host.metrics.exposition,
        problems=problems,
        debug={**decider_pages(lambda: reloading.in_force), **report},
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
