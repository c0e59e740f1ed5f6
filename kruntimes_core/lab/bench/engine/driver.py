"""Drives an engine on a measured cluster as a host does, with an API server that applies everything."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from kruntimes_core.cluster.attended_calls import CurrentCall
from kruntimes_core.cluster.garbage_collection import (
    collect_young_objects,
    freeze_objects,
    unfreeze_objects,
)
from kruntimes_core.engine.api_calls import Applied, Found, Write, WriteKind
from kruntimes_core.engine.clock import Now, ticks
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.events import Event, PodsListed, RunsListed, WorkspacesListed
from kruntimes_core.engine.plugin_work import Runners, RunWork, Work
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.cluster import START, BenchRun, MeasuredCluster
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.model.messages import InputError

ReadNanoseconds = Callable[[], int]
"""Nanoseconds that only go forward."""

processor_clock: ReadNanoseconds = time.thread_time_ns
"""Of this thread alone: what else the machine does meanwhile does not count. A look takes 0.5 to 0.9
microseconds."""

fine_clock: ReadNanoseconds = time.perf_counter_ns
"""For what is shorter than a look at the other clock; counts what others do meanwhile, too. A look takes 0.06
microseconds."""


class Stopwatch:
    """Adds up the time of parts that are measured one after another."""

    def __init__(self, clock: ReadNanoseconds = processor_clock) -> None:
        self._clock = clock
        self._since = 0
        self.spent: dict[str, int] = {}
        """Nanoseconds by part, in the order in which the parts first came."""

    def start(self) -> None:
        """Begin the first of some parts; what went before is in no part."""
        self._since = self._clock()

    def lap(self, part: str) -> None:
        """End a part, and begin the next one."""
        now = self._clock()
        self.spent[part] = self.spent.get(part, 0) + now - self._since
        self._since = self._clock()

    def taken(self) -> dict[str, int]:
        """What was spent since this was asked last."""
        spent, self.spent = self.spent, {}
        return spent


@dataclass(frozen=True, slots=True)
class EngineSetup:
    """The plugins that decide, the engine's settings, and the clocks that measure."""

    profiles: Profiles
    settings: Settings
    clock: ReadNanoseconds = processor_clock
    """For parts of a repeat."""
    fine_clock: ReadNanoseconds = fine_clock
    """For the calls of hooks."""
    config: str | None = None
    """The file that the profiles came from, for a process of its own."""
    under_way: CurrentCall = field(default_factory=CurrentCall)
    """Which plugin is called: for a thread that looks after the one that measures."""


class EngineDriver:
    """One engine. Nothing happens but what a workload asks for; time stands still until it passes."""

    def __init__(self, cluster: MeasuredCluster, setup: EngineSetup) -> None:
        self.cluster = cluster
        self._setup = setup
        self.now = Now(START, 0)
        """The two clocks."""
        self.runs: dict[str, BenchRun] = {}
        """The Runs that may still be bound or end, by name."""
        self.running: deque[BenchRun] = deque()
        """Where all slots are taken: the Runs that have them, the longest first."""
        self.placed = 0
        """How many Runs were bound."""
        self.restart()

    def restart(self) -> None:
        """Begin again with an engine that knows nothing."""
        self._runners = Runners()
        self.engine = Engine(self._setup.profiles, self._setup.settings, self.now)

    def list_pods(self) -> None:
        """List the Pods, and workspaces, of which there are none."""
        self.tell(PodsListed(observations=tuple(self.cluster.pods(self.now.wall))))
        self.tell(WorkspacesListed(observations=()))

    def list_runs(self, follow: bool = True) -> None:
        """List the Runs. follow: keep the objects of those that may still be bound or end.

        Without it only the engine keeps anything, as in a host, which lets go of each object at once.
        """
        self.tell(RunsListed(observations=tuple(run.observation() for run in self._listed(follow))))

    def known(self, runs: list[BenchRun]) -> list[BenchRun]:
        """Take note of Runs that may still be bound or end."""
        self.runs.update({run.name: run for run in runs})
        return runs

    # What a host does

    def lead(self) -> None:
        """Decide from now on."""
        self.engine.lead(self.now)

    def tell(self, event: Event) -> None:
        """Hand on what was observed."""
        self.engine.handle(event, self.now)

    def take(self) -> Work | None:
        """Do one piece of work, if there is one."""
        work = self.engine.take(self.now)
        if work is not None:
            self.engine.finish(work, self._setup.under_way.execute(work, self._runners), self.now)
        return work

    def work(self) -> None:
        """Do all work that there is."""
        while self.take() is not None:
            pass

    def work_for(self, names: Container[str], watch: Stopwatch) -> None:
        """Do all work, and tell what is done for these Runs (`decide`) from what is for others (`offer`)."""
        while (work := self.take()) is not None:
            others = isinstance(work, RunWork) and work.run.name not in names
            watch.lap("offer" if others else "decide")
        watch.lap("decide")

    def send(self) -> list[tuple[Write, str]]:
        """Let the API server apply all that is to be written; each write with its new version."""
        engine, now, written = self.engine, self.now, []
        while (request := engine.next_request(now)) is not None:
            if isinstance(request, Write):
                version = self.cluster.next_version()
                engine.written(request, Applied(version), now)
                written.append((request, version))
            elif (run := self.runs.get(request.name)) is not None:
                engine.read(request, Found(run.observation()), now)
        return written

    # What happens to Runs

    def bound(self, written: list[tuple[Write, str]]) -> Iterator[BenchRun]:
        """Let the Runs show what was written; gives those that were bound."""
        for write, version in written:
            run = self.runs.get(write.name)
            if run is not None:
                run.patched(write, version)
                if write.kind is WriteKind.BIND:
                    self.placed += 1
                    yield run

    def settle(self) -> None:
        """Decide, write and observe what was written, until nothing is left to do."""
        self.work()
        while written := self.send():
            for run in self.bound(written):
                self.tell(run.seen())
            self.work()

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and do what is due then."""
        self.now = Now(self.now.wall + timedelta(seconds=seconds), self.now.ticks + ticks(seconds))
        self.engine.tick(self.now)
        self.settle()

    def check(self) -> None:
        """Raises: `InputError` if a plugin failed: what follows is backoff, which is not to be measured."""
        for decision in self.engine.journal.latest:
            if decision.error is not None:
                raise InputError(f"{decision.error}: correct it, or leave it out by --config")

    def _listed(self, follow: bool) -> Iterator[BenchRun]:
        """The Runs that are there, one after another."""
        running = 0
        for run in self.cluster.running():
            running += 1
            if follow and self.cluster.full:
                self.running.extend(self.known([run]))
            yield run
        yield from self.cluster.ended(running)
        for run in self.cluster.waiting():
            if follow:
                self.known([run])
            yield run


def prepared(shape: Shape, setup: EngineSetup, full: bool = False) -> EngineDriver:
    """An engine for which everything is listed and decided. Raises: `InputError` where a plugin fails."""
    driver = EngineDriver(MeasuredCluster(shape, setup.profiles, full), setup)
    driver.list_pods()
    driver.list_runs()
    driver.lead()
    driver.settle()
    driver.check()
    return driver


@contextmanager
def calmed() -> Iterator[None]:
    """New objects are collected at the thresholds that the scheduler sets once everything is listed."""
    before = gc.get_threshold()
    collect_young_objects()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def laid_aside() -> Iterator[None]:
    """The garbage collector does not look through what is known so far."""
    freeze_objects()
    try:
        yield
    finally:
        unfreeze_objects()
