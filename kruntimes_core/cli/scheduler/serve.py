"""Assembles a scheduler from the options of the command, and runs it until a signal stops it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import TextIO

from kruntimes_core import __version__
from kruntimes_core.cli.commands import Exit, require_descriptors, run_loop, stop_on_signals
from kruntimes_core.cli.plugin_output import PluginOutput
from kruntimes_core.cli.process_end import ProcessEnd, Tell
from kruntimes_core.cli.scheduler.command import SchedulerOptions
from kruntimes_core.cli.scheduler.debug_pages import REPORT_PATH, decider_pages, print_report, report_page
from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster.client.connection import Connection, connect, try_connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import Gate
from kruntimes_core.cluster.clock import Clock, SystemClock
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.recorder import EventSettings, events_to
from kruntimes_core.cluster.garbage_collection import freeze_regularly
from kruntimes_core.cluster.leader_election.elector import (
    LeaderElector,
    LeaseDurations,
    LeaseTerm,
    register_election_metrics,
)
from kruntimes_core.cluster.leader_election.lease_lock import lease_namespace, new_identity
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.observability.endpoints import Endpoints, ListenAddress, parse_address
from kruntimes_core.cluster.observability.http_server import CONNECTIONS, RequestProblems
from kruntimes_core.cluster.observability.log import Format, Level, Log, PluginLines, log_loop_problems
from kruntimes_core.cluster.observability.log_writer import BackgroundWriter
from kruntimes_core.cluster.permissions import MissingPermissions, PermissionTransport
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.cluster.scheduler.scheduler import Scheduler
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Configuration, Profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

_USER_AGENT = f"kruntimes-scheduler/{__version__}"
_STREAMS_A_NAMESPACE = 3
_SPARE_CONNECTIONS = 4
_LEASE_CONNECTIONS = 2
"""One for the renewal, one for the next renewal while the first is given up."""
_EVENT_CONNECTIONS = 1
"""Events are sent one after the other, and no bind waits for this connection."""
_OTHER_DESCRIPTORS = 48
"""Standard streams, the loop, listening sockets, and files that plugins open."""
_PORTS = 3
_Addresses = tuple[ListenAddress | None, ListenAddress | None, ListenAddress | None]


def serve(options: SchedulerOptions, end: ProcessEnd | None = None) -> Exit:
    """Run the scheduler. Raises `InputError` for whatever keeps it from starting.

    end: of the process, which begins when the scheduler has stopped; None where the process goes on.
    """
    durations_of(options)
    addresses = addresses_of(options)
    configuration = configuration_from(options.config)
    options = replace(options, config=options.config and os.path.abspath(options.config))
    environment = dict(os.environ)
    clock, writer = SystemClock(), _log_writer()
    log = Log(writer, clock, options.verbosity, Format(options.log_format))
    plugin_worker = ThreadPluginWorker(log)
    registry = PluginRegistry()

    async def to_the_end(connection: Connection) -> None:
        await _serve(arguments, connection, registry, addresses, clock, log)
        if end is not None:
            end.begin(Exit.DONE, _tell_of_rest(options, clock))

    try:
        # Plugins may change the working directory, the environment and more: all that leads to the API server
        # is read before there are any. Its errors are told after those of plugins.
        read = asyncio.run(_read_connection(options, environment, clock))
        with PluginOutput(PluginLines(log, clock), _records_wanted(log)):
            profiles = plugin_worker.build(configuration, registry)
            arguments = SchedulerArguments(options, environment, configuration, profiles, plugin_worker)
            arguments.require_descriptors()
            if isinstance(read, InputError):
                raise read
            run_loop(to_the_end(read))
    finally:
        if isinstance(writer, BackgroundWriter):
            writer.close()
    return Exit.DONE


def addresses_of(options: SchedulerOptions) -> _Addresses:
    """Where to listen for probes, metrics and debug pages; None for what is switched off.

    Raises `InputError`.
    """
    debug = parse_address(options.debug_bind_address, "--debug-bind-address")
    if debug is not None and not debug.on_loopback:
        raise InputError(
            f"{debug.flag} {debug} is not a loopback address: write 127.0.0.1:PORT,"
            " and reach it with kubectl port-forward"
        )
    probes = parse_address(options.health_probe_bind_address, "--health-probe-bind-address")
    return probes, parse_address(options.metrics_bind_address, "--metrics-bind-address"), debug


def _log_writer() -> BackgroundWriter | TextIO:
    """Standard error, written beside the loop. The descriptor is a copy: a plugin may close the original."""
    try:
        return BackgroundWriter(os.dup(sys.stderr.fileno()))
    except (OSError, ValueError):  # no descriptor: a stream in memory
        return sys.stderr


async def _read_connection(
    options: SchedulerOptions, environment: Mapping[str, str], clock: Clock
) -> Connection | InputError:
    try:
        return await connect(options.kubeconfig, options.context, environment, clock)
    except InputError as error:
        return error


def _records_wanted(log: Log) -> int:
    """The level of the plugins' records that the log takes, as `logging` counts it."""
    return logging.DEBUG if log.speaks(Level.DEBUG) else logging.INFO


def _tell_of_rest(options: SchedulerOptions, clock: Clock) -> Tell:
    """Says in a line of the log what the process does not wait for. The log's own writer is closed then."""
    out = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - to the end
    log = Log(out, clock, options.verbosity, Format(options.log_format))
    return lambda left: log.warning(
        "ends without waiting any longer: let plugins end what they start", left="; ".join(left)
    )


