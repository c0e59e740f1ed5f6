"""What happens in a cluster, kind by kind, on the clusters of `kruntimes bench engine`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice

from counting.effort import Effort, effort
from kruntimes_core.engine.engine import Settings
from kruntimes_core.engine.events import Event, PodObserved
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.cluster import BenchRun
from kruntimes_core.lab.bench.engine.driver import EngineDriver, EngineSetup, prepared
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import plain, tied

Actions = Iterator[Callable[[], None]]
"""Actions of one kind, each to be done once; what has to be made for it is made before."""
Kind = Callable[[EngineDriver], Actions]


def placements(site: EngineDriver, arrive: Callable[[EngineDriver, int], BenchRun] = plain) -> Actions:
    """A Run arrives, is bound, and is seen on its Pod."""
    for place in count():
        life = arrive(site, place)
        site.known([life])
        yield partial(told, site, life.seen())


def affine_placements(site: EngineDriver) -> Actions:
    """The same for Runs that must be beside their cohort."""
    return placements(site, tied)


def endings(site: EngineDriver) -> Actions:
    """A Run ends, and nobody who waits can have its room."""
    for place in count():
        life = plain(site, place)
        site.known([life])
        told(site, life.seen())
        yield partial(told, site, life.ended())


def freed_slots(site: EngineDriver) -> Actions:
    """A Run ends, and one of those that wait gets its slot."""
    for life in site.running.copy():
        yield partial(told, site, life.ended())


def hopeless_arrivals(site: EngineDriver) -> Actions:
    """A Run arrives that fits nowhere, and is told so."""
    for place in count():
        life = site.cluster.arrival(place, {"gpu": 1})
        site.known([life])
        yield partial(told, site, life.seen())


def heartbeats(site: EngineDriver) -> Actions:
    """A Pod sends a heartbeat."""
    site.pass_time(5)
    for observation in site.cluster.pods(site.now.wall):
        yield partial(told, site, PodObserved(observation))


def quiet(site: EngineDriver) -> Actions:
    """Nothing is due, and nothing has happened."""
    while True:
        yield partial(site.pass_time, 0)


def told(site: EngineDriver, event: Event) -> None:
    """Something is observed, with all that follows from it."""
    site.tell(event)
    site.settle()


ACTIONS = (
    placements,
    affine_placements,
    endings,
    freed_slots,
    hopeless_arrivals,
    heartbeats,
    quiet,
)


def measured(profiles: Profiles, kind: Kind, shape: Shape) -> Effort:
    """What one action takes, after as many as it needs for all states to be met."""
    site = prepared(shape, EngineSetup(profiles, Settings()), full=kind is freed_slots)
    actions = kind(site)
    for action in islice(actions, 2 * max(shape.requests, shape.cohorts) * shape.pools):
        action()
    return effort(actions)
