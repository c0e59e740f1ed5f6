"""The metrics of an election."""

from __future__ import annotations

from kruntimes_core.cluster.leading.elector import Elector
from kruntimes_core.cluster.leading.leases import OUTCOMES, VERBS
from kruntimes_core.cluster.observability.metrics import Metrics, Samples, counted


def show_election(metrics: Metrics, elector: Elector) -> None:
    """Add them; every series stands from the beginning."""
    requests: Samples = {(verb, outcome): 0.0 for verb in VERBS for outcome in OUTCOMES}
    metrics.gauge("leading", "Whether this scheduler leads.", (), lambda: {(): elector.leading})
    metrics.counter("lease_terms", "How often this scheduler began to lead.", (), lambda: {(): elector.terms})
    metrics.counter(
        "lease_requests",
        "Requests for the Lease, by verb and what came of them.",
        ("verb", "outcome"),
        lambda: {**requests, **counted(elector.leases.outcomes)},
    )
