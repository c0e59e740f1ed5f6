"""An engine on a measured cluster, driven as a host drives it, with an API server that applies everything."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from kruntimes_core.cluster.attended_calls import CurrentCall
from kruntimes_core.engine.api_calls import Applied, Found, Write, WriteKind
from kruntimes_core.engine.clock import Now, ticks
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.events import Event, PodsListed, RunsListed, WorkspacesListed
from kruntimes_core.engine.plugin_work import Runners, RunWork, Work
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.cluster import Cluster
from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.objects import START
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.stopwatch import Clock, Stopwatch, fine_clock, processor_clock
from kruntimes_core.model.messages import InputError


@dataclass(frozen=True, slots=True)
class Means:
    """What measures: the plugins that decide, the engine's settings, and clocks."""

    profiles: Profiles
    settings: Settings
    clock: Clock = processor_clock
    """For parts of a repeat."""
    fine_clock: Clock = fine_clock
    """For the calls of hooks."""
    config: str | None = None
    """The file that the profiles came from, for a process of its own."""
    under_way: CurrentCall = field(default_factory=CurrentCall)
    """Who is being asked: for a thread that looks after the one that measures."""


class Site:
    """One engine. Nothing happens but what a workload asks for; time stands still until it passes."""

    def __init__(self, cluster: Cluster, means: Means) -> None:
        self.cluster = cluster
        self._means = means
        self._now = Now(START, 0)
        self.lives: dict[str, Life] = {}
        """The Runs that may still be bound or end, by name."""
        self.running: deque[Life] = deque()
        """Where all slots are taken: who has them, the longest first."""
        self.placed = 0
        """How many Runs were bound."""
        self.restart()

    def restart(self) -> None:
        """Begin again with an engine that knows nothing."""
        self._runners = Runners()
        self.engine = Engine(self._means.profiles, self._means.settings, self._now)

    def prepare(self) -> None:
        """List what is there, and decide until nothing is left to do."""
        self.list_pods()
        self.list_runs()
        self.lead()
        self.settle()

    def list_pods(self) -> None:
        """List the Pods, and workspaces, of which there are none."""
        self.tell(PodsListed(observations=tuple(self.cluster.pods(self._now.wall))))
        self.tell(WorkspacesListed(observations=()))

    def list_runs(self, follow: bool = True) -> None:
        """List the Runs. follow: keep the objects of those that may still be bound or end.

        Without it only the engine keeps anything, as in a host, which lets go of each object at once.
        """
        lives = self._lives(follow)
        self.tell(RunsListed(observations=tuple(life.observation() for life in lives)))

    def _lives(self, follow: bool) -> Iterator[Life]:
        """The Runs that are there, one after another."""
        running = 0
        for life in self.cluster.running():
            running += 1
            if follow and self.cluster.full:
                self.running.extend(self.known([life]))
            yield life
        yield from self.cluster.ended(running)
        for life in self.cluster.waiting():
            if follow:
                self.known([life])
            yield life

    def known(self, lives: list[Life]) -> list[Life]:
        """Take note of Runs that may still be bound or end."""
        self.lives.update({life.name: life for life in lives})
        return lives

    # What a driver does

    def lead(self) -> None:
        """Decide from now on."""
        self.engine.lead(self._now)

    def tell(self, event: Event) -> None:
        """Hand on what was observed."""
        self.engine.handle(event, self._now)

    def take(self) -> Work | None:
        """Do one piece of work, if there is one."""
        work = self.engine.take(self._now)
        if work is not None:
            self.engine.finish(work, self._means.under_way.execute(work, self._runners), self._now)
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
        engine, now, written = self.engine, self._now, []
        while (request := engine.next_request(now)) is not None:
            if isinstance(request, Write):
                version = self.cluster.next_version()
                engine.written(request, Applied(version), now)
                written.append((request, version))
            elif (life := self.lives.get(request.name)) is not None:
                engine.read(request, Found(life.observation()), now)
        return written

    # What happens to Runs

    def bound(self, written: list[tuple[Write, str]]) -> Iterator[Life]:
        """Let the Runs show what was written; gives those that were bound."""
        for write, version in written:
            life = self.lives.get(write.name)
            if life is not None:
                life.patched(write, version)
                if write.kind is WriteKind.BIND:
                    self.placed += 1
                    yield life

    def settle(self) -> None:
        """Decide, write and observe what was written, until nothing is left to do."""
        self.work()
        while written := self.send():
            for life in self.bound(written):
                self.tell(life.seen())
            self.work()

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and do what is due then."""
        self._now = Now(self._now.wall + timedelta(seconds=seconds), self._now.ticks + ticks(seconds))
        self.engine.tick(self._now)
        self.settle()

    @property
    def now(self) -> Now:
        """The two clocks."""
        return self._now


def prepared(shape: Shape, means: Means, full: bool = False) -> Site:
    """A site with everything listed. Raises: `InputError` where a plugin fails."""
    site = Site(Cluster(shape, means.profiles, full), means)
    site.prepare()
    complain(site)
    return site


def complain(site: Site) -> None:
    """Raises: `InputError` if a plugin failed: what follows is backoff, which is not to be measured."""
    for decision in site.engine.journal.latest:
        if decision.error is not None:
            raise InputError(f"{decision.error}: correct it, or leave it out by --config")
