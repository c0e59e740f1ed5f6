"""One call of `kruntimes dev`: it runs a cluster until a signal or the end of its Runs, and sums up."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

import click

from kruntimes_core.cli.commands import Exit, require_descriptors, run_loop, stop_on_signals
from kruntimes_core.cli.dev_screen import Display, Lines, LivePicture, can_be_redrawn
from kruntimes_core.cli.options import DurationRange
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import own_output, print_note, standard_output, write_output
from kruntimes_core.cli.output.text import wrapped
from kruntimes_core.cli.plugin_output import PluginOutput, noted
from kruntimes_core.cluster.clock import Clock, SystemClock
from kruntimes_core.cluster.event_recorder.recorder import EventSettings
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.decisions import Outcome, plugin_document
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.dev.cluster import DevCluster, DevScheduling, DevSettings, dev_cluster
from kruntimes_core.lab.dev.kubeconfig import default_path, kubeconfig
from kruntimes_core.lab.dev.overview import ClusterObserver, RunCounts
from kruntimes_core.lab.dev.workload import DEMO_RUNTIMES, Arrival, demo, first_runs, plain_runs
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.model.messages import counted
from kruntimes_core.model.quantity import capacity_amount
from kruntimes_core.model.run import TERMINAL_PHASES, Phase

API_VERSION = "kruntimes.io/dev/v1"
_ENDS = tuple(phase.value for phase in Phase if phase in TERMINAL_PHASES)
_RUNTIMES = ("py",)
_DURATION, _DEMO_DURATION = (2.0, 2.0), (3.0, 8.0)
_FAILURES, _DEMO_FAILURES = 0.0, 0.05
_DESCRIPTORS = 256
"""Both ends of the connections are in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    """The options of one call. None, or no Runtimes: what suits the workload."""

    demo: bool
    runs: int | None
    exit_when_done: bool
    runtimes: tuple[str, ...]
    pods: int
    capacity: Mapping[str, str]
    duration: DurationRange | None
    failure_rate: float | None
    seed: int
    port: int | None
    kubeconfig_out: str | None
    config: str | None
    no_table: bool
    form: str

    @property
    def document(self) -> bool:
        """Whether standard output gets a document and nothing else."""
        return self.form == "json"


def serve(options: DevOptions) -> Exit:
    """Run the cluster, and sum up. Raises: `InputError` for whatever keeps it from starting."""
    require_descriptors(_DESCRIPTORS)
    configuration = configuration_from(options.config)
    # Before there is code of plugins, which may change the working directory and the environment.
    out = options.kubeconfig_out and os.path.abspath(options.kubeconfig_out)
    options, environment = replace(options, kubeconfig_out=out), dict(os.environ)
    clock, display = SystemClock(), _display(options)
    log = Log(display.notices, clock, Level.WARNING)
    plugin_worker = ThreadPluginWorker(log)
    with PluginOutput(lambda *line: click.echo(noted(*line), file=display.notices)):
        placing = DevScheduling(
            profiles=plugin_worker.build(configuration, PluginRegistry()),
            plugin_worker=plugin_worker,
            engine=Settings.of(configuration),
            events=EventSettings.of(configuration),
        )
        return run_loop(_serve(options, environment, placing, clock, display, log))


