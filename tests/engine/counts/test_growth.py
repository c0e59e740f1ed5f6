"""What must not grow with the cluster does not: in twice the size as much code runs, on as much memory.

Lines are counted, and so is the most memory at a time, because a loop in C over all that exists (a copy
of a table) has no lines. The clusters and the actions are those of `kruntimes bench engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import count, islice, product

import pytest
from counting.effort import Effort, effort

from kruntimes_core.engine.events import Event, PodObserved
from kruntimes_core.engine.settings import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site, prepared
from kruntimes_core.lab.bench.engine.workloads.placing import plain, tied
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

BASE = Shape(pods=600, runs=10, known=1_000, waiting=600, requests=4, cohorts=10)
POOLS = Shape(pods=160, runs=10, known=800, waiting=160, requests=4, cohorts=4, namespaces=8)
SIZES = {
    "pods": (BASE, replace(BASE, pods=1_200)),
    "known": (BASE, replace(BASE, known=2_000)),
    "waiting": (BASE, replace(BASE, waiting=1_200)),
    "cohorts": (BASE, replace(BASE, cohorts=20)),
    "namespaces": (POOLS, replace(POOLS, pods=320, known=1_600, waiting=320, namespaces=16)),
    "runtimes": (
        replace(POOLS, namespaces=1, runtimes=8),
        replace(POOLS, pods=320, known=1_600, waiting=320, namespaces=1, runtimes=16),
    ),
}
# What two sizes may differ by without a loop over what was doubled, which is a twelfth and more, or
# a copy of it: an order of hashes, a log that is cut now and then.
LINES, SPARE_BYTES = 1.05, 1_500

Actions = Iterator[Callable[[], None]]
"""Actions of one kind, each to be done once; what has to be made for it is made before."""
Kind = Callable[[Site], Actions]


def placements(site: Site, arrive: Callable[[Site, int], Life] = plain) -> Actions:
    """A Run arrives, is bound, and is seen on its Pod."""
    for place in count():
        life = arrive(site, place)
        site.known([life])
        yield partial(told, site, life.seen())


def affine_placements(site: Site) -> Actions:
    """The same for Runs that must be beside their cohort."""
    return placements(site, tied)


def endings(site: Site) -> Actions:
    """A Run ends, and nobody who waits can have its room."""
    for place in count():
        life = plain(site, place)
        site.known([life])
        told(site, life.seen())
        yield partial(told, site, life.ended())


def freed_slots(site: Site) -> Actions:
    """A Run ends, and one of those that wait gets its slot."""
    for life in site.running.copy():
        yield partial(told, site, life.ended())


def hopeless_arrivals(site: Site) -> Actions:
    """A Run arrives that fits nowhere, and is told so."""
    for place in count():
        life = site.cluster.arrival(place, {"gpu": 1})
        site.known([life])
        yield partial(told, site, life.seen())


def heartbeats(site: Site) -> Actions:
    """A Pod sends a heartbeat."""
    site.pass_time(5)
    for observation in site.cluster.pods(site.now.wall):
        yield partial(told, site, PodObserved(observation))


def quiet(site: Site) -> Actions:
    """Nothing is due, and nothing has happened."""
    while True:
        yield partial(site.pass_time, 0)


def told(site: Site, event: Event) -> None:
    """Something is observed, with all that follows from it."""
    site.tell(event)
    site.settle()


def name_of(value: object) -> str:
    """How a test's parameter is shown."""
    return value if isinstance(value, str) else getattr(value, "__name__", "")


ACTIONS = (
    placements,
    affine_placements,
    endings,
    freed_slots,
    hopeless_arrivals,
    heartbeats,
    quiet,
)


# The next Run of a cohort looks at the Pods that changed since its last one: as many as there were Runs of
# other cohorts meanwhile.
GROWS = {(affine_placements, "cohorts")}


@pytest.mark.parametrize(
    ("kind", "dimension"), [pair for pair in product(ACTIONS, SIZES) if pair not in GROWS], ids=name_of
)
def test_costs_as_much_in_twice_the_size(
    efforts: Callable[[Kind, Shape], Effort], kind: Kind, dimension: str
) -> None:
    small, large = (efforts(kind, shape) for shape in SIZES[dimension])
    assert large.lines <= small.lines * LINES
    assert large.peak_bytes <= small.peak_bytes + SPARE_BYTES


@pytest.fixture(scope="module")
def efforts(profiles: Profiles) -> Callable[[Kind, Shape], Effort]:
    """`measured`, once for each kind and shape: many tests compare with the same one."""
    return cache(partial(measured, profiles))


def measured(profiles: Profiles, kind: Kind, shape: Shape) -> Effort:
    """What one action takes, after as many as it needs for all states to be met."""
    site = prepared(shape, Means(profiles, Settings()), full=kind is freed_slots)
    actions = kind(site)
    for action in islice(actions, 2 * max(shape.requests, shape.cohorts) * shape.pools):
        action()
    return effort(actions)


def look_at_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop of its own."""
    for pod in snapshot.pods.values():
        assert pod.name


def copy_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop that Python hides."""
    assert sorted(snapshot.pods)


FEW_STATES = replace(BASE, pods=800, waiting=0, cohorts=1, requests=1)


@pytest.mark.parametrize("prefilter", [look_at_all_pods, copy_all_pods])
def test_a_loop_over_what_exists_is_seen(profiles: Profiles, prefilter: Callable[[Snapshot], None]) -> None:
    slow = profiles_of(*profiles.all[0].plugins, fake_plugin(prefilter=prefilter))
    small, large = (
        measured(slow, placements, shape) for shape in (FEW_STATES, replace(FEW_STATES, pods=1_600))
    )
    more_lines = large.lines > small.lines * LINES
    assert more_lines or large.peak_bytes > small.peak_bytes + SPARE_BYTES
