"""A scheduler that starts: everything is listed, and then decided for the first time."""

from __future__ import annotations

from kruntimes_core.engine.events import PodsListed, RunsListed, WorkspacesListed
from kruntimes_core.lab.bench.engine.cluster import Cluster
from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site
from kruntimes_core.lab.bench.engine.stopwatch import Stopwatch


def nothing_listed(shape: Shape, means: Means) -> Site:
    """A site whose engine knows nothing yet."""
    return Site(Cluster(shape, means.profiles), means)


def restart(site: Site, watch: Stopwatch) -> int:
    """A repeat of one start, with all that waits and `runs` more that have room."""
    pods, runs = _lists(site)
    site.restart()
    watch.start()
    site.tell(pods)
    watch.lap("list pods")
    site.tell(WorkspacesListed(observations=()))
    site.tell(runs)
    watch.lap("list runs")
    site.lead()
    site.take()
    watch.lap("first decision")
    site.work()
    watch.lap("decide all")
    return 1


def _lists(site: Site) -> tuple[PodsListed, RunsListed]:
    cluster = site.cluster
    running = list(cluster.running())
    lives: list[Life] = [*running, *cluster.ended(len(running)), *cluster.waiting()]
    lives += [cluster.arrival(place) for place in range(cluster.shape.runs)]
    observations = tuple(life.observation() for life in lives)
    return PodsListed(observations=tuple(cluster.pods(site.now.wall))), RunsListed(observations=observations)
