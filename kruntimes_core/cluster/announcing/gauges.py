"""The metrics of Events."""

from __future__ import annotations

from kruntimes_core.cluster.announcing.announcer import Announcer
from kruntimes_core.cluster.announcing.reasons import EventOutcome, Reason
from kruntimes_core.cluster.observing.metrics import Metrics, Samples, counted


def show_events(metrics: Metrics, announcer: Announcer) -> None:
    """Add them; every series stands from the beginning."""
    events: Samples = {(reason.value, outcome.value): 0.0 for reason in Reason for outcome in EventOutcome}
    metrics.counter(
        "events",
        "Events by what they are about and what became of them.",
        ("reason", "outcome"),
        lambda: {**events, **counted(announcer.counts)},
    )
    metrics.gauge(
        "event_queue_length",
        "What waits to be said, or may come to last, by lane.",
        ("lane",),
        lambda: {(lane.value,): length for lane, length in announcer.lengths.items()},
    )
