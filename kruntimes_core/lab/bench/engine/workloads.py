"""The workloads: what is done again and again while the clock runs."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from kruntimes_core.engine.events import PodObserved, PodsListed, RunsListed, WorkspacesListed
from kruntimes_core.lab.bench.engine.cluster import BenchRun, MeasuredCluster, on_pod
from kruntimes_core.lab.bench.engine.driver import (
    EngineDriver,
    EngineSetup,
    ReadNanoseconds,
    Stopwatch,
    laid_aside,
    prepared,
)
from kruntimes_core.lab.bench.engine.memory import Memory
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.figures import MICROSECONDS, MILLISECONDS, NANOSECONDS, Quantity, Sample
from kruntimes_core.lab.bench.objects import COHORT_LABEL, near, rather_near

WHOLE = "whole"
"""The sum of the parts of a workload."""
_AT_A_TIME = 4
"""How many of the measured Runs run at a time: those before have ended, so that load stays what it was."""
_BEAT_SECONDS = 5.0
_ROUNDS = 20
"""So many times the Runs of a repeat stay known for `Pauses`: a collection looks through what stays."""


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
    """What its figures are for: one placement, one heartbeat."""
    repeat: Callable[[EngineDriver, Stopwatch], int]
    """One repeat: leaves the cluster as it was. Returns how many it did."""
    grows_with: tuple[str, ...] = ()
    """The dimensions of `Shape` that are tried by `--growth`."""
    prepare: Callable[[Shape, EngineSetup], EngineDriver] = prepared
    unit: str = MICROSECONDS
    places: bool = True
    """Whether a Run is bound each time, if the plugins let it be."""

    def samples(self, shape: Shape, setup: EngineSetup, repeat: int) -> Iterator[Sample]:
        """Measure `repeat` times. Raises: `InputError` where a plugin fails.

        The first repeat is not counted: after it, plugin states have been met before.
        """
        for done in self.repeats(shape, setup, repeat):
            spent = done.spent
            parts = spent if len(spent) == 1 else {**spent, WHOLE: sum(spent.values())}
            scale = NANOSECONDS[self.unit] * done.units
            yield {Quantity(part, self.unit): nanoseconds / scale for part, nanoseconds in parts.items()}

    def repeats(
        self, shape: Shape, setup: EngineSetup, repeat: int, begin: Callable[[], None] = lambda: None
    ) -> Iterator[Repeat]:
        """What each repeat came to, on one cluster. Raises: `InputError` where a plugin fails.

        begin: called when everything is prepared, before the first repeat that counts.
        """
        driver, watch = self.prepare(shape, setup), Stopwatch(setup.clock)
        with laid_aside():
            self.repeat(driver, watch)
            driver.check()
            watch.taken()
            begin()
            for _ in range(repeat):
                placed = driver.placed
                units = self.repeat(driver, watch)
                yield Repeat(watch.taken(), units, driver.placed - placed)


# Runs that arrive and find room


Arrive = Callable[[EngineDriver, int], BenchRun]
"""The Run at a place among those that come."""


def plain(driver: EngineDriver, place: int) -> BenchRun:
    """A Run without constraints, with one of the requests that were met before."""
    return driver.cluster.arrival(place)


def tied(driver: EngineDriver, place: int) -> BenchRun:
    """A Run that must be beside its cohort."""
    return driver.cluster.arrival(place, affinity=near(COHORT_LABEL, driver.cluster.cohort(place)))


def choosy(driver: EngineDriver, place: int) -> BenchRun:
    """A Run that would rather be beside a cohort, so that two scorers tell the Pods apart."""
    kind = place % driver.cluster.shape.preferences
    return driver.cluster.arrival(place, {"cpu": 1}, rather_near(COHORT_LABEL, f"c{kind}"))


def new(driver: EngineDriver, place: int) -> BenchRun:
    """A Run with a request that no Run has asked with before."""
    return driver.cluster.arrival(place, {"memory": driver.cluster.fresh_amount()})


def with_cohorts(shape: Shape, setup: EngineSetup) -> EngineDriver:
    """A cluster where each cohort has a Run to be near to."""
    driver = prepared(shape, setup)
    first = [tied(driver, place) for place in range(shape.cohorts * shape.pools)]
    for run in driver.known(first):
        driver.tell(run.seen())
    driver.settle()
    return driver


def one_by_one(arrive: Arrive) -> Callable[[EngineDriver, Stopwatch], int]:
    """A repeat in which Runs come, are bound, run and end, one after another."""

    def repeat(driver: EngineDriver, watch: Stopwatch) -> int:
        running: deque[BenchRun] = deque()
        number = driver.cluster.shape.runs
        for place in range(number):
            running.append(_place(driver, watch, arrive(driver, place)))
            if len(running) > _AT_A_TIME:
                _end(driver, watch, running.popleft())
        for run in running:
            _end(driver, watch, run)
        return number

    return repeat


def burst(driver: EngineDriver, watch: Stopwatch) -> int:
    """A repeat in which all Runs come at once."""
    runs = driver.known([plain(driver, place) for place in range(driver.cluster.shape.runs)])
    seen = [run.seen() for run in runs]
    watch.start()
    for event in seen:
        driver.tell(event)
    watch.lap("arrive")
    driver.work_for({run.name for run in runs}, watch)
    written = driver.send()
    watch.lap("send")
    echoes = [run.seen() for run in driver.bound(written)]
    watch.start()
    for event in echoes:
        driver.tell(event)
    watch.lap("echo")
    for run in runs:
        _end(driver, watch, run)
    return len(runs)


def _place(driver: EngineDriver, watch: Stopwatch, run: BenchRun) -> BenchRun:
    driver.known([run])
    seen = run.seen()
    watch.start()
    driver.tell(seen)
    watch.lap("arrive")
    driver.work_for((run.name,), watch)
    written = driver.send()
    watch.lap("send")
    for bound in driver.bound(written):
        echo = bound.seen()
        watch.start()
        driver.tell(echo)
        watch.lap("echo")
    return run


def _end(driver: EngineDriver, watch: Stopwatch, run: BenchRun) -> None:
    """A Run that ran succeeds, and is deleted at once; others notice the room that it leaves."""
    if run.pod is not None:
        ended = run.ended()
        watch.start()
        driver.tell(ended)
        watch.lap("end")
        driver.work()
        watch.lap("offer")
    driver.tell(run.gone())
    driver.settle()
    del driver.runs[run.name]


# A slot is freed, and many wait for it


def full(shape: Shape, setup: EngineSetup) -> EngineDriver:
    """A cluster without a free slot, where Runs wait for one."""
    return prepared(shape, setup, full=True)


def freed_slot(driver: EngineDriver, watch: Stopwatch) -> int:
    """A repeat in which one Run after another ends, and its slot goes to one that waits."""
    cluster = driver.cluster
    for place in range(cluster.shape.runs):
        ending = driver.running.popleft()
        taken = _free(driver, watch, ending)
        driver.tell(ending.gone())
        del driver.runs[ending.name]
        driver.running.append(taken or _intruder(driver, ending))
        if taken is not None:
            # Where one waited less: every pool keeps as many as it had.
            request = {"cpu": 1 + place % cluster.shape.requests}
            (arrived,) = driver.known([cluster.new_run(taken.pool, place, request)])
            driver.tell(arrived.seen())
        driver.settle()
    return cluster.shape.runs


def _free(driver: EngineDriver, watch: Stopwatch, ending: BenchRun) -> BenchRun | None:
    """End a Run. Returns the Run that got its slot."""
    ended = ending.ended()
    watch.start()
    driver.tell(ended)
    watch.lap("end")
    driver.work()
    watch.lap("decide")
    written = driver.send()
    watch.lap("send")
    taken = None
    for taken in driver.bound(written):
        echo = taken.seen()
        watch.start()
        driver.tell(echo)
        driver.work()
        watch.lap("echo")
    return taken


def _intruder(driver: EngineDriver, former: BenchRun) -> BenchRun:
    """No Run that waits may have the slot: another one takes it, so that the cluster stays full."""
    status = on_pod(former.pod or "", "Running")
    (run,) = driver.known([driver.cluster.new_run(former.pool, 0, {"cpu": 1}, status=status)])
    driver.tell(run.seen())
    return run


# A quiet cluster, and a scheduler that starts


def heartbeats(driver: EngineDriver, watch: Stopwatch) -> int:
    """A repeat of one heartbeat of each Pod, which changes nothing."""
    driver.pass_time(_BEAT_SECONDS)
    events = [PodObserved(observation) for observation in driver.cluster.pods(driver.now.wall)]
    watch.start()
    for event in events:
        driver.tell(event)
    watch.lap("observe")
    driver.work()
    watch.lap("decide")
    return len(events)


def nothing_listed(shape: Shape, setup: EngineSetup) -> EngineDriver:
    """An engine that knows nothing yet."""
    return EngineDriver(MeasuredCluster(shape, setup.profiles), setup)


def restart(driver: EngineDriver, watch: Stopwatch) -> int:
    """A repeat of one start, with all that waits and `runs` more that have room."""
    pods, runs = _lists(driver)
    driver.restart()
    watch.start()
    driver.tell(pods)
    watch.lap("list pods")
    driver.tell(WorkspacesListed(observations=()))
    driver.tell(runs)
    watch.lap("list runs")
    driver.lead()
    driver.take()
    watch.lap("first decision")
    driver.work()
    watch.lap("decide all")
    return 1


def _lists(driver: EngineDriver) -> tuple[PodsListed, RunsListed]:
    cluster = driver.cluster
    running = list(cluster.running())
    runs = [*running, *cluster.ended(len(running)), *cluster.waiting()]
    runs += [cluster.arrival(place) for place in range(cluster.shape.runs)]
    pods = tuple(cluster.pods(driver.now.wall))
    return PodsListed(observations=pods), RunsListed(observations=tuple(run.observation() for run in runs))


# How long the garbage collector stops everything


@dataclass(frozen=True, slots=True)
class Pauses:
    """The collector's pauses while Runs are placed; what is known is set aside as the scheduler does it."""

    name: str = "pauses"
    each: str = "collection"

    def samples(self, shape: Shape, setup: EngineSetup, repeat: int) -> Iterator[Sample]:
        """See `Timed`."""
        driver = prepared(shape, setup)
        for _ in range(repeat):
            with laid_aside():
                with _noted(setup.clock) as placing:
                    for place in range(_ROUNDS * shape.runs):
                        _stay(driver, plain(driver, place))
                with _noted(setup.clock) as aside:
                    gc.collect()
            with _noted(setup.clock) as everything:
                gc.collect()
            longest = {
                "longest while placing": placing,
                "full, what is known set aside": aside,
                "full, nothing set aside": everything,
            }
            yield {
                Quantity(name, MILLISECONDS): max(pauses, default=0) / NANOSECONDS[MILLISECONDS]
                for name, pauses in longest.items()
            }


def _stay(driver: EngineDriver, run: BenchRun) -> None:
    """A Run is placed and ends, and is not deleted."""
    driver.known([run])
    driver.tell(run.seen())
    driver.settle()
    if run.pod is not None:
        driver.tell(run.ended())
        driver.settle()
    del driver.runs[run.name]


@contextmanager
def _noted(clock: ReadNanoseconds) -> Iterator[list[int]]:
    """The pauses within this context, in nanoseconds."""
    pauses: list[int] = []
    begun = 0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal begun
        if phase == "start":
            begun = clock()
        else:
            pauses.append(clock() - begun)

    gc.callbacks.append(note)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(note)


Workload = Timed | Pauses | Memory
"""Something that can be measured: `samples` measures so many times, and `each` says what figures are for."""
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
    Timed(name="new-states", each="placement", repeat=one_by_one(new), grows_with=("pods", "known")),
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
"""All workloads, in the order in which they are measured and shown."""
