"""A round of heartbeats that changes nothing: what a quiet cluster costs."""

from __future__ import annotations

from kruntimes_core.engine.events import PodObserved
from kruntimes_core.lab.bench.engine.site import Site
from kruntimes_core.lab.bench.engine.stopwatch import Stopwatch

_BEAT_SECONDS = 5.0


def heartbeats(site: Site, watch: Stopwatch) -> int:
    """A repeat of one heartbeat of each Pod."""
    site.pass_time(_BEAT_SECONDS)
    events = [PodObserved(observation) for observation in site.cluster.pods(site.now.wall)]
    watch.start()
    for event in events:
        site.tell(event)
    watch.lap("observe")
    site.work()
    watch.lap("decide")
    return len(events)
