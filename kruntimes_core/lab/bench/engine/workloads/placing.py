"""Runs that arrive and find room: one after another, or all at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.objects import near, rather_near
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site, prepared
from kruntimes_core.lab.bench.engine.stopwatch import Stopwatch

# How many of the measured Runs run at a time: those before have ended, so that load stays what it was.
_AT_A_TIME = 4

Arrive = Callable[[Site, int], Life]
"""The Run at a place among those that come."""


def one_by_one(arrive: Arrive) -> Callable[[Site, Stopwatch], int]:
    """A repeat in which Runs come, are bound, run and end, one after another."""

    def repeat(site: Site, watch: Stopwatch) -> int:
        running: deque[Life] = deque()
        runs = site.cluster.shape.runs
        for place in range(runs):
            running.append(_place(site, watch, arrive(site, place)))
            if len(running) > _AT_A_TIME:
                _end(site, watch, running.popleft())
        for life in running:
            _end(site, watch, life)
        return runs

    return repeat


def burst(site: Site, watch: Stopwatch) -> int:
    """A repeat in which all Runs come at once."""
    lives = [plain(site, place) for place in range(site.cluster.shape.runs)]
    site.known(lives)
    seen = [life.seen() for life in lives]
    watch.start()
    for event in seen:
        site.tell(event)
    watch.lap("arrive")
    site.work_for({life.name for life in lives}, watch)
    written = site.send()
    watch.lap("send")
    echoes = [life.seen() for life in site.bound(written)]
    watch.start()
    for event in echoes:
        site.tell(event)
    watch.lap("echo")
    for life in lives:
        _end(site, watch, life)
    return len(lives)


def plain(site: Site, place: int) -> Life:
    """A Run without wishes, with one of the requests that were met before."""
    return site.cluster.arrival(place)


def tied(site: Site, place: int) -> Life:
    """A Run that must be beside its cohort."""
    return site.cluster.arrival(place, affinity=near(site.cluster.cohort(place)))


def choosy(site: Site, place: int) -> Life:
    """A Run that would rather be beside a cohort, so that two scorers tell the Pods apart."""
    kind = place % site.cluster.shape.preferences
    return site.cluster.arrival(place, {"cpu": 1}, rather_near(f"c{kind}"))


def new(site: Site, place: int) -> Life:
    """A Run with a request that nobody has asked with before."""
    return site.cluster.arrival(place, {"memory": site.cluster.fresh_amount()})


def with_cohorts(shape: Shape, means: Means) -> Site:
    """A site where each cohort has a Run to be near to."""
    site = prepared(shape, means)
    first = [tied(site, place) for place in range(shape.cohorts * shape.pools)]
    for life in site.known(first):
        site.tell(life.seen())
    site.settle()
    return site


def _place(site: Site, watch: Stopwatch, life: Life) -> Life:
    site.known([life])
    seen = life.seen()
    watch.start()
    site.tell(seen)
    watch.lap("arrive")
    site.work_for((life.name,), watch)
    written = site.send()
    watch.lap("send")
    for bound in site.bound(written):
        echo = bound.seen()
        watch.start()
        site.tell(echo)
        watch.lap("echo")
    return life


def _end(site: Site, watch: Stopwatch, life: Life) -> None:
    """A Run that ran succeeds, and is deleted at once; others notice the room that it leaves."""
    if life.pod is not None:
        ended = life.ended()
        watch.start()
        site.tell(ended)
        watch.lap("end")
        site.work()
        watch.lap("offer")
    site.tell(life.gone())
    site.settle()
    del site.lives[life.name]
