"""The workloads: what is done again and again while the clock runs."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kruntimes_core.engine.events import PodObserved, PodsListed, RunsListed, WorkspacesListed
from kruntimes_core.lab.bench.engine.cluster import (
    BenchRun,
    MeasuredCluster,
    Shape,
    near,
    on_pod,
    rather_near,
)
from kruntimes_core.lab.bench.engine.driver import (
    Clock,
    EngineDriver,
    EngineSetup,
    Stopwatch,
    complain,
    laid_aside,
    prepared,
)
from kruntimes_core.lab.bench.engine.memory import Memory
from kruntimes_core.lab.bench.figures import MICROSECONDS, MILLISECONDS, NANOSECONDS, Quantity, Sample

WHOLE = "whole"
"""The sum of the parts of a workload."""


class Workload(Protocol):
    """Something that can be measured."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def each(self) -> str:
        """What its figures are for: one placement, one heartbeat."""

    def samples(self, shape: Shape, means: EngineSetup, repeat: int) -> Iterator[Sample]:
        """Measure `repeat` times. Raises: `InputError` where a plugin fails."""


class Repeat(NamedTuple):
    """One repeat."""

    spent: dict[str, int]
    """Nanoseconds by part."""
    units: int
    """How many placements, heartbeats and so on it did."""
    placed: int
    """How many Runs were bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A workload whose figures are times: each part's share of one placement, heartbeat, and so on."""

    name: str
    each: str
    repeat: Callable[[EngineDriver, Stopwatch], int]
    """One repeat: leaves the site as it was. Returns how many it did."""
    grows_with: tuple[str, ...] = ()
    """The dimensions of `Shape` that are tried by `--growth`."""
    prepare: Callable[[Shape, EngineSetup], EngineDriver] = prepared
    unit: str = MICROSECONDS
    places: bool = True
    """Whether a Run is bound each time, if the plugins let it be."""

    def samples(self, shape: Shape, means: EngineSetup, repeat: int) -> Iterator[Sample]:
        """See `Workload`. The first repeat is not counted: after it, plugin states have been met before."""
        for done in self.rounds(shape, means, repeat):
            yield self._sample(done)

    def rounds(
        self, shape: Shape, means: EngineSetup, repeat: int, begin: Callable[[], None] = lambda: None
    ) -> Iterator[Repeat]:
        """What each repeat came to, on one site. Raises: `InputError` where a plugin fails.

        begin: called when everything is prepared, before the first repeat that counts.
        """
        site, watch = self.prepare(shape, means), Stopwatch(means.clock)
        with laid_aside():
            self.repeat(site, watch)
            complain(site)
            watch.taken()
            begin()
            for _ in range(repeat):
                placed = site.placed
                units = self.repeat(site, watch)
                yield Repeat(watch.taken(), units, site.placed - placed)

    def _sample(self, done: Repeat) -> Sample:
        spent = done.spent
        parts = spent if len(spent) == 1 else {**spent, WHOLE: sum(spent.values())}
        scale = NANOSECONDS[self.unit] * done.units
        return {Quantity(part, self.unit): nanoseconds / scale for part, nanoseconds in parts.items()}


# How many of the measured Runs run at a time: those before have ended, so that load stays what it was.
_AT_A_TIME = 4

Arrive = Callable[[EngineDriver, int], BenchRun]
"""The Run at a place among those that come."""


def one_by_one(arrive: Arrive) -> Callable[[EngineDriver, Stopwatch], int]:
    """A repeat in which Runs come, are bound, run and end, one after another."""

    def repeat(site: EngineDriver, watch: Stopwatch) -> int:
        running: deque[BenchRun] = deque()
        runs = site.cluster.shape.runs
        for place in range(runs):
            running.append(_place(site, watch, arrive(site, place)))
            if len(running) > _AT_A_TIME:
                _end(site, watch, running.popleft())
        for life in running:
            _end(site, watch, life)
        return runs

    return repeat


def burst(site: EngineDriver, watch: Stopwatch) -> int:
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


def plain(site: EngineDriver, place: int) -> BenchRun:
    """A Run without wishes, with one of the requests that were met before."""
    return site.cluster.arrival(place)


def tied(site: EngineDriver, place: int) -> BenchRun:
    """A Run that must be beside its cohort."""
    return site.cluster.arrival(place, affinity=near(site.cluster.cohort(place)))


def choosy(site: EngineDriver, place: int) -> BenchRun:
    """A Run that would rather be beside a cohort, so that two scorers tell the Pods apart."""
    kind = place % site.cluster.shape.preferences
    return site.cluster.arrival(place, {"cpu": 1}, rather_near(f"c{kind}"))


def new(site: EngineDriver, place: int) -> BenchRun:
    """A Run with a request that nobody has asked with before."""
    return site.cluster.arrival(place, {"memory": site.cluster.fresh_amount()})


def with_cohorts(shape: Shape, means: EngineSetup) -> EngineDriver:
    """A site where each cohort has a Run to be near to."""
    site = prepared(shape, means)
    first = [tied(site, place) for place in range(shape.cohorts * shape.pools)]
    for life in site.known(first):
        site.tell(life.seen())
    site.settle()
    return site


def _place(site: EngineDriver, watch: Stopwatch, life: BenchRun) -> BenchRun:
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


def _end(site: EngineDriver, watch: Stopwatch, life: BenchRun) -> None:
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


def full(shape: Shape, means: EngineSetup) -> EngineDriver:
    """A site without a free slot, where Runs wait for one."""
    return prepared(shape, means, full=True)