async def _serve(
    arguments: SchedulerArguments,
    connection: Connection,
    registry: PluginRegistry,
    addresses: _Addresses,
    clock: Clock,
    log: Log,
) -> None:
    options = arguments.options
    log_loop_problems(asyncio.get_running_loop(), log, clock)
    async with scheduler_of(arguments, connection, clock, log) as host:
        build = arguments.plugin_worker.build
        reloading = Reloading(
            host.reload, options.config, arguments.configuration, registry, arguments.profiles, build, log
        )
        host.metrics.register_process()
        endpoints = _endpoints(host, clock, reloading, RequestProblems(log, clock))
        try:
            await endpoints.open(*addresses)
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
        metrics=host.metrics.negotiated,
        problems=problems,
        debug={**decider_pages(lambda: reloading.in_force), **report},
    )


async def _run(host: Scheduler, log: Log) -> None:
    def stop(number: signal.Signals) -> None:
        log.info("stopping", signal=number.name)
        host.stop()

    stop_on_signals(stop, signal.SIGTERM, signal.SIGINT)
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


# The assembly, on connections that are closed when the scheduler ends


@dataclass(frozen=True, slots=True)
class SchedulerArguments:
    """What a scheduler is started with, read and checked."""

    options: SchedulerOptions
    environment: Mapping[str, str]
    """Of the process, before there was code of plugins in it."""
    configuration: Configuration
    profiles: Profiles
    plugin_worker: ThreadPluginWorker
    """It has built the profiles."""

    @property
    def connections(self) -> int:
        """How many connections requests and watches take together."""
        streams = _STREAMS_A_NAMESPACE * max(len(self.options.namespaces), 1)
        return self.configuration.requests_in_flight + streams + _SPARE_CONNECTIONS

    def require_descriptors(self) -> None:
        """Raise the limit of open files if need be. Raises `InputError` if that is not allowed."""
        beside = _LEASE_CONNECTIONS + _EVENT_CONNECTIONS + _PORTS * CONNECTIONS + _OTHER_DESCRIPTORS
        require_descriptors(self.connections + beside)


def durations_of(options: SchedulerOptions) -> LeaseDurations:
    """The durations of the election. Raises `InputError` if they do not go together."""
    durations = LeaseDurations(
        lease=options.leader_elect_lease_duration,
        deadline=options.leader_elect_renew_deadline,
        retry=options.leader_elect_retry_period,
    )
    if options.leader_elect:
        durations.check()
    return durations


@asynccontextmanager
async def scheduler_of(
    arguments: SchedulerArguments, connection: Connection, clock: Clock, log: Log
) -> AsyncIterator[Scheduler]:
    """The scheduler for these arguments. Raises `InputError` for a server that cannot be used."""
    options, configuration = arguments.options, arguments.configuration
    permissions = MissingPermissions(clock, log)
    async with AsyncExitStack() as stack:
        elector = await _elector(stack, arguments, connection, clock, log, permissions)
        gate = _gate(options, elector)
        transport = HttpTransport(
            connection, user_agent=_USER_AGENT, connections=arguments.connections, gate=gate
        )
        await stack.enter_async_context(transport)
        events = None
        if not options.dry_run:
            event_transport = HttpTransport(
                connection, user_agent=f"{_USER_AGENT} events", connections=_EVENT_CONNECTIONS, gate=gate
            )
            await stack.enter_async_context(event_transport)
            instance = elector.identity if elector is not None else new_identity()
            events = events_to(event_transport, instance, EventSettings.of(configuration))
        await try_connection(transport, connection, clock)
        scheduler = Scheduler(
            profiles=arguments.profiles,
            settings=Settings.of(configuration),
            transport=transport,
            clock=clock,
            random=Random(),  # noqa: S311 - for jitter
            plugin_worker=arguments.plugin_worker,
            leadership=elector or AlwaysLeading(),
            log=log,
            namespaces=options.namespaces or None,
            permissions=permissions,
            in_flight=configuration.requests_in_flight,
            events=events,
            dry_run=DryRunSettings() if options.dry_run else None,
        )
        if elector is not None:
            register_election_metrics(scheduler.metrics, elector)
        yield scheduler


async def _elector(
    stack: AsyncExitStack,
    arguments: SchedulerArguments,
    connection: Connection,
    clock: Clock,
    log: Log,
    permissions: MissingPermissions,
) -> LeaderElector | None:
    """The elector, on connections of its own; None without an election, and in a dry run.

    Raises `InputError` without a namespace for the Lease.
    """
    options = arguments.options
    if not options.leader_elect:
        return None
    if options.dry_run:
        log.info("a dry run takes no lease: --leader-elect is ignored")
        return None
    namespace = lease_namespace(options.lease_namespace, arguments.environment, connection.namespace)
    transport = HttpTransport(
        connection, user_agent=f"{_USER_AGENT} leader-election", connections=_LEASE_CONNECTIONS
    )
    await stack.enter_async_context(transport)
    return LeaderElector(
        transport=PermissionTransport(transport, permissions),
        clock=clock,
        log=log,
        term=LeaseTerm(clock=clock, durations=durations_of(options)),
        namespace=namespace,
        identity=new_identity(),
    )


def _gate(options: SchedulerOptions, elector: LeaderElector | None) -> Gate | None:
    """Called before the body of a request leaves. A dry run lets none leave, whatever part sends it."""
    if options.dry_run:
        return lambda: False
    return elector.term.lasts if elector is not None else None
