"""The metrics of the parts of a scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from kruntimes_core.cluster.api_dispatcher import ApiDispatcher
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.informers.reflector import Reflector
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics, Samples, counted
from kruntimes_core.cluster.permissions import MissingPermissions
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.cluster.scheduler.leader_callbacks import SchedulerLeadership
from kruntimes_core.cluster.scheduler.oversold_pods import OversoldPods
from kruntimes_core.engine.api_calls import (
    Applied,
    Found,
    NotFound,
    OutcomeUnknown,
    Refused,
    WriteKind,
)
from kruntimes_core.engine.clock import SECOND

_READ_OUTCOMES = (Found, NotFound, OutcomeUnknown)
_WRITE_OUTCOMES = (Applied, Refused, OutcomeUnknown)


def register_scheduler_metrics(
    metrics: Metrics,
    *,
    dispatcher: ApiDispatcher,
    oversold_pods: OversoldPods,
    leadership: SchedulerLeadership,
    plugin_worker: PluginWorker,
    reflectors: Sequence[Reflector],
    clock: Clock,
    permissions: MissingPermissions,
    log: Log,
) -> None:
    """Add them; every series is there from the beginning."""
    _register_requests(metrics, dispatcher)
    _register_placing(metrics, oversold_pods, leadership)
    _register_plugin_worker(metrics, plugin_worker)
    _register_watches(metrics, reflectors, clock)
    metrics.gauge(
        "missing_permissions",
        "In how many namespaces the API server refuses a permission; all of them together count as one.",
        ("verb", "resource"),
        permissions.samples,
    )
    metrics.counter(
        "log_lines_lost", "Lines of the log that could not be written.", (), lambda: {(): log.lost}
    )


def _register_requests(metrics: Metrics, dispatcher: ApiDispatcher) -> None:
    requests: Samples = {
        (kind, outcome.__name__): 0.0
        for kinds, outcomes in (
            ([kind.value for kind in WriteKind], _WRITE_OUTCOMES),
            (["read"], _READ_OUTCOMES),
        )
        for kind in kinds
        for outcome in outcomes
    }
    metrics.counter(
        "requests",
        "Requests for single Runs, by what they were for and what came of them.",
        ("request", "outcome"),
        lambda: {**requests, **counted(dispatcher.outcomes)},
    )
    metrics.gauge("requests_in_flight", "Requests without an answer.", (), lambda: {(): dispatcher.in_flight})
    metrics.gauge(
        "writes_outcome_unknown",
        "Writes whose outcome is unknown: they may have been applied, or may still be.",
        (),
        lambda: {(): dispatcher.unknown_outcomes(0)},
    )


def _register_placing(metrics: Metrics, oversold_pods: OversoldPods, leadership: SchedulerLeadership) -> None:
    metrics.counter(
        "oversold_pods",
        "Runtime Pods that were seen to hold more than they advertise, each time that it began.",
        (),
        lambda: {(): oversold_pods.count},
    )
    metrics.gauge("deciding", "Whether Runs are placed now.", (), lambda: {(): leadership.deciding})
    metrics.gauge(
        "catch_up_seconds",
        "From when this scheduler began to lead until it decided, the last time.",
        (),
        lambda: {(): leadership.catch_up_seconds},
    )


def _register_plugin_worker(metrics: Metrics, plugin_worker: PluginWorker) -> None:
    metrics.gauge(
        "plugin_stuck_calls",
        "Calls that were abandoned and have not returned, by plugin.",
        ("plugin",),
        lambda: {**{(name,): 0.0 for name in metrics.plugins}, **_stuck(plugin_worker)},
    )


def _stuck(plugin_worker: PluginWorker) -> Samples:
    return {(name,): number for name, number in plugin_worker.stuck.items()}


def _register_watches(metrics: Metrics, reflectors: Sequence[Reflector], clock: Clock) -> None:
    metrics.gauge(
        "watch_event_age_seconds",
        "Seconds since a watch last received something; the oldest of each resource.",
        ("resource",),
        lambda: _ages(reflectors, clock),
    )
    metrics.gauge(
        "watch_following",
        "Whether a resource is listed and watched, in every namespace that is followed.",
        ("resource",),
        lambda: _following(reflectors),
    )


def _ages(reflectors: Sequence[Reflector], clock: Clock) -> Samples:
    now = clock.now().ticks
    ages: dict[tuple[str, ...], float] = {}
    for reflector in reflectors:
        if reflector.heard_at is not None:
            resource = (reflector.handler.resource.plural,)
            ages[resource] = max(ages.get(resource, 0.0), (now - reflector.heard_at) / SECOND)
    return ages


def _following(reflectors: Sequence[Reflector]) -> Samples:
    following: dict[tuple[str, ...], float] = {}
    for reflector in reflectors:
        resource = (reflector.handler.resource.plural,)
        following[resource] = min(following.get(resource, 1.0), float(reflector.following))
    return following
