"""The metrics that tell how the parts of a host are doing."""

from __future__ import annotations

from collections.abc import Sequence

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.host.parts import Parts
from kruntimes_core.cluster.observability.metrics import Metrics, Samples, counted
from kruntimes_core.cluster.planning.protocol import Planner
from kruntimes_core.cluster.watching.reflector import Reflector
from kruntimes_core.cluster.writing.protocol import Writer
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


def show_host(parts: Parts) -> None:
    """Add them; every series stands from the beginning."""
    metrics, means = parts.base.metrics, parts.base.means
    _show_requests(metrics, parts.writer)
    _show_placing(metrics, parts)
    _show_planner(metrics, means.planner)
    _show_watches(metrics, parts.reflectors, means.clock)
    metrics.gauge(
        "missing_rights",
        "In how many namespaces the API server refuses a right; all of them together count as one.",
        ("verb", "resource"),
        parts.base.rights.samples,
    )


def _show_requests(metrics: Metrics, writer: Writer) -> None:
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
        lambda: {**requests, **counted(writer.outcomes)},
    )
    metrics.gauge("requests_in_flight", "Requests without an answer.", (), lambda: {(): writer.in_flight})
    metrics.gauge(
        "writes_in_doubt",
        "Writes that may have been applied, or may still be: nobody knows.",
        (),
        lambda: {(): writer.in_doubt(0)},
    )


def _show_placing(metrics: Metrics, parts: Parts) -> None:
    metrics.counter(
        "oversold_pods",
        "Runtime Pods that were seen to hold more than they advertise, each time that it began.",
        (),
        lambda: {(): parts.oversold.count},
    )
    metrics.gauge("deciding", "Whether Runs are placed now.", (), lambda: {(): parts.duty.deciding})
    metrics.gauge(
        "catch_up_seconds",
        "From when this scheduler began to lead until it decided, the last time.",
        (),
        lambda: {(): parts.duty.catch_up_seconds},
    )


def _show_planner(metrics: Metrics, planner: Planner) -> None:
    metrics.gauge(
        "planner_stuck_calls",
        "Calls that were abandoned and have not returned, by plugin.",
        ("plugin",),
        lambda: {**{(name,): 0.0 for name in metrics.plugins}, **_stuck(planner)},
    )


def _stuck(planner: Planner) -> Samples:
    return {(name,): number for name, number in planner.stuck.items()}


def _show_watches(metrics: Metrics, reflectors: Sequence[Reflector], clock: Clock) -> None:
    metrics.gauge(
        "watch_event_age_seconds",
        "Seconds since the API server was last heard on a watch; the oldest of each resource.",
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
            resource = (reflector.feed.resource.plural,)
            ages[resource] = max(ages.get(resource, 0.0), (now - reflector.heard_at) / SECOND)
    return ages


def _following(reflectors: Sequence[Reflector]) -> Samples:
    following: dict[tuple[str, ...], float] = {}
    for reflector in reflectors:
        resource = (reflector.feed.resource.plural,)
        following[resource] = min(following.get(resource, 1.0), float(reflector.following))
    return following
