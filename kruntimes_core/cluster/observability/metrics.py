"""All metrics of one scheduler, in a registry of its own. No label ever holds what a user wrote."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder
from prometheus_client.registry import Collector

from kruntimes_core import __version__
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.counters import OTHER, ConflictStage, Counters, SyncResult, WakeupSource
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.run import InvalidReason

PREFIX = "kruntimes_scheduler_"
_CYCLE_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
_ATTEMPT_BUCKETS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000)
_QUEUE_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800)

Labels = tuple[str, ...]
Samples = Mapping[Labels, float]
_NO_FAILURES: Samples = {(reason,): 0.0 for reason in (*[one.value for one in InvalidReason], OTHER)}
_Name = TypeVar("_Name", bound=StrEnum)


class Metrics(Collector):
    """What is shown at a scrape. Counters and gauges are read then; only durations are kept here."""

    def __init__(self, counters: Counters, profiles: Profiles) -> None:
        """counters: the engine's. profiles: whose plugins have series of their own."""
        self._registry = CollectorRegistry(auto_describe=False)
        self._sources: list[Callable[[], Iterable[Metric]]] = []
        self._broken_sources = 0
        self.plugins: dict[str, ActivePlugin] = {}
        """Those that have series of their own, by name."""
        self._profiles = profiles
        self._cycle_seconds = self._histogram(
            "sync_duration_seconds",
            "Duration of a scheduling cycle's plan, by the host's clock.",
            _CYCLE_BUCKETS,
        )
        self._queue_seconds = self._histogram(
            "run_queue_duration_seconds",
            "Time from when a Run was first seen Pending until its bind was applied.",
            _QUEUE_BUCKETS,
        )
        self._attempts = self._histogram(
            "run_scheduling_attempts",
            "How often a Run was tried until its bind was applied.",
            _ATTEMPT_BUCKETS,
        )
        self._registry.register(self)
        self.know(profiles)
        # Every series stands from the beginning: their number is that of what is installed.
        self._register_cycles(counters)
        self._register_plugins(counters)
        self._register_versions()

    def know(self, profiles: Profiles) -> None:
        """Show the series of these plugins from now on; those of others that were known stay."""
        self._profiles = profiles
        self.plugins |= {plugin.name: plugin for profile in profiles.all for plugin in profile.plugins}

    def counter(self, name: str, text: str, labels: Labels, read: Callable[[], Samples]) -> None:
        """Add a counter. name: without prefix and `_total`. read: called at each scrape."""
        self._sources.append(
            lambda: [_filled(CounterMetricFamily(PREFIX + name, text, labels=labels), read())]
        )

    def gauge(self, name: str, text: str, labels: Labels, read: Callable[[], Samples]) -> None:
        """Add a gauge. name: without prefix. read: called at each scrape."""
        self._sources.append(lambda: [_filled(GaugeMetricFamily(PREFIX + name, text, labels=labels), read())])

    def register_process(self) -> None:
        """Add memory, processor time and open files of this process: for its only scheduler."""
        self._sources.append(ProcessCollector(registry=None).collect)

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def negotiated(self, accept: str) -> tuple[bytes, str]:
        """All metrics in the format that an `Accept` header asks for, and the type of the answer.

        OpenMetrics for a client that names it, else the text format, also for a header that cannot be read.
        """
        try:
            encode, content_type = choose_encoder(accept)
        except TypeError:  # so the library answers to a version that is no number
            return self.exposition(), CONTENT_TYPE_PLAIN_0_0_4
        return encode(self._registry), content_type

    def collect(self) -> Iterator[Metric]:
        """Read every source. One that raises is left out of the scrape, and counted."""
        for source in tuple(self._sources):
            try:
                families = list(source())
            except Exception:  # noqa: BLE001 - counted, and shown as a metric of its own
                self._broken_sources += 1
                continue
            yield from families
        broken = CounterMetricFamily(PREFIX + "metrics_errors", "Metrics that could not be read.")
        broken.add_metric([], self._broken_sources)
        yield broken

    def planned(self, ticks: int) -> None:
        """Note how many ticks a plan of a scheduling cycle took."""
        self._cycle_seconds.observe(ticks / SECOND)

    def bound(self, ticks: int, attempts: int) -> None:
        """Note how many ticks a Run was in the queue before it was bound, and how often it was tried."""
        self._queue_seconds.observe(max(ticks, 0) / SECOND)
        self._attempts.observe(attempts)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        histogram = Histogram(PREFIX + name, text, buckets=buckets, registry=None)
        self._sources.append(lambda: map(_without_created, histogram.collect()))
        return histogram

    def _register_cycles(self, counters: Counters) -> None:
        self.counter(
            "sync", "Scheduling cycles by result.", ("result",), lambda: _closed(SyncResult, counters.syncs)
        )
        self.counter(
            "no_pods",
            "Cycles that found no feasible Runtime Pod.",
            (),
            lambda: {(): counters.syncs[SyncResult.NO_PODS]},
        )
        self.counter(
            "reservation_conflicts",
            "Reservations lost to a conflict, by stage.",
            ("stage",),
            lambda: _closed(ConflictStage, counters.reservation_conflicts),
        )
        self.counter(
            "pending_run_wakeups",
            "Activations of waiting Runs, by what caused them.",
            ("source",),
            lambda: _closed(WakeupSource, counters.wakeups),
        )
        self.counter(
            "failed_runs",
            "Runs that the scheduler ended as Failed because they can never be placed, by reason.",
            ("reason",),
            lambda: {
                **_NO_FAILURES,
                **{(name,): number for name, number in dict(counters.failed_runs).items()},
            },
        )
        self.counter(
            "sweep_rescues",
            "Runs that only the safety sweep got placed: a lost wakeup each.",
            (),
            lambda: {(): counters.rescues},
        )

    def _register_plugins(self, counters: Counters) -> None:
        def rejections() -> Samples:
            none = {(one.name, reason): 0.0 for one in self.plugins.values() for reason in one.reasons}
            return none | counted(counters.filter_rejections)

        def errors() -> Samples:
            none = {(one.name, hook): 0.0 for one in self.plugins.values() for hook in one.hooks}
            return none | counted(counters.plugin_errors)

        self.counter(
            "filter_rejections",
            "Runtime Pods rejected by a filter, once for each evaluation.",
            ("plugin", "reason"),
            rejections,
        )
        self.counter("plugin_errors", "Failures of plugins, by plugin and hook.", ("plugin", "hook"), errors)

        def early_retries() -> Samples:
            none: Samples = {(one.name,): 0.0 for one in self.plugins.values() if "filter" in one.hooks}
            return {**none, **_by_name(counters.early_retries)}

        self.counter(
            "plugin_early_retries",
            "Rejections with a retry_at less than a tenth of a second away, for which the Run waits longer.",
            ("plugin",),
            early_retries,
        )

    def _register_versions(self) -> None:
        build = {"version": __version__, "python": platform.python_version()}
        self._sources.append(lambda: [InfoMetricFamily(PREFIX + "build", "This scheduler.", value=build)])
        self._sources.append(lambda: [_plugin_info(self._profiles)])


def counted(counts: Mapping[tuple[str, str], int]) -> dict[Labels, float]:
    """A copy, made in one step of the interpreter: other threads may count meanwhile."""
    return {(*labels,): float(number) for labels, number in dict(counts).items()}


def _by_name(counts: Mapping[str, int]) -> Samples:
    return {(name,): number for name, number in dict(counts).items()}


def _without_created(family: Metric) -> Metric:
    """The library shows when each histogram was made, as one more series that nobody asks for."""
    family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
    return family


def _plugin_info(profiles: Profiles) -> Metric:
    family = InfoMetricFamily(
        PREFIX + "plugin", "The active plugins.", labels=("plugin", "distribution", "version")
    )
    active = {
        (one.name, one.distribution, one.version) for profile in profiles.all for one in profile.plugins
    }
    for labels in sorted(active):
        family.add_metric(labels, {})
    return family


def _filled(family: CounterMetricFamily | GaugeMetricFamily, samples: Samples) -> Metric:
    for labels, value in samples.items():
        family.add_metric(list(labels), value)
    return family


def _closed(names: Iterable[_Name], counts: Mapping[_Name, int]) -> Samples:
    return {(name.value,): counts.get(name, 0) for name in names}