def freed_slot(site: EngineDriver, watch: Stopwatch) -> int:
    """A repeat in which one Run after another ends, and its slot goes to one that waits."""
    runs = site.cluster.shape.runs
    for place in range(runs):
        ending = site.running.popleft()
        taken = _free(site, watch, ending)
        site.tell(ending.gone())
        del site.lives[ending.name]
        site.running.append(taken or _intruder(site, ending))
        if taken is not None:
            # Where one waited less: every pool keeps as many as it had.
            request = {"cpu": 1 + place % site.cluster.shape.requests}
            (arrived,) = site.known([site.cluster.life(taken.pool, place, request)])
            site.tell(arrived.seen())
        site.settle()
    return runs


def _free(site: EngineDriver, watch: Stopwatch, ending: BenchRun) -> BenchRun | None:
    """End a Run. Returns the Run that got its slot."""
    ended = ending.ended()
    watch.start()
    site.tell(ended)
    watch.lap("end")
    site.work()
    watch.lap("decide")
    written = site.send()
    watch.lap("send")
    taken = None
    for taken in site.bound(written):
        echo = taken.seen()
        watch.start()
        site.tell(echo)
        site.work()
        watch.lap("echo")
    return taken


def _intruder(site: EngineDriver, former: BenchRun) -> BenchRun:
    """Nobody who waits may have the slot: somebody else takes it, so that the site stays full."""
    status = on_pod(former.pod or "", "Running")
    (life,) = site.known([site.cluster.life(former.pool, 0, {"cpu": 1}, status=status)])
    site.tell(life.seen())
    return life


def nothing_listed(shape: Shape, means: EngineSetup) -> EngineDriver:
    """A site whose engine knows nothing yet."""
    return EngineDriver(MeasuredCluster(shape, means.profiles), means)


def restart(site: EngineDriver, watch: Stopwatch) -> int:
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


def _lists(site: EngineDriver) -> tuple[PodsListed, RunsListed]:
    cluster = site.cluster
    running = list(cluster.running())
    lives: list[BenchRun] = [*running, *cluster.ended(len(running)), *cluster.waiting()]
    lives += [cluster.arrival(place) for place in range(cluster.shape.runs)]
    observations = tuple(life.observation() for life in lives)
    return PodsListed(observations=tuple(cluster.pods(site.now.wall))), RunsListed(observations=observations)


_BEAT_SECONDS = 5.0


def heartbeats(site: EngineDriver, watch: Stopwatch) -> int:
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


# So many times the Runs of a repeat stay known: what stays is what a collection looks through.
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of the collector, where what is known is set aside as the scheduler does it."""

    name: str = "pauses"
    each: str = "collection"

    def samples(self, shape: Shape, means: EngineSetup, repeat: int) -> Iterator[Sample]:
        """See `Workload`."""
        site = prepared(shape, means)
        for _ in range(repeat):
            with laid_aside():
                with _noted(means.clock) as workloads:
                    for place in range(_ROUNDS * shape.runs):
                        _stay(site, plain(site, place))
                with _noted(means.clock) as aside:
                    gc.collect()
            with _noted(means.clock) as everything:
                gc.collect()
            yield {
                _longest("longest while workloads"): _milliseconds(workloads),
                _longest("full, what is known set aside"): _milliseconds(aside),
                _longest("full, nothing set aside"): _milliseconds(everything),
            }


def _stay(site: EngineDriver, life: BenchRun) -> None:
    """A Run is placed and ends, and is not deleted."""
    site.known([life])
    site.tell(life.seen())
    site.settle()
    if life.pod is not None:
        site.tell(life.ended())
        site.settle()
    del site.lives[life.name]


@contextmanager
def _noted(clock: Clock) -> Iterator[list[int]]:
    """The pauses within this context, in nanoseconds."""
    pauses: list[int] = []
    begun = [0]

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun[0] = clock()
        else:
            pauses.append(clock() - begun[0])

    gc.callbacks.append(note)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(note)


def _longest(name: str) -> Quantity:
    return Quantity(name, MILLISECONDS)


def _milliseconds(pauses: list[int]) -> float:
    return max(pauses, default=0) / NANOSECONDS[MILLISECONDS]


WORKLOADS: tuple[Workload, ...] = (
    Timed(
        name="placements",
        each="placement",
        repeat=one_by_one(plain),
        grows_with=("pods", "known", "waiting", "requests", "namespaces", "runtimes"),
    ),
    Timed(name="burst", each="placement", repeat=burst, grows_with=("runs", "pods", "waiting")),
    Timed(
        name="affinity",
        each="placement",
        repeat=one_by_one(tied),
        prepare=with_cohorts,
        grows_with=("pods", "known", "cohorts"),
    ),
    Timed(
        name="preferences",
        each="placement",
        repeat=one_by_one(choosy),
        grows_with=("pods", "preferences"),
    ),
    Timed(
        name="new-states",
        each="placement",
        repeat=one_by_one(new),
        grows_with=("pods", "known"),
    ),
    Timed(
        name="freed-slot",
        each="freed slot",
        repeat=freed_slot,
        prepare=full,
        grows_with=("pods", "known", "waiting", "requests"),
    ),
    Timed(
        name="heartbeats",
        each="heartbeat",
        repeat=heartbeats,
        grows_with=("pods", "known", "waiting"),
        places=False,
    ),
    Timed(
        name="restart",
        each="start",
        repeat=restart,
        prepare=nothing_listed,
        grows_with=("pods", "known", "waiting"),
        unit=MILLISECONDS,
        places=False,
    ),
    Pauses(),
    Memory(),
)


def workload_names() -> tuple[str, ...]:
    """What users may ask for."""
    return tuple(workload.name for workload in WORKLOADS)
