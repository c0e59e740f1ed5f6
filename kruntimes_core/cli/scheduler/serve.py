"""From the options of `kruntimes scheduler` to a host that runs until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial

from kruntimes_core import __version__
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.scheduler.building import Asked, scheduler_of
from kruntimes_core.cli.scheduler.comparison import PATH, print_report, report_page
from kruntimes_core.cli.scheduler.electing import durations_of
from kruntimes_core.cli.scheduler.memory import rest_memory
from kruntimes_core.cli.scheduler.options import SchedulerOptions
from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster.client.connection import Connection, connect
from kruntimes_core.cluster.clock import Clock, SystemClock
from kruntimes_core.cluster.observability.endpoints import Endpoints, ListenAddress, parse_address
from kruntimes_core.cluster.observability.log import Format, Log
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry


def serve(options: SchedulerOptions) -> Exit:
    """Run the scheduler. Raises `InputError` for whatever keeps it from starting."""
    durations_of(options)
    probes = parse_address(options.health_probe_bind_address, "--health-probe-bind-address")
    metrics = parse_address(options.metrics_bind_address, "--metrics-bind-address")
    configuration = configuration_from(options.config)
    profiles = build_profiles(configuration, PluginRegistry())
    asyncio.run(_serve(Asked(options, configuration, profiles), probes, metrics))
    return Exit.DONE


async def _serve(asked: Asked, probes: ListenAddress | None, metrics: ListenAddress | None) -> None:
    options, clock = asked.options, SystemClock()
    log = Log(sys.stderr, clock, options.verbosity, Format(options.log_format))
    connection = await connect(options.kubeconfig, options.context, os.environ, clock)
    async with scheduler_of(asked, connection, clock, log) as host:
        endpoints = _endpoints(host, clock)
        try:
            await endpoints.open(probes, metrics)
            _say_started(options, connection, endpoints, log)
            Reloading(host, options.config, asked.configuration, log).on_hangup()
            await _run(host, log)
        finally:
            await endpoints.close()
        log.info("stopped")
    if host.comparison is not None:
        print_report(host.comparison, clock, options.output or "table")


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


def _endpoints(host: Scheduler, clock: Clock) -> Endpoints:
    comparison = host.comparison
    pages = {PATH: report_page(comparison, clock)} if comparison is not None else {}
    return Endpoints(alive=host.alive, ready=host.ready, metrics=host.metrics.exposition, pages=pages)


def _stop(host: Scheduler, log: Log, number: signal.Signals) -> None:
    log.info("stopping", signal=number.name)
    host.stop()


async def _run(host: Scheduler, log: Log) -> None:
    stop_on_signals(partial(_stop, host, log), signal.SIGTERM, signal.SIGINT)
    memory = asyncio.create_task(rest_memory(host))
    try:
        await host.run()
    except BaseExceptionGroup as group:
        raise _first(group) from group
    finally:
        memory.cancel()


def _first(error: BaseException) -> BaseException:
    """The defect that ended the host: what else is in the group are parts that ended with it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