async def _serve(
    options: DevOptions,
    environment: Mapping[str, str],
    placing: DevScheduling,
    clock: Clock,
    display: Display,
    log: Log,
) -> Exit:
    settings, profiles = _settings(options), placing.profiles
    async with dev_cluster(settings, placing, clock, log) as cluster:
        path = _kubeconfig_path(options, environment, cluster)
        # Before the file exists, so that it is always removed. SIGHUP says that the terminal is gone.
        stop_on_signals(lambda _: cluster.stop(), signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        with kubeconfig(path, cluster.server.url):
            for line in _introduction(cluster, path, profiles):
                click.echo(line, file=sys.stderr if options.document else own_output())
            observer = ClusterObserver(cluster.scheduler.engine, cluster.counts, clock)
            work = cluster.run(_arrivals(options, settings), exit_when_done=options.exit_when_done)
            await _show_until_done(work, cluster, observer, display)
        if display.redraws:
            write_output("")
        if options.document:
            write_json(_summary_document(cluster, profiles))
        else:
            write_output(summary_line(cluster.counts))
        if cluster.stalled:
            print_note(stall_line(cluster, settings))
    succeeded = cluster.finished and cluster.counts.well
    return Exit.ANSWER_IS_NO if options.exit_when_done and not succeeded else Exit.DONE


async def _show_until_done(
    work: Coroutine[None, None, None], cluster: DevCluster, observer: ClusterObserver, display: Display
) -> None:
    """Let the cluster work and show it. Where the display loses its reader, the cluster stops, too."""
    running = asyncio.create_task(work, name="cluster")
    try:
        with display:
            while not running.done():
                display.show(observer.overview())
                await asyncio.wait({running}, timeout=display.seconds)
            if display.redraws:
                display.show(observer.overview())
    finally:
        cluster.stop()
        await running


# What the options mean


def _settings(options: DevOptions) -> DevSettings:
    duration = options.duration or (_DEMO_DURATION if options.demo else _DURATION)
    failures = options.failure_rate
    if failures is None:
        failures = _DEMO_FAILURES if options.demo else _FAILURES
    return DevSettings(
        runtimes=options.runtimes or (DEMO_RUNTIMES if options.demo else _RUNTIMES),
        pods=options.pods,
        capacity=options.capacity,
        behaviour=Behaviour(run=duration, failure_rate=failures, seed=options.seed),
        port=options.port or 0,
    )


def _arrivals(options: DevOptions, settings: DevSettings) -> Iterable[Arrival]:
    """The demo, a number of Runs, or nothing."""
    if options.demo:
        whole = {resource: int(capacity_amount(text) or 0) for resource, text in settings.capacity.items()}
        arrivals = demo(options.seed, settings.runtimes, settings.pods, whole)
    elif options.runs is not None:
        arrivals = plain_runs(settings.runtimes)
    else:
        return ()
    return arrivals if options.runs is None else first_runs(arrivals, options.runs)


def _display(options: DevOptions) -> Display:
    if options.document:
        return Lines(sys.stderr, sys.stderr)
    out = own_output()
    if options.no_table or not can_be_redrawn(out):
        return Lines(out, sys.stderr)
    return LivePicture(out)


def _kubeconfig_path(options: DevOptions, environment: Mapping[str, str], cluster: DevCluster) -> Path:
    if options.kubeconfig_out is not None:
        return Path(options.kubeconfig_out)
    return default_path(urlsplit(cluster.server.url).port or 0, environment)


# What is said before and after


def _introduction(cluster: DevCluster, path: Path, profiles: Profiles) -> Iterator[str]:
    yield f"serving the Kubernetes API on {cluster.server.url}, until Ctrl-C"
    yield f"  export KUBECONFIG={quote(str(path))}"
    columns = standard_output().columns
    for profile in profiles.all:
        whose = f" of profile {profile.name}" if len(profiles.all) > 1 else ""
        line = f"plugins{whose}: {', '.join(plugin.name for plugin in profile.plugins) or 'none'}"
        yield from (f"  {part}" for part in ([line] if columns is None else wrapped(line, columns - 2)))
    yield ""


def summary_line(counts: RunCounts) -> str:
    """What became of the Runs, in one line."""
    parts = [f"{counts.ended[phase]} {phase}" for phase in _ENDS if counts.ended[phase]]
    if counts.unfinished:
        parts.append(f"{counts.unfinished} not ended")
    runs = counted(counts.created, "Run") + (f": {', '.join(parts)}" if parts else "")
    return f"{runs}; {counted(counts.placements, 'placement')} in {counts.seconds():.1f}s"


def stall_line(cluster: DevCluster, settings: DevSettings) -> str:
    """Why `--exit-when-done` ended though Runs wait."""
    waiting = counted(cluster.counts.unfinished, "Run")
    line = f"error: no Run has moved for {settings.stall_seconds:g} s, and {waiting} cannot be placed"
    engine = cluster.scheduler.engine
    reasons = {f"{plugin} fails in {hook}" for plugin, hook in engine.counters.plugin_errors}
    if not reasons:
        reasons = {made.message for made in engine.journal.latest if made.outcome is Outcome.WAITING}
    return ": ".join([line, "; ".join(sorted(reasons))])


def _summary_document(cluster: DevCluster, profiles: Profiles) -> dict[str, Any]:
    """What became of the Runs, for programs; times in seconds."""
    counts = cluster.counts
    plugins = {plugin.name: plugin for profile in profiles.all for plugin in profile.plugins}
    return {
        "apiVersion": API_VERSION,
        "plugins": [plugin_document(plugin) for plugin in plugins.values()],
        "runs": {
            "created": counts.created,
            **{phase[0].lower() + phase[1:]: counts.ended[phase] for phase in _ENDS},
            "notEnded": counts.unfinished,
        },
        "finished": cluster.finished,
        "placements": counts.placements,
        "retries": counts.retries,
        "pods": dict(sorted(counts.placed_on.items())),
        "seconds": round(counts.seconds(), 3),
        "placingSeconds": _placing_seconds(counts),
    }


def _placing_seconds(counts: RunCounts) -> float | None:
    """From the first placement to the last end; None before there is one of each."""
    if counts.first_placed is None or counts.last_ended is None:
        return None
    return round(max(counts.last_ended - counts.first_placed, 0) / SECOND, 3)
